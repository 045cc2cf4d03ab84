"""The geometry of the rating graph: from points in time to places in a picture. Pure numbers, no queries and no words.

Across, places are in per cent of the plot (the path in thousandths), so that the picture is as wide as the page and its text
keeps its size; down, they are pixels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

WIDTH = 1000
HEIGHT = 260
TOP = 34
"""Pixels above the highest value: room for the mark of the peak."""
BOTTOM = 226
"""Where the plot ends; below it stand the dates."""
MOST_POINTS = 400
MOST_DATES = 7
EDGE = 6
"""Per cent of the width at either end where text is set towards the middle."""


@dataclass(frozen=True, slots=True)
class Point:
    """The rating after a match. `part` in (0, 1] is the match's place within the day: the second of four is at 0.5."""

    day: date
    part: float
    rating: float
    provisional: bool


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
class Mark:
    x: str
    y: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Graph:
    """What a template needs to draw; every number that SVG reads is text already, so that no language puts a comma into it."""

    lines: tuple[Line, ...]
    dates: tuple[DateMark, ...]
    provisional: str
    settled: str
    area: str
    peak: Mark | None
    end: Mark
    axis_width: int
    width: int = WIDTH
    height: int = HEIGHT
    floor: int = BOTTOM
    dates_y: int = HEIGHT - 8


def draw(
    points: Sequence[Point],
    *,
    start: float,
    start_provisional: bool,
    first: date,
    last: date,
    peak: tuple[date, float] | None = None,
    most: int = MOST_POINTS,
) -> Graph:
    """Draw a rating from the beginning of `first`, where it is `start`, to the end of `last`.

    Points are in order and within these days; of more than `most` the last in each stretch of time is drawn. The peak (day,
    points) is drawn also where its match is none of the points.
    """
    days = (last - first).days + 1
    places = [_Place(_across(point, first, days), point.rating, point.provisional) for point in points]
    peak_place = _peak_place(places, peak, first, days)
    kept = _thin(places, most, peak_place)
    end = kept[-1] if kept else _Place(0.0, start, start_provisional)
    whole = [_Place(0.0, start, start_provisional), *kept, _Place(float(WIDTH), end.rating, end.provisional)]
    scale = Scale.around([place.rating for place in whole])

    drawn = [(place.x, scale.y(place.rating)) for place in whole]
    # A stretch is dotted up to the first point that is settled.
    settled_from = next((index for index, place in enumerate(whole) if not place.provisional), len(whole) - 1)
    path = _path(drawn)
    lines = scale.lines()
    return Graph(
        lines=lines,
        dates=date_marks(first, last),
        provisional=_path(drawn[: settled_from + 1]) if settled_from else "",
        settled=_path(drawn[settled_from:]) if settled_from < len(drawn) - 1 else "",
        area=f"{path} {WIDTH},{BOTTOM} 0,{BOTTOM}Z",
        peak=None if peak_place is None else _mark(peak_place.x, scale.y(peak_place.rating)),
        end=_mark(drawn[-1][0], drawn[-1][1]),
        axis_width=14 + 8 * max(len(f"{line.value:.{line.decimals}f}") for line in lines),
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A point in the picture: `x` in thousandths, the rating in points."""

    x: float
    rating: float
    provisional: bool


def _across(point: Point, first: date, days: int) -> float:
    return ((point.day - first).days + point.part) / days * WIDTH


def _peak_place(places: list[_Place], peak: tuple[date, float] | None, first: date, days: int) -> _Place | None:
    """Where the peak is, put among the places in order if it is none of them; None outside the picture."""
    if peak is None or not 0 <= (peak[0] - first).days < days:
        return None
    day, rating = peak
    begins, ends = ((day - first).days + part for part in (0.0, 1.0))
    for place in places:
        if place.rating == rating and begins < place.x * days / WIDTH <= ends + 1e-6:
            return place
    x = (begins + 0.5) / days * WIDTH
    index = bisect_left([place.x for place in places], x)
    near = places[index] if index < len(places) else places[-1] if places else None
    found = _Place(x, rating, near.provisional if near else False)
    places.insert(index, found)
    return found


def _thin(places: Sequence[_Place], most: int, keep: _Place | None) -> list[_Place]:
    if len(places) <= most:
        return list(places)
    kept: list[_Place] = []
    for place, following in zip(places, [*places[1:], None], strict=True):
        stretch = min(int(place.x * most / WIDTH), most - 1)
        last_of_stretch = following is None or min(int(following.x * most / WIDTH), most - 1) != stretch
        if last_of_stretch or place is keep:
            kept.append(place)
    return kept


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


def date_marks(first: date, last: date, most: int = MOST_DATES) -> tuple[DateMark, ...]:
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
