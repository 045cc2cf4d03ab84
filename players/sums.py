"""The sums of an explanation as a pocket calculator does them: from the numbers as they are written.

A sum has enough digits where this gives the change that is shown; where it does not give the last digit of a line, the page says
"rounded" beside it. The formulas are those of `players.wording`, which writes them; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from players.formatting import TERM_DECIMALS, shown
from players.systems.base import Term, Unit
from players.systems.two_players import underdog_chance

MOST_DECIMALS = 15
Numbers = Mapping[str, Any]


def _product(inputs: Numbers) -> float:
    if "cap" in inputs:
        return math.copysign(inputs["cap"], inputs["uncapped_change"])
    product = math.prod(value for name, value in inputs.items() if name not in ("score", "expected"))
    return product * (inputs["score"] - inputs["expected"]) if "expected" in inputs else product


def _place_chance(inputs: Numbers) -> float:
    upper, bend = int(inputs["upper"]), inputs["bend"]
    return float((upper / 4) ** bend - ((upper - 1) / 4) ** bend)


def _mean(inputs: Numbers) -> float:
    return math.fsum(inputs.values()) / len(inputs)


FORMULAS: dict[str, Callable[[Numbers], float]] = {
    "rating_difference": lambda of: abs(of["own_rating"] - of["opponent_rating"]),
    "sqrt_length": lambda of: math.sqrt(of["length"]),
    "underdog_chance": lambda of: underdog_chance(of["rating_difference"] * of.get("sqrt_length", 1) / of["spread"]),
    "expected_favourite": lambda of: 1 - of["underdog_chance"],
    "expected_underdog": lambda of: of["underdog_chance"],
    "other_chance_at_break": lambda of: 1 - of["chance_at_break"],
    "base_change": _product,
    "money_game_stake": lambda of: of["stake_per_point"] * of["points"],
    "stake_factor": lambda of: math.log10(1 + of["stake"]),
    "experience_after": lambda of: of["experience_before"] + of["experience_gained"],
    "k_ramp": lambda of: max(of["lowest"], of["highest"] - of["experience"] / of["per"]),
    "uncapped_change": _product,
    "table_mean": _mean,
    "difference_to_mean": lambda of: of["own_rating"] - of["table_mean"],
    "curve_bend": lambda of: (1 + abs(of["difference"]) / of["spread"]) ** of["exponent"],
    "place_chance": _place_chance,
    "expected_by_places": lambda of: math.fsum(of[f"chance_{n}"] * of[f"score_{n}"] for n in range(1, 5)),
    "shared_score": _mean,
    "k_games": lambda of: of["lowest"] + of["span"] / (1 + of["experience"] / of["halving"]),
    "change": _product,
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a sum; `rounded`: a calculator that is given the numbers as written comes to another last digit."""

    term: Term
    rounded: bool


@dataclass(frozen=True, slots=True)
class Sum:
    """A change as a sum: the lines before the change, the change itself, and the `digits` after the point of its numbers.

    `hides_stake`: the lines that tell the stake are left out.
    """

    lines: tuple[Line, ...]
    last: Line
    digits: int
    hides_stake: bool = False


def sum_of(terms: Sequence[Term], decimals: int) -> Sum:
    """The terms of an explanation with as many digits as it takes to come, line by line, to the points that are shown with
    `decimals`."""
    points = [term for term in terms if term.code in ("base_change", "uncapped_change", "change")]
    for digits in range(max(TERM_DECIMALS, decimals), MOST_DECIMALS + 1):
        if all(shown(_reckoned(term, digits), decimals) == shown(term.value, decimals) for term in points):
            break
    return Sum(tuple(_line(term, decimals, digits) for term in terms[:-1]), _line(terms[-1], decimals, digits), digits)


def without_stake(whole: Sum) -> Sum:
    """The sum as it is shown to who may not see the stake: without it, and without the factor that tells it."""
    kept = [line for line in whole.lines if line.term.code not in ("stake", "money_game_stake", "stake_factor")]
    hides = len(kept) < len(whole.lines)
    return Sum(tuple(map(_without_factor, kept)), _without_factor(whole.last), whole.digits, hides_stake=hides)


def _without_factor(line: Line) -> Line:
    if "stake_factor" not in line.term.inputs:
        return line
    return Line(replace(line.term, inputs={}), rounded=False)


def _line(term: Term, decimals: int, digits: int) -> Line:
    if term.code not in FORMULAS:
        return Line(term, rounded=False)
    # A change ends with its full value: that is what a calculator shows.
    places = 2 if term.unit == Unit.EUROS else decimals if term.unit == Unit.RATING else digits
    return Line(term, rounded=shown(_reckoned(term, digits), places) != shown(term.value, places))


def _reckoned(term: Term, digits: int) -> float:
    """What the line comes to from its inputs as they are written."""
    written = {name: float(shown(value, digits)) if isinstance(value, float) else value for name, value in term.inputs.items()}
    return FORMULAS[term.code](written)
