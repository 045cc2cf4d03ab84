"""The matches that the benchmarks rate: FIBS matches among players of very different activity, the same for each run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

DAY_ONE = datetime(2016, 1, 1, tzinfo=UTC)
LENGTHS = (1, 3, 5, 7, 9, 11)


class Game(NamedTuple):
    """A match: its players (numbered from 1), its length in points, whether the first of them won, and when it ended."""

    one: int
    two: int
    length: int
    first_won: bool
    ended_at: datetime


def games(matches: int, players: int, seed: int = 1) -> Iterator[Game]:
    """Matches in the order of rating. Activity is Zipf's: the n-th player plays 1/n as often as the first."""
    dice = random.Random(seed)
    weights = list(accumulate(1 / number for number in range(1, players + 1)))
    numbers = range(1, players + 1)
    for number in range(matches):
        one, two = dice.choices(numbers, cum_weights=weights, k=2)
        while one == two:
            [two] = dice.choices(numbers, cum_weights=weights)
        yield Game(one, two, dice.choice(LENGTHS), dice.random() < 0.5, DAY_ONE + timedelta(minutes=number))
