"""Parameters: defaults, what is refused, and the way through JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players import systems
from players.systems.params import BadParameter
from tests.players.systems.strategies import parameters

DEFAULTS: dict[str, dict[str, Any]] = {
    "fibs": {
        "start": 1500,
        "factor": 4,
        "spread": 2000,
        "ramp": {"highest": 5, "lowest": 1, "per": 100},
        "experience_counts": "before",
        "counted_kinds": ["matchmade", "table", "tournament", "challenge", "invitation", "rematch"],
    },
    "crowns_cup": {
        "start": 1500,
        "factor": 4,
        "spread": 2000,
        "ramp": {"highest": 5, "lowest": 1, "per": 100},
        "experience_counts": "before",
        "counted_kinds": ["matchmade", "table", "challenge", "invitation", "rematch"],
        "real_money_only": True,
        "money_game_experience": 1,
    },
    "online_backgammon": {
        "start": 600,
        "factor": 8,
        "spread": 2000,
        "ramp": {"highest": 5, "lowest": 1, "per": 100},
        "experience_counts": "after",
        "counted_kinds": ["matchmade", "tournament"],
        "cap": 200,
        "standing_floor": 600,
        "decay_after_days": 14,
        "decay_per_day": 1,
    },
    "freewhist": {
        "start": 1200,
        "factor": 2,
        "place_scores": [1, 0.75, 0.25, 0],
        "deal_steps": [[8, 20], [12, 33], [16, 55], [20, 78], [24, 100]],
        "kc_lowest": 0.4,
        "kc_span": 0.6,
        "kc_halving": 50,
        "curve_spread": 525,
        "curve_exponent": 2,
        "counted_kinds": ["matchmade", "table", "tournament", "challenge", "invitation", "rematch"],
    },
    "tics": {
        "start": 1500,
        "k": 50,
        "scale": 500,
        "counted_kinds": ["matchmade", "table", "tournament", "challenge", "invitation", "rematch"],
    },
}


def refused(key: str, **change: Any) -> tuple[str, str]:
    with pytest.raises(BadParameter) as bad:
        systems.get(key).from_json(change)
    return bad.value.name, bad.value.code


def test_five_systems() -> None:
    assert set(systems.keys()) == set(DEFAULTS)


@pytest.mark.parametrize("key", DEFAULTS)
def test_defaults(key: str) -> None:
    assert systems.get(key)().params.to_json() == DEFAULTS[key]
    assert systems.get(key).from_json({}).params == systems.get(key)().params


@pytest.mark.parametrize("key", DEFAULTS)
@given(data=st.data())
def test_the_way_through_json_changes_nothing(key: str, data: st.DataObject) -> None:
    params = systems.get(key).from_json(data.draw(parameters(key))).params
    assert systems.get(key).from_json(json.loads(json.dumps(params.to_json()))).params == params


@pytest.mark.parametrize(
    ("key", "change", "expected"),
    [
        ("fibs", {"starts": 1500}, ("starts", "unknown")),
        ("fibs", {"start": "1500"}, ("start", "not_a_number")),
        ("fibs", {"start": True}, ("start", "not_a_number")),
        ("fibs", {"start": None}, ("start", "not_a_number")),
        ("fibs", {"start": 100_001}, ("start", "out_of_range")),
        ("fibs", {"start": float("nan")}, ("start", "out_of_range")),
        ("fibs", {"factor": 0}, ("factor", "out_of_range")),
        ("fibs", {"factor": 10**400}, ("factor", "out_of_range")),
        ("fibs", {"spread": 0}, ("spread", "out_of_range")),
        ("fibs", {"ramp": 5}, ("ramp", "not_an_object")),
        ("fibs", {"ramp": {"slope": 5}}, ("ramp.slope", "unknown")),
        ("fibs", {"ramp": {"per": 0}}, ("ramp.per", "out_of_range")),
        ("fibs", {"ramp": {"lowest": 6}}, ("ramp.lowest", "above")),
        ("fibs", {"experience_counts": "during"}, ("experience_counts", "not_a_choice")),
        ("fibs", {"counted_kinds": []}, ("counted_kinds", "not_choices")),
        ("fibs", {"counted_kinds": "table"}, ("counted_kinds", "not_choices")),
        ("fibs", {"counted_kinds": ["friendly"]}, ("counted_kinds", "not_choices")),
        ("fibs", {"counted_kinds": ["table", "table"]}, ("counted_kinds", "not_choices")),
        ("fibs", {"counted_kinds": [["table"]]}, ("counted_kinds", "not_choices")),
        ("fibs", {"cap": 200}, ("cap", "unknown")),
        ("crowns_cup", {"real_money_only": 1}, ("real_money_only", "not_a_flag")),
        ("crowns_cup", {"money_game_experience": 0.5}, ("money_game_experience", "not_whole")),
        ("crowns_cup", {"money_game_experience": -1}, ("money_game_experience", "out_of_range")),
        ("online_backgammon", {"cap": 0}, ("cap", "out_of_range")),
        ("online_backgammon", {"decay_per_day": -1}, ("decay_per_day", "out_of_range")),
        ("online_backgammon", {"decay_after_days": 1.5}, ("decay_after_days", "not_whole")),
        ("freewhist", {"place_scores": [1, 0.5, 0]}, ("place_scores", "not_numbers")),
        ("freewhist", {"place_scores": [1, 0.25, 0.75, 0]}, ("place_scores", "not_descending")),
        ("freewhist", {"place_scores": [0.5, 0.5, 0.5, 0.5]}, ("place_scores", "not_descending")),
        ("freewhist", {"place_scores": [2, 1, 0, 0]}, ("place_scores", "out_of_range")),
        ("freewhist", {"deal_steps": []}, ("deal_steps", "not_steps")),
        ("freewhist", {"deal_steps": [8, 20]}, ("deal_steps", "not_steps")),
        ("freewhist", {"deal_steps": [[8, 20, 5]]}, ("deal_steps", "not_steps")),
        ("freewhist", {"deal_steps": [[8.5, 20]]}, ("deal_steps", "not_whole")),
        ("freewhist", {"deal_steps": [[0, 20]]}, ("deal_steps", "out_of_range")),
        ("freewhist", {"deal_steps": [[12, 33], [8, 20]]}, ("deal_steps", "not_ascending")),
        ("freewhist", {"deal_steps": [[8, 20], [8, 30]]}, ("deal_steps", "not_ascending")),
        ("freewhist", {"deal_steps": [[8, 30], [12, 20]]}, ("deal_steps", "not_ascending")),
        ("freewhist", {"kc_lowest": 0}, ("kc_lowest", "out_of_range")),
        ("freewhist", {"kc_halving": 0}, ("kc_halving", "out_of_range")),
        ("freewhist", {"curve_exponent": 11}, ("curve_exponent", "out_of_range")),
        ("tics", {"k": 0}, ("k", "out_of_range")),
        ("tics", {"scale": 0}, ("scale", "out_of_range")),
    ],
)
def test_what_makes_no_sense_is_refused(key: str, change: dict[str, Any], expected: tuple[str, str]) -> None:
    assert refused(key, **change) == expected


def test_no_ramp_is_a_parameter_too() -> None:
    assert systems.get("fibs").from_json({"ramp": None}).params.to_json()["ramp"] is None


def test_kinds_are_kept_in_one_order() -> None:
    kinds = systems.get("fibs").from_json({"counted_kinds": ["rematch", "matchmade"]}).params.counted_kinds
    assert kinds == ("matchmade", "rematch")
