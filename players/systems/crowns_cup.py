"""Crowns Cup backgammon: FIBS, with every change scaled by the stake. The rules are in docs/systems.md, Crowns Cup."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from players.systems.backgammon import Backgammon, BackgammonParams, Played
from players.systems.base import ALL_KINDS, POINTS, Kind, NotCounted, Refused, Result, Term, Unit
from players.systems.checks import check_stake, check_whole
from players.systems.kinds import counted_kinds
from players.systems.params import flag, whole
from players.systems.registry import register


@dataclass(frozen=True, slots=True)
class CrownsCupParams(BackgammonParams):
    """FIBS's constants, and what counts: `money_game_experience` is the experience that one money game brings."""

    counted_kinds: tuple[str, ...] = counted_kinds(*(kind for kind in ALL_KINDS if kind != Kind.TOURNAMENT))
    real_money_only: bool = flag(True)
    money_game_experience: int = whole(1, 0, 1000)


@register
class CrownsCup(Backgammon):
    """Changes of `4 * K * sqrt(n) * log10(1 + stake) * (score - expected)`, the stake in euros per player.

    A money game has no length: it is rated as a 1-point match for the stake per point times the points won, cube and gammon
    included. A match broken off scores the winning chance at the break; a money game broken off counts the cube's value as
    points.
    """

    key = "crowns_cup"
    Params = CrownsCupParams
    uses = frozenset({"scores", "chance", "length", "points", "stake", "real_money", "kind"})
    money_games = True
    stakes = True
    shown_decimals = 2

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | ({"real_money"} if self.params.real_money_only else frozenset())

    def check(self, result: Result) -> None:
        super().check(result)
        if result.length is not None and result.points is not None:
            raise Refused("points", "not_with_length")
        if result.length is None:
            if result.points is None:
                raise Refused("points", "needed")
            check_whole("points", result.points, POINTS)
        if result.real_money is None:
            if self.params.real_money_only:
                raise Refused("real_money", "needed")
        elif not isinstance(result.real_money, bool):
            raise Refused("real_money", "not_yes_or_no")
        if result.stake is not None:
            check_stake(result.stake)
        elif self.not_counted(result) is None:
            raise Refused("stake", "needed")

    def not_counted(self, result: Result) -> NotCounted | None:
        if self.params.real_money_only and result.real_money is False:
            return NotCounted("play_money")
        return super().not_counted(result)

    def played(self, result: Result) -> Played:
        stake = self._total_stake(result)
        gained = self.params.money_game_experience if result.length is None else result.length
        return Played(result.length or 1, math.log10(1.0 + float(stake)), gained)

    def _total_stake(self, result: Result) -> Decimal:
        """What a player has at stake, in euros: in a money game the stake per point times the points."""
        if result.length is None and result.points is None:
            raise Refused("points", "needed")
        if result.stake is None:
            raise Refused("stake", "needed")
        return result.stake if result.length is not None else result.stake * (result.points or 0)

    def _stake_terms(self, result: Result) -> list[Term]:
        total = float(self._total_stake(result))
        stake = Term("stake", total, Unit.EUROS)
        if result.length is None:
            inputs = {"stake_per_point": float(result.stake or 0), "points": result.points}
            stake = Term("money_game_stake", total, Unit.EUROS, inputs)
        return [stake, Term("stake_factor", math.log10(1.0 + total), Unit.FACTOR, {"stake": total})]
