"""TICS: Elo for two players with draws. The rules are in docs/systems.md, TICS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from players.systems.base import RATING_LIMIT, Rated, Refused, Result, Seat, Term, Unit
from players.systems.checks import check_scores, check_seats
from players.systems.kinds import CountsByKind, counted_kinds
from players.systems.params import Params, number
from players.systems.registry import register
from players.systems.two_players import expectation, expected_term, rating_terms, score_term, underdog_chance


@dataclass(frozen=True, slots=True)
class TicsParams(Params):
    """`start` and `k` in points; `scale` in points, the difference at which ten games are won for one lost."""

    start: float = number(1500, -RATING_LIMIT, RATING_LIMIT)
    k: float = number(50, 0.01, 100_000)
    scale: float = number(500, 1, 1e9)
    counted_kinds: tuple[str, ...] = counted_kinds()


@register
class Tics(CountsByKind):
    """Changes of `K * (score - expected)`, expected `1 / (1 + 10^(-(own - opponent's rating) / 500))`, K = 50.

    With K 32 and scale 400 it is the ordinary chess Elo. Experience is the number of rated games.
    """

    key = "tics"
    game = "board"
    Params = TicsParams
    uses = frozenset({"scores", "kind"})
    draws = True

    def check(self, result: Result) -> None:
        super().check(result)
        check_scores(result.scores, draws=True)

    def rate(self, seats: Sequence[Seat], result: Result) -> Rated:
        check_seats(seats, 2)
        if result.scores is None:
            raise Refused("result", "needed")
        one, two = seats
        score1, score2 = float(result.scores[0]), float(result.scores[1])
        k = self.params.k
        difference = one.rating - two.rating
        expected1, expected2, above = expectation(difference, abs(difference) / self.params.scale, score2)
        change = k * above
        return Rated((change, 0.0 - change), (expected1, expected2), (score1, score2), (k, k), 1)

    def explain(self, seats: Sequence[Seat], result: Result) -> tuple[tuple[Term, ...], ...]:
        rated = self.rate(seats, result)
        return tuple(self._explain(seats[own], seats[1 - own], own, result, rated) for own in (0, 1))

    def _explain(self, own: Seat, other: Seat, seat: int, result: Result, rated: Rated) -> tuple[Term, ...]:
        k, scale = self.params.k, self.params.scale
        score, expected = rated.scores[seat], rated.expected[seat]
        difference = abs(own.rating - other.rating)
        chance = underdog_chance(difference / scale)
        return (
            *rating_terms(own, other),
            Term("underdog_chance", chance, Unit.CHANCE, {"rating_difference": difference, "spread": scale}),
            expected_term(own, other, seat, chance, expected),
            score_term(result, seat, score),
            Term("k_constant", k, Unit.FACTOR),
            Term("change", rated.changes[seat], Unit.CHANGE, {"k": k, "score": score, "expected": expected}),
        )
