"""The FIBS formula, which three backgammon systems share: parameters, rating and explanation.

With D the rating difference and n the match length in points, the underdog's chance is
`1 / (10^(D * sqrt(n) / 2000) + 1)`, and each player's rating changes by `4 * K * sqrt(n) * (score - expected score)`, where
K falls from 5 to 1 over his first 400 points of experience. The rules are in docs/systems.md; what the other systems add is
in their own modules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from players.systems.base import LENGTHS, RATING_LIMIT, AnyParams, NotCounted, Rated, Refused, Result, Seat, Term, Unit
from players.systems.checks import check_chance, check_scores, check_seats, check_whole
from players.systems.kinds import CountsByKind, counted_kinds
from players.systems.params import BadParameter, Params, choice, nested, number
from players.systems.running import Game, Line, Running, out_of_range, seated
from players.systems.two_players import MAX_EXPONENT, expectation, expected_term, rating_terms, score_term, underdog_chance

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Ramp(Params):
    """How experience x damps the changes: `K = max(lowest, highest - x / per)`."""

    highest: float = number(5, 0.01, 1000)
    lowest: float = number(1, 0.01, 1000)
    per: float = number(100, 0.01, 1e9)

    def __post_init__(self) -> None:
        Params.__post_init__(self)
        if self.lowest > self.highest:
            raise BadParameter("lowest", "above", other="highest")


@dataclass(frozen=True, slots=True)
class BackgammonParams(Params):
    """The formula's constants, with FIBS's values.

    `start` in points; `factor` in points, the 4 of the formula; `spread` in points, its 2000; `ramp` null for K = 1;
    `experience_counts` says whether K goes by the experience before the match or with it ("after").
    """

    start: float = number(1500, -RATING_LIMIT, RATING_LIMIT)
    factor: float = number(4, 0.001, 10_000)
    spread: float = number(2000, 1, 1e9)
    ramp: Ramp | None = nested(Ramp(), Ramp, nullable=True)  # noqa: RUF009 - a frozen default
    experience_counts: str = choice(BEFORE, (BEFORE, AFTER))
    counted_kinds: tuple[str, ...] = counted_kinds()


class Played(NamedTuple):
    """What the formula takes from a result: `length` in points, the stake factor, and the experience that it brings."""

    length: int
    stake_factor: float
    gained: int


class Backgammon(CountsByKind):
    """Matches between two players by the FIBS formula. Unlimited play, which has no length, is not rated."""

    Params = BackgammonParams
    uses = frozenset({"scores", "length", "kind"})
    money_games: ClassVar[bool] = False
    """Whether play without a length is rated."""
    stakes: ClassVar[bool] = False
    """Whether the change depends on more of the match than its length."""

    def __init__(self, params: AnyParams | None = None) -> None:
        super().__init__(params)
        self._after = self.params.experience_counts == AFTER
        self._cap = math.inf
        """The most that a match can move a rating, in points."""
        self._terms_of_length: dict[int | None, tuple[float, float, int]] = {}

    def check(self, result: Result) -> None:
        super().check(result)
        if result.chance is not None:
            check_chance(result.chance)
        else:
            check_scores(result.scores, draws=False)
        if result.length is not None:
            check_whole("length", result.length, LENGTHS)

    def not_counted(self, result: Result) -> NotCounted | None:
        reason = super().not_counted(result)
        if reason is None and result.length is None and not self.money_games:
            return NotCounted("unlimited")
        return reason

    def played(self, result: Result) -> Played:
        """Raises Refused where the result lacks what the formula needs."""
        if result.length is None:
            raise Refused("length", "needed")
        return Played(result.length, 1.0, result.length)

    def k(self, experience: int, gained: int) -> float:
        """A player's K by his experience before the match and what the match brings."""
        ramp = self.params.ramp
        if ramp is None:
            return 1.0
        counted = experience + gained if self._after else experience
        k: float = max(ramp.lowest, ramp.highest - counted / ramp.per)
        return k

    def rate(self, seats: Sequence[Seat], result: Result) -> Rated:
        check_seats(seats, 2)
        one, two = seats
        root, common, gained = self._terms(result)
        score1, score2 = _scores(result)
        difference = one.rating - two.rating
        expected1, expected2, above = expectation(difference, abs(difference) * root / self.params.spread, score2)
        # Everything that both players share comes first: where their K are equal, their changes are exact opposites.
        moved = common * above
        k1, k2 = self.k(one.experience, gained), self.k(two.experience, gained)
        change1, change2 = k1 * moved, k2 * (0.0 - moved)
        cap = self._cap
        if abs(change1) > cap:
            change1 = math.copysign(cap, change1)
        if abs(change2) > cap:
            change2 = math.copysign(cap, change2)
        return Rated((change1, change2), (expected1, expected2), (score1, score2), (k1, k2), gained)

    def _terms(self, result: Result) -> tuple[float, float, int]:
        """sqrt(n), what multiplies score - expected for both players alike, and the experience that the match brings."""
        terms = self._terms_of_length.get(result.length)
        if terms is None:
            length, stake_factor, gained = self.played(result)
            root = math.sqrt(length)
            terms = root, self.params.factor * root * stake_factor, gained
            if not self.stakes:
                self._terms_of_length[result.length] = terms
        return terms

    def rate_many(self, games: Iterable[Game], players: dict[int, Running], start: Callable[[int], Running]) -> Iterator[Line]:
        # `rate` and `book` for two players in one: the same steps in the same order, so that a replay of very many matches calls
        # nothing and makes nothing but the lines. What both do differently gives the same bits:
        # - Of two players at most one gains, so only he can reach a peak, and only from his peak on the highest rating.
        # - A cap that no change reaches is not looked at.
        spread, ramp, after = self.params.spread, self.params.ramp, self._after
        lowest, highest, per = (ramp.lowest, ramp.highest, ramp.per) if ramp else (1.0, 1.0, 1.0)
        cap, capped = self._cap, self._cap < math.inf
        known_terms, find_terms = self._terms_of_length.get, self._terms
        for key, (id1, id2), result in games:
            try:
                one, two = players[id1], players[id2]
            except KeyError:
                one, two = seated((id1, id2), players, start)
            root, common, gained = known_terms(result.length) or find_terms(result)
            score1, score2 = result.scores or _scores(result)
            before1, before2 = one.value, two.value
            difference = before1 - before2
            if difference >= 0.0:
                exponent = difference * root / spread
                chance = 1.0 / (10.0 ** (exponent if exponent < MAX_EXPONENT else MAX_EXPONENT) + 1.0)
                expected1, expected2 = 1.0 - chance, chance
                moved = common * (chance - score2)
            else:
                exponent = -difference * root / spread
                chance = 1.0 / (10.0 ** (exponent if exponent < MAX_EXPONENT else MAX_EXPONENT) + 1.0)
                expected1, expected2 = chance, 1.0 - chance
                moved = common * (0.0 - (chance - (1.0 - score2)))
            experience1, experience2 = one.experience, two.experience
            one.experience = more1 = experience1 + gained
            two.experience = more2 = experience2 + gained
            if ramp is None:
                change1, change2 = moved, 0.0 - moved
            else:
                if after:
                    k1, k2 = highest - more1 / per, highest - more2 / per
                else:
                    k1, k2 = highest - experience1 / per, highest - experience2 / per
                change1 = (k1 if k1 > lowest else lowest) * moved
                change2 = (k2 if k2 > lowest else lowest) * (0.0 - moved)
            if capped:
                if abs(change1) > cap:
                    change1 = math.copysign(cap, change1)
                if abs(change2) > cap:
                    change2 = math.copysign(cap, change2)
            one.value = after1 = before1 + change1
            two.value = after2 = before2 + change2
            one.matches += 1
            two.matches += 1
            one.last = two.last = key
            ended_at, timed, sequence, match_id = key
            if moved > 0.0:
                if after1 > one.peak:
                    one.peak, one.peak_match_id = after1, match_id
                    if after1 > RATING_LIMIT:
                        raise out_of_range(match_id)
                if after2 < -RATING_LIMIT:
                    raise out_of_range(match_id)
            else:
                if after2 > two.peak:
                    two.peak, two.peak_match_id = after2, match_id
                    if after2 > RATING_LIMIT:
                        raise out_of_range(match_id)
                if after1 < -RATING_LIMIT:
                    raise out_of_range(match_id)
            yield (match_id, id1, before1, change1, after1, experience1, more1, score1, expected1, ended_at, timed, sequence)
            yield (match_id, id2, before2, change2, after2, experience2, more2, score2, expected2, ended_at, timed, sequence)

    def explain(self, seats: Sequence[Seat], result: Result) -> tuple[tuple[Term, ...], ...]:
        rated = self.rate(seats, result)
        return tuple(self._explain(seats[own], seats[1 - own], own, result, rated) for own in (0, 1))

    def _explain(self, own: Seat, other: Seat, seat: int, result: Result, rated: Rated) -> tuple[Term, ...]:
        params, played = self.params, self.played(result)
        root = math.sqrt(played.length)
        difference = abs(own.rating - other.rating)
        chance = underdog_chance(difference * root / params.spread)
        score, expected, k = rated.scores[seat], rated.expected[seat], rated.k[seat]
        base = params.factor * root * (score - expected)
        factors = {"k": k, "base_change": base}
        terms = [
            *rating_terms(own, other),
            self._length_term(result, played),
            Term(
                "underdog_chance",
                chance,
                Unit.CHANCE,
                {"rating_difference": difference, "sqrt_length": root, "spread": params.spread},
            ),
            expected_term(own, other, seat, chance, expected),
            score_term(result, seat, score),
            Term(
                "base_change",
                base,
                Unit.NUMBER,
                {"factor": params.factor, "sqrt_length": root, "score": score, "expected": expected},
            ),
        ]
        stake_terms = self._stake_terms(result)
        if stake_terms:
            terms += stake_terms
            factors["stake_factor"] = played.stake_factor
        terms += self._k_terms(own.experience, played.gained, k)
        change = rated.changes[seat]
        uncapped = k * base * played.stake_factor
        if abs(change) == self._cap and abs(uncapped) > self._cap:
            terms.append(Term("uncapped_change", uncapped, Unit.NUMBER, factors))
            terms.append(Term("cap", self._cap, Unit.NUMBER))
            factors = {"uncapped_change": uncapped, "cap": self._cap}
        terms.append(Term("change", change, Unit.CHANGE, factors))
        return tuple(terms)

    def _length_term(self, result: Result, played: Played) -> Term:
        if result.length is None:
            return Term("money_game_length", 1.0, Unit.FACTOR)
        return Term("sqrt_length", math.sqrt(played.length), Unit.FACTOR, {"length": played.length})

    def _stake_terms(self, result: Result) -> list[Term]:
        """The lines of the stake factor, in a system that has one."""
        return []

    def _k_terms(self, experience: int, gained: int, k: float) -> list[Term]:
        ramp = self.params.ramp
        if ramp is None:
            return [Term("k_off", k, Unit.FACTOR)]
        counted = experience + gained if self._after else experience
        terms = [Term("experience_before", experience, Unit.COUNT)]
        if self._after:
            terms.append(
                Term("experience_after", counted, Unit.COUNT, {"experience_before": experience, "experience_gained": gained})
            )
        inputs = {"lowest": ramp.lowest, "highest": ramp.highest, "experience": counted, "per": ramp.per}
        return [*terms, Term("k_ramp", k, Unit.FACTOR, inputs)]


def _scores(result: Result) -> tuple[float, float]:
    if result.chance is not None:
        return float(result.chance), 1.0 - result.chance
    scores = result.scores
    if scores is None:
        raise Refused("result", "needed")
    return float(scores[0]), float(scores[1])
