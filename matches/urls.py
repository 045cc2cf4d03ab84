"""Addresses of the matches app."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches import views

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("lobby/", views.lobby_index, name="lobby_index"),
    path("lobby/<slug:pool_slug>/", views.lobby, name="lobby"),
    path("tables/<int:table_id>/", views.table, name="table"),
    path("matches/<int:match_id>/", views.match, name="match"),
]
