"""Addresses of the players app."""

from __future__ import annotations

from django.urls import URLPattern, path

from players import views

urlpatterns: list[URLPattern] = [
    path("cashier/", views.cashier, name="cashier"),
    path("cashier/<slug:pool_slug>/", views.cashier, name="cashier_pool"),
    path("players/<str:slug>/", views.player, name="player"),
    path("players/<str:slug>/<slug:pool_slug>/", views.player, name="player_pool"),
    path("rankings/", views.rankings_index, name="rankings_index"),
    path("rankings/<slug:pool_slug>/", views.rankings, name="rankings"),
    path("theme/", views.theme, name="theme"),
]
