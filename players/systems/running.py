"""Matches rated one after the other in memory: where each player stands meanwhile, and the lines of his history.

The general way to do it; `RatingSystem.rate_many` may have a faster one, which gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from players.systems.base import RATING_LIMIT, Rated, Refused, Result, Seat

if TYPE_CHECKING:
    from players.systems.base import RatingSystem


class MatchKey(NamedTuple):
    """A match's place in the order of rating: compares as the order does."""

    ended_at: datetime
    timed: bool
    sequence: int
    id: int


Line = tuple[int, int, float, float, float, int, int, float, float, datetime, bool, int]
"""One line of the history: what a match did to a player's rating, in the order of LINE_FIELDS.

A plain tuple: a replay makes millions, and a named one takes twice as long to make.
"""
LINE_FIELDS = (
    "match_id",
    "player_id",
    "before",
    "change",
    "after",
    "experience_before",
    "experience_after",
    "score",
    "expected",
    "ended_at",
    "timed",
    "sequence",
)
MATCH: Final = 0
PLAYER: Final = 1


def key_of(line: Line) -> MatchKey:
    """The place of the line's match in the order of rating."""
    return MatchKey(line[9], line[10], line[11], line[MATCH])


class Running:
    """A player's rating (points), experience and count of matches while matches are rated in memory, one after the other.

    `peak` is the highest rating so far, never below `value`, and `peak_match_id` the match that reached it (None: the opening);
    `last` the last match. `opening` is the start (points) from which somebody began who brought no rating along; None where these
    matches do not tell.
    """

    __slots__ = ("experience", "last", "matches", "opening", "peak", "peak_match_id", "value")

    def __init__(
        self,
        value: float,
        experience: int,
        matches: int = 0,
        peak: float | None = None,
        peak_match_id: int | None = None,
        last: MatchKey | None = None,
        opening: float | None = None,
    ) -> None:
        self.value, self.experience, self.matches, self.last, self.opening = value, experience, matches, last, opening
        self.peak, self.peak_match_id = value if peak is None else peak, peak_match_id


Game = tuple[MatchKey, Sequence[int], Result]
"""A counted match: its key, its players' ids in the order of the seats, and its checked result."""


def book(key: MatchKey, player_ids: Sequence[int], at_table: Sequence[Running], rated: Rated) -> list[Line]:
    """Apply one match's changes to its players' ratings, in memory, and return the lines of their history, in seat order.

    Raises Refused, which names the match, where a rating would leave the accepted range.
    """
    ended_at, timed, sequence, match_id = key
    lines: list[Line] = []
    for seat, player in enumerate(at_table):
        before, experience, change = player.value, player.experience, rated.changes[seat]
        after = before + change
        if not -RATING_LIMIT <= after <= RATING_LIMIT:
            raise out_of_range(match_id)
        player.value = after
        player.experience = gained = experience + rated.gained
        player.matches += 1
        if after > player.peak:
            player.peak, player.peak_match_id = after, match_id
        player.last = key
        score, expected = rated.scores[seat], rated.expected[seat]
        lines.append(
            (match_id, player_ids[seat], before, change, after, experience, gained, score, expected, ended_at, timed, sequence)
        )
    return lines


def out_of_range(match_id: int) -> Refused:
    """The error that says that a rating would leave the accepted range in a match."""
    return Refused("rating", "out_of_range", match=match_id, low=-RATING_LIMIT, high=RATING_LIMIT)


def seated(player_ids: Sequence[int], players: dict[int, Running], start: Callable[[int], Running]) -> list[Running]:
    """The players of a match; who has none yet begins where `start` says."""
    for player_id in player_ids:
        if player_id not in players:
            players[player_id] = start(player_id)
    return [players[player_id] for player_id in player_ids]


def rate_one_by_one(
    system: RatingSystem, games: Iterable[Game], players: dict[int, Running], start: Callable[[int], Running]
) -> Iterator[Line]:
    """`RatingSystem.rate_many` as every system can do it."""
    for key, player_ids, result in games:
        at_table = seated(player_ids, players, start)
        rated = system.rate([Seat(player.value, player.experience) for player in at_table], result)
        yield from book(key, player_ids, at_table, rated)
