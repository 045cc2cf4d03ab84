"""The API's reads of matches and of the lobby."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.response import Response

from matches.api import answers, shapes
from matches.lobby.reads import waiting_tables
from matches.models import ORDER, Match, Participant
from matches.sheet import sheet
from players.api import cursors, reading
from players.api.actors import reader_of, source_of
from players.api.base import ApiView, pool_at
from players.api.errors import not_found
from players.api.reading import Unfit, Unfits, json_flag, read_query
from players.api.schema import Param, readable, readers
from players.api.views import LIMIT, cursor, id_param
from players.models import Player
from players.pages.history import seats_with_changes
from players.pages.pools import all_pools
from players.permissions import stakes_for
from players.services import present_players

MATCHES = (
    Param("pool", "The pool's name in this API.", lambda name, value: reading.text(name, value, 50)),
    id_param("player", "Who played."),
    Param("external_id", "Your own id of the match: needs a key or a login.", lambda name, value: reading.text(name, value, 200)),
    Param(
        "status",
        "completed or voided.",
        lambda name, value: reading.one_of(name, value, ("completed", "voided")),
        {"type": "string", "enum": ["completed", "voided"]},
    ),
    Param(
        "counted",
        "Only those that count, or that do not.",
        lambda name, value: reading.flag(name, json_flag(value)),
        {"type": "boolean"},
    ),
    Param("since", "Ended then or later: a time with its offset, or a date (UTC).", reading.moment, example="2026-11-01"),
    Param("until", "Ended before that.", reading.moment, example="2026-12-01"),
    cursor(datetime, bool, int, int),
    LIMIT,
)
NEWEST_FIRST = tuple(f"-{name}" for name in ORDER)


class MatchReads(ApiView):
    """The part of /matches/ that reads; `matches.api.writes` adds the other."""

    @readable(
        "Matches",
        "Finished ones, counted or not, the newest first. Give a pool, a player or an external_id.",
        shapes.MatchList,
        params=MATCHES,
        tag="matches",
        operation_id="matches_list",
    )
    def get(self, request: HttpRequest) -> Response:
        values = read_query(request.GET, readers(MATCHES))
        source = source_of(request)
        reader = reader_of(request)
        pools = {pool.pk: pool for pool in all_pools(reader)}
        rows = self._filtered(values, source, pools)
        if "cursor" in values:
            rows = cursors.after(rows, ORDER, values["cursor"], descending=True)
        size = values.get("limit", cursors.PAGE_SIZE)
        found = list(rows.order_by(*NEWEST_FIRST)[: size + 1])
        following = cursors.encode([getattr(found[size - 1], name) for name in ORDER]) if len(found) > size else None
        # The rules of the day say why a match did not count: of all pools at once.
        prefetch_related_objects([pool for pool in pools.values() if pool.has_eras], "eras")
        seats = seats_with_changes(Participant.objects.filter(match__in=[match.pk for match in found[:size]]))
        seated = {pk: list(group) for pk, group in groupby(seats.order_by("match_id", "seat"), key=lambda seat: seat.match_id)}
        stakes = {pk: stakes_for(reader, pools[pk]) for pk in {match.pool_id for match in found}}
        lines = []
        for match in found[:size]:
            match.pool = pool = pools[match.pool_id]
            lines.append(answers.match_line(match, seated.get(match.pk, []), pool, source, stakes[pool.pk]))
        return Response({"matches": lines, "next": following})

    @staticmethod
    def _filtered(values: dict[str, Any], source: str | None, pools: dict[int, Any]) -> Any:
        rows = Match.objects.exclude(status=Match.Status.OPEN)
        if not {"pool", "player", "external_id"} & set(values):
            raise Unfits([("pool", Unfit("pool", "narrow"))])
        if "pool" in values:
            pool = next((pool for pool in pools.values() if pool.slug == values["pool"]), None)
            if pool is None:
                raise Unfit("pool", "no_pool")
            rows = rows.filter(pool=pool)
        if "player" in values:
            # A merged duplicate is the one whom he is, as everywhere.
            played = present_players(list(Player.objects.filter(pk=values["player"])))
            rows = rows.filter(participants__player__in=[player.pk for player in played])
        if "external_id" in values:
            if source is None:
                raise Unfit("external_id", "source_needed")
            rows = rows.filter(source=source, external_id=values["external_id"])
        if "status" in values:
            rows = rows.filter(status=values["status"])
        if "counted" in values:
            counted = {"status": Match.Status.COMPLETED, "not_counted": ""}
            rows = rows.filter(**counted) if values["counted"] else rows.exclude(**counted)
        if "since" in values:
            rows = rows.filter(ended_at__gte=values["since"])
        if "until" in values:
            rows = rows.filter(ended_at__lt=values["until"])
        return rows


class MatchRead(ApiView):
    @readable(
        "A match and its calculation",
        "Every line of the sum that gave each change, with the numbers at full precision; what was published first where a "
        "revision changed it, and the revisions.",
        shapes.SheetPage,
        tag="matches",
        errors=(404,),
        operation_id="matches_retrieve",
    )
    def get(self, request: HttpRequest, match: int) -> Response:
        read_query(request.GET, {})
        try:
            found = sheet(match, None, reader_of(request))
        except Match.DoesNotExist:
            raise not_found(_("There is no such match.")) from None
        return Response(answers.sheet_page(found, source_of(request)))


class LobbyRead(ApiView):
    max_age = 2

    @readable("Who waits at a table", "The longest wait first.", shapes.Lobby, tag="lobby", errors=(404,))
    def get(self, request: HttpRequest, pool: str) -> Response:
        read_query(request.GET, {})
        reader = reader_of(request)
        found = pool_at(pool, reader)
        stakes = stakes_for(reader, found)
        return Response({"pool": found.slug, "tables": [answers.table(one, found, stakes) for one in waiting_tables(found)]})
