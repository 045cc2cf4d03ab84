"""The tables that can be exported: their columns, and their rows as they come from the database.

A table of matches or openings has the columns that an import of matches or openings takes, and the numbers of the matches
besides, which an import passes over. Numbers are the stored doubles; instants are in UTC; a match known only by its date has that
date and no instant.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection
from django.utils.translation import gettext_lazy as _

from matches.imports.csv_rows import PLAYERS, RANKS
from matches.models import Match, Participant
from matches.revising import snapshot
from players.models import Pool, Rating, RatingChange
from players.permissions import StakeSight
from players.rankings import ranked
from players.rows import walk

EVERYTHING = StakeSight(all=True)
ORDER = ("ended_at", "timed", "sequence")
TERMS = ("length", "deals", "points", "stake", "real_money", "kind", "chance")
Cell = str | int | float | bool | Decimal | None
Row = list[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` of a pool, and `rows` in their order; `names` are the columns that hold what people have written."""

    label: Any
    columns: Callable[[Pool], tuple[str, ...]]
    rows: Callable[[Pool, StakeSight], Iterator[Row]]
    names: frozenset[str]


@contextmanager
def as_of_one_moment() -> Iterator[None]:
    """Read everything as of one moment, holding nothing up."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor != "sqlite":
        with snapshot():
            yield
        return
    # A transaction that reads only: `atomic` would take the write lock.
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")


def written(instant: datetime) -> str:
    """An instant in UTC, as ISO 8601 has it."""
    return instant.astimezone(UTC).isoformat()


def ending(ended_at: datetime, timed: bool) -> tuple[str | None, str | None]:
    """The date of a match known only by that, and the instant of another."""
    return (None, written(ended_at)) if timed else (ended_at.astimezone(UTC).date().isoformat(), None)


# --- Ratings ---


def _ratings_columns(pool: Pool) -> tuple[str, ...]:
    return ("rank", "player", "rating", "standing", "experience", "matches")


def _ratings(pool: Pool, stakes: StakeSight) -> Iterator[Row]:
    fields = ("rank", "player__name", "value", "standing", "experience", "matches")
    return map(list, walk(ranked(pool).values_list(*fields)))


# --- Openings ---


def _openings_columns(pool: Pool) -> tuple[str, ...]:
    return ("name", "rating", "experience", "date")


def _openings(pool: Pool, stakes: StakeSight) -> Iterator[Row]:
    brought = Rating.objects.filter(pool=pool, brought=True).order_by("player_id")
    fields = ("player__name", "opening", "opening_experience", "opened_on")
    for name, rating, experience, on in walk(brought.values_list(*fields)):
        yield [name, rating, experience, on.isoformat() if on else None]


# --- History ---


def _history_columns(pool: Pool) -> tuple[str, ...]:
    return (
        *("match", "date", "ended_at", "sequence", "player", "before", "change", "after"),
        *("experience_before", "experience_after", "score", "expected"),
    )


def _history(pool: Pool, stakes: StakeSight) -> Iterator[Row]:
    fields = (
        *("match_id", "ended_at", "timed", "sequence", "player__name", "before", "change", "after"),
        *("experience_before", "experience_after", "score", "expected"),
    )
    lines = RatingChange.objects.filter(rating__pool=pool).order_by(*ORDER, "match_id", "player_id")
    for match, ended_at, timed, *rest in walk(lines.values_list(*fields)):
        yield [match, *ending(ended_at, timed), *rest]


# --- Matches ---


def _matches_columns(pool: Pool) -> tuple[str, ...]:
    system = pool.rating_system
    seats = PLAYERS[: system.seats]
    outcome = RANKS[: system.seats] if "places" in system.uses else ("result",)
    terms = tuple(name for name in TERMS if name in system.uses)
    return ("match", "date", "ended_at", "sequence", *seats, *outcome, *terms, "not_counted")


@dataclass(frozen=True, slots=True)
class Seated:
    """A participant of a completed match."""

    player_id: int
    name: str
    user_id: int | None
    score: float | None
    place: int | None


SEAT_FIELDS = ("player_id", "player__name", "player__user_id", "score", "place")
MATCH_FIELDS = ("id", *ORDER, *TERMS, "not_counted")


def completed_matches(pool: Pool) -> Generator[tuple[dict[str, Any], list[Seated]], None, None]:
    """The pool's completed matches in the order of rating, with their participants in the order of seats. One query."""
    seats = Participant.objects.filter(match__pool=pool, match__status=Match.Status.COMPLETED)
    in_order = seats.order_by(*(f"match__{name}" for name in ORDER), "match_id", "seat")
    found = in_order.values_list(*(f"match__{name}" for name in MATCH_FIELDS), *SEAT_FIELDS)
    for _match, group in groupby(walk(found), key=itemgetter(0)):
        rows = list(group)
        match = dict(zip(MATCH_FIELDS, rows[0], strict=False))
        yield match, [Seated(*row[len(MATCH_FIELDS) :]) for row in rows]


def _matches(pool: Pool, stakes: StakeSight) -> Iterator[Row]:
    uses = pool.rating_system.uses
    terms = [name for name in TERMS if name in uses]
    for match, seats in completed_matches(pool):
        if "places" in uses:
            outcome: Row = [seat.place for seat in seats]
        else:
            # 1, 0.5 or 0, as an import reads it; a match that was broken off has the chance instead.
            score = seats[0].score
            outcome = [None if score is None else int(score) if score == int(score) else score]
        seen = stakes.of(seats)
        values = [match[name] if seen or name != "stake" else None for name in terms]
        yield [
            *(match["id"], *ending(match["ended_at"], match["timed"]), match["sequence"]),
            *(seat.name for seat in seats),
            *(*outcome, *values, match["not_counted"]),
        ]


TABLES: dict[str, Table] = {
    "ratings": Table(_("Ratings, in the order of the ranking"), _ratings_columns, _ratings, frozenset({"player"})),
    "history": Table(_("History: what each match did to each rating"), _history_columns, _history, frozenset({"player"})),
    "matches": Table(_("Matches, completed, in the order of rating"), _matches_columns, _matches, frozenset(PLAYERS)),
    "openings": Table(_("Ratings that players brought along"), _openings_columns, _openings, frozenset({"name"})),
}
