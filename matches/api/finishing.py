"""How matches end that have started at a game server's tables: with a result, with an evaluation, or called off.

They are completed by the same services as those of the site's own players, and only by the source whose table it was.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample
from rest_framework.response import Response

from matches.api import result_shapes, table_shapes
from matches.api.first import differing, stored_of
from matches.api.published import results_of
from matches.api.resolving import Known
from matches.api.results import TERMS, Sent, own_id
from matches.completion import complete_match
from matches.entries import MOST_AHEAD, Conflict, Entry, differing_terms
from matches.models import Match
from matches.replay import Overtaken
from matches.reports import adjudication
from matches.reports.models import NOTE_MAX
from matches.reports.reporting import Over
from matches.reports.words import denial
from players.api import reading
from players.api.actors import Actor, actor_of
from players.api.base import ApiView
from players.api.errors import ApiError, busy, forbidden, not_found
from players.api.reading import Reader, read_object
from players.api.schema import WRITE_ERRORS
from players.api.schema import described as documented
from players.models import Pool
from players.systems.base import Refused

ATTEMPTS = 4
AGREED = ("length", "deals", "stake", "real_money", "kind")
BEFORE = ("pool", "players", *AGREED)
"""What is settled before a match ends."""


def own_match(pk: int, actor: Actor) -> Match:
    """A match that has started at a table of the actor's source, with its pool and table. Raises ApiError (404, 403)."""
    match = Match.objects.select_related("pool", "table__pool").filter(pk=pk).first()
    if match is None:
        raise not_found(_("There is no such match."))
    actor.require("results", match.pool)
    table = getattr(match, "table", None)
    if table is None or table.source != actor.source:
        raise forbidden(_("This match did not start at a table of your source."))
    return match


def agreed_terms(match: Match, sent: Sent) -> Sent:
    """What was sent, with the terms of the table where it says nothing of them."""
    terms = match.table.terms
    missing = {name: getattr(terms, name) for name in AGREED if getattr(sent.result, name) in (None, "")}
    return replace(sent, result=replace(sent.result, **missing))


def finish(actor: Actor, pool: Pool, match_id: int, sent: Sent, *, now: datetime) -> int:
    """Complete the match as it was sent; its id. The same again finds what the first one did.

    Raises ApiError (403, 404), Refused, and Conflict where the match or what was agreed says something else, or the source's id
    is that of another match.
    """
    for _attempt in range(ATTEMPTS):
        match = own_match(match_id, actor)
        entry = _entry(actor, agreed_terms(match, sent))
        other = stored_of(actor.source, [sent.external_id]).get(sent.external_id)
        if other is not None and other.pk != match.pk:
            raise Conflict(other, differing(other, pool, entry) or ["match"])
        if match.status != Match.Status.OPEN:
            fields = differing(match, pool, entry)
            if (match.source, match.external_id) != (actor.source, sent.external_id):
                fields = [*fields, "external_id"]
            if fields:
                raise Conflict(match, fields)
            return match.pk
        seats = list(match.participants.all())
        if fields := [name for name in differing_terms(match, seats, pool, entry.players, entry.result) if name in BEFORE]:
            raise Conflict(match, fields)
        _check_end(match, sent)
        try:
            done = complete_match(pool, replace(entry, match=Match(pk=match.pk, version=match.version)), now=now)
        except Conflict:
            continue  # finished by somebody else a moment ago: now it is seen
        except Overtaken:
            raise busy() from None
        if done.pk == match.pk:
            return done.pk
    raise busy()


def _check_end(match: Match, sent: Sent) -> None:
    """Raise Refused where it would have ended before it began, by more than two clocks may differ."""
    latest = sent.ended_at if sent.timed else sent.ended_at + timedelta(days=1)
    if latest < match.created_at - MOST_AHEAD:
        raise Refused("ended_at" if sent.timed else "date", "before_start")


def _entry(actor: Actor, sent: Sent) -> Entry:
    """Raises Refused."""
    return Entry(
        players=Known(actor, [sent], may_create=False).players_of(sent),
        result=sent.result,
        ended_at=sent.ended_at,
        timed=sent.timed,
        sequence=sent.sequence,
        source=actor.source,
        external_id=sent.external_id,
        entered_by=actor.login,
    )


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
