"""Crowns Cup: the stake factor, money games, breaks, and what counts."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from players.systems.base import NotCounted, Refused, Seat
from tests.players.systems.results import LOST, for_money, rate, system

CROWNS = system("crowns_cup")

MOVES = [("5", 2.82, 4.14), ("10", 3.77, 5.55), ("20", 4.79, 7.04), ("100", 7.25, 10.67), ("1000000", 21.72, 31.95)]


@pytest.mark.parametrize(("stake", "favourite_wins", "underdog_wins"), MOVES)
@pytest.mark.parametrize("experience", [400, 5000])
def test_the_table_of_stakes(stake: str, favourite_wins: float, underdog_wins: float, experience: int) -> None:
    won = rate(CROWNS, (1650.0, 1500.0), for_money(stake), experience)
    assert won.changes == pytest.approx((favourite_wins, -favourite_wins), abs=0.005)
    lost = rate(CROWNS, (1650.0, 1500.0), for_money(stake, scores=LOST), experience)
    assert lost.changes == pytest.approx((-underdog_wins, underdog_wins), abs=0.005)


@pytest.mark.parametrize(("experience", "k"), [(0, 5), (100, 4), (200, 3), (300, 2), (400, 1), (5000, 1)])
def test_k_by_the_experience_before_the_match(experience: int, k: float) -> None:
    rated = rate(CROWNS, (1500.0, 1500.0), for_money("9"), (experience, 400))
    assert rated.k == (k, 1.0)
    assert rated.changes == pytest.approx((2 * math.sqrt(5) * k, -2 * math.sqrt(5)))


def test_a_money_game_is_a_one_point_match_for_all_that_is_at_stake() -> None:
    game = for_money("2.50", length=None, points=4)
    match = for_money("10", length=1)
    assert rate(CROWNS, (1650.0, 1500.0), game, 400).changes == rate(CROWNS, (1650.0, 1500.0), match, 400).changes
    assert rate(CROWNS, (1650.0, 1500.0), game, 400).changes[0] == pytest.approx(1.90339, abs=1e-5)


def test_a_money_game_brings_one_point_of_experience() -> None:
    game = for_money("1", length=None, points=8)
    assert rate(CROWNS, (1500.0, 1500.0), game).gained == 1
    assert rate(system("crowns_cup", money_game_experience=3), (1500.0, 1500.0), game).gained == 3
    assert rate(CROWNS, (1500.0, 1500.0), for_money("1", length=9)).gained == 9


def test_a_break_scores_the_winning_chance() -> None:
    won = rate(CROWNS, (1650.0, 1500.0), for_money("10"), 400).changes
    lost = rate(CROWNS, (1650.0, 1500.0), for_money("10", scores=LOST), 400).changes
    broken = rate(CROWNS, (1650.0, 1500.0), for_money("10", scores=None, chance=0.7), 400)
    assert broken.scores == pytest.approx((0.7, 0.3))
    assert broken.changes == pytest.approx([0.7 * win + 0.3 * loss for win, loss in zip(won, lost, strict=True)])
    assert broken.gained == 5


def test_a_money_game_broken_off_takes_the_points_it_is_given() -> None:
    broken = rate(CROWNS, (1500.0, 1500.0), for_money("5", length=None, points=2, scores=None, chance=0.75), 400)
    assert broken.changes == pytest.approx((math.log10(11), -math.log10(11)))
    assert broken.gained == 1


@pytest.mark.parametrize("kind", ["matchmade", "table", "challenge", "invitation", "rematch"])
def test_real_money_counts(kind: str) -> None:
    CROWNS.check(for_money("5", kind=kind))
    assert CROWNS.not_counted(for_money("5", kind=kind)) is None


def test_play_money_and_tournaments_do_not_count_and_need_no_stake() -> None:
    play = for_money("5", real_money=False)
    assert CROWNS.not_counted(play) == NotCounted("play_money")
    tournament = for_money("5", kind="tournament")
    assert CROWNS.not_counted(tournament) == NotCounted("kind_not_counted", {"kind": "tournament"})
    for result in (play, tournament):
        CROWNS.check(result.__class__(**{name: getattr(result, name) for name in result.__slots__} | {"stake": None}))


def test_a_pool_where_play_money_counts() -> None:
    pool = system("crowns_cup", real_money_only=False)
    assert pool.needs == {"kind"}
    assert CROWNS.needs == {"kind", "real_money"}
    for real_money in (None, False, True):
        result = for_money("5", real_money=real_money)
        pool.check(result)
        assert pool.not_counted(result) is None


def test_a_match_that_would_not_count_can_be_rated_as_if_it_did() -> None:
    rated = CROWNS.rate([Seat(1650.0, 400), Seat(1500.0, 400)], for_money("10", kind="tournament", real_money=False))
    assert rated == rate(CROWNS, (1650.0, 1500.0), for_money("10"), 400)


@pytest.mark.parametrize(
    ("result", "field"), [({"stake": None}, "stake"), ({"length": None}, "points"), ({"scores": None}, "result")]
)
def test_rating_needs_what_the_formula_needs(result: dict[str, None], field: str) -> None:
    whole = for_money("5")
    lacking = whole.__class__(**{name: getattr(whole, name) for name in whole.__slots__} | result)
    with pytest.raises(Refused) as refused:
        CROWNS.rate([Seat(1500.0), Seat(1500.0)], lacking)
    assert (refused.value.field, refused.value.code) == (field, "needed")


def test_the_highest_stake() -> None:
    rated = rate(CROWNS, (1500.0, 1500.0), for_money("9999999999.99", length=None, points=9999), 400)
    assert rated.changes[0] == pytest.approx(2 * math.log10(1 + float(Decimal("9999999999.99") * 9999)))


def test_what_a_pool_starts_with() -> None:
    assert (CROWNS.start, CROWNS.shown_decimals, CROWNS.provisional_below) == (1500.0, 2, 50)
