"""The lines of an explanation: what a person with a pocket calculator needs, in the order he needs it."""

from __future__ import annotations

import math

import pytest

from players.systems.base import RatingSystem, Result, Seat, Term
from tests.players.systems.results import LOST, for_money, system, won


def explain(of: RatingSystem, ratings: tuple[float, ...], result: Result, experience: int = 0) -> list[dict[str, Term]]:
    """By seat, the terms by code (the place chances by place)."""
    lines = of.explain([Seat(rating, experience) for rating in ratings], result)
    return [{term.code + str(term.inputs.get("place", "")): term for term in seat} for seat in lines]


def codes(of: RatingSystem, ratings: tuple[float, ...], result: Result) -> list[str]:
    return [term.code for term in of.explain([Seat(rating) for rating in ratings], result)[0]]


START = ["own_rating", "opponent_rating", "rating_difference"]


def test_the_order_of_the_lines() -> None:
    even = (1500.0, 1500.0)
    plain = [*START, "sqrt_length", "underdog_chance", "expected_favourite", "score", "base_change"]
    assert codes(system("fibs"), even, won(length=5)) == [*plain, "experience_before", "k_ramp", "change"]
    assert codes(system("fibs", ramp=None), even, won(length=5)) == [*plain, "k_off", "change"]
    stake = ["stake", "stake_factor", "experience_before", "k_ramp", "change"]
    assert codes(system("crowns_cup"), even, for_money("5")) == [*plain, *stake]
    k = ["experience_before", "experience_after", "k_ramp"]
    assert codes(system("online_backgammon"), even, won(length=5)) == [*plain, *k, "change"]
    assert codes(system("online_backgammon", cap=1), even, won(length=5)) == [*plain, *k, "uncapped_change", "cap", "change"]
    assert codes(system("tics"), even, won()) == [
        *START,
        "underdog_chance",
        "expected_favourite",
        "score",
        "k_constant",
        "change",
    ]
    assert codes(system("freewhist"), (1200.0,) * 4, Result(places=(1, 2, 3, 4), deals=24)) == [
        "own_rating",
        "table_mean",
        "difference_to_mean",
        "curve_bend",
        *["place_chance"] * 4,
        "expected_by_places",
        "place",
        "place_score",
        "k_deals",
        "experience_before",
        "k_games",
        "change",
    ]


def test_the_numbers_lead_to_the_change() -> None:
    favourite, underdog = explain(system("crowns_cup"), (1650.0, 1500.0), for_money("10"), 400)
    assert favourite["rating_difference"].value == underdog["rating_difference"].value == 150
    assert favourite["sqrt_length"].value == math.sqrt(5)
    assert favourite["underdog_chance"].value == pytest.approx(0.404643, abs=1e-6)
    assert favourite["expected_favourite"].value == pytest.approx(0.595357, abs=1e-6)
    assert underdog["expected_underdog"].value == pytest.approx(0.404643, abs=1e-6)
    assert (favourite["score"].value, underdog["score"].value) == (1.0, 0.0)
    assert favourite["base_change"].value == pytest.approx(4 * math.sqrt(5) * 0.404643, abs=1e-4)
    assert favourite["stake_factor"].value == math.log10(11)
    assert favourite["k_ramp"].value == 1.0
    assert favourite["change"].value == pytest.approx(3.77, abs=0.005)
    assert underdog["change"].value == -favourite["change"].value


def test_at_equal_ratings_there_is_one_favourite() -> None:
    one, two = explain(system("fibs"), (1500.0, 1500.0), won(length=5))
    assert "expected_favourite" in one and "expected_underdog" in two


def test_a_break_is_named_as_such() -> None:
    one, two = explain(system("crowns_cup"), (1500.0, 1500.0), for_money("10", scores=None, chance=0.7))
    assert one["chance_at_break"].value == 0.7
    assert two["other_chance_at_break"].value == pytest.approx(0.3)
    assert two["other_chance_at_break"].inputs == {"chance_at_break": 0.7}


def test_a_money_game_shows_what_was_at_stake() -> None:
    [line, _] = explain(system("crowns_cup"), (1500.0, 1500.0), for_money("2.50", length=None, points=4))
    assert "sqrt_length" not in line
    assert line["money_game_length"].value == 1.0
    assert line["money_game_stake"].value == 10.0
    assert line["money_game_stake"].inputs == {"stake_per_point": 2.5, "points": 4}


def test_the_cap_is_shown_to_whom_it_bites() -> None:
    of = system("online_backgammon")
    upset = won(length=99)
    new, old = of.explain([Seat(600.0, 0), Seat(1600.0, 5000)], upset)
    assert {"cap", "uncapped_change"} <= {term.code for term in new}
    assert {"cap", "uncapped_change"} & {term.code for term in old} == set()
    uncapped = next(term.value for term in new if term.code == "uncapped_change")
    assert uncapped == pytest.approx(319.19, abs=0.01)
    assert new[-1].inputs == {"uncapped_change": uncapped, "cap": 200.0}
    loser, _ = of.explain([Seat(1600.0), Seat(600.0)], Result(scores=LOST, length=99))
    assert loser[-1].value == -200.0 and "cap" in {term.code for term in loser}


def test_freewhist() -> None:
    lines = explain(system("freewhist"), (1400.0, 1400.0, 1200.0, 1200.0), Result(places=(1, 3, 3, 2), deals=21), 50)
    strong, _, weak, _ = lines
    assert (strong["table_mean"].value, strong["difference_to_mean"].value) == (1300.0, 100.0)
    assert strong["curve_bend"].value == pytest.approx((1 + 100 / 525) ** 2)
    assert [strong[f"place_chance{n}"].value for n in (1, 2, 3, 4)] == [weak[f"place_chance{n}"].value for n in (4, 3, 2, 1)]
    assert strong["place"].value == 1
    assert weak["shared_place"].inputs == {"first": 3, "last": 4}
    assert weak["shared_score"].value == 0.125
    assert (weak["k_deals"].value, weak["k_deals"].inputs) == (78.0, {"deals": 21, "from": 20})
    assert weak["k_games"].value == pytest.approx(0.7)
    assert weak["change"].value == pytest.approx(2 * 78 * 0.7 * (0.125 - weak["expected_by_places"].value))


def test_tics() -> None:
    [line, _] = explain(system("tics"), (2000.0, 1500.0), won())
    assert line["expected_favourite"].value == pytest.approx(10 / 11)
    assert line["change"].inputs == {"k": 50.0, "score": 1.0, "expected": line["expected_favourite"].value}
