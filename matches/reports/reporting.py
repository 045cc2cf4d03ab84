"""Reports: a player says how a match went, another one confirms or disputes it, and only what is confirmed is rated.

Any one of the other players confirms; he who reported does not. Silence confirms after REPORT_HOURS, unless the match was broken
off (then an organiser or the game server evaluates it, see `adjudication`) or any report of it was disputed. The match is
rated as one that ends at the instant of confirmation, so that it comes after all that was rated before; `played_at` keeps when it
was played. The match is locked before anything is read of its reports, so that clicks that race have one effect.

Whoever calls says for which player; that the caller is this player is the view's to know.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from matches.completion import close_open, complete_match
from matches.entries import MOST_AHEAD, Conflict, Entry, normal
from matches.models import Match, Participant, Report
from matches.reports.models import NOTE_MAX
from matches.signals import report_changed
from players.models import Player
from players.systems.base import Refused, Result

log = logging.getLogger(__name__)
Outcome, State = Report.Outcome, Report.State


class ReportDenied(Exception):
    """A player may not do this, or not any more. `code` names the rule, `match` and `report` are as they are stored now."""

    code = ""

    def __init__(self, match: Match, report: Report | None = None) -> None:
        super().__init__(f"match {match.pk}: {self.code}")
        self.match = match
        self.report = report


class NotAtTable(ReportDenied):
    """The player has no seat in the match."""

    code = "not_at_table"


class OwnReport(ReportDenied):
    """Nobody confirms or disputes what he has reported himself."""

    code = "own_report"


class NotYours(ReportDenied):
    """Only he who made the report can withdraw it, and only he who disputed it can give in."""

    code = "not_yours"


class Outdated(ReportDenied):
    """What he answers to was changed or withdrawn since, or somebody else has reported meanwhile: `report` is what stands now."""

    code = "outdated"


class SameVersion(ReportDenied):
    """He disputes a report and says the same: then he confirms it."""

    code = "same_version"


class Over(ReportDenied):
    """The match is finished already."""

    code = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How a match went, as somebody tells it: `scores` or `places` by seats and, in a money game, the points won (of one that was
    broken off: the cube's value)."""

    outcome: str
    scores: tuple[float, ...] | None = None
    places: tuple[int, ...] | None = None
    points: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def told_of(report: Report) -> Told:
    """What the report says."""
    return _told({"outcome": report.outcome, "scores": report.scores, "places": report.places, "points": report.points})


def other_version(report: Report) -> Told | None:
    """What he says who disputes it."""
    return None if report.other is None else _told(report.other)


def _told(values: dict[str, Any]) -> Told:
    kept: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Told(**kept)


@dataclass(slots=True)
class Locked:
    """A match that is held until the transaction ends, with its seats and its report that is not settled."""

    match: Match
    seats: list[Participant]
    live: Report | None

    def seat_of(self, player: Player) -> int:
        """Raises NotAtTable."""
        for seat in self.seats:
            if seat.player_id == player.pk:
                return seat.seat
        raise NotAtTable(self.match)


# --- What players do ---


@transaction.atomic
def report(
    *,
    match_id: int,
    player: Player,
    told: Told,
    played_at: datetime | None = None,
    note: str = "",
    seen: int | None = None,
    now: datetime | None = None,
) -> Report:
    """Report how a match went, in place of what the player reported before.

    `played_at` is when it ended (now, where nothing is said); `seen` the id of the report that he had before his eyes. The same
    report again answers the stored one, and the same as another has reported confirms that one. Raises Match.DoesNotExist,
    NotAtTable, Over, Outdated, and Refused where it is no possible result.
    """
    now = now or timezone.now()
    table = lock(match_id)
    match, live, seat = table.match, table.live, table.seat_of(player)
    if match.status != Match.Status.OPEN:
        raise Over(match, _last(match))
    told = check_told(match, table.seats, told)
    note = check_note(note)
    played_at = _played_at(match, played_at, now)
    if live is not None and live.match_version != match.version:
        # The match got other players or terms since.
        _settle(live, State.REPLACED, now)
        live = None
    if live is not None:
        same = told_of(live) == told
        if live.seat == seat and same and live.note == note and live.state != State.DISPUTED:
            return live
        if live.seat != seat:
            if same and live.state == State.WAITING:
                return _confirm(table, live, seat, now)
            raise Outdated(match, live)
        if seen is not None and seen != live.pk:
            raise Outdated(match, live)
        _settle(live, State.REPLACED, now)
    made = Report(
        match=match,
        match_version=match.version,
        seat=seat,
        **told.to_json(),
        played_at=played_at,
        note=note,
        made_at=now,
        confirms_at=_confirms_at(match, told, now),
    )
    if made.confirms_at is not None and made.is_one_too_many():
        made.confirms_at = None
    made.save()
    return _changed(table, made, now)


@transaction.atomic
def confirm(*, report_id: int, player: Player, now: datetime | None = None) -> Report:
    """Confirm what another has reported: the match is completed and rated, or closed where it was not played. He who has disputed
    a report confirms it by this too.

    A second click finds what the first one did. Raises Report.DoesNotExist, NotAtTable, OwnReport, NotYours, Outdated, Over, and
    Refused where it cannot be rated.
    """
    now = now or timezone.now()
    table, found = _locked_report(report_id)
    seat = table.seat_of(player)
    if found.state in (State.CONFIRMED, State.AGREED) and found.settled_seat == seat:
        return found
    _check_answerable(table, found, seat)
    if found.state == State.DISPUTED and found.disputed_seat != seat:
        raise NotYours(table.match, found)
    return _confirm(table, found, seat, now)


@transaction.atomic
def dispute(*, report_id: int, player: Player, told: Told, note: str = "", now: datetime | None = None) -> Report:
    """Say that it went otherwise: an organiser decides. Silence confirms no report of this match any more.

    The same again answers the stored one. Raises Report.DoesNotExist, NotAtTable, OwnReport, Outdated, Over, SameVersion, and
    Refused where it is no possible result.
    """
    now = now or timezone.now()
    table, found = _locked_report(report_id)
    seat = table.seat_of(player)
    told, note = check_told(table.match, table.seats, told), check_note(note)
    if found.state == State.DISPUTED and (found.disputed_seat, other_version(found), found.dispute_note) == (seat, told, note):
        return found
    _check_answerable(table, found, seat)
    if found.state == State.DISPUTED and found.disputed_seat != seat:
        raise Outdated(table.match, found)
    if told == told_of(found):
        raise SameVersion(table.match, found)
    found.state, found.confirms_at = State.DISPUTED, None
    found.disputed_seat, found.disputed_at, found.other, found.dispute_note = seat, now, told.to_json(), note
    found.save()
    return _changed(table, found, now)


@transaction.atomic
def withdraw(*, report_id: int, player: Player, now: datetime | None = None) -> Report:
    """Take a report back that is not settled. Raises Report.DoesNotExist, NotAtTable, NotYours, Outdated, Over."""
    now = now or timezone.now()
    table, found = _locked_report(report_id)
    if found.seat != table.seat_of(player):
        raise NotYours(table.match, found)
    if found.state == State.WITHDRAWN:
        return found
    _check_live(table, found)
    _settle(found, State.WITHDRAWN, now)
    return _changed(table, found, now)


def confirm_silent(now: datetime) -> int:
    """Confirm what nobody has answered in time, each in a transaction of its own; how many. A second run finds nothing to do."""
    due = Report.objects.filter(state=State.WAITING, confirms_at__lte=now, match__status=Match.Status.OPEN)
    return sum(_confirm_silent(report_id, now) for report_id in due.order_by("pk").values_list("pk", flat=True))


def _confirm_silent(report_id: int, now: datetime) -> bool:
    try:
        with transaction.atomic():
            table, found = _locked_report(report_id)
            if found.state != State.WAITING or found.confirms_at is None or found.confirms_at > now:
                return False
            _check_live(table, found)
            _confirm(table, found, None, now)
    except (ReportDenied, Report.DoesNotExist):
        return False
    except (Refused, Conflict):
        # It waits for an organiser then, and not for the next run.
        log.exception("Report %s cannot be confirmed by silence.", report_id)
        Report.objects.filter(pk=report_id, state=State.WAITING).update(confirms_at=None)
        return False
    return True


# --- What they share, also with the organisers ---


def lock(match_id: int) -> Locked:
    """The match, held until the transaction ends. Raises Match.DoesNotExist. Three queries."""
    match = Match.objects.select_for_update(no_key=True, of=("self",)).select_related("pool").get(pk=match_id)
    seats = list(match.participants.select_related("player").order_by("seat"))
    live = Report.objects.filter(match=match, state__in=Report.LIVE).first()
    if live is not None:
        live.match = match
    return Locked(match, seats, live)


def _locked_report(report_id: int) -> tuple[Locked, Report]:
    """Raises Report.DoesNotExist."""
    match_id = Report.objects.values_list("match_id", flat=True).get(pk=report_id)
    table = lock(match_id)
    found = table.live if table.live is not None and table.live.pk == report_id else Report.objects.get(pk=report_id)
    found.match = table.match
    return table, found


def _last(match: Match) -> Report | None:
    return Report.objects.filter(match=match).first()


def _check_live(table: Locked, found: Report) -> None:
    """Raises Over, Outdated. A report from before the match got other players or terms is outdated."""
    if table.match.status != Match.Status.OPEN:
        raise Over(table.match, found)
    if not found.is_live or found.match_version != table.match.version:
        raise Outdated(table.match, table.live)


def _check_answerable(table: Locked, found: Report, seat: int) -> None:
    _check_live(table, found)
    if found.seat == seat:
        raise OwnReport(table.match, found)


def check_told(match: Match, seats: Sequence[Participant], told: Told) -> Told:
    """What was told, as it is stored: shared places as 1, 1, 3, 4. Raises Refused unless the match can have gone so."""
    system = match.pool.rating_system
    if told.outcome not in Outcome.values:
        raise Refused("result", "unknown", allowed=", ".join(Outcome.values))
    if told.outcome == Outcome.RESULT:
        result = normal(replace(match.result(seats), scores=told.scores, places=told.places, points=told.points))
        system.check(result)
        return replace(told, scores=result.scores and tuple(map(float, result.scores)), places=result.places)
    if told.scores is not None or told.places is not None:
        raise Refused("result", "said_twice")
    if told.outcome == Outcome.CALLED_OFF:
        if told.points is not None:
            raise Refused("points", "not_used")
    elif "chance" not in system.uses:
        raise Refused("chance", "not_used")
    else:
        check_cube(match, told.points)
    return told


def check_cube(match: Match, points: int | None) -> None:
    """Raises Refused unless a match that is broken off can have so many points at stake: a money game has the cube's value, which
    may not be known yet."""
    if points is not None:
        check = replace(match.result([]), scores=None, places=None, chance=0.5, points=points)
        match.pool.rating_system.check(check)


def check_note(note: str) -> str:
    """The note as it is stored. Raises Refused."""
    note = "\n".join(line.rstrip() for line in note.replace("\r\n", "\n").replace("\x00", "").strip().split("\n"))
    if len(note) > NOTE_MAX:
        raise Refused("note", "too_long", most=NOTE_MAX)
    return note


def _played_at(match: Match, played_at: datetime | None, now: datetime) -> datetime:
    """Raises Refused for a time in the future or before the match was made; the form knows minutes only."""
    if played_at is None:
        return now
    if played_at > now + MOST_AHEAD:
        raise Refused("played_at", "in_future")
    if played_at < match.created_at.replace(second=0, microsecond=0):
        raise Refused("played_at", "before_start")
    return min(played_at, now)


def _confirms_at(match: Match, told: Told, now: datetime) -> datetime | None:
    if told.outcome == Outcome.BROKEN_OFF or Report.objects.filter(match=match, disputed_at__isnull=False).exists():
        return None
    return now + timedelta(hours=settings.REPORT_HOURS)


def _confirm(table: Locked, found: Report, seat: int | None, now: datetime) -> Report:
    found.settled_seat, found.settled_at = seat, now
    if found.outcome == Outcome.BROKEN_OFF:
        found.state, found.confirms_at = State.AGREED, None
    else:
        apply(table, told_of(found), played_at=found.played_at, by=None, now=now)
        found.state = State.CONFIRMED
    found.save()
    return _changed(table, found, now)


def apply(table: Locked, told: Told, *, played_at: datetime | None, by: User | None, now: datetime) -> None:
    """Complete the match as told, at the instant `now`, or close it where it was not played. It is open and held.

    Raises Refused.
    """
    match = table.match
    if told.outcome == Outcome.CALLED_OFF:
        close_open(match, closed_by=by, now=now)
        return
    result = replace(match.result(table.seats), scores=told.scores, places=told.places, points=told.points)
    complete(table, result, played_at=played_at, by=by, now=now)


def complete(
    table: Locked,
    result: Result,
    *,
    played_at: datetime | None,
    by: User | None,
    now: datetime,
    source: str = "",
    external_id: str = "",
) -> None:
    """Complete the match with the result, by the one door. It is open, and held. Raises Refused, and Conflict where another match
    has the id at the source."""
    entry = Entry(
        players=[seat.player for seat in table.seats],
        result=result,
        ended_at=now,
        match=Match(pk=table.match.pk, version=table.match.version),
        source=source,
        external_id=external_id,
        entered_by=by,
        played_at=played_at,
    )
    done = complete_match(table.match.pool, entry, now=now)
    if done.pk != table.match.pk:
        raise Conflict(done, ["external_id"])
    table.match = done


def _settle(found: Report, state: str, now: datetime) -> None:
    found.state, found.settled_at = state, now
    found.save()


def _changed(table: Locked, found: Report, now: datetime) -> Report:
    found.match = table.match
    report_changed.send(sender=Report, report=found, seats=table.seats, now=now)
    return found


__all__ = [
    "NotAtTable",
    "NotYours",
    "Outdated",
    "Over",
    "OwnReport",
    "ReportDenied",
    "SameVersion",
    "Told",
    "confirm",
    "confirm_silent",
    "dispute",
    "report",
    "told_of",
    "withdraw",
]
