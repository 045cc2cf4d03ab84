"""Turns completed matches into the systems' plain numbers and hands the answers to the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from matches import replay
from matches.models import Match, Participant, Revision
from players import ledger
from players.models import Pool
from players.systems.base import Refused, Seat
from players.systems.running import Line, MatchKey, Running, book

LATE = timedelta(hours=1)
"""A match that is entered later than this after its end, and rates others anew, is a revision."""


class LateMatch(Exception):
    """A later match of one of the players is rated already: the pool must be replayed, which needs it exclusively."""


class MatchRefused(Exception):
    """A match cannot be rated: which one and why."""

    def __init__(self, match: Match, refused: Refused) -> None:
        super().__init__(f"match {match.pk}: {refused}")
        self.match = match
        self.refused = refused


def match_key(match: Match) -> MatchKey:
    """The match's place in the order of rating. The match is stored and completed."""
    assert match.ended_at is not None
    return MatchKey(match.ended_at, match.timed, match.sequence, match.pk)


def rate_matches(
    matches: Sequence[Match], seats: Mapping[int, Sequence[Participant]], *, pool: Pool, exclusive: bool, now: datetime
) -> None:
    """Rate those of the matches (in the order of rating, with their participants by match id) that count.

    Where all of them come after what their players have played, they are rated on top of the ratings; else the pool is replayed.
    Raises LateMatch where that takes the pool exclusively and it is held shared, MatchRefused where a rating would leave its
    range.
    """
    counted = [match for match in matches if not match.not_counted]
    if not counted:
        return
    players = {match.pk: [seat.player_id for seat in seats[match.pk]] for match in counted}
    ratings = ledger.lock_ratings(pool, {player_id for at_table in players.values() for player_id in at_table}, now)
    states: dict[int, Running] = {}
    lines: list[Line] = []
    for match in counted:
        key, system = match_key(match), pool.system_at(match.ended_at)
        for player_id in players[match.pk]:
            if player_id not in states:
                states[player_id] = ledger.running(ratings[player_id], system.start)
        at_table = [states[player_id] for player_id in players[match.pk]]
        try:
            if any(player.last is not None and key < player.last for player in at_table):
                if not exclusive:
                    raise LateMatch
                _rate_late(counted, pool, now)
                return
            result = match.result(seats[match.pk])
            rated = system.rate([Seat(player.value, player.experience) for player in at_table], result)
            lines += book(key, players[match.pk], at_table, rated)
        except Refused as refused:
            named = refused.values.get("match")
            raise MatchRefused(next((each for each in counted if each.pk == named), match), refused) from refused
    ledger.write(pool, ratings, states, lines, now)


def _rate_late(matches: Sequence[Match], pool: Pool, now: datetime) -> None:
    """Rate matches of which some are late, and anew what comes after them. The pool is held exclusively."""
    answer = replay.recalculate(pool, min(match_key(match) for match in matches))
    late = [match for match in matches if now - known_end(match) >= LATE]
    revision = None
    if late and answer.changed:
        revision = Revision.objects.create(
            pool=pool, kind=Revision.Kind.LATE, changes=answer.writes, made_by=late[0].entered_by, made_at=now
        )
        revision.matches.set(late)
    replay.apply(pool, answer, now, revision.pk if revision else None)


def known_end(match: Match | MatchKey) -> datetime:
    """The latest instant at which the match can have ended: of a date alone, the end of that date (UTC)."""
    assert match.ended_at is not None
    return match.ended_at if match.timed else match.ended_at + timedelta(days=1)
