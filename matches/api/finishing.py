"""How matches end that have started at a game server's tables: with a result, with an evaluation, or called off.

They are completed by the same services as those of the site's own players, and only by the source whose table it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample
from rest_framework.response import Response

from matches.api import result_shapes, table_shapes
from matches.api.first import differing, stored_of
from matches.api.published import results_of
from matches.api.results import TERMS, Sent, own_id
from matches.entries import MOST_AHEAD, Conflict, Entry, differing_terms
from matches.models import Match, Table
from matches.reports import adjudication
from matches.reports.models import NOTE_MAX
from matches.reports.reporting import Over
from matches.reports.words import denial
from matches.terms import AGREED
from players.api import reading
from players.api.actors import Actor, actor_of
from players.api.base import ApiView
from players.api.errors import ApiError, forbidden, not_found
from players.api.reading import Reader, Unfit, read_object
from players.api.schema import WRITE_ERRORS
from players.api.schema import described as documented
from players.ledger import chunks
from players.models import Pool
from players.systems.base import Refused, Result

BEFORE = ("pool", "players", "kind", *AGREED)
"""What is settled before a match ends."""


def own_match(pk: int, actor: Actor) -> Match:
    """A match that has started at a table of the actor's source, with its pool and table. Raises ApiError (404, 403)."""
    match = Match.objects.select_related("pool", "table__pool").filter(pk=pk).first()
    if match is None:
        raise not_found(_("There is no such match."))
    actor.require("results", match.pool)
    if _table_of(match, actor) is None:
        raise forbidden(_("This match did not start at a table of your source."))
    return match


def _table_of(match: Match, actor: Actor) -> Table | None:
    """The table at which the match started, if it is one of the actor's source."""
    table: Table | None = getattr(match, "table", None)
    return table if table is not None and table.source == actor.source else None


# --- With a result ---


def started_of(sent: Iterable[Sent]) -> dict[int, Match]:
    """The matches that results name, with their pools, tables and participants, by id. At most two queries for each thousand."""
    found: dict[int, Match] = {}
    for chunk in chunks(sorted({row.match for row in sent if row.match is not None})):
        found |= Match.objects.select_related("pool", "table__pool").prefetch_related("participants__player").in_bulk(chunk)
    return found


def to_finish(actor: Actor, sent: Sent, started: Mapping[int, Match]) -> tuple[Match, Result]:
    """The match that a result names, and the result with the terms of the table where it says nothing of them. Raises Refused."""
    assert sent.match is not None
    if (match := started.get(sent.match)) is None:
        raise Unfit("match", "no_match")
    if (table := _table_of(match, actor)) is None:
        raise Unfit("match", "not_your_match")
    missing = {name: getattr(table.terms, name) for name in (*AGREED, "kind") if getattr(sent.result, name) in (None, "")}
    return match, replace(sent.result, **missing)


def check_finish(pool: Pool, entry: Entry) -> None:
    """Raise Conflict where the match that an entry ends, as it was read, is finished otherwise or was agreed otherwise, and
    Refused where it would have ended before it began, by more than two clocks may differ."""
    match = entry.match
    assert match is not None
    if match.status != Match.Status.OPEN:
        same = (match.source, match.external_id) == (entry.source, entry.external_id)
        if fields := [*differing(match, pool, entry), *(() if same else ("external_id",))]:
            raise Conflict(match, fields)
        return
    terms = differing_terms(match, list(match.participants.all()), pool, entry.players, entry.result)
    if fields := [name for name in terms if name in BEFORE]:
        raise Conflict(match, fields)
    latest = entry.ended_at if entry.timed else entry.ended_at + timedelta(days=1)
    if latest < match.created_at - MOST_AHEAD:
        raise Refused("ended_at" if entry.timed else "date", "before_start")


# --- Broken off, and called off ---


def _lines(name: str, value: Any) -> str:
    """A text of several lines."""
    reading.text(name, value.replace("\r\n", " ").replace("\n", " ") if isinstance(value, str) else value, NOTE_MAX)
    return str(value)


EVALUATED: dict[str, Reader] = {
    "external_id": own_id,
    "chance": reading.number,
    "note": _lines,
    "evaluator": lambda name, value: reading.text(name, value, adjudication.EVALUATOR_MAX),
    "points": TERMS["points"],
}
ERRORS = (*WRITE_ERRORS, 404, 409)


class Evaluate(ApiView):
    rate = "write"

    @documented(
        "Evaluate a match that was broken off",
        "Completes a match that has started at your table by the first player's winning chance at the break; it ends now. The "
        "note is on the page of the match. The same again answers the same; a match that is finished is a conflict.",
        {200: result_shapes.MatchResult},
        tag="matches",
        errors=ERRORS,
        request=table_shapes.EvaluationSent,
        shapes={409: result_shapes.FinishedError},
        examples=[
            OpenApiExample(
                "by a program",
                value={"external_id": "game-1009", "chance": 0.72, "note": "XGID=-b----E-C---eE---c-e----B-", "evaluator": "GNU"},
                request_only=True,
            )
        ],
        operation_id="matches_evaluate",
    )
    def post(self, request: Any, match: int) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, EVALUATED, required=("external_id", "chance", "note"))
        own = own_match(match, actor)
        name = values["external_id"]
        if own.external_id and own.external_id != name:
            raise _over(own)
        try:
            with transaction.atomic():
                other = stored_of(actor.source, [name]).get(name)
                if other is not None and other.pk != match:
                    raise Conflict(other, ["external_id"])
                adjudication.evaluate(
                    match_id=match,
                    chance=values["chance"],
                    note=values["note"],
                    evaluator=values.get("evaluator", ""),
                    points=values.get("points"),
                    source=actor.source,
                    external_id=name,
                )
        except Over as over:
            raise _over(over.match) from None
        except Conflict as conflict:
            raise ApiError(409, _("Another match of yours has this id."), match=conflict.match.pk) from None
        return Response(results_of([match], actor)[match])


class CallOff(ApiView):
    rate = "write"

    @documented(
        "Call a match off",
        "A match that has started at your table and will not be played to its end is closed without a result, and moves nothing. "
        "One that was called off already stays as it is; one that is finished is a conflict: it can be voided.",
        {200: result_shapes.MatchResult},
        tag="matches",
        errors=ERRORS,
        request=table_shapes.CallOffSent,
        shapes={409: result_shapes.FinishedError},
        examples=[OpenApiExample("a player did not come", value={"reason": "Didrik did not come."}, request_only=True)],
        operation_id="matches_call_off",
    )
    def post(self, request: Any, match: int) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, {"reason": _lines}, required=("reason",))
        own_match(match, actor)
        try:
            adjudication.call_off(match_id=match, reason=values["reason"], now=timezone.now())
        except Over as over:
            raise _over(over.match) from None
        return Response(results_of([match], actor)[match])


def _over(match: Match) -> ApiError:
    detail = denial(Over(match))
    return ApiError(409, detail, code="over", match=match.pk)
