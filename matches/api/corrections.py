"""Corrections by a game server, of what came from its source, or by a login with the right: the same rules and services as the
admin's. A reason is needed; a preview writes nothing; what rates too many matches anew is a job that a worker previews."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.response import Response

from matches import jobs
from matches.api import result_shapes as shapes
from matches.api.jobs import job_answer
from matches.api.previews import preview_answer
from matches.api.published import results_of
from matches.api.reads import MatchRead
from matches.api.resolving import Known
from matches.api.results import OUTCOME, RESULT, TERMS, Sent, end_of
from matches.corrections import Correction, Moved, affected, correct, preview
from matches.entries import BatchRefused, Conflict, Entry, differences, entry_of
from matches.models import Match, Revision
from matches.replay import Overtaken
from matches.words import overtaken_sentence
from players.api import reading
from players.api.actors import Actor, actor_of
from players.api.base import ApiView
from players.api.errors import ApiError, busy, not_found
from players.api.reading import Reader, read_object
from players.api.schema import WRITE_ERRORS
from players.api.schema import described as documented
from players.forms import REASON_MAX
from players.models import Pool
from players.services import present_players
from players.systems.base import Result

CORRECTS = (*WRITE_ERRORS, 404, 409)
HOW: dict[str, Reader] = {
    "reason": lambda name, value: reading.text(name, value, REASON_MAX),
    "preview": reading.flag,
    "version": lambda name, value: reading.whole(name, value, 1, 2**31 - 1),
    "token": lambda name, value: reading.text(name, value, 200),
}


def the_match(pk: int, actor: Actor, scope: str = "corrections") -> Match:
    """A match that the actor may correct. Raises ApiError."""
    match = Match.objects.select_related("pool").prefetch_related("participants__player").filter(pk=pk).first()
    if match is None:
        raise not_found(_("There is no such match."))
    actor.require(scope, match.pool)
    actor.require_own(match.source)
    if match.status == Match.Status.OPEN:
        raise ApiError(409, _("This match is not finished. There is nothing to correct yet."), code="open")
    return match


def _changed(match: Match, values: dict[str, Any], actor: Actor) -> Entry:
    """The match as it shall be: what was sent, and else as it is stored. Raises Unfits, Refused."""
    stored = entry_of(match, list(match.participants.all()))
    result = {name: getattr(stored.result, name) for name in Result.__slots__}
    result |= {name: values[name] for name in TERMS if name in values}
    if any(name in values for name in OUTCOME):
        # A match ends in one way: the new one takes the place of the old.
        result |= {name: values.get(name) for name in OUTCOME}
    entry = replace(stored, result=Result(**result), sequence=values.get("sequence", stored.sequence))
    if "ended_at" in values or "date" in values:
        ended_at, timed = end_of(values)
        entry = replace(entry, ended_at=ended_at, timed=timed)
    if "players" in values:
        sent = Sent("", values["players"], entry.result, entry.ended_at, entry.timed, entry.sequence)
        known = Known(actor, [sent], may_create=False)
        entry = replace(entry, players=known.players_of(sent))
    return replace(entry, players=present_players(entry.players))


class _Corrects(ApiView):
    """What all three have in common: preview, job, or done."""

    def respond(self, actor: Actor, match: Match, values: dict[str, Any], make: Callable[[Match], Correction | None]) -> Response:
        read = Match(pk=match.pk, version=values.get("version", match.version))
        try:
            correction = make(read)
            if correction is None:
                return _done(match, None, actor)
            return self._respond(actor, match.pool, correction, values)
        except BatchRefused as batch:
            raise batch.refused from None
        except Conflict as conflict:
            raise ApiError(409, overtaken_sentence(conflict), match=match.pk) from None
        except Overtaken:
            raise busy() from None

    def _respond(self, actor: Actor, pool: Pool, correction: Correction, values: dict[str, Any]) -> Response:
        if affected(pool, [correction]) > jobs.SMALL:
            job = jobs.start(pool, [correction], reason=values["reason"], made_by=actor.login)
            return Response(job_answer(job), status=202)
        if values.get("preview"):
            seen = preview(pool, [correction])
            return Response({"preview": preview_answer(seen, pool), "revision": None, "result": None})
        try:
            revision = correct(
                pool, [correction], reason=values["reason"], made_by=actor.login, token=values.get("token"), now=timezone.now()
            )
        except Moved as moved:
            detail = _("The pool has changed since this preview. Nothing was written; here is how it would be now.")
            raise ApiError(409, detail, code="moved", preview=preview_answer(moved.preview, pool)) from None
        return _done(correction.match, revision, actor)


def _done(match: Match, revision: Revision | None, actor: Actor) -> Response:
    made = None if revision is None else {"id": revision.pk, "kind": str(revision.kind), "lines": revision.changes}
    return Response({"preview": None, "revision": made, "result": results_of([match.pk], actor)[match.pk]})


class MatchDetail(MatchRead, _Corrects):
    rates = {"PATCH": "write"}

    @documented(
        "Correct a result",
        "What is sent takes the place of what is stored, and everything after the match is rated anew. `preview` shows whom it "
        "moves and writes nothing; with the `token` of a preview it is only made where the pool is still as it was shown. "
        "Sent again, it changes nothing. What is too large for a request is a job (202), which waits to be confirmed.",
        {200: shapes.Corrected, 202: shapes.Job},
        tag="matches",
        errors=CORRECTS,
        request=shapes.CorrectionSent,
        shapes={409: shapes.CorrectionConflict},
        operation_id="matches_correct",
    )
    def patch(self, request: Any, match: int) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, {**HOW, **RESULT}, required=("reason",))
        stored = the_match(match, actor)

        def make(read: Match) -> Correction | None:
            entry = _changed(stored, values, actor)
            if read.version == stored.version and not differences(stored, list(stored.participants.all()), stored.pool, entry):
                return None
            return Correction(read, entry=entry)

        return self.respond(actor, stored, values, make)


class _Voids(_Corrects):
    rate = "write"
    void: bool

    def post(self, request: Any, match: int) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, HOW, required=("reason",))
        stored = the_match(match, actor)
        is_so = self.void == (stored.status == Match.Status.VOIDED)
        return self.respond(actor, stored, values, lambda read: None if is_so else Correction(read, void=self.void))


def _voiding(summary: str, description: str, operation_id: str) -> Any:
    return documented(
        summary,
        description,
        {200: shapes.Corrected, 202: shapes.Job},
        tag="matches",
        errors=CORRECTS,
        request=shapes.ReasonSent,
        shapes={409: shapes.CorrectionConflict},
        operation_id=operation_id,
    )


class Void(_Voids):
    void = True

    @_voiding(
        "Void a match",
        "It counts no more and stays on record, with who, when and why. A match that is voided already stays so.",
        "matches_void",
    )
    def post(self, request: Any, match: int) -> Response:
        return super().post(request, match)


class Unvoid(_Voids):
    void = False

    @_voiding("Take a void back", "The match counts again, as if it had never been voided.", "matches_unvoid")
    def post(self, request: Any, match: int) -> Response:
        return super().post(request, match)
