"""Results as they come in, from whatever entrance: what an entry holds, what makes it possible, how it differs from what is
stored, and how it fills a match."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from matches.models import Match, Participant
from players import rows
from players.models import Player, Pool
from players.systems.base import Refused, Result
from players.systems.freewhist import normal_places

MOST_AHEAD = timedelta(minutes=5)
"""A server's clock may run ahead by as much."""
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
SEQUENCES = range(-(2**53), 2**53)
TERMS = ("length", "deals", "stake", "real_money", "kind", "points", "chance")
RESULT_FIELDS = ("scores", "places", *TERMS)
OUTCOME_FIELDS = ("scores", "places", "chance")
"""The fields that say how a match ended, each by seats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A result as it comes in, from whatever entrance.

    `players` in the order of the seats, as the result counts them. `ended_at` is aware; with `timed` off only its UTC date is
    meant. `source` and `external_id` together name a match once and for all. `match` is an open match that this completes, read
    at `match.version`. `from_import` is the id of the import that brings it. `played_at` is when it was played, where it
    ends for the ratings at another time.
    """

    players: Sequence[Player]
    result: Result
    ended_at: datetime
    timed: bool = True
    sequence: int = 0
    source: str = ""
    external_id: str = ""
    match: Match | None = None
    entry_token: uuid.UUID | None = None
    entered_by: User | None = None
    from_import: int | None = None
    played_at: datetime | None = None


class Conflict(Exception):
    """What is stored differs from what the writer has seen or sent: the stored match and the names of the fields that differ."""

    def __init__(self, match: Match, fields: Sequence[str]) -> None:
        super().__init__(f"match {match.pk}: {', '.join(fields)}")
        self.match = match
        self.fields = tuple(fields)


@dataclass
class BatchRefused(Exception):
    """A result of a batch cannot be taken: its place in the list, from 0, and why. Nothing was stored."""

    index: int
    refused: Refused

    def __str__(self) -> str:
        return f"entry {self.index}: {self.refused}"


def check_entry(pool: Pool, entry: Entry, openings: Mapping[int, date], *, now: datetime) -> None:
    """Raise Refused unless the entry is a possible result of the pool, counted or not. `openings` are those of its players."""
    check_players(pool, entry.players)
    pool.system_at(instant_of(entry)).check(entry.result)
    if instant_of(entry) > now + MOST_AHEAD:
        raise Refused("ended_at", "in_future")
    if instant_of(entry) < EARLIEST:
        raise Refused("ended_at", "too_early", earliest=EARLIEST.date().isoformat())
    if entry.sequence not in SEQUENCES:
        raise Refused("sequence", "out_of_range", low=SEQUENCES.start, high=SEQUENCES.stop - 1)
    for name, longest in (("source", 100), ("external_id", 200)):
        if len(getattr(entry, name)) > longest:
            raise Refused(name, "too_long", most=longest)
    for player in entry.players:
        opened_on = openings.get(player.pk)
        if opened_on is not None and instant_of(entry).astimezone(UTC).date() < opened_on:
            raise Refused("ended_at", "before_opening", player=player.name, opened_on=opened_on.isoformat())


def check_players(pool: Pool, players: Sequence[Player]) -> None:
    """Raise Refused unless there is one player for each seat, and nobody twice."""
    seats = pool.rating_system.seats
    if len(players) != seats:
        raise Refused("players", "wrong_number", needed=seats, given=len(players))
    if len({player.pk for player in players}) != len(players):
        raise Refused("players", "same_player")


def check_terms(pool: Pool, terms: Result) -> None:
    """Raise Refused unless a match on these terms could be completed in the pool. What only its end will tell is supposed."""
    system = pool.rating_system
    supposed: dict[str, Any] = {}
    if "scores" in system.uses:
        supposed["scores"] = (1.0, 0.0)
    if "places" in system.uses:
        supposed["places"] = tuple(range(1, system.seats + 1))
    if "points" in system.uses and terms.length is None:
        supposed["points"] = 1
    system.check(replace(terms, **supposed))


def openings_of(pool: Pool, entries: Iterable[Entry]) -> dict[int, date]:
    """By player id, the date of the rating that he brought along: an earlier match is in it already."""
    [opened] = rows.run(opened_statement(pool, entries))
    return dict(opened)


def opened_statement(pool: Pool, entries: Iterable[Entry]) -> rows.Statement:
    among, ids = rows.among("player_id", sorted({player.pk for entry in entries for player in entry.players}))
    sql = f"SELECT player_id, opened_on FROM players_rating WHERE pool_id = %s AND opened_on IS NOT NULL AND {among}"
    return sql, [pool.pk, *ids]


def differences(match: Match, seats: Sequence[Participant], pool: Pool, entry: Entry) -> list[str]:
    """The names of the fields in which a match with its participants and an entry differ; `match` where that ends another."""
    names = differing_terms(match, seats, pool, entry.players, normal(entry.result))
    if entry.match is not None and entry.match.pk != match.pk:
        names.append("match")
    if (match.ended_at, match.timed) != (instant_of(entry), entry.timed):
        names.append("ended_at")
    if match.sequence != entry.sequence:
        names.append("sequence")
    return names


def differing_terms(match: Match, seats: Sequence[Participant], pool: Pool, players: Sequence[Player], sent: Result) -> list[str]:
    kept = match.result(seats)
    names = [name for name in RESULT_FIELDS if getattr(sent, name) != getattr(kept, name)]
    if match.pool_id != pool.pk:
        names.append("pool")
    if [seat.player_id for seat in seats] != [player.pk for player in players]:
        names.append("players")
    return names


def instant_of(entry: Entry) -> datetime:
    """When the match ended, as stored: a date alone is the midnight (UTC) that begins it."""
    if entry.timed:
        return entry.ended_at
    return entry.ended_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def normal(result: Result) -> Result:
    """The result as stored: shared places as 1, 1, 3, 4."""
    return result if result.places is None else replace(result, places=normal_places(result.places))


def fill(match: Match, pool: Pool, entry: Entry) -> list[Participant]:
    """Put an entry's result into a match, in memory, and return the participants that go with it."""
    result = normal(entry.result)
    reason = pool.system_at(instant_of(entry)).not_counted(result)
    match.pool = pool
    for name in TERMS:
        setattr(match, name, getattr(result, name))
    match.ended_at, match.timed, match.sequence = instant_of(entry), entry.timed, entry.sequence
    match.not_counted = reason.code if reason else ""
    scores: Sequence[float | None] = result.scores or (None,) * len(entry.players)
    places: Sequence[int | None] = result.places or (None,) * len(entry.players)
    return [
        Participant(match=match, player=player, seat=seat, score=scores[seat - 1], place=places[seat - 1])
        for seat, player in enumerate(entry.players, start=1)
    ]


def entry_of(match: Match, seats: Sequence[Participant]) -> Entry:
    """A stored match that has ended as the entry that makes it, with its participants and their players."""
    assert match.ended_at is not None
    return Entry(
        players=[seat.player for seat in seats],
        result=match.result(seats),
        ended_at=match.ended_at,
        timed=match.timed,
        sequence=match.sequence,
    )


def described(match: Match, seats: Sequence[Participant]) -> dict[str, Any]:
    """What a correction can change, as JSON values; players by id. The end of a match that is not finished is None."""
    result = match.result(seats)
    end = match.ended_at if match.timed or match.ended_at is None else match.ended_at.date()
    return {
        "status": str(match.status),
        "players": [seat.player_id for seat in seats],
        "ended_at": end and end.isoformat(),
        "sequence": match.sequence,
        "scores": result.scores and list(result.scores),
        "places": result.places and list(result.places),
        "stake": None if result.stake is None else f"{result.stake:.2f}",
        **{name: getattr(result, name) for name in TERMS if name != "stake"},
    }


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """By name, the described fields that differ, from what to what.

    Where the result is among them the players are too, the same or not: it says by their seats who won.
    """
    names = {name for name in after if before[name] != after[name]}
    if names & set(OUTCOME_FIELDS):
        names.add("players")
    return {name: [before[name], after[name]] for name in after if name in names}
