"""Every line of a calculation, reckoned again from its text as a person with a pocket calculator would."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from players import wording
from players.formatting import format_term, shown
from players.sums import FORMULAS, MOST_DECIMALS, Line, sum_of, without_stake
from players.systems.base import Result, Seat, Unit
from tests.players.systems.results import for_money, system, won
from tests.players.systems.test_properties import ALL, draw_match


def calculator(text: str) -> float:
    """What the formula comes to, by its text alone."""
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", text)
    text = re.sub(r"√(\S+)", r"sqrt(\1)", text)
    for sign, python in (("−", "-"), ("×", "*"), ("^", "**"), ("€", "")):
        text = text.replace(sign, python)
    # Decimal numbers as doubles: a calculator has no whole numbers apart.
    text = re.sub(r"(?<![\w.])\d+(\.\d+)?(?![\w.(])", lambda number: f"float({number[0]!r})", text)
    try:
        value = eval(text, {"__builtins__": {}, "float": float, "abs": abs, "max": max, "sqrt": math.sqrt, "log10": math.log10})
    except OverflowError:
        return 0.0  # 1 / (10^400 + 1)
    return float(value)


def check(line: Line, decimals: int, digits: int) -> None:
    term = line.term
    text = wording.term_formula(term, decimals, digits).partition(" = ")[0]
    if not text or "±" in text:
        return
    places = {Unit.EUROS: 2, Unit.RATING: decimals}.get(term.unit, digits)
    value = calculator(text)
    hair = 1e-12 * max(1.0, abs(value))
    if shown(value - hair, places) != shown(value + hair, places):
        return  # Halfway between two digits the order of the additions decides.
    agrees = shown(value, places) == shown(term.value, places)
    assert line.rounded != agrees, (term.code, text, format_term(term.value, term.unit, decimals, digits))


@pytest.mark.parametrize("key", ALL)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(data=st.data(), decimals=st.integers(0, 6))
def test_the_lines_lead_to_the_change_that_is_shown(key: str, data: st.DataObject, decimals: int) -> None:
    of, players, result = draw_match(key, data)
    for terms in of.explain(players, result):
        whole = sum_of(terms, decimals)
        for line in (*whole.lines, whole.last):
            check(line, decimals, whole.digits)
        text = wording.term_formula(whole.last.term, decimals, whole.digits).partition(" = ")[0]
        if "±" not in text and whole.digits < MOST_DECIMALS:
            assert shown(calculator(text), decimals) == shown(whole.last.term.value, decimals)


def test_six_digits_do_as_a_rule_and_more_where_they_are_needed() -> None:
    seats = [Seat(1650.0, 400), Seat(1500.0, 400)]
    assert [sum_of(terms, 2).digits for terms in system("crowns_cup").explain(seats, for_money("10"))] == [6, 6]
    # Points by the million: the sixth digit of a chance is a point.
    large = system("fibs", factor=10_000, ramp={"highest": 1000, "lowest": 1000, "per": 1})
    [favourite, _] = (sum_of(terms, 2) for terms in large.explain(seats, won(length=99)))
    assert favourite.digits > 6
    for line in (*favourite.lines, favourite.last):
        check(line, 2, favourite.digits)


def test_rounded_is_said_of_the_line_that_is_a_digit_off() -> None:
    seats = [Seat(1650.0, 400), Seat(1500.0, 400)]
    [favourite, _] = (sum_of(terms, 2) for terms in system("crowns_cup").explain(seats, for_money("10")))
    said = {line.term.code: line.rounded for line in favourite.lines}
    # 4 × 2.236068 × (1 − 0.595357) is 3.619241, and with all digits 3.619239.
    assert said["base_change"] and not said["sqrt_length"] and not said["k_ramp"]


def test_without_the_stake_no_line_tells_it() -> None:
    for result in (for_money("17.31"), for_money("17.31", length=None, points=4)):
        for terms in system("crowns_cup").explain([Seat(1650.0, 20), Seat(1500.0, 400)], result):
            hidden = without_stake(sum_of(terms, 2))
            assert hidden.hides_stake
            told = [
                wording.term_label(line.term)
                + wording.term_formula(line.term, 2, hidden.digits)
                + format_term(line.term.value, line.term.unit, 2, hidden.digits)
                for line in (*hidden.lines, hidden.last)
            ]
            total = Decimal("17.31") * (4 if result.length is None else 1)
            for secret in ("17.31", f"{total}", f"{math.log10(1 + total):.4f}"[:-1]):
                assert not any(secret in line for line in told), (secret, told)


def test_a_sum_without_a_stake_stays_whole() -> None:
    for terms in system("fibs").explain([Seat(1650.0), Seat(1500.0)], won(length=5)):
        whole = sum_of(terms, 2)
        assert without_stake(whole) == whole and not without_stake(whole).hides_stake


def test_every_formula_that_is_written_is_reckoned() -> None:
    """A formula that only one of the two modules knew would be a line that nobody checks."""
    written: set[str] = {code for code, (_, formula) in wording.TERMS.items() if formula is not wording._nothing}
    assert written == set(FORMULAS)


@given(changes=st.floats(-1e5, 1e5))
@example(changes=0.0)
def test_a_sum_of_one_line(changes: float) -> None:
    terms: Any = system("tics").explain([Seat(changes), Seat(0.0)], Result(scores=(1.0, 0.0)))
    assert sum_of(terms[0], 0).last.term is terms[0][-1]
