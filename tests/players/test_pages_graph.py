"""The graph: where its points, lines and dates are put."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.graph import BOTTOM, HEIGHT, MOST_DATES, TOP, Graph, Point, date_marks, draw, nice_step

DAY = date(2026, 3, 1)


def points(*ratings: float, provisional: int = 0) -> list[Point]:
    """One point a day, the first `provisional` of them not settled."""
    return [Point(DAY + timedelta(number), 1.0, rating, number < provisional) for number, rating in enumerate(ratings)]


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]


def drawn(*ratings: float, provisional: int = 0, start: float = 1500.0, **more: object) -> Graph:
    line = points(*ratings, provisional=provisional)
    return draw(line, start=start, start_provisional=provisional > 0, first=DAY, last=line[-1].day, **more)  # type: ignore[arg-type]


def test_higher_ratings_are_higher_and_days_are_evenly_apart() -> None:
    [zero, one, two, end] = places(drawn(1510.0, 1490.0).settled)
    assert [zero[0], one[0], two[0], end[0]] == [0, 500, 1000, 1000]
    assert one[1] == TOP < zero[1] < two[1] == end[1] < BOTTOM


def test_the_line_is_dotted_up_to_the_first_settled_point() -> None:
    graph = drawn(1510.0, 1520.0, 1530.0, provisional=2)
    assert [x for x, _ in places(graph.provisional)] == [0, 333.3, 666.7, 1000]
    assert [x for x, _ in places(graph.settled)] == [1000, 1000]
    assert drawn(1510.0, 1520.0).provisional == ""
    assert drawn(1510.0, 1520.0, provisional=2).settled == ""


def test_matches_of_one_day_stand_side_by_side_in_their_order() -> None:
    day = [Point(DAY, part, rating, False) for part, rating in ((0.25, 1504), (0.5, 1508), (0.75, 1504), (1.0, 1500))]
    graph = draw(day, start=1500, start_provisional=False, first=DAY, last=DAY)
    assert [x for x, _ in places(graph.settled)] == [0, 250, 500, 750, 1000, 1000]
    assert [mark.day for mark in graph.dates] == [DAY]


def test_the_peak_is_marked_also_where_its_point_is_left_out() -> None:
    line = points(*[1500 + (index * 37) % 100 for index in range(2000)])
    graph = draw(line, start=1500, start_provisional=False, first=DAY, last=line[-1].day, peak=(DAY + timedelta(777), 1680.0))
    assert graph.peak is not None and graph.peak.y == f"{TOP:.1f}"
    assert graph.peak.x == f"{100 * 777.5 / 2000:.2f}%"
    assert len(places(graph.settled)) <= 400 + 3


def test_a_peak_that_is_a_point_is_marked_there_and_one_outside_is_not_marked() -> None:
    graph = drawn(1510.0, 1540.0, 1520.0, 1500.0, peak=(DAY + timedelta(1), 1540.0))
    assert graph.peak is not None and graph.peak.x == "50.00%"
    assert len(places(graph.settled)) == 6
    assert drawn(1510.0, 1500.0, peak=(DAY - timedelta(1), 1600.0)).peak is None
    assert drawn(1510.0, 1500.0, peak=(DAY + timedelta(2), 1600.0)).peak is None


def test_a_rating_that_has_not_moved_is_drawn_as_a_level_line() -> None:
    graph = draw([], start=1500.0, start_provisional=True, first=DAY, last=DAY + timedelta(29))
    assert {y for _, y in places(graph.provisional)} == {float(graph.end.y)}
    assert len(graph.lines) >= 2


@pytest.mark.parametrize(
    ("rough", "step"),
    [(0.0013, 0.002), (0.5, 0.5), (1.0, 1), (1.1, 2), (2.1, 5), (5.1, 10), (30, 50), (100.0, 100), (50_000, 50_000)],
)
def test_lines_are_at_round_values(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)


@given(
    ratings=st.lists(st.floats(-100_000, 100_000), min_size=1, max_size=500),
    days=st.lists(st.integers(0, 9000), min_size=500, max_size=500),
    provisional=st.integers(0, 500),
)
def test_everything_lies_inside_the_picture(ratings: list[float], days: list[int], provisional: int) -> None:
    line = [
        Point(DAY + timedelta(day), 0.5, rating, number < provisional)
        for number, (day, rating) in enumerate(zip(sorted(days), ratings, strict=False))
    ]
    last = line[-1].day
    peak = (line[len(line) // 2].day, max(ratings))
    graph = draw(line, start=ratings[0], start_provisional=provisional > 0, first=DAY, last=last, peak=peak)
    for path in (graph.provisional, graph.settled):
        xs = [x for x, _ in places(path)]
        assert xs == sorted(xs)
        assert all(0 <= x <= 1000 and TOP - 0.1 <= y <= BOTTOM for x, y in places(path))
    assert 2 <= len(graph.lines) <= 7
    assert all(0 <= float(mark.x[:-1]) <= 100 for mark in graph.dates)
    assert len(graph.dates) <= MOST_DATES
    assert graph.dates_y < HEIGHT
    assert graph.peak is not None


@pytest.mark.parametrize("days", [1, 2, 7, 8, 30, 60, 98, 99, 200, 365, 366, 900, 1500, 4000, 12_000])
@pytest.mark.parametrize("last", [date(2026, 1, 1), date(2026, 11, 30), date(2028, 2, 29)])
def test_there_are_a_few_dates_for_every_span(days: int, last: date) -> None:
    marks = date_marks(last - timedelta(days - 1), last)
    assert 1 <= len(marks) <= MOST_DATES
    assert [mark.day for mark in marks] == sorted({mark.day for mark in marks})
    assert len([mark for mark in marks if not mark.minor]) <= 4


def test_a_phone_leaves_out_months_rather_than_years() -> None:
    marks = date_marks(date(2023, 2, 1), date(2026, 7, 15))
    assert [(mark.unit, mark.minor) for mark in marks if mark.day.month == 1] == [("year", False)] * 3
