"""Reads of the page of a match that is not finished: what it would do to the ratings, what was reported, what may be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Prefetch

from matches.lobby.admission import Strength, strengths_of
from matches.models import Match, Participant, RakeBand, Report
from matches.money.rake import bands_of, rake_for
from matches.reports.reporting import NotAtTable, Told, other_version, told_of
from matches.reports.words import told_in_words
from players.models import Player
from players.simulation import FourPlayers, simulate
from players.systems.base import Refused, Seat
from players.wording import reason

POINTS_SHOWN = (1, 2, 3, 4, 6, 8)
"""Of a money game, for so many points the sums are shown before its end."""
State = Report.State


@dataclass(frozen=True, slots=True)
class Prospect:
    """What the match moves for the reader, in points, by how it ends: won, drawn (None: there are no draws here) and lost.

    In a money game for so many `points`. `rake` in euros, None where none is taken.
    """

    won: float
    drawn: float | None
    lost: float
    points: int | None = None
    rake: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """How somebody says that it went, in words, and what it would move by seats, in points (None: nothing, or not known)."""

    by: Player
    told: Told
    words: str
    note: str
    changes: tuple[tuple[Participant, float], ...] | None

    def for_reader(self, player_id: int) -> float | None:
        return next((change for seat, change in self.changes or () if seat.player_id == player_id), None)


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A match, as one of its players may report it."""

    match: Match
    seats: tuple[Participant, ...]
    own: Participant
    live: Report | None
    reported: Version | None
    disputed: Version | None
    why_not: str
    prospects: tuple[Prospect, ...]
    places: tuple[float, ...]
    own_change: float | None
    rake_is_example: bool

    @property
    def others(self) -> tuple[Participant, ...]:
        return tuple(seat for seat in self.seats if seat is not self.own)

    @property
    def is_own(self) -> bool:
        """Whether the reader has reported himself."""
        return self.live is not None and self.live.seat == self.own.seat

    @property
    def may_confirm(self) -> bool:
        if self.live is None or self.is_own or self.live.state == State.AGREED:
            return False
        return self.live.state == State.WAITING or self.live.disputed_seat == self.own.seat

    @property
    def may_dispute(self) -> bool:
        return self.may_confirm or (self.live is not None and not self.is_own and self.live.state == State.AGREED)

    @property
    def may_report(self) -> bool:
        return self.live is None or self.is_own


def report_page(match_id: int, reader: Player) -> ReportPage:
    """The page for a player. Raises Match.DoesNotExist, and NotAtTable where he has no seat. At most five queries."""
    match = Match.objects.select_related("pool").get(pk=match_id)
    seats = tuple(match.participants.select_related("player").order_by("seat"))
    own = next((seat for seat in seats if seat.player_id == reader.pk), None)
    if own is None:
        raise NotAtTable(match)
    live = Report.objects.filter(match=match, match_version=match.version, state__in=Report.LIVE).first()
    strengths = strengths_of(match.pool, [seat.player_id for seat in seats])
    at_table = [strengths[seat.player_id] for seat in seats]
    bands = bands_of(match.pool) if match.real_money else []
    why_not = _why_not(match, seats)
    versions: tuple[Version, ...] = ()
    if live is not None:
        live.match = match
        versions = _versions(match, seats, at_table, live, why_not)
    reported, disputed = (*versions, None, None)[:2]
    prospects: tuple[Prospect, ...] = ()
    places: tuple[float, ...] = ()
    if not why_not:
        prospects, places = _prospects(match, own.seat - 1, at_table, bands)
    return ReportPage(
        match=match,
        seats=seats,
        own=own,
        live=live,
        reported=reported,
        disputed=disputed,
        why_not=why_not,
        prospects=prospects,
        places=places,
        rake_is_example=any(band.example for band in bands),
        own_change=reported.for_reader(reader.pk) if reported else None,
    )


def versions_of(match: Match, seats: Sequence[Participant], live: Report) -> tuple[Version, ...]:
    """What a report says, and where it is disputed what the other one says. One query."""
    strengths = strengths_of(match.pool, [seat.player_id for seat in seats])
    return _versions(match, seats, [strengths[seat.player_id] for seat in seats], live, _why_not(match, seats))


def _versions(
    match: Match, seats: Sequence[Participant], at_table: Sequence[Strength], live: Report, why_not: str
) -> tuple[Version, ...]:
    reported = _version(match, seats, at_table, live.seat, told_of(live), live.note, why_not)
    other = other_version(live)
    if other is None or live.disputed_seat is None or live.state != State.DISPUTED:
        return (reported,)
    return reported, _version(match, seats, at_table, live.disputed_seat, other, live.dispute_note, why_not)


def _supposed(match: Match, seats: Sequence[Participant], points: int | None = 1) -> Any:
    """The match as if it had ended, to ask whether it would count."""
    system = match.pool.rating_system
    scores = (1.0, 0.0) if "scores" in system.uses else None
    places = tuple(range(1, system.seats + 1)) if "places" in system.uses else None
    money_game = "points" in system.uses and match.length is None
    return replace(match.result(seats), scores=scores, places=places, points=points if money_game else None)


def _why_not(match: Match, seats: Sequence[Participant]) -> str:
    """Why the match will move no rating, as a sentence; "" where it will."""
    found = match.pool.rating_system.not_counted(_supposed(match, seats))
    return reason(found.code, found.values) if found else ""


def _prospects(
    match: Match, own: int, at_table: Sequence[Strength], bands: Sequence[RakeBand]
) -> tuple[tuple[Prospect, ...], tuple[float, ...]]:
    """By how it ends, or by the reader's place at a table of four. Both are empty where the terms cannot be rated."""
    system = match.pool.rating_system
    money_game = "points" in system.uses and match.length is None
    found: list[Prospect] = []
    for points in POINTS_SHOWN if money_game else (None,):
        try:
            simulated = simulate(
                system,
                [one.seat for one in at_table],
                length=match.length,
                stake=match.stake,
                points=points,
                deals=match.deals,
            )
        except Refused:
            return (), ()
        if isinstance(simulated, FourPlayers):
            return (), simulated.changes[own]
        changes = [outcome.changes[own] for outcome in simulated.outcomes]
        won, lost = (changes[0], changes[-1]) if own == 0 else (changes[-1], changes[0])
        rake = rake_for(
            bands,
            ratings=[one.rating for one in at_table],
            length=match.length,
            stake=match.stake,
            points=points,
            real_money=match.real_money,
        )
        found.append(Prospect(won, changes[1] if len(changes) == 3 else None, lost, points, rake))
    return tuple(found), ()


def _version(
    match: Match,
    seats: Sequence[Participant],
    at_table: Sequence[Strength],
    seat: int,
    told: Told,
    note: str,
    why_not: str,
) -> Version:
    by = next((each.player for each in seats if each.seat == seat), seats[0].player)
    words = told_in_words(match, seats, told)
    if why_not or told.outcome != Report.Outcome.RESULT:
        return Version(by, told, words, note, None)
    result = replace(match.result(seats), scores=told.scores, places=told.places, points=told.points)
    try:
        rated = match.pool.rating_system.rate([Seat(one.rating, one.experience) for one in at_table], result)
    except Refused:
        return Version(by, told, words, note, None)
    return Version(by, told, words, note, tuple(zip(seats, rated.changes, strict=True)))


# --- All matches of a player that are not finished ---


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A match that a player has not finished, with its report that stands. `turn`: it waits for him."""

    match: Match
    seats: tuple[Participant, ...]
    own: Participant
    live: Report | None

    @property
    def others(self) -> tuple[Participant, ...]:
        return tuple(seat for seat in self.seats if seat is not self.own)

    @property
    def turn(self) -> bool:
        return self.live is None or (self.live.state == State.WAITING and self.live.seat != self.own.seat)


MOST_UNFINISHED = 100


def unfinished(player: Player) -> list[Unfinished]:
    """The player's matches that are not finished, those that wait for him first, then the newest. Three queries."""
    live = Report.objects.filter(state__in=Report.LIVE)
    seats = Participant.objects.select_related("player").order_by("seat")
    matches = (
        Match.objects.filter(participants__player=player, status=Match.Status.OPEN)
        .select_related("pool")
        .prefetch_related(Prefetch("participants", seats), Prefetch("reports", live, to_attr="live_reports"))
        .order_by("-created_at", "-pk")[:MOST_UNFINISHED]
    )
    found = [_unfinished(match, player) for match in matches]
    return sorted(found, key=lambda one: not one.turn)


def _unfinished(match: Any, player: Player) -> Unfinished:
    seats = tuple(match.participants.all())
    own = next(seat for seat in seats if seat.player_id == player.pk)
    live = next((report for report in match.live_reports if report.match_version == match.version), None)
    return Unfinished(match, seats, own, live)
