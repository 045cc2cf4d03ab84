"""What a result must be, field by field. Every function raises Refused, which names the field and the rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from decimal import Decimal

from players.systems.base import ALL_KINDS, EXPERIENCE_LIMIT, RATING_LIMIT, STAKE_LIMIT, Refused, Result, Seat

FIELDS = tuple(field.name for field in fields(Result))
WAYS = ("scores", "chance", "places")
"""How a match ended: a result says it in exactly one of these ways."""
DECISIVE = frozenset({(1.0, 0.0), (0.0, 1.0)})
DRAWN = frozenset({(0.5, 0.5)})


def given(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and value == "")


def is_number(value: object) -> bool:
    """Whether this is a number that can be computed with in double precision; a boolean is none here."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_fields(uses: Collection[str], result: Result) -> None:
    """No field that the system does not use, and exactly one way to say how the match ended."""
    for name in FIELDS:
        if name not in uses and given(getattr(result, name)):
            raise Refused(name, "not_used")
    ways = [name for name in WAYS if getattr(result, name) is not None]
    if not ways:
        raise Refused("result", "needed")
    if len(ways) > 1:
        raise Refused("result", "said_twice")


def check_scores(scores: object, draws: bool) -> None:
    """One player's 1 and the other's 0, or 0.5 each where the system has draws."""
    if not isinstance(scores, (list, tuple)) or len(scores) != 2:
        raise Refused("scores", "wrong_number", needed=2)
    pair = tuple(scores)
    if not all(is_number(score) for score in pair) or not (pair in DECISIVE or (draws and pair in DRAWN)):
        if draws:
            raise Refused("scores", "not_win_draw_loss")
        raise Refused("scores", "not_win_loss")


def check_chance(chance: object) -> None:
    """A winning chance from 0 to 1."""
    if not isinstance(chance, (int, float)) or isinstance(chance, bool):
        raise Refused("chance", "not_a_number")
    if not 0 <= chance <= 1:  # false for NaN
        raise Refused("chance", "out_of_range", low=0, high=1)


def check_whole(name: str, value: object, accepted: range) -> None:
    """A whole number in the range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refused(name, "not_whole", low=accepted.start, high=accepted.stop - 1)
    if value not in accepted:
        raise Refused(name, "out_of_range", low=accepted.start, high=accepted.stop - 1)


def check_stake(stake: object) -> None:
    """An amount in euros above 0, with at most 2 decimals, up to STAKE_LIMIT."""
    if not isinstance(stake, Decimal) or not stake.is_finite():
        raise Refused("stake", "not_an_amount")
    if stake <= 0:
        raise Refused("stake", "not_positive")
    if stake > STAKE_LIMIT:
        raise Refused("stake", "too_high", high=STAKE_LIMIT)
    exponent = stake.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -2:
        raise Refused("stake", "too_many_decimals", decimals=2)


def check_kind(kind: object) -> None:
    """One of the kinds, or "" where it is not known."""
    if kind != "" and kind not in ALL_KINDS:
        raise Refused("kind", "unknown")


def check_seats(seats: Sequence[Seat], count: int) -> None:
    """As many seats as the system has, each with a rating and an experience that it accepts."""
    if len(seats) != count:
        raise Refused("players", "wrong_number", needed=count, given=len(seats))
    for seat in seats:
        # Both comparisons are false for NaN.
        if not -RATING_LIMIT <= seat.rating <= RATING_LIMIT:
            raise Refused("rating", "out_of_range", low=-RATING_LIMIT, high=RATING_LIMIT)
        if not 0 <= seat.experience <= EXPERIENCE_LIMIT:
            raise Refused("experience", "out_of_range", low=0, high=EXPERIENCE_LIMIT)
