"""Addresses of the players app."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from players import views, window_views
from players.addresses import PoolConverter
from players.window_views import View, at_cashier, at_players

register_converter(PoolConverter, "pool")

WINDOW: list[tuple[str, str, View]] = [
    ("", "", window_views.rating),
    ("<pool:pool_slug>/", "pool", window_views.rating),
    ("<pool:pool_slug>/points/", "points", window_views.points),
    ("<pool:pool_slug>/history/", "history", window_views.history),
    ("matches/", "matches", window_views.matches),
    ("statistics/", "statistics", window_views.statistics),
    ("statistics/<pool:pool_slug>/", "statistics_pool", window_views.statistics),
]
"""The pages of a window: at the cashier, `cashier_NAME`, and below a player's own address, `player_NAME`."""

urlpatterns: list[URLPattern] = [
    *(path(f"cashier/{rest}", at_cashier(view), name="_".join(filter(None, ("cashier", name)))) for rest, name, view in WINDOW),
    path("players/<str:slug>/vs/<str:other>/", at_players(window_views.head_to_head), name="head_to_head"),
    *(
        path(f"players/<str:slug>/{rest}", at_players(view), name="_".join(filter(None, ("player", name))))
        for rest, name, view in WINDOW
    ),
    path("rankings/", views.rankings_index, name="rankings_index"),
    path("rankings/<slug:pool_slug>/", views.rankings, name="rankings"),
    path("theme/", views.theme, name="theme"),
]
