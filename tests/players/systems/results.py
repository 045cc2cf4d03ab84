"""Short ways to write seats and results in the tests of the rating systems."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from players import systems
from players.systems.base import Rated, RatingSystem, Result, Seat

WON, LOST, DRAWN = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)


def system(key: str, **parameters: Any) -> RatingSystem:
    return systems.get(key).from_json(parameters)


def won(**fields: Any) -> Result:
    """Player 1 wins."""
    return Result(scores=WON, **fields)


def lost(**fields: Any) -> Result:
    return Result(scores=LOST, **fields)


def for_money(stake: str, **fields: Any) -> Result:
    """Player 1 wins a match that counts at Crowns Cup; 5 points unless said otherwise."""
    fields = {"scores": WON, "length": 5, "kind": "table", "real_money": True, **fields}
    return Result(stake=Decimal(stake), **fields)


def rate(of: RatingSystem, ratings: tuple[float, ...], result: Result, experience: int | tuple[int, ...] = 0) -> Rated:
    """Check a result and rate it, between players of these ratings and this experience (one for all, or each his own)."""
    experiences = (experience,) * len(ratings) if isinstance(experience, int) else experience
    of.check(result)
    return of.rate([Seat(*seat) for seat in zip(ratings, experiences, strict=True)], result)
