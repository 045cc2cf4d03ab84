"""Online Backgammon: FIBS doubled and capped, with tiers and a standing that time away lowers.

The rules are in docs/systems.md, Online Backgammon.
"""

from __future__ import annotations

from dataclasses import dataclass

from players.systems.backgammon import AFTER, BEFORE, Backgammon, BackgammonParams
from players.systems.base import RATING_LIMIT, AnyParams, DefaultTier, Kind, StandingParams
from players.systems.kinds import counted_kinds
from players.systems.params import choice, number, whole
from players.systems.registry import register


@dataclass(frozen=True, slots=True)
class OnlineBackgammonParams(BackgammonParams):
    """`cap` in points either way per player and match; `standing_floor` in points; `decay_per_day` in points a day, after
    `decay_after_days` whole days without a counted match."""

    start: float = number(600, -RATING_LIMIT, RATING_LIMIT)
    factor: float = number(8, 0.001, 10_000)
    experience_counts: str = choice(AFTER, (BEFORE, AFTER))
    counted_kinds: tuple[str, ...] = counted_kinds(Kind.MATCHMADE.value, Kind.TOURNAMENT.value)
    cap: float = number(200, 0.01, 2 * RATING_LIMIT)
    standing_floor: float = number(600, -RATING_LIMIT, RATING_LIMIT)
    decay_after_days: int = whole(14, 0, 36_500)
    decay_per_day: float = number(1, 0, RATING_LIMIT)


@register
class OnlineBackgammon(Backgammon):
    """Changes of `8 * K * sqrt(n) * (score - expected)`, at most 200 points; K counts the experience of this match already.

    Only matches that the site itself paired count. Nobody is grey.
    """

    key = "online_backgammon"
    Params = OnlineBackgammonParams
    provisional_below = None
    tiers = (
        DefaultTier("Bronze", 600),
        DefaultTier("Silver", 700),
        DefaultTier("Gold", 800),
        DefaultTier("Platinum", 900, decays=True),
        DefaultTier("Diamond", 1000),
        DefaultTier("Master", 1100),
    )

    def __init__(self, params: AnyParams | None = None) -> None:
        super().__init__(params)
        self._cap = self.params.cap

    @property
    def standing_params(self) -> StandingParams:
        params = self.params
        return StandingParams(params.standing_floor, params.decay_after_days, params.decay_per_day)
