"""Every code that the source can emit has words, and the words have their values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from players import systems, wording
from players.systems.base import ALL_KINDS, NotCounted, Refused, Result, Seat, Term, Unit
from players.systems.params import BadParameter, Params
from tests.players.systems.results import for_money, system, won
from tests.players.systems.test_parameters import DEFAULTS
from tests.players.systems.test_properties import ALL, draw_match

ROOT = Path(wording.__file__).resolve().parent.parent
# Imports have rules and words of their own.
SOURCES = [path for app in ("players", "matches") for path in sorted((ROOT / app).rglob("*.py")) if "imports" not in path.parts]
PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def calls(name: str) -> Iterator[ast.Call]:
    """Every call of `name` in the source."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield node


def literal(node: ast.expr, call: ast.Call) -> str:
    """The text of an argument. A code that is computed could not be found here, so there must be none."""
    assert isinstance(node, ast.Constant) and isinstance(node.value, str), ast.unparse(call)
    return node.value


def values_of(call: ast.Call) -> set[str]:
    return {keyword.arg for keyword in call.keywords if keyword.arg}


REFUSED = list(calls("Refused"))
# One is raised again as it came, under a longer name.
BAD = [call for call in calls("BadParameter") if ast.unparse(call.args[1]) != "bad.code"]


def test_the_source_is_found() -> None:
    assert len(REFUSED) > 30 and len(BAD) > 10


@pytest.mark.parametrize("call", REFUSED, ids=ast.unparse)
def test_refusals_have_words(call: ast.Call) -> None:
    code = literal(call.args[1], call)
    names = [call.args[0].value] if isinstance(call.args[0], ast.Constant) else ["length"]
    for name in names:
        assert name in wording.FIELD_LABELS
        sentence = wording.FIELD_REFUSALS.get((name, code)) or wording.REFUSALS[code]
        assert set(PLACEHOLDER.findall(str(sentence))) <= values_of(call) | {"allowed"}


@pytest.mark.parametrize("call", BAD, ids=ast.unparse)
def test_bad_parameters_have_words(call: ast.Call) -> None:
    sentence = wording.BAD_PARAMETERS[literal(call.args[1], call)]
    assert set(PLACEHOLDER.findall(str(sentence))) <= values_of(call)


@pytest.mark.parametrize("call", list(calls("NotCounted")), ids=ast.unparse)
def test_reasons_have_words(call: ast.Call) -> None:
    code = literal(call.args[0], call)
    assert code in wording.REASONS
    assert len(code) <= 32, "longer than the column"
    assert wording.reason(code).endswith(".")


def test_terms_have_words() -> None:
    emitted = set()
    for call in calls("Term"):
        # "a" if … else "b"
        chosen = call.args[0]
        options = [chosen.body, chosen.orelse] if isinstance(chosen, ast.IfExp) else [chosen]
        emitted |= {literal(option, call) for option in options}
    assert emitted == set(wording.TERMS)


def test_nothing_has_words_that_nobody_says() -> None:
    assert {literal(call.args[1], call) for call in REFUSED} == set(wording.REFUSALS)
    assert {literal(call.args[1], call) for call in BAD} == set(wording.BAD_PARAMETERS)
    assert {literal(call.args[0], call) for call in calls("NotCounted")} == set(wording.REASONS)


def test_fields_kinds_and_systems_have_words() -> None:
    assert {field.name for field in fields(Result)} <= set(wording.FIELD_LABELS)
    assert tuple(wording.KIND_LABELS) == tuple(wording.KIND_REASONS) == ALL_KINDS
    assert set(wording.SYSTEM_LABELS) == set(systems.keys())
    assert wording.kind_label("") == "Not stated"
    assert wording.kind_label("table") == "Open table"


def test_parameters_have_words() -> None:
    def names(params: Params, prefix: str = "") -> Iterator[str]:
        for field in fields(params):
            yield prefix + field.name
            value = getattr(params, field.name)
            if isinstance(value, Params):
                yield from names(value, f"{prefix}{field.name}.")

    known = {name for key in DEFAULTS for name in names(systems.get(key)().params)}
    assert known == set(wording.PARAMETER_LABELS)


def refused(key: str, result: Result) -> str:
    with pytest.raises(Refused) as raised:
        system(key).check(result)
    return wording.refusal(raised.value)


def test_a_refusal_names_the_field_and_the_rule() -> None:
    assert refused("fibs", won(length=0)) == "Match length: must be from 1 to 99."
    assert refused("fibs", won(length=5, deals=3)) == "Deals: this pool's rating system does not use it. Leave it empty."
    assert refused("crowns_cup", for_money("1.005")) == "Stake: must have at most 2 decimals."
    assert refused("crowns_cup", for_money("99999999999")) == "Stake: must not be above €9999999999.99."
    assert refused("fibs", won(length=5, kind="friendly")).startswith("Kind: is not known. Give one of: matchmade, table,")
    with pytest.raises(Refused) as raised:
        system("fibs").rate([Seat(200_000.0), Seat(1500.0)], won(length=5))
    assert wording.refusal(raised.value) == "Rating: must be from −100000 to 100000."


def test_a_code_without_words_still_reads_like_a_sentence() -> None:
    assert wording.refusal(Refused("length", "mystery")) == "Match length: is not accepted. Please check it."
    assert wording.refusal(Refused("length", "too_long")) == "Match length: is not accepted. Please check it."
    assert wording.bad_parameter(BadParameter("k", "mystery")) == "K (k): is not accepted. Please check it."
    assert wording.reason("mystery") == "This match does not count in this pool."
    assert wording.term_formula(Term("mystery", 1.0, Unit.NUMBER), 2) == ""


@pytest.mark.parametrize(
    ("key", "change", "text"),
    [
        ("fibs", {"ramp": {"lowest": 6}}, "Lowest K (ramp.lowest): must not be above “Highest K”."),
        ("fibs", {"start": 1e6}, "Start rating (start): must be from −100000 to 100000."),
        ("tics", {"scal": 400}, "scal: there is no such parameter. Known: counted_kinds, k, scale, start."),
        ("freewhist", {"place_scores": [1]}, "Scores of the places (place_scores): must be a list of 4 numbers."),
    ],
)
def test_a_bad_parameter_is_named(key: str, change: dict[str, Any], text: str) -> None:
    with pytest.raises(BadParameter) as bad:
        systems.get(key).from_json(change)
    assert wording.bad_parameter(bad.value) == text


@pytest.mark.parametrize(
    ("not_counted", "text"),
    [
        (NotCounted("kind_not_counted", {"kind": "tournament"}), "Tournament matches do not count in this pool."),
        (NotCounted("kind_not_counted"), "Matches of this kind do not count in this pool."),
        (NotCounted("play_money"), "Only matches for real money count in this pool."),
        (NotCounted("unlimited"), "Unlimited play, which has no match length, is not rated in this pool."),
        (
            NotCounted("too_few_deals", {"lowest": 8, "deals": 7}),
            "It had too few deals: this pool rates games of 8 deals or more.",
        ),
    ],
)
def test_reasons(not_counted: NotCounted, text: str) -> None:
    assert wording.reason(not_counted.code, not_counted.values) == text


def explained(key: str, ratings: tuple[float, ...], result: Result, decimals: int, **parameters: Any) -> list[tuple[str, str]]:
    lines = system(key, **parameters).explain([Seat(rating, 0) for rating in ratings], result)
    return [(wording.term_label(term), wording.term_formula(term, decimals)) for term in lines[0]]


def test_an_explanation_of_a_match_for_a_stake() -> None:
    assert explained("crowns_cup", (1650.0, 1500.0), for_money("10"), 2) == [
        ("Rating before", ""),
        ("Opponent's rating", ""),
        ("D, difference of the ratings", "|1650 − 1500|"),
        ("Square root of the match length", "√5"),
        ("P, winning chance of the lower rated player", "1 / (10^(150 × 2.236068 / 2000) + 1)"),
        ("E, expected score of the higher rated player", "1 − 0.404643"),
        ("S, score: won", ""),
        ("Change before the factors below", "4 × 2.236068 × (1 − 0.595357)"),
        ("Stake", ""),
        ("Stake factor", "log10(1 + 10)"),
        ("x, experience before", ""),
        ("K, experience factor", "max(1, 5 − 0 / 100)"),
        ("Change", "5 × 3.619239 × 1.041393 = 18.845243"),
    ]


def test_an_explanation_of_a_capped_money_game_and_a_draw() -> None:
    money = dict(explained("crowns_cup", (1500.0, 1500.0), for_money("2.50", length=None, points=4), 2))
    assert money["Stake: per point, times the points won"] == "€2.50 × 4"
    assert money["Money game: rated as a 1-point match"] == ""
    capped = explained("online_backgammon", (600.0, 600.0), won(length=5), 0, cap=10)
    assert capped[-3:] == [
        ("Change before the cap", "4.95 × 8.944272"),
        ("Cap: the most that one match can move a rating", ""),
        ("Change", "held at ±10"),
    ]
    drawn = explained("tics", (1500.0, 1500.0), Result(scores=(0.5, 0.5)), 0)
    assert drawn[-3:] == [("S, score: drawn", ""), ("K, the same for everybody", ""), ("Change", "50 × (0.5 − 0.5)")]


def test_an_explanation_of_a_game_of_four() -> None:
    lines = explained("freewhist", (1100.0, 1500.0, 1500.0, 1500.0), Result(places=(2, 1, 2, 4), deals=21), 0)
    assert lines == [
        ("Rating before", ""),
        ("Mean rating of the table", "(1100 + 1500 + 1500 + 1500) / 4"),
        ("d, difference to the mean", "1100 − 1400"),
        ("a, bend of the place curve", "(1 + |−300| / 525)^2"),
        ("Chance of place 1", "(1/4)^2.469388"),
        ("Chance of place 2", "(2/4)^2.469388 − (1/4)^2.469388"),
        ("Chance of place 3", "(3/4)^2.469388 − (2/4)^2.469388"),
        ("Chance of place 4", "1 − (3/4)^2.469388"),
        ("V, expected score", "0.032605 × 1 + 0.147963 × 0.75 + 0.310881 × 0.25 + 0.508552 × 0"),
        ("Place: shares places 2 to 3", ""),
        ("S, score: mean of the shared places", "(0.75 + 0.25) / 2"),
        ("Kl, factor for 21 deals (from 20 on)", ""),
        ("x, experience before", ""),
        ("Kc, experience factor", "0.4 + 0.6 / (1 + 0 / 50)"),
        ("Change", "2 × 78 × 1 × (0.5 − 0.221297) = 43.477648"),
    ]


@pytest.mark.parametrize("key", ALL)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_line_can_be_written(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    for seat in of.explain(players, result):
        for term in seat:
            assert "%(" not in wording.term_label(term) and wording.term_label(term)
            assert "e-" not in wording.term_formula(term, 2) and "nan" not in wording.term_formula(term, 2)
