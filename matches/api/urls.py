"""Addresses of the API's part for matches, below /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path

import players.api.urls  # noqa: F401 - the converter of ids
from matches.api import reads, writes
from matches.api.feed import Feed

urlpatterns: list[URLPattern] = [
    path("matches/", writes.Matches.as_view(), name="api_matches"),
    path("matches/batch/", writes.Batch.as_view(), name="api_batch"),
    path("matches/<id:match>/", reads.MatchRead.as_view(), name="api_match"),
    path("feed/", Feed.as_view(), name="api_feed"),
    path("pools/<slug:pool>/lobby/", reads.LobbyRead.as_view(), name="api_lobby"),
]
