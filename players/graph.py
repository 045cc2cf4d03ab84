"""The geometry of the rating graph: from points in time to places in a picture. Pure numbers, no queries and no words.

Across, places are in per cent of the plot (the path in thousandths), so that the picture is as wide as the page and its text
keeps its size; down, they are pixels.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

WIDTH = 1000
HEIGHT = 260
TOP = 34
"""Pixels above the highest value: room for the mark of the peak."""
BOTTOM = 226
"""Where the plot ends; below it stand the dates."""
MOST_MARKS = 7
EDGE = 6
"""Per cent of the width at either end where text is set towards the middle."""


@dataclass(frozen=True, slots=True)
class Point:
    """The rating after a match, in points; `at` says where it is across, from 0 to the span: in days or in matches."""

    at: float
    rating: float
    provisional: bool


@dataclass(frozen=True, slots=True)
class Beside:
    """The standing (points) at a place; `apart` where it is not the rating."""

    at: float
    standing: float
    apart: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A horizontal line of the grid: its value (points) with the decimals that it needs."""

    y: str
    value: float
    decimals: int


@dataclass(frozen=True, slots=True)
class DateMark:
    """A date below the plot; `unit` says how much of it is written: day, month or year. A minor one is left out on a phone."""

    x: str
    day: date
    unit: str
    anchor: str
    minor: bool


@dataclass(frozen=True, slots=True)
class NumberMark:
    """The number of a match below the plot. A minor one is left out on a phone."""

    x: str
    number: int
    anchor: str
    minor: bool


@dataclass(frozen=True, slots=True)
class Mark:
    x: str
    y: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Graph:
    """What a template needs to draw; every number that SVG reads is text already, so that no language puts a comma into it.

    `places` are those of the points, for a script that reads them out: thousandths of the width, and pixels.
    """

    lines: tuple[Line, ...]
    provisional: str
    settled: str
    area: str
    standing: tuple[str, ...]
    peak: Mark | None
    end: Mark
    notes: tuple[Mark, ...]
    axis_width: int
    places: tuple[tuple[float, float], ...]
    width: int = WIDTH
    height: int = HEIGHT
    top: int = TOP
    floor: int = BOTTOM
    marks_y: int = HEIGHT - 8


def draw(
    points: Sequence[Point],
    *,
    span: float,
    start: float,
    start_provisional: bool,
    peak: int | None = None,
    beside: Sequence[Beside] = (),
    notes: Sequence[float] = (),
) -> Graph:
    """Draw a rating that is `start` at 0 and passes through the points, which are in order, up to `span`.

    `peak` is the number of the point that is marked as such; `beside` is the standing over the same span, drawn where it is
    apart; `notes` are places on the line to be marked.
    """
    end = points[-1] if points else Point(0.0, start, start_provisional)
    whole = [Point(0.0, start, start_provisional), *points, Point(span, end.rating, end.provisional)]
    scale = Scale.around([point.rating for point in whole] + [place.standing for place in beside if place.apart])

    def place(at: float, value: float) -> tuple[float, float]:
        return at / span * WIDTH, scale.y(value)

    drawn = [place(point.at, point.rating) for point in whole]
    # A stretch is dotted up to the first point that is settled.
    settled_from = next((index for index, point in enumerate(whole) if not point.provisional), len(whole) - 1)
    lines = scale.lines()
    return Graph(
        lines=lines,
        provisional=_path(drawn[: settled_from + 1]) if settled_from else "",
        settled=_path(drawn[settled_from:]) if settled_from < len(drawn) - 1 else "",
        area=f"{_path(drawn)} {WIDTH},{BOTTOM} 0,{BOTTOM}Z",
        standing=tuple(_path([place(each.at, each.standing) for each in stretch]) for stretch in _stretches(beside)),
        peak=None if peak is None else _mark(*drawn[peak + 1]),
        end=_mark(*drawn[-1]),
        notes=tuple(_mark(*place(at, _rating_at(whole, at))) for at in notes),
        axis_width=14 + 8 * max(len(f"{line.value:.{line.decimals}f}") for line in lines),
        places=tuple((round(x, 1), round(y, 1)) for x, y in drawn[1:-1]),
    )


def _stretches(beside: Sequence[Beside]) -> list[list[Beside]]:
    """The stretches where the standing is apart from the rating, each from where they part to where they meet."""
    stretches: list[list[Beside]] = []
    for one, two in pairwise(beside):
        if not (one.apart or two.apart):
            continue
        if stretches and stretches[-1][-1] is one:
            stretches[-1].append(two)
        else:
            stretches.append([one, two])
    return stretches


def _rating_at(whole: Sequence[Point], at: float) -> float:
    """The rating on the line at a place: after the last point that is not beyond it."""
    return whole[max(bisect_right(whole, at, key=lambda point: point.at) - 1, 0)].rating


@dataclass(frozen=True, slots=True)
class Scale:
    """The values that the plot spans, in points, and the distance between its lines."""

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, ratings: Sequence[float]) -> Scale:
        low, high = min(ratings), max(ratings)
        if high - low < 2.0:
            middle = (low + high) / 2
            low, high = min(low, middle - 1.0), max(high, middle + 1.0)
        margin = (high - low) * 0.06
        return cls(low - margin, high, nice_step((high - low + margin) / 6))

    def y(self, rating: float) -> float:
        return BOTTOM - (rating - self.low) / (self.high - self.low) * (BOTTOM - TOP)

    def lines(self) -> tuple[Line, ...]:
        decimals = max(0, -math.floor(math.log10(self.step)))
        multiples = range(math.ceil(self.low / self.step), math.floor(self.high / self.step) + 1)
        return tuple(Line(f"{self.y(n * self.step):.1f}", n * self.step + 0.0, decimals) for n in multiples)


def nice_step(rough: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, … (also below 1) that is not below `rough`, which is above 0."""
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 5):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10 * power


def number_marks(first: int, last: int, most: int = MOST_MARKS) -> tuple[NumberMark, ...]:
    """Round numbers of matches from `first` to `last`, the place of the last at the right end."""
    count = last - first + 1
    step = max(1, int(nice_step(count / most)))
    numbers = list(range(-(-first // step) * step, last + 1, step))
    marks = []
    for index, number in enumerate(numbers):
        x = 100 * (number - first + 1) / count
        marks.append(NumberMark(f"{x:.2f}%", number, _anchor(x), len(numbers) > 4 and index % 2 != len(numbers) % 2))
    return tuple(marks)


def date_marks(first: date, last: date, most: int = MOST_MARKS) -> tuple[DateMark, ...]:
    """Dates for the days from `first` to `last`, at most `most`: days, beginnings of months, or of years."""
    unit, chosen = _dates(first, last, most)
    days = (last - first).days + 1
    # On a phone every other date is left out, but not the beginnings of years.
    year_begins = [unit == "month" and day.month == 1 for day in chosen]
    parity = year_begins.index(True) % 2 if any(year_begins) else 0
    marks = []
    for number, day in enumerate(chosen):
        # A day is written below its middle, a month or a year below its beginning.
        x = 100 * ((day - first).days + (0.5 if unit == "day" else 0.0)) / days
        minor = len(chosen) > 4 and number % 2 != parity
        marks.append(DateMark(f"{x:.2f}%", day, "year" if year_begins[number] else unit, _anchor(x), minor))
    return tuple(marks)


def _dates(first: date, last: date, most: int) -> tuple[str, list[date]]:
    days = (last - first).days + 1
    for step in (1, 2, 7, 14):
        if days <= step * most:
            return "day", [first + timedelta(offset) for offset in range(step // 2 if days > step else 0, days, step)]
    months = range(first.year * 12 + first.month - (first.day == 1), last.year * 12 + last.month)
    for step in (1, 2, 3, 6):
        begun = [month for month in months if month % step == 0]
        if len(begun) <= most:
            return "month", [date(month // 12, month % 12 + 1, 1) for month in begun]
    for step in (1, 2, 5, 10, 20, 50, 100):
        years = [year for year in range(first.year + 1, last.year + 1) if year % step == 0]
        if len(years) <= most:
            return "year", [date(year, 1, 1) for year in years]
    return "year", []


def _anchor(x: float) -> str:
    """Which end of a text stands at `x` per cent, so that it stays inside the picture."""
    if x < EDGE:
        return "start"
    return "end" if x > 100 - EDGE else "middle"


def _mark(x: float, y: float) -> Mark:
    return Mark(f"{x * 100 / WIDTH:.2f}%", f"{y:.1f}", _anchor(x * 100 / WIDTH))


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
