"""The check of Law 1: is every stored number what a clean replay gives?

A plain loop of its own over the matches, one at a time, sharing with the site nothing but the rating systems and the rules of
standings: no ledger, no replay, no set-based step. It reads in one snapshot, holds nothing up and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from matches.models import Match
from players.models import Player, Pool, Rating, RatingChange
from players.rows import walk
from players.standings import rank_points, standing
from players.systems.base import Seat


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that is not what the replay gives. `match` is None for the rating as it is now."""

    player: str
    match: int | None
    field: str
    stored: object
    expected: object

    def __str__(self) -> str:
        where = "rating now" if self.match is None else f"match {self.match}"
        return f"{where}, {self.player}: {self.field} is {self.stored!r}, a clean replay gives {self.expected!r}"


@dataclass(slots=True)
class Running:
    """A player's numbers as the loop has them so far."""

    opening: float
    experience: int
    value: float
    peak: float
    peak_match: int | None = None
    matches: int = 0
    last: Match | None = None


def verify(pool: Pool) -> tuple[int, Difference | None]:
    """Replay the pool and compare every stored number bit for bit: how many matches agree, and the first difference.

    History first, in the order of rating; then ratings by player id; then lines of the history that no counted match backs.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql" and len(connection.savepoint_ids) == 0:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        agreed = 0
        for item in _compare(Pool.objects.get(pk=pool.pk)):
            if isinstance(item, Difference):
                return agreed, item
            agreed += item
        return agreed, None


def _compare(pool: Pool) -> Iterator[Difference | int]:
    """1 for each match that agrees, or the first difference."""
    names = dict(Player.objects.values_list("pk", "name"))
    ratings = {rating.player_id: rating for rating in Rating.objects.filter(pool=pool)}
    running = {
        player_id: _opened(rating.opening, rating.opening_experience) for player_id, rating in ratings.items() if rating.brought
    }
    lines = 0
    matches = Match.objects.filter(pool=pool, status=Match.Status.COMPLETED).order_by("ended_at", "timed", "sequence", "id")
    for match in walk(matches.prefetch_related("participants", "changes")):
        system = pool.system_at(match.ended_at)
        reason = system.not_counted(match.result())
        if match.not_counted != (reason.code if reason else ""):
            yield Difference("all players", match.pk, "not_counted", match.not_counted, reason.code if reason else "")
        if reason is not None:
            continue
        stored = {line.player_id: line for line in match.changes.all()}
        seats = [seat.player_id for seat in match.participants.all()]
        states = [running.setdefault(player, _opened(system.start, 0)) for player in seats]
        rated = system.rate([Seat(state.value, state.experience) for state in states], match.result())
        for index, (player, state) in enumerate(zip(seats, states, strict=True)):
            before, experience = state.value, state.experience
            state.value = before + rated.changes[index]
            state.experience = experience + rated.gained
            state.matches += 1
            state.last = match
            if state.value > state.peak:
                state.peak, state.peak_match = state.value, match.pk
            line = stored.get(player)
            if line is None:
                yield Difference(names[player], match.pk, "history", None, "a line")
                return
            lines += 1
            expected = {
                "rating_id": ratings[player].pk if player in ratings else None,
                "before": before,
                "change": rated.changes[index],
                "after": state.value,
                "experience_before": experience,
                "experience_after": state.experience,
                "score": rated.scores[index],
                "expected": rated.expected[index],
                "ended_at": match.ended_at,
                "timed": match.timed,
                "sequence": match.sequence,
            }
            yield from _differences(names[player], match.pk, line, expected)
        yield 1

    for player in sorted(running.keys() | ratings.keys()):
        rating, state = ratings.get(player), running.get(player) or _opened(pool.rating_system.start, 0)
        if rating is None:
            yield Difference(names[player], None, "rating", None, state.value)
            return
        yield from _differences(names[player], None, rating, _rating_expected(pool, rating, state))
    orphans = RatingChange.objects.filter(rating__pool=pool)
    if orphans.count() != lines:
        yield Difference("all players", None, "lines of history", orphans.count(), lines)


def _opened(rating: float, experience: int) -> Running:
    """A player before his first match: what he brought along, else the start of the rules of that match; without one, of those
    of the present."""
    return Running(rating, experience, rating, rating)


def _rating_expected(pool: Pool, rating: Rating, state: Running) -> dict[str, object]:
    last = state.last
    last_ended: datetime | None = last.ended_at if last else None
    at_stored_instant = standing(pool.standing_rule, state.value, last_ended, rating.standing_at)
    return {
        "opening": state.opening,
        "value": state.value,
        "experience": state.experience,
        "matches": state.matches,
        "standing": at_stored_instant,
        "rank_points": rank_points(at_stored_instant, pool.shown_decimals),
        "peak": state.peak,
        "peak_match_id": state.peak_match,
        "last_match_id": last.pk if last else None,
        "last_ended_at": last_ended,
        "last_timed": last.timed if last else None,
        "last_sequence": last.sequence if last else None,
    }


def _differences(player: str, match: int | None, row: object, expected: Mapping[str, object]) -> Iterator[Difference]:
    for name, value in expected.items():
        stored = getattr(row, name)
        if stored != value:
            yield Difference(player, match, name, stored, value)


def stale_standings(pool: Pool, now: datetime | None = None) -> int:
    """How many standings time has moved on from: the next run of update_standings brings them up to date."""
    now = now or timezone.now()
    rule = pool.standing_rule
    if rule is None:
        return 0
    rows = Rating.objects.filter(pool=pool).values_list("standing", "value", "last_ended_at")
    return sum(stored != standing(rule, value, last, now) for stored, value, last in rows.iterator())
