"""What FIBS, its relatives and TICS share: the expectation between two players, and the lines that explain it.

The curve is Elo's, logistic in powers of ten.
"""

from __future__ import annotations

from players.systems.base import Result, Seat, Term, Unit

MAX_EXPONENT = 300.0
"""Powers of ten are held here: beyond it the underdog's chance is 0 to every digit, and past 308 a double overflows."""


def underdog_chance(exponent: float) -> float:
    """`1 / (10^exponent + 1)`, the chance of the lower rated player; `exponent` is the scaled rating difference, at least 0."""
    power: float = 10.0 ** min(exponent, MAX_EXPONENT)
    return 1.0 / (power + 1.0)


def expectation(difference: float, exponent: float, score2: float) -> tuple[float, float, float]:
    """Both expected scores and player 1's score above his expectation; player 2's is exactly the negative of it.

    `difference` is player 1's rating minus player 2's, `exponent` its scaled size, `score2` player 2's score. The third number
    is computed once, from the favourite's side and from one of the scores (which add up to 1, but a winning chance's
    complement may have been rounded), so that it is the same to the last bit whichever player sits first.
    """
    chance = underdog_chance(exponent)
    if difference >= 0.0:
        return 1.0 - chance, chance, chance - score2
    # Subtracted from 0, because a negated 0.0 would be kept and exported as -0.0.
    return chance, 1.0 - chance, 0.0 - (chance - (1.0 - score2))


def rating_terms(own: Seat, other: Seat) -> tuple[Term, Term, Term]:
    """Both ratings and the difference between them."""
    inputs = {"own_rating": own.rating, "opponent_rating": other.rating}
    return (
        Term("own_rating", own.rating, Unit.RATING),
        Term("opponent_rating", other.rating, Unit.RATING),
        Term("rating_difference", abs(own.rating - other.rating), Unit.NUMBER, inputs),
    )


def expected_term(own: Seat, other: Seat, seat: int, chance: float, expected: float) -> Term:
    """A player's expected score from the underdog's chance. At equal ratings player 1 counts as the favourite."""
    favourite = own.rating > other.rating or (own.rating == other.rating and seat == 0)
    return Term("expected_favourite" if favourite else "expected_underdog", expected, Unit.NUMBER, {"underdog_chance": chance})


def score_term(result: Result, seat: int, score: float) -> Term:
    """A player's score, or his winning chance where the match was broken off."""
    if result.chance is None:
        return Term("score", score, Unit.NUMBER)
    if seat == 0:
        return Term("chance_at_break", score, Unit.CHANCE)
    return Term("other_chance_at_break", score, Unit.CHANCE, {"chance_at_break": float(result.chance)})
