"""Hypothesis strategies: every parameter, rating, experience and result that the systems accept."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from typing import Any

from hypothesis import strategies as st

from players.systems.base import (
    ALL_KINDS,
    DEALS,
    EXPERIENCE_LIMIT,
    LENGTHS,
    POINTS,
    RATING_LIMIT,
    STAKE_LIMIT,
    Result,
    Seat,
)
from players.systems.freewhist import RANKS
from tests.players.systems.results import DRAWN, LOST, WON

TWO_PLAYERS = ("fibs", "crowns_cup", "online_backgammon", "tics")
BACKGAMMON = ("fibs", "crowns_cup", "online_backgammon")

ratings = st.floats(-RATING_LIMIT, RATING_LIMIT)
usual_ratings = st.floats(0, 3000)
experiences = st.integers(0, EXPERIENCE_LIMIT) | st.integers(0, 500)
seats = st.builds(Seat, ratings | usual_ratings, experiences)
lengths = st.integers(LENGTHS.start, LENGTHS.stop - 1)
stakes = st.decimals(Decimal("0.01"), STAKE_LIMIT, places=2) | st.decimals(Decimal("0.01"), 1000, places=2)
chances = st.floats(0, 1)


def _number(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high) | st.sampled_from([low, high])


START = _number(-RATING_LIMIT, RATING_LIMIT)
KINDS = st.lists(st.sampled_from(ALL_KINDS), min_size=1, unique=True)
RAMP = st.builds(
    lambda ends, per: {"highest": max(ends), "lowest": min(ends), "per": per},
    st.tuples(_number(0.01, 1000), _number(0.01, 1000)),
    _number(0.01, 1e9),
)
FIBS: dict[str, st.SearchStrategy[Any]] = {
    "start": START,
    "factor": _number(0.001, 10_000),
    "spread": _number(1, 1e9),
    "ramp": st.none() | RAMP,
    "experience_counts": st.sampled_from(["before", "after"]),
    "counted_kinds": KINDS,
}
STEPS = st.lists(
    st.tuples(st.integers(DEALS.start, DEALS.stop - 1), _number(0.01, 10_000)),
    min_size=1,
    max_size=8,
    unique_by=lambda step: step[0],
).map(
    lambda steps: [
        [deals, value] for deals, value in zip(sorted(step[0] for step in steps), sorted(step[1] for step in steps), strict=True)
    ]
)
PARAMETERS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "fibs": FIBS,
    "crowns_cup": FIBS | {"real_money_only": st.booleans(), "money_game_experience": st.integers(0, 1000)},
    "online_backgammon": FIBS
    | {
        "cap": _number(0.01, 2 * RATING_LIMIT),
        "standing_floor": START,
        "decay_after_days": st.integers(0, 36_500),
        "decay_per_day": _number(0, RATING_LIMIT),
    },
    "freewhist": {
        "start": START,
        "factor": _number(0.001, 10_000),
        "place_scores": st.lists(st.floats(0, 1), min_size=4, max_size=4)
        .filter(lambda scores: min(scores) < max(scores))
        .map(lambda scores: sorted(scores, reverse=True)),
        "deal_steps": STEPS,
        "kc_lowest": _number(0.001, 1000),
        "kc_span": _number(0, 1000),
        "kc_halving": _number(0.01, 1e9),
        "curve_spread": _number(1, 1e9),
        "curve_exponent": _number(0.01, 10),
        "counted_kinds": KINDS,
    },
    "tics": {"start": START, "k": _number(0.01, 100_000), "scale": _number(1, 1e9), "counted_kinds": KINDS},
}


def parameters(key: str) -> st.SearchStrategy[dict[str, Any]]:
    """Any parameters that the system accepts, some of them left out."""
    return st.fixed_dictionaries({}, optional=PARAMETERS[key])


def results(key: str) -> st.SearchStrategy[Result]:
    """Any result that the system accepts and can rate, of every kind."""
    kinds = st.sampled_from(ALL_KINDS)
    decisive = st.sampled_from([WON, LOST])
    match key:
        case "tics":
            return st.builds(Result, scores=st.sampled_from([WON, DRAWN, LOST]), kind=kinds)
        case "freewhist":
            orders = st.sampled_from([places for places in product(range(1, 5), repeat=4) if places in RANKS])
            return st.builds(Result, places=orders, deals=st.integers(DEALS.start, DEALS.stop - 1), kind=kinds)
        case "crowns_cup":
            ended = st.builds(dict, scores=decisive) | st.builds(dict, chance=chances)
            played = st.builds(dict, length=lengths) | st.builds(dict, points=st.integers(POINTS.start, POINTS.stop - 1))
            return st.builds(
                lambda ended, played, stake, kind: Result(**ended, **played, stake=stake, real_money=True, kind=kind),
                ended,
                played,
                stakes,
                kinds,
            )
        case _:
            return st.builds(Result, scores=decisive, length=lengths, kind=kinds)
