"""Addresses of the matches app."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches import views
from matches.inbox import views as inbox

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("lobby/", views.lobby_index, name="lobby_index"),
    path("lobby/<slug:pool_slug>/", views.lobby, name="lobby"),
    path("tables/<int:table_id>/", views.table, name="table"),
    path("cashier/messages/", inbox.messages, name="cashier_messages"),
    path("cashier/messages/read/", inbox.read_all, name="read_messages"),
    path("cashier/messages/<int:message_id>/", inbox.read_message, name="read_message"),
    path("matches/<int:match_id>/", views.match, name="match"),
]
