"""FreeWhist: four players, rated by their places. The rules are in docs/systems.md, FreeWhist."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from players.systems.base import DEALS, RATING_LIMIT, AnyParams, NotCounted, Rated, Refused, Result, Seat, Term, Unit
from players.systems.checks import check_seats, check_whole
from players.systems.kinds import CountsByKind, counted_kinds
from players.systems.params import BadParameter, Params, number, numbers, steps
from players.systems.registry import register

SEATS = 4
PLACES = range(1, SEATS + 1)
Places: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FreeWhistParams(Params):
    """The constants of `change = factor * Kl * Kc * (S - V)`.

    `place_scores` are S by place; `deal_steps` the Kl (points) from each number of deals on, and no game with fewer deals than
    the first counts; `Kc = kc_lowest + kc_span / (1 + x / kc_halving)` with x rated games before;
    `a = (1 + |d| / curve_spread)^curve_exponent` bends the chances of the places, d in points.
    """

    start: float = number(1200, -RATING_LIMIT, RATING_LIMIT)
    factor: float = number(2, 0.001, 10_000)
    place_scores: tuple[float, ...] = numbers((1, 0.75, 0.25, 0), 0, 1)
    deal_steps: tuple[tuple[int, float], ...] = steps(((8, 20), (12, 33), (16, 55), (20, 78), (24, 100)), DEALS, 0.01, 10_000)
    kc_lowest: float = number(0.4, 0.001, 1000)
    kc_span: float = number(0.6, 0, 1000)
    kc_halving: float = number(50, 0.01, 1e9)
    curve_spread: float = number(525, 1, 1e9)
    curve_exponent: float = number(2, 0.01, 10)
    counted_kinds: tuple[str, ...] = counted_kinds()

    def __post_init__(self) -> None:
        Params.__post_init__(self)
        scores = self.place_scores
        if list(scores) != sorted(scores, reverse=True) or scores[0] == scores[-1]:
            raise BadParameter("place_scores", "not_descending")


def _all_ranks() -> Iterator[tuple[Places, Places]]:
    for places in product(PLACES, repeat=SEATS):
        ranks = tuple([1 + sum(other < place for other in places) for place in places])
        dense = tuple([1 + len({other for other in places if other < place}) for place in places])
        if places in (ranks, dense):
            yield places, ranks


RANKS: dict[Places, Places] = dict(_all_ranks())
"""Every accepted way to write four places, with its competition ranks."""


def normal_places(places: Sequence[int]) -> tuple[int, ...]:
    """The four places as competition ranks, which is how they are stored: who shares places has the best of them.

    Accepts competition ranks (1, 1, 3, 4) and dense ones (1, 1, 2, 3). Raises Refused where the places are neither.
    """
    if not isinstance(places, (list, tuple)) or len(places) != SEATS:
        raise Refused("places", "wrong_number", needed=SEATS)
    for place in places:
        check_whole("places", place, PLACES)
    ranks = RANKS.get(tuple(places))
    if ranks is None:
        raise Refused("places", "not_places")
    return ranks


@register
class FreeWhist(CountsByKind):
    """Each player's score by place against the score that the chances of the four places promise him.

    With d a player's rating minus the mean of the table, himself included, and `a = (1 + |d|/525)^2`: for d <= 0 the chance of
    place k or better is `(k/4)^a`; for d > 0 place k has the chance that place 5-k has at -d.
    """

    key = "freewhist"
    game = "whist"
    Params = FreeWhistParams
    seats = SEATS
    uses = frozenset({"places", "deals", "kind"})

    def __init__(self, params: AnyParams | None = None) -> None:
        super().__init__(params)
        self._deals_from = tuple([deals for deals, _ in self.params.deal_steps])
        self._known_scores: dict[Places, tuple[float, ...]] = {}

    def check(self, result: Result) -> None:
        super().check(result)
        if result.places is not None:
            normal_places(result.places)
        if result.deals is None:
            raise Refused("deals", "needed")
        check_whole("deals", result.deals, DEALS)

    def not_counted(self, result: Result) -> NotCounted | None:
        reason = super().not_counted(result)
        if reason is None and result.deals is not None and result.deals < self._deals_from[0]:
            return NotCounted("too_few_deals", {"deals": result.deals, "lowest": self._deals_from[0]})
        return reason

    def rate(self, seats: Sequence[Seat], result: Result) -> Rated:
        check_seats(seats, SEATS)
        _, k_deals = self._deal_step(result)
        scores = self._scores(result)
        mean = _mean(seats)
        expected = tuple([self._expected(self._chances(seat.rating - mean)) for seat in seats])
        k = tuple([self.k(seat.experience) for seat in seats])
        factor = self.params.factor * k_deals
        changes = tuple([factor * kc * (s - v) for kc, s, v in zip(k, scores, expected, strict=True)])
        return Rated(changes, expected, scores, k, 1)

    def k(self, experience: int) -> float:
        """Kc by the rated games before this one: from `kc_lowest + kc_span` (new) to `kc_lowest` (endless)."""
        params = self.params
        k: float = params.kc_lowest + params.kc_span / (1.0 + experience / params.kc_halving)
        return k

    def place_chances(self, seats: Sequence[Seat]) -> tuple[tuple[float, ...], ...]:
        """For each seat the chances of places 1 to 4, which add up to 1. Raises Refused for seats that `rate` refuses."""
        check_seats(seats, SEATS)
        mean = _mean(seats)
        return tuple(self._chances(seat.rating - mean) for seat in seats)

    def _bend(self, difference: float) -> float:
        bend: float = (1.0 + abs(difference) / self.params.curve_spread) ** self.params.curve_exponent
        return bend

    def _chances(self, difference: float) -> tuple[float, float, float, float]:
        bend = self._bend(difference)
        first, second, third = 0.25**bend, 0.5**bend, 0.75**bend
        if difference <= 0.0:
            return first, second - first, third - second, 1.0 - third
        return 1.0 - third, third - second, second - first, first

    def _expected(self, chances: Sequence[float]) -> float:
        return math.fsum([chance * score for chance, score in zip(chances, self.params.place_scores, strict=True)])

    def _scores(self, result: Result) -> tuple[float, ...]:
        if result.places is None:
            raise Refused("result", "needed")
        places = tuple(result.places)
        scores = self._known_scores.get(places)
        if scores is None:
            ranks = normal_places(places)
            scores = self._known_scores[places] = tuple([_mean_score(self._shared(ranks, rank)) for rank in ranks])
        return scores

    def _shared(self, places: Places, place: int) -> tuple[float, ...]:
        """The scores of the places that those on `place` share."""
        scores: tuple[float, ...] = self.params.place_scores[place - 1 : place - 1 + places.count(place)]
        return scores

    def _deal_step(self, result: Result) -> tuple[int, float]:
        """The step of `deal_steps` that the game reaches: (deals, Kl)."""
        if result.deals is None:
            raise Refused("deals", "needed")
        step = bisect_right(self._deals_from, result.deals)
        if not step:
            raise Refused("deals", "too_few", lowest=self._deals_from[0])
        reached: tuple[int, float] = self.params.deal_steps[step - 1]
        return reached

    def explain(self, seats: Sequence[Seat], result: Result) -> tuple[tuple[Term, ...], ...]:
        rated = self.rate(seats, result)
        return tuple(self._explain(seats, seat, result, rated) for seat in range(SEATS))

    def _explain(self, seats: Sequence[Seat], seat: int, result: Result, rated: Rated) -> tuple[Term, ...]:
        params, own, mean = self.params, seats[seat], _mean(seats)
        difference = own.rating - mean
        bend = self._bend(difference)
        chances = self._chances(difference)
        deals_from, k_deals = self._deal_step(result)
        kc, score, expected = rated.k[seat], rated.scores[seat], rated.expected[seat]
        return (
            Term("own_rating", own.rating, Unit.RATING),
            Term("table_mean", mean, Unit.RATING, {f"rating_{n}": other.rating for n, other in enumerate(seats, 1)}),
            Term("difference_to_mean", difference, Unit.NUMBER, {"own_rating": own.rating, "table_mean": mean}),
            Term(
                "curve_bend",
                bend,
                Unit.NUMBER,
                {"difference": difference, "spread": params.curve_spread, "exponent": params.curve_exponent},
            ),
            *(
                # Above the mean the places are mirrored: place 1 has what place 4 has below it.
                Term("place_chance", chance, Unit.CHANCE, {"place": n, "upper": n if difference <= 0 else 5 - n, "bend": bend})
                for n, chance in enumerate(chances, 1)
            ),
            Term(
                "expected_by_places",
                expected,
                Unit.NUMBER,
                {f"chance_{n}": chance for n, chance in enumerate(chances, 1)}
                | {f"score_{n}": value for n, value in enumerate(params.place_scores, 1)},
            ),
            *self._place_terms(normal_places(result.places or ()), seat, score),
            Term("k_deals", k_deals, Unit.FACTOR, {"deals": result.deals, "from": deals_from}),
            Term("experience_before", own.experience, Unit.COUNT),
            Term(
                "k_games",
                kc,
                Unit.FACTOR,
                {
                    "lowest": params.kc_lowest,
                    "span": params.kc_span,
                    "experience": own.experience,
                    "halving": params.kc_halving,
                },
            ),
            Term(
                "change",
                rated.changes[seat],
                Unit.CHANGE,
                {"factor": params.factor, "k_deals": k_deals, "k_games": kc, "score": score, "expected": expected},
            ),
        )

    def _place_terms(self, places: Places, seat: int, score: float) -> tuple[Term, Term]:
        place = places[seat]
        shared = self._shared(places, place)
        if len(shared) == 1:
            return Term("place", place, Unit.COUNT), Term("place_score", score, Unit.NUMBER, {"place": place})
        inputs = {f"score_{n}": value for n, value in enumerate(shared, 1)}
        last = place + len(shared) - 1
        return (
            Term("shared_place", place, Unit.COUNT, {"first": place, "last": last}),
            Term("shared_score", score, Unit.NUMBER, inputs),
        )


def _mean(seats: Sequence[Seat]) -> float:
    return math.fsum([seat.rating for seat in seats]) / SEATS


def _mean_score(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores)
