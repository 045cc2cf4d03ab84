"""Reads of the rankings: who is where. Every number comes from the stored standing.

Players with at least one counted match are listed by shown standing; equal ones share a rank (1, 2, 2, 4); inside a tie by
rating, then by player id.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F, QuerySet, Window
from django.db.models.functions import Rank

from players.models import Pool, Rating, Tier


@dataclass(frozen=True, slots=True)
class Place:
    """A player's rank (from 1) among `of` listed players, and the share of them, in [0, 1], who stand lower."""

    rank: int
    of: int
    better_than: float


def listed(pool: Pool) -> QuerySet[Rating]:
    """The ratings that the pool's ranking lists, in its order, with their players."""
    return (
        Rating.objects.filter(pool=pool, matches__gt=0).select_related("player").order_by("-rank_points", "-value", "player_id")
    )


def ranked(pool: Pool) -> QuerySet[Rating]:
    """`listed` with `rank`. A slice of it keeps the ranks of the whole."""
    return listed(pool).annotate(rank=Window(Rank(), order_by=F("rank_points").desc()))


def place(rating: Rating) -> Place | None:
    """The rating's place in its pool, or None before its first counted match. Three counts by index."""
    if not rating.matches:
        return None
    everyone = Rating.objects.filter(pool_id=rating.pool_id, matches__gt=0)
    above = everyone.filter(rank_points__gt=rating.rank_points).count()
    below = everyone.filter(rank_points__lt=rating.rank_points).count()
    count = everyone.count()
    return Place(rank=above + 1, of=count, better_than=below / count)


def tier_of(tiers: list[Tier], standing: float) -> tuple[Tier | None, Tier | None]:
    """The tier of a standing (points) and the next one up; `tiers` by threshold, as `pool.tiers.all()` gives them."""
    reached = [tier for tier in tiers if standing >= tier.threshold]
    ahead = [tier for tier in tiers if standing < tier.threshold]
    return (reached[-1] if reached else None, ahead[0] if ahead else None)
