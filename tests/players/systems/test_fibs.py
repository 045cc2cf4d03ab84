"""FIBS: the published formula and its figures."""

from __future__ import annotations

import pytest

from players.systems.base import ALL_KINDS, NotCounted, Refused, Result, Seat
from tests.players.systems.results import lost, rate, system, won

FIBS = system("fibs")
PLAIN = system("fibs", ramp=None)

CHANCES = {
    100: (0.529, 0.550, 0.564, 0.576, 0.585, 0.594),
    300: (0.585, 0.645, 0.684, 0.714, 0.738, 0.759),
    500: (0.640, 0.730, 0.784, 0.821, 0.849, 0.871),
    700: (0.691, 0.802, 0.858, 0.894, 0.918, 0.935),
}
LENGTHS = (1, 3, 5, 7, 9, 11)


@pytest.mark.parametrize(
    ("difference", "length", "chance"),
    [(difference, length, chance) for difference, row in CHANCES.items() for length, chance in zip(LENGTHS, row, strict=True)],
)
def test_the_favourites_chance(difference: int, length: int, chance: float) -> None:
    rated = rate(FIBS, (1500.0 + difference, 1500.0), won(length=length))
    assert rated.expected == pytest.approx((chance, 1 - chance), abs=0.00051)
    assert rate(FIBS, (1500.0, 1500.0 + difference), won(length=length)).expected == rated.expected[::-1]


@pytest.mark.parametrize(("length", "points"), [(1, 2.0), (3, 3.5), (5, 4.5), (7, 5.3), (9, 6.0)])
def test_points_between_equals(length: int, points: float) -> None:
    assert rate(PLAIN, (1500.0, 1500.0), won(length=length)).changes == pytest.approx((points, -points), abs=0.05)


@pytest.mark.parametrize(("length", "win", "loss"), [(1, 2.6, 1.4), (3, 5.1, 1.9), (5, 7.0, 1.9), (7, 8.7, 1.9), (9, 10.2, 1.8)])
def test_points_against_500_more(length: int, win: float, loss: float) -> None:
    assert rate(PLAIN, (1500.0, 2000.0), won(length=length)).changes[0] == pytest.approx(win, abs=0.05)
    assert rate(PLAIN, (1500.0, 2000.0), lost(length=length)).changes[0] == pytest.approx(-loss, abs=0.05)


@pytest.mark.parametrize(("experience", "k"), [(0, 5), (100, 4), (200, 3), (300, 2), (400, 1), (5000, 1), (50, 4.5)])
def test_k_falls_with_experience(experience: int, k: float) -> None:
    rated = rate(FIBS, (1500.0, 1500.0), won(length=1), (experience, 400))
    assert rated.k == (k, 1.0)
    assert rated.changes == (2.0 * k, -2.0)


def test_k_goes_by_the_experience_before_or_with_the_match() -> None:
    assert rate(FIBS, (1500.0, 1500.0), won(length=10), 100).k == (4.0, 4.0)
    assert rate(system("fibs", experience_counts="after"), (1500.0, 1500.0), won(length=10), 100).k == (3.9, 3.9)


def test_without_a_ramp_k_is_one() -> None:
    assert rate(PLAIN, (1500.0, 1500.0), won(length=1)).k == (1.0, 1.0)


def test_a_match_brings_its_length_as_experience() -> None:
    assert rate(FIBS, (1500.0, 1500.0), won(length=7)).gained == 7


def test_equal_k_moves_both_by_the_same() -> None:
    rated = rate(PLAIN, (1650.0, 1500.0), won(length=5))
    assert rated.changes == pytest.approx((3.62, -3.62), abs=0.005)
    assert rate(PLAIN, (1650.0, 1500.0), lost(length=5)).changes == pytest.approx((-5.33, 5.33), abs=0.005)
    assert rated.changes[0] == -rated.changes[1]


def test_what_a_pool_starts_with() -> None:
    assert (FIBS.start, FIBS.shown_decimals, FIBS.provisional_below, FIBS.tiers) == (1500.0, 2, 50, ())
    assert FIBS.standing_params is None
    assert FIBS.needs == frozenset()


def test_a_clubs_own_constants() -> None:
    club = system("fibs", start=1800, ramp=None, factor=2, spread=1000)
    assert club.start == 1800.0
    assert rate(club, (2800.0, 1800.0), won(length=1)).changes[0] == pytest.approx(2 / 11)


def test_unlimited_play_is_accepted_and_not_rated() -> None:
    unlimited = won()
    FIBS.check(unlimited)
    assert FIBS.not_counted(unlimited) == NotCounted("unlimited")
    with pytest.raises(Refused) as refused:
        FIBS.rate([Seat(1500.0), Seat(1500.0)], unlimited)
    assert (refused.value.field, refused.value.code) == ("length", "needed")


@pytest.mark.parametrize("kind", [*ALL_KINDS, ""])
def test_every_kind_counts(kind: str) -> None:
    FIBS.check(won(length=5, kind=kind))
    assert FIBS.not_counted(won(length=5, kind=kind)) is None


def test_a_pool_may_leave_kinds_out() -> None:
    pool = system("fibs", counted_kinds=["tournament", "matchmade"])
    assert pool.needs == {"kind"}
    assert pool.not_counted(won(length=5, kind="rematch")) == NotCounted("kind_not_counted", {"kind": "rematch"})
    assert pool.not_counted(won(length=5, kind="tournament")) is None
    with pytest.raises(Refused) as refused:
        pool.check(won(length=5))
    assert (refused.value.field, refused.value.code) == ("kind", "needed")


def test_a_result_as_a_list_is_a_result() -> None:
    result = Result(scores=[1, 0], length=5)  # type: ignore[arg-type]
    assert rate(FIBS, (1500.0, 1500.0), result) == rate(FIBS, (1500.0, 1500.0), won(length=5))
