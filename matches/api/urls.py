"""Addresses of the API's part for matches, below /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path

import players.api.urls  # noqa: F401 - the converter of ids
from matches.api import corrections, finishing, jobs, reads, tables, writes
from matches.api.feed import Feed

urlpatterns: list[URLPattern] = [
    path("matches/", writes.Matches.as_view(), name="api_matches"),
    path("matches/batch/", writes.Batch.as_view(), name="api_batch"),
    path("matches/<id:match>/", corrections.MatchDetail.as_view(), name="api_match"),
    path("matches/<id:match>/void/", corrections.Void.as_view(), name="api_void"),
    path("matches/<id:match>/unvoid/", corrections.Unvoid.as_view(), name="api_unvoid"),
    path("matches/<id:match>/evaluate/", finishing.Evaluate.as_view(), name="api_evaluate"),
    path("matches/<id:match>/call-off/", finishing.CallOff.as_view(), name="api_call_off"),
    path("tables/", tables.Tables.as_view(), name="api_tables"),
    path("tables/<id:table>/", tables.TableDetail.as_view(), name="api_table"),
    path("tables/<id:table>/seats/", tables.Seats.as_view(), name="api_seats"),
    path("tables/<id:table>/seats/<id:player>/", tables.Seat.as_view(), name="api_seat"),
    path("jobs/<id:job>/", jobs.JobDetail.as_view(), name="api_job"),
    path("jobs/<id:job>/confirm/", jobs.JobConfirm.as_view(), name="api_job_confirm"),
    path("jobs/<id:job>/withdraw/", jobs.JobWithdraw.as_view(), name="api_job_withdraw"),
    path("feed/", Feed.as_view(), name="api_feed"),
    path("pools/<slug:pool>/lobby/", reads.LobbyRead.as_view(), name="api_lobby"),
]
