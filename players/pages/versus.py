"""Two players against each other: pool by pool, as the first of them sees it."""

from __future__ import annotations

from dataclasses import dataclass

from players.models import Player, Pool, Rating
from players.pages.statistics import OF_PAIRS, Tally, pairs, tally_of


@dataclass(frozen=True, slots=True)
class InPool:
    """What the two have played in a pool, and their ratings there now. In games for four who is placed higher has won."""

    pool: Pool
    tally: Tally
    in_places: bool
    own: Rating | None
    other: Rating | None


def versus(one: Player, two: Player, pools: list[Pool]) -> list[InPool]:
    """The pools in which the two have met, in their order. Two queries."""
    rows = pairs(one).filter(player=two).order_by().values("match__pool_id").annotate(**OF_PAIRS)
    tallies = {row["match__pool_id"]: tally_of(row) for row in rows}
    ratings = {(rating.pool_id, rating.player_id): rating for rating in Rating.objects.filter(player__in=(one, two))}
    return [
        InPool(
            pool,
            tallies[pool.pk],
            "places" in pool.rating_system.uses,
            ratings.get((pool.pk, one.pk)),
            ratings.get((pool.pk, two.pk)),
        )
        for pool in pools
        if pool.pk in tallies
    ]
