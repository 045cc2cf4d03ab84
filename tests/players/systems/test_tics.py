"""TICS: Elo with draws."""

from __future__ import annotations

import pytest

from players.systems.base import Result
from tests.players.systems.results import DRAWN, lost, rate, system, won

TICS = system("tics")


def test_the_favourites_chance_by_500_points() -> None:
    rated = rate(TICS, (2000.0, 1500.0), won())
    assert [round(100 * expected) for expected in rated.expected] == [91, 9]
    assert rated.changes == pytest.approx((50 / 11, -50 / 11))
    assert rate(TICS, (2000.0, 1500.0), lost()).changes == pytest.approx((-500 / 11, 500 / 11))


def test_equals() -> None:
    assert rate(TICS, (1500.0, 1500.0), won()).changes == (25.0, -25.0)
    assert rate(TICS, (1500.0, 1500.0), won(), 5000).k == (50.0, 50.0)
    assert rate(TICS, (1500.0, 1500.0), won()).gained == 1


def test_a_draw() -> None:
    drawn = Result(scores=DRAWN)
    changes = rate(TICS, (1500.0, 1500.0), drawn).changes
    assert list(map(repr, changes)) == ["0.0", "0.0"]
    assert rate(TICS, (2000.0, 1500.0), drawn).changes == pytest.approx((-225 / 11, 225 / 11))


def test_ordinary_elo() -> None:
    chess = system("tics", k=32, scale=400)
    assert rate(chess, (2400.0, 2000.0), lost()).changes == pytest.approx((-320 / 11, 320 / 11))


def test_every_kind_counts() -> None:
    assert TICS.not_counted(won(kind="rematch")) is None
    assert TICS.needs == frozenset()


def test_what_a_pool_starts_with() -> None:
    assert (TICS.start, TICS.shown_decimals, TICS.provisional_below, TICS.draws) == (1500.0, 0, 50, True)
    assert TICS.game == "board"
