"""The graph: where its points, lines and marks are put."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.graph import BOTTOM, HEIGHT, MOST_MARKS, TOP, Beside, Graph, Point, date_marks, draw, nice_step, number_marks


def points(*ratings: float, provisional: int = 0) -> list[Point]:
    """One point a day, at its end; the first `provisional` of them not settled."""
    return [Point(number + 1.0, rating, number < provisional) for number, rating in enumerate(ratings)]


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]


def drawn(*ratings: float, provisional: int = 0, start: float = 1500.0, **more: object) -> Graph:
    line = points(*ratings, provisional=provisional)
    return draw(line, start=start, start_provisional=provisional > 0, span=float(len(line)), **more)  # type: ignore[arg-type]


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


def test_the_places_that_are_read_out_are_those_that_are_drawn() -> None:
    graph = drawn(1510.0, 1490.0, 1530.0)
    assert list(graph.places) == places(graph.settled)[1:-1]


def test_the_peak_is_marked_at_its_point() -> None:
    graph = drawn(1510.0, 1540.0, 1520.0, 1500.0, peak=1)
    assert graph.peak is not None and (graph.peak.x, graph.peak.y) == ("50.00%", f"{TOP:.1f}")
    assert drawn(1510.0).peak is None


def test_the_standing_is_drawn_only_where_it_is_apart() -> None:
    beside = [Beside(0.0, 1500, False), Beside(1.0, 1510, False), Beside(2.0, 1490, True), Beside(3.0, 1520, False)]
    graph = drawn(1510.0, 1510.0, 1520.0, 1530.0, beside=[*beside, Beside(4.0, 1530, False)])
    [stretch] = graph.standing
    assert [x for x, _ in places(stretch)] == [250, 500, 750]
    apart, back = places(stretch)[1][1], places(stretch)[2][1]
    assert back < apart <= BOTTOM
    assert drawn(1510.0, beside=[Beside(0.0, 1500, False), Beside(1.0, 1510, False)]).standing == ()


def test_a_standing_far_from_the_rating_is_still_in_the_picture() -> None:
    [stretch] = drawn(700.0, start=500.0, beside=[Beside(0.0, 900, True), Beside(1.0, 900, True)]).standing
    assert all(TOP <= y <= BOTTOM for _, y in places(stretch))


def test_a_revision_is_marked_on_the_line() -> None:
    graph = drawn(1510.0, 1540.0, notes=[0.5, 1.0, 1.5])
    heights = [float(note.y) for note in graph.notes]
    zero, one, _two, _end = (y for _, y in places(graph.settled))
    assert heights == [zero, one, one] and [note.x for note in graph.notes] == ["25.00%", "50.00%", "75.00%"]


def test_a_rating_that_has_not_moved_is_drawn_as_a_level_line() -> None:
    graph = draw([], start=1500.0, start_provisional=True, span=30.0)
    assert {y for _, y in places(graph.provisional)} == {float(graph.end.y)}
    assert len(graph.lines) >= 2


@pytest.mark.parametrize(
    ("rough", "step"),
    [(0.0013, 0.002), (0.5, 0.5), (1.0, 1), (1.1, 2), (2.1, 5), (5.1, 10), (30, 50), (100.0, 100), (50_000, 50_000)],
)
def test_lines_are_at_round_values(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)


@given(
    ratings=st.lists(st.floats(-100_000, 100_000), min_size=1, max_size=400),
    places_across=st.lists(st.floats(0, 9000), min_size=400, max_size=400),
    provisional=st.integers(0, 400),
)
def test_everything_lies_inside_the_picture(ratings: list[float], places_across: list[float], provisional: int) -> None:
    line = [
        Point(at, rating, number < provisional)
        for number, (at, rating) in enumerate(zip(sorted(places_across), ratings, strict=False))
    ]
    peak = max(range(len(ratings)), key=ratings.__getitem__)
    notes = [point.at for point in line[:3]]
    graph = draw(line, start=ratings[0], start_provisional=provisional > 0, span=9000.0, peak=peak, notes=notes)
    for path in (graph.provisional, graph.settled):
        xs = [x for x, _ in places(path)]
        assert xs == sorted(xs)
        assert all(0 <= x <= 1000 and TOP - 0.1 <= y <= BOTTOM for x, y in places(path))
    assert 2 <= len(graph.lines) <= 7
    assert graph.marks_y < HEIGHT
    assert graph.peak is not None and len(graph.places) == len(line)
    assert all(TOP - 0.1 <= float(note.y) <= BOTTOM for note in graph.notes)


@pytest.mark.parametrize("days", [1, 2, 7, 8, 30, 60, 98, 99, 200, 365, 366, 900, 1500, 4000, 12_000])
@pytest.mark.parametrize("last", [date(2026, 1, 1), date(2026, 11, 30), date(2028, 2, 29)])
def test_there_are_a_few_dates_for_every_span(days: int, last: date) -> None:
    marks = date_marks(last - timedelta(days - 1), last)
    assert 1 <= len(marks) <= MOST_MARKS
    assert [mark.day for mark in marks] == sorted({mark.day for mark in marks})
    assert len([mark for mark in marks if not mark.minor]) <= 4


def test_a_phone_leaves_out_months_rather_than_years() -> None:
    marks = date_marks(date(2023, 2, 1), date(2026, 7, 15))
    assert [(mark.unit, mark.minor) for mark in marks if mark.day.month == 1] == [("year", False)] * 3


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 7), (1, 8), (5, 39), (1, 400), (9_601, 10_000), (1, 1_000_000)])
def test_there_are_a_few_numbers_of_matches(first: int, last: int) -> None:
    marks = number_marks(first, last)
    assert 1 <= len(marks) <= MOST_MARKS
    assert all(first <= mark.number <= last and 0 < float(mark.x[:-1]) <= 100 for mark in marks)
    assert 1 <= len([mark for mark in marks if not mark.minor]) <= 4
