"""Online Backgammon: the published figures, the cap, and what counts."""

from __future__ import annotations

import pytest

from players.systems.base import DefaultTier, NotCounted, StandingParams
from tests.players.systems.results import lost, rate, system, won

ONLINE = system("online_backgammon")
ESTABLISHED = 5000


@pytest.mark.parametrize(("length", "percent"), [(1, 44), (7, 35), (25, 24)])
def test_the_underdogs_chance_by_200_points(length: int, percent: int) -> None:
    expected = rate(ONLINE, (800.0, 600.0), won(length=length, kind="matchmade")).expected
    assert round(100 * expected[1]) == percent


@pytest.mark.parametrize(("length", "points"), [(1, 4), (5, 9), (25, 20)])
def test_points_between_established_equals(length: int, points: int) -> None:
    changes = rate(ONLINE, (800.0, 800.0), won(length=length, kind="matchmade"), ESTABLISHED).changes
    assert tuple(map(round, changes)) == (points, -points)


def test_two_new_accounts() -> None:
    rated = rate(ONLINE, (600.0, 600.0), won(length=5, kind="matchmade"))
    assert rated.k == (4.95, 4.95)
    assert [round(600 + change) for change in rated.changes] == [644, 556]
    assert 600 + rated.changes[0] == pytest.approx(644.2741, abs=1e-4)


def test_k_counts_this_match_already() -> None:
    assert rate(ONLINE, (600.0, 600.0), won(length=25, kind="matchmade"), (0, 390)).k == (4.75, 1.0)
    before = system("online_backgammon", experience_counts="before")
    assert rate(before, (600.0, 600.0), won(length=25, kind="matchmade"), (0, 390)).k == (5.0, pytest.approx(1.1))


def test_a_match_moves_nobody_by_more_than_the_cap() -> None:
    # A new player beats one 1000 points stronger in 99 points: 8 * K 4.01 * sqrt(99) * nearly 1 is 319.
    upset = won(length=99, kind="matchmade")
    assert rate(ONLINE, (600.0, 1600.0), upset).changes == (200.0, -200.0)
    rated = rate(ONLINE, (600.0, 1600.0), upset, (0, ESTABLISHED))
    assert rated.changes == (200.0, pytest.approx(-79.5981, abs=1e-4))
    assert rate(ONLINE, (1600.0, 600.0), lost(length=99, kind="matchmade")).changes == (-200.0, 200.0)
    assert rate(system("online_backgammon", cap=10), (600.0, 600.0), won(length=5, kind="matchmade")).changes == (10.0, -10.0)


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("matchmade", True),
        ("tournament", True),
        ("table", False),
        ("challenge", False),
        ("invitation", False),
        ("rematch", False),
    ],
)
def test_only_matches_that_the_site_paired_count(kind: str, counts: bool) -> None:
    result = won(length=5, kind=kind)
    ONLINE.check(result)
    assert ONLINE.not_counted(result) == (None if counts else NotCounted("kind_not_counted", {"kind": kind}))


def test_money_games_are_not_rated() -> None:
    assert ONLINE.not_counted(won(kind="matchmade")) == NotCounted("unlimited")


def test_what_a_pool_starts_with() -> None:
    assert (ONLINE.start, ONLINE.shown_decimals, ONLINE.provisional_below) == (600.0, 0, None)
    assert ONLINE.standing_params == StandingParams(floor=600.0, grace_days=14, per_day=1.0)
    assert ONLINE.needs == {"kind"}
    assert ONLINE.tiers == (
        DefaultTier("Bronze", 600),
        DefaultTier("Silver", 700),
        DefaultTier("Gold", 800),
        DefaultTier("Platinum", 900, decays=True),
        DefaultTier("Diamond", 1000),
        DefaultTier("Master", 1100),
    )
