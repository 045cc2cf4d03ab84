"""What is no result of a system is refused, with the field at fault and a code for the rule."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from players import systems
from players.systems.base import ALL_KINDS, Refused, Result, Seat
from tests.players.systems.results import DRAWN, WON, for_money, system, won

GOOD = {
    "fibs": won(length=5),
    "crowns_cup": for_money("5"),
    "online_backgammon": won(length=5, kind="matchmade"),
    "freewhist": Result(places=(1, 2, 3, 4), deals=24),
    "tics": won(),
}
OTHER_VALUES: dict[str, Any] = {
    "chance": 0.5,
    "length": 5,
    "deals": 24,
    "points": 2,
    "stake": Decimal(5),
    "real_money": False,
    "places": (1, 2, 3, 4),
    "scores": WON,
}
NAN, INFINITY = float("nan"), float("inf")
HUGE = 10**400


def refused_field(key: str, **change: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        system(key).check(replace(GOOD[key], **change))
    return refused.value.field, refused.value.code


@pytest.mark.parametrize("key", GOOD)
def test_the_results_that_these_tests_spoil_are_good(key: str) -> None:
    system(key).check(GOOD[key])
    assert system(key).not_counted(GOOD[key]) is None


@pytest.mark.parametrize(
    ("key", "field"),
    [(key, field) for key in GOOD for field in OTHER_VALUES if field not in systems.get(key).uses],
)
def test_a_field_that_the_system_does_not_use(key: str, field: str) -> None:
    assert refused_field(key, **{field: OTHER_VALUES[field]}) == (field, "not_used")
    assert refused_field(key, **{field: 0}) == (field, "not_used")


@pytest.mark.parametrize("key", GOOD)
def test_no_result(key: str) -> None:
    assert refused_field(key, scores=None, places=None) == ("result", "needed")


def test_two_results() -> None:
    assert refused_field("crowns_cup", chance=0.5) == ("result", "said_twice")


@pytest.mark.parametrize("key", ["fibs", "crowns_cup", "online_backgammon", "tics"])
@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ((), "wrong_number"),
        ((1.0,), "wrong_number"),
        ((1.0, 0.0, 0.0), "wrong_number"),
        ("10", "wrong_number"),
        (1, "wrong_number"),
        ((1.0, 1.0), "outcome"),
        ((0.0, 0.0), "outcome"),
        ((0.7, 0.3), "outcome"),
        ((2.0, -1.0), "outcome"),
        ((NAN, 0.0), "outcome"),
        ((True, False), "outcome"),
        ((None, 1.0), "outcome"),
        (("1", "0"), "outcome"),
        ((Decimal(1), Decimal(0)), "outcome"),
    ],
)
def test_scores(key: str, scores: Any, code: str) -> None:
    outcome = "not_win_draw_loss" if key == "tics" else "not_win_loss"
    assert refused_field(key, scores=scores) == ("scores", outcome if code == "outcome" else code)


@pytest.mark.parametrize("key", ["fibs", "crowns_cup", "online_backgammon"])
def test_backgammon_has_no_draw(key: str) -> None:
    assert refused_field(key, scores=DRAWN) == ("scores", "not_win_loss")


@pytest.mark.parametrize(
    ("chance", "code"),
    [
        (-0.0001, "out_of_range"),
        (1.0001, "out_of_range"),
        (INFINITY, "out_of_range"),
        pytest.param(HUGE, "out_of_range", id="huge"),
        (NAN, "out_of_range"),
        (True, "not_a_number"),
        ("0.5", "not_a_number"),
    ],
)
def test_chance(chance: Any, code: str) -> None:
    assert refused_field("crowns_cup", scores=None, chance=chance) == ("chance", code)


@pytest.mark.parametrize("chance", [0, 0.0, 0.5, 1, 1.0])
def test_every_chance_is_accepted(chance: float) -> None:
    system("crowns_cup").check(for_money("5", scores=None, chance=chance))


@pytest.mark.parametrize(
    ("key", "field", "highest"),
    [
        ("fibs", "length", 99),
        ("crowns_cup", "length", 99),
        ("online_backgammon", "length", 99),
        ("crowns_cup", "points", 9999),
        ("freewhist", "deals", 999),
    ],
)
def test_whole_numbers(key: str, field: str, highest: int) -> None:
    money_game = {"length": None} if field == "points" else {}
    for value in (0, -1, highest + 1, HUGE):
        assert refused_field(key, **money_game, **{field: value}) == (field, "out_of_range")
    for value in (1.0, 5.5, NAN, INFINITY, True, "5", Decimal(5)):
        assert refused_field(key, **money_game, **{field: value}) == (field, "not_whole")
    for value in (1, highest):
        system(key).check(replace(GOOD[key], **money_game, **{field: value}))


@pytest.mark.parametrize(
    ("stake", "code"),
    [
        (Decimal(0), "not_positive"),
        (Decimal("-0.01"), "not_positive"),
        (Decimal("0.001"), "too_many_decimals"),
        (Decimal("5.000"), "too_many_decimals"),
        (Decimal("1e-400"), "too_many_decimals"),
        (Decimal("1e400"), "too_high"),
        (Decimal("10000000000"), "too_high"),
        (Decimal("NaN"), "not_an_amount"),
        (Decimal("sNaN"), "not_an_amount"),
        (Decimal("Infinity"), "not_an_amount"),
        (5.0, "not_an_amount"),
        (5, "not_an_amount"),
        (True, "not_an_amount"),
        ("5", "not_an_amount"),
        (None, "needed"),
    ],
)
def test_stake(stake: Any, code: str) -> None:
    assert refused_field("crowns_cup", stake=stake) == ("stake", code)


@pytest.mark.parametrize("stake", ["0.01", "9999999999.99", "1e3", "2.5"])
def test_every_stake_is_accepted(stake: str) -> None:
    system("crowns_cup").check(for_money(stake))


def test_a_stake_is_checked_where_it_is_not_needed() -> None:
    assert refused_field("crowns_cup", stake=Decimal(-1), kind="tournament") == ("stake", "not_positive")


def test_points_and_length() -> None:
    assert refused_field("crowns_cup", points=2) == ("points", "not_with_length")
    assert refused_field("crowns_cup", length=None) == ("points", "needed")


@pytest.mark.parametrize(("real_money", "code"), [(None, "needed"), (1, "not_yes_or_no"), ("yes", "not_yes_or_no")])
def test_real_money(real_money: Any, code: str) -> None:
    assert refused_field("crowns_cup", real_money=real_money) == ("real_money", code)


@pytest.mark.parametrize("key", GOOD)
def test_kind(key: str) -> None:
    for kind in ("friendly", "Tournament", None, 1, ["table"]):
        assert refused_field(key, kind=kind) == ("kind", "unknown")
    for kind in ALL_KINDS:
        system(key).check(replace(GOOD[key], kind=kind))


@pytest.mark.parametrize("key", GOOD)
def test_a_kind_that_is_not_stated(key: str) -> None:
    if "kind" in system(key).needs:
        assert refused_field(key, kind="") == ("kind", "needed")
    else:
        system(key).check(replace(GOOD[key], kind=""))
        assert system(key).not_counted(replace(GOOD[key], kind="")) is None


@pytest.mark.parametrize(
    ("places", "code"),
    [
        ((1, 2, 3), "wrong_number"),
        ((1, 2, 3, 4, 5), "wrong_number"),
        ("1234", "wrong_number"),
        ((0, 1, 2, 3), "out_of_range"),
        ((1, 2, 3, 5), "out_of_range"),
        ((1.0, 2.0, 3.0, 4.0), "not_whole"),
        ((True, 2, 3, 4), "not_whole"),
        ((1, 2, 3, None), "not_whole"),
        ((NAN, 2, 3, 4), "not_whole"),
        ((2, 2, 3, 4), "not_places"),
    ],
)
def test_places(places: Any, code: str) -> None:
    assert refused_field("freewhist", places=places) == ("places", code)


def test_deals_are_needed() -> None:
    assert refused_field("freewhist", deals=None) == ("deals", "needed")


@pytest.mark.parametrize("key", GOOD)
@pytest.mark.parametrize(
    ("seat", "field"),
    [
        (Seat(100_000.1), "rating"),
        (Seat(-100_000.1), "rating"),
        (Seat(NAN), "rating"),
        (Seat(INFINITY), "rating"),
        (Seat(1500.0, -1), "experience"),
        pytest.param(Seat(1500.0, HUGE), "experience", id="huge"),
    ],
)
def test_seats(key: str, seat: Seat, field: str) -> None:
    seats = [seat] + [Seat(1500.0)] * (system(key).seats - 1)
    for order in (seats, seats[::-1]):
        with pytest.raises(Refused) as refused:
            system(key).rate(order, GOOD[key])
        assert (refused.value.field, refused.value.code) == (field, "out_of_range")


@pytest.mark.parametrize("key", GOOD)
def test_the_number_of_seats(key: str) -> None:
    for count in (0, 1, 3, 5):
        with pytest.raises(Refused) as refused:
            system(key).rate([Seat(1500.0)] * count, GOOD[key])
        assert (refused.value.field, refused.value.code) == ("players", "wrong_number")
