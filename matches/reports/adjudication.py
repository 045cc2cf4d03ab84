"""What organisers, and game servers, settle of matches that are not finished: disputes, evaluations of those that were broken
off, and matches that nobody will finish.

The rating goes by the one door, `matches.completion`, with the winning chance in place of scores where a match was evaluated. Who
may do this in a pool is in `players.permissions`; the callers ask there. Nobody settles a match that he plays in himself.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from matches.completion import close_open
from matches.inbox import telling
from matches.models import Evaluation, Match, Report
from matches.reports.models import NOTE_MAX
from matches.reports.reporting import Locked, Outdated, Over, ReportDenied, Told, apply, check_note, check_told, complete, lock
from matches.signals import report_changed
from players.systems.base import Refused, Result

State = Report.State
EVALUATOR_MAX = 100


class OwnMatch(ReportDenied):
    """An organiser plays in the match: another one must settle it."""

    code = "own_match"


@transaction.atomic
def decide(
    *, match_id: int, told: Told, decided_by: User, reason: str, seen: int | None = None, now: datetime | None = None
) -> Match:
    """Complete a match as the organiser has found that it went, or close it where it was not played.

    `seen` is the id of the report that he had before his eyes (None: there was none). One that was broken off is evaluated, with
    `evaluate`. The same decision again finds what the first one did. Raises Match.DoesNotExist, OwnMatch, Over, Outdated, and
    Refused where it is no possible result or the reason is missing.
    """
    now = now or timezone.now()
    table = lock(match_id)
    reason = needed_text("decision", reason)
    if _decided_before(table, decided_by, reason):
        return table.match
    _check(table, decided_by, seen)
    if told.outcome == Report.Outcome.BROKEN_OFF:
        raise Refused("chance", "needed")
    told = check_told(table.match, table.seats, told)
    live = table.live
    apply(table, told, played_at=live.played_at if live else None, by=decided_by, now=now)
    _close(table, decided_by, reason, now)
    return table.match


@transaction.atomic
def evaluate(
    *,
    match_id: int,
    chance: float,
    note: str,
    evaluator: str = "",
    evaluated_by: User | None = None,
    points: int | None = None,
    seen: int | None = None,
    source: str = "",
    external_id: str = "",
    now: datetime | None = None,
) -> Evaluation:
    """Complete a match that was broken off: it is rated by the winning chance of player 1 at the break, from 0 to 1.

    `note` is the position and what led to the number, `evaluator` the program or person; `points` the cube's value in a money
    game (without it, the one that was reported). `evaluated_by` is None for a game server, which needs no report; its `source`
    and `external_id` name the match from then on. The same again answers the stored evaluation. Raises as `decide` does, and
    Conflict where another match has that id.
    """
    now = now or timezone.now()
    table = lock(match_id)
    note, evaluator = needed_text("note", note), check_note(evaluator)
    if len(evaluator) > EVALUATOR_MAX:
        raise Refused("evaluator", "too_long", most=EVALUATOR_MAX)
    known = Evaluation.objects.filter(match=table.match).first()
    if known is not None and (known.chance, known.note, known.evaluator) == (chance, note, evaluator):
        return known
    _check(table, evaluated_by, seen)
    live = table.live
    if points is None and live is not None and table.match.length is None:
        points = live.points
    result = replace(table.match.result(table.seats), chance=chance, points=points)
    table.match.pool.rating_system.check(result)
    played_at = live.played_at if live else None
    complete(table, result, played_at=played_at, by=evaluated_by, now=now, source=source, external_id=external_id)
    made = Evaluation.objects.create(
        match=table.match, chance=chance, note=note, evaluator=evaluator, made_by=evaluated_by, made_at=now
    )
    _close(table, evaluated_by, note, now)
    return made


@transaction.atomic
def call_off(*, match_id: int, reason: str, now: datetime | None = None) -> Match:
    """Close a match without a result, as a game server finds that it will not be played to its end; it needs no report.

    `reason` is for those who have reported one. A match that was closed so before stays as it is. Raises
    Match.DoesNotExist, Over, and Refused where the reason is missing.
    """
    now = now or timezone.now()
    table = lock(match_id)
    reason = needed_text("decision", reason)
    if table.match.status == Match.Status.VOIDED and not has_ended(table.match.result(table.seats)):
        return table.match
    _check(table, None, None)
    close_open(table.match, closed_by=None, now=now)
    _close(table, None, reason, now)
    return table.match


def has_ended(result: Result) -> bool:
    """Whether it says how the match ended."""
    return bool(result.scores or result.places) or result.chance is not None


def needed_text(field: str, text: str) -> str:
    text = check_note(text)
    if not text:
        raise Refused(field, "needed")
    assert len(text) <= NOTE_MAX
    return text


def _check(table: Locked, by: User | None, seen: int | None) -> None:
    """Raises OwnMatch, Over, Outdated."""
    if by is not None and any(seat.player.user_id == by.pk for seat in table.seats):
        raise OwnMatch(table.match, table.live)
    if table.match.status != Match.Status.OPEN:
        raise Over(table.match, Report.objects.filter(match=table.match).first())
    if by is not None and seen != (table.live.pk if table.live else None):
        raise Outdated(table.match, table.live)


def _decided_before(table: Locked, by: User, reason: str) -> bool:
    if table.match.status == Match.Status.OPEN:
        return False
    return Report.objects.filter(match=table.match, state=State.DECIDED, decided_by=by, decision=reason).exists()


def _close(table: Locked, by: User | None, reason: str, now: datetime) -> None:
    """Settle the report of the match, if it had one; else tell its players that an organiser has settled the match. (A game
    server tells its own.)"""
    live = table.live
    if live is None:
        if by is not None:
            telling.of_decision(table.match, table.seats, now)
        return
    live.state, live.settled_at, live.settled_seat = State.DECIDED, now, None
    live.decided_by, live.decision, live.match = by, reason, table.match
    live.save()
    report_changed.send(sender=Report, report=live, seats=table.seats, now=now)
