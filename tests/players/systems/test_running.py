"""Many matches rated by a system's fast way give the bits that they give one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players import systems
from players.systems.base import EXPERIENCE_LIMIT, RATING_LIMIT, RatingSystem, Refused, Result, Seat
from players.systems.fibs import Fibs
from players.systems.running import LINE_FIELDS, Game, Line, MatchKey, Running, key_of, rate_one_by_one
from tests.players.systems.results import LOST, WON
from tests.players.systems.strategies import parameters, ratings, results, usual_ratings

DAY_ONE = datetime(2026, 3, 1, tzinfo=UTC)
IDS = range(11, 17)

start = st.builds(Seat, ratings | usual_ratings, st.integers(0, EXPERIENCE_LIMIT // 2) | st.integers(0, 500))
starts = st.fixed_dictionaries(dict.fromkeys(IDS, start))
Starts = dict[int, Seat]
Rates = Callable[[Any, Any, Any], Iterator[Line]]


def played(key: str, seats: int) -> st.SearchStrategy[list[Game]]:
    """Matches in order among few players."""
    tables = st.permutations(IDS).map(lambda order: tuple(order[:seats]))
    return st.lists(st.tuples(tables, results(key)), min_size=1, max_size=12).map(
        lambda matches: [
            (MatchKey(DAY_ONE + timedelta(hours=number), number % 2 == 0, number, 100 + number), players, result)
            for number, (players, result) in enumerate(matches)
        ]
    )


def exact(value: object) -> object:
    """Equal only where doubles are the same, zeros by sign included."""
    return value.hex() if isinstance(value, float) else value


@dataclass
class Outcome:
    """The lines, where the players end up, and the rule that stopped it."""

    lines: list[tuple[object, ...]] = field(default_factory=list)
    ends: dict[int, list[object]] = field(default_factory=dict)
    stopped: tuple[object, ...] | None = None


def outcome(rate: Rates, games: list[Game], at_start: Starts) -> Outcome:
    answer, players = Outcome(), dict[int, Running]()

    def begin(player_id: int) -> Running:
        return Running(at_start[player_id].rating, at_start[player_id].experience)

    try:
        for line in rate(iter(games), players, begin):
            assert type(line) is tuple and len(line) == len(LINE_FIELDS)
            answer.lines.append(tuple(map(exact, line)))
        answer.ends = {pk: [exact(getattr(player, name)) for name in Running.__slots__] for pk, player in players.items()}
    except Refused as refused:
        answer.stopped = refused.field, refused.code, refused.values.get("match")
    return answer


def both(system: RatingSystem, games: list[Game], at_start: Starts) -> tuple[Outcome, Outcome]:
    fast = outcome(system.rate_many, games, at_start)
    return fast, outcome(lambda *others: rate_one_by_one(system, *others), games, at_start)


@pytest.mark.parametrize("key", systems.keys())
@given(data=st.data())
def test_many_matches_are_rated_bit_for_bit_as_one_by_one(key: str, data: st.DataObject) -> None:
    system = systems.get(key).from_json(data.draw(parameters(key)))
    fast, plain = both(system, data.draw(played(key, system.seats)), data.draw(starts))
    assert fast == plain


def match(number: int, one: int, two: int, *, length: int = 5, first_won: bool = True) -> Game:
    key = MatchKey(DAY_ONE + timedelta(hours=number), True, 0, number)
    return key, (one, two), Result(scores=WON if first_won else LOST, length=length)


def test_what_the_fast_way_keeps() -> None:
    games = [match(1, 11, 12), match(2, 12, 11), match(3, 11, 13, first_won=False)]
    at_start = dict.fromkeys(IDS, Seat(1500.0, 0))
    players: dict[int, Running] = {}
    lines = list(Fibs().rate_many(games, players, lambda player_id: Running(1500.0, 0)))
    assert [line[:2] for line in lines] == [(1, 11), (1, 12), (2, 12), (2, 11), (3, 11), (3, 13)]
    assert [key_of(line) for line in lines[::2]] == [key for key, _, _ in games]
    assert players[11].peak == lines[0][4] > 1500.0 and players[11].peak_match_id == 1
    assert players[12].peak == lines[2][4] and players[12].peak_match_id == 2
    assert (players[11].matches, players[11].experience, players[11].last) == (3, 15, games[2][0])
    assert all(before[4] == after[2] for before, after in pairwise(line for line in lines if line[1] == 11))
    fast, plain = both(Fibs(), games, at_start)
    assert fast == plain


@pytest.mark.parametrize("first_won", [True, False])
@pytest.mark.parametrize(("one", "two"), [(RATING_LIMIT, RATING_LIMIT), (-RATING_LIMIT, -RATING_LIMIT)])
def test_a_rating_beyond_the_range_is_refused(one: float, two: float, first_won: bool) -> None:
    at_start = dict.fromkeys(IDS, Seat(0.0)) | {11: Seat(one), 12: Seat(two)}
    fast, plain = both(Fibs(), [match(1, 13, 14), match(2, 11, 12, first_won=first_won)], at_start)
    assert fast == plain
    assert fast.stopped == ("rating", "out_of_range", 2) and len(fast.lines) == 2


@pytest.mark.parametrize("ramp", [None, {"highest": 5, "lowest": 1, "per": 100}])
def test_a_change_of_nothing_has_no_sign(ramp: dict[str, float] | None) -> None:
    system = systems.get("crowns_cup").from_json({"ramp": ramp})
    key, players, _ = match(1, 11, 12)
    even = Result(chance=0.5, length=5, stake=Decimal(10), real_money=True, kind="matchmade")
    fast, plain = both(system, [(key, players, even)], dict.fromkeys(IDS, Seat(1500.0)))
    assert fast == plain and [line[3] for line in fast.lines] == [exact(0.0)] * 2
