"""Addresses of logins: what allauth serves is below /accounts/ as well."""

from __future__ import annotations

from django.urls import URLPattern, path

from players.accounts import views

urlpatterns: list[URLPattern] = [
    path("cashier/profile/", views.profile, name="cashier_profile"),
    path("accounts/player/", views.own_player, name="own_player"),
]
