"""Addresses of the matches app."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches import rules_views, views
from matches.inbox import views as inbox

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("lobby/", views.lobby_index, name="lobby_index"),
    path("lobby/<slug:pool_slug>/", views.lobby, name="lobby"),
    path("tables/<int:table_id>/", views.table, name="table"),
    path("cashier/messages/", inbox.messages, name="cashier_messages"),
    path("cashier/messages/read/", inbox.read_all, name="read_messages"),
    path("cashier/messages/<int:message_id>/", inbox.read_message, name="read_message"),
    path("rules/", rules_views.rules_index, name="rules_index"),
    path("rules/<slug:pool_slug>/", rules_views.rules, name="rules"),
    path("simulator/", rules_views.simulator_index, name="simulator_index"),
    path("simulator/players.json", rules_views.simulator_players, name="simulator_players"),
    path("simulator/<slug:pool_slug>/", rules_views.simulator, name="simulator"),
    path("matches/<int:match_id>/", views.match, name="match"),
]
