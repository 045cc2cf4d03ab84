"""What a transcript says of a match, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from players.names import clean_name, name_key

LEFT, RIGHT = 0, 1
Score = tuple[int, int]
MOST_SCORE = 10_000
"""Points that a player may have; a session of that many is none."""
RATED_NAME = re.compile(r"(.*\S)\s*,\s*([0-9]{3,4}(?:\.[0-9]{1,4})?)", re.ASCII)
DATE = re.compile(r"\s*([0-9]{4})[-./]([0-9]{1,2})[-./]([0-9]{1,2})\b", re.ASCII)


class BadTranscript(ValueError):
    """The file is no match file that can be read. The message says why, in words."""


class Side(NamedTuple):
    """A player as the file names him, and the rating (points) that it writes beside the name, as it writes it."""

    name: str
    rating: str = ""


@dataclass(frozen=True, slots=True)
class Game:
    """One game: the score before it, who won how many points (None: it was not finished), and its rolls in order, each with the
    higher die first."""

    start: Score
    winner: int | None
    points: int
    rolls: tuple[str, ...]

    @property
    def end(self) -> Score:
        if self.winner is None:
            return self.start
        left, right = self.start
        return (left + self.points, right) if self.winner == LEFT else (left, right + self.points)

    def turned(self) -> Game:
        """The same with the players' sides exchanged."""
        return replace(self, start=self.start[::-1], winner=None if self.winner is None else 1 - self.winner)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A match, or a part of one, or a money session (`length` None), with at least one game.

    `missing` names the games before which others are left out.
    """

    file: str
    length: int | None
    sides: tuple[Side, Side]
    games: tuple[Game, ...]
    on: date | None = None
    missing: tuple[int, ...] = ()

    @property
    def keys(self) -> tuple[str, str]:
        """What tells the two players' names from others."""
        left, right = (name_key(clean_name(side.name)) for side in self.sides)
        return left, right

    @property
    def score(self) -> Score:
        """The score in the end, or where it breaks off: points won, also beyond the length."""
        return self.games[-1].end

    @property
    def winner(self) -> int | None:
        """Who won the match; None in a money session, and where it is not finished."""
        if self.length is None or max(self.score) < self.length:
            return None
        return LEFT if self.score[LEFT] >= self.length else RIGHT

    @property
    def is_complete(self) -> bool:
        return self.winner is not None

    def turned(self) -> Transcript:
        """The same with the players' sides exchanged."""
        return replace(self, sides=self.sides[::-1], games=tuple(game.turned() for game in self.games))


def side(text: str) -> Side:
    """A player by what stands in the place of his name: a rating may be glued to it, as in `Name,1749`."""
    name = " ".join(text.split())
    rated = RATED_NAME.fullmatch(name)
    return Side(rated[1], rated[2]) if rated else Side(name)


def read_date(text: str) -> date | None:
    """The date that a text begins with, year first; None where there is none."""
    if found := DATE.match(text):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            pass
    return None


def roll(one: str, two: str) -> str:
    return one + two if one >= two else two + one


def follows(games: Iterable[Game]) -> tuple[int, ...]:
    """The numbers, from 1, of games that begin with more points than the game before them ended with. Raises ValueError where
    one begins with fewer."""
    games = tuple(games)
    missing = []
    for number, (before, after) in enumerate(pairwise(games), start=2):
        if after.start[LEFT] < before.end[LEFT] or after.start[RIGHT] < before.end[RIGHT]:
            raise ValueError(number)
        if after.start != before.end:
            missing.append(number)
    return tuple(missing)
