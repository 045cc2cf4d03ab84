"""The geometry of small charts of chances: from numbers to places in a picture. Pure numbers, no queries and no words.

The picture is drawn for a phone's width and grows with the page, its text with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH, HEIGHT = 344, 232
LEFT, RIGHT, TOP, BOTTOM = 44, 272, 12, 196
"""The plot; right of it stand the names of the curves, below it the differences, left of it the chances."""
TEXT_GAP = 14
"""What two names need between their lines."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve to be drawn: its name and its points (difference, chance)."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn curve: the path, and where its name stands, at its end."""

    number: int
    name: str
    path: str
    name_y: str


@dataclass(frozen=True, slots=True)
class Tick:
    at: str
    value: float


@dataclass(frozen=True, slots=True)
class Chart:
    """What a template needs to draw; every number that SVG reads is text already, so that no language puts a comma into it."""

    curves: tuple[Drawn, ...]
    differences: tuple[Tick, ...]
    chances: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    bottom: int = BOTTOM


def draw(curves: Sequence[Curve], *, first: float, last: float, lowest: float, ticks: int) -> Chart:
    """Draw curves over differences from `first` to `last`; chances from `lowest`, 0 or 0.5, to 1. Points lie within these.
    `ticks`: how many parts the differences are marked in."""

    def across(difference: float) -> float:
        return LEFT + (difference - first) / (last - first) * (RIGHT - LEFT)

    def down(chance: float) -> float:
        return BOTTOM - (chance - lowest) / (1 - lowest) * (BOTTOM - TOP)

    ends = _apart([down(curve.points[-1][1]) for curve in curves])
    return Chart(
        curves=tuple(
            Drawn(number, curve.name, _path([(across(x), down(y)) for x, y in curve.points]), f"{end + 4:.1f}")
            for number, (curve, end) in enumerate(zip(curves, ends, strict=True))
        ),
        differences=tuple(Tick(f"{across(value):.1f}", value) for value in _marks(first, last, ticks)),
        chances=tuple(Tick(f"{down(value):.1f}", value) for value in _marks(lowest, 1, 5 if lowest else 4)),
    )


def _marks(first: float, last: float, parts: int) -> list[float]:
    return [first + (last - first) * part / parts for part in range(parts + 1)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _apart(heights: Sequence[float]) -> list[float]:
    """The heights, moved as little as keeps neighbours TEXT_GAP apart and all within the plot."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    placed = list(heights)
    for upper, number in pairwise(order):
        placed[number] = max(placed[number], placed[upper] + TEXT_GAP)
    below = float(BOTTOM)
    for number in reversed(order):
        placed[number] = min(placed[number], below)
        below = placed[number] - TEXT_GAP
    return placed
