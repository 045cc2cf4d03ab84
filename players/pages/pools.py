"""The pools that a page can show."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from players.models import Era, Player, Pool, Rating


def all_pools() -> list[Pool]:
    """Every pool with its tiers, and whether its rules have changed. Two queries."""
    eras = Era.objects.filter(pool=OuterRef("pk"))
    pools = list(Pool.objects.annotate(changed=Exists(eras)).prefetch_related("tiers"))
    for pool in pools:
        pool.has_eras = pool.changed
    return list[Pool](pools)


def ratings_of(player: Player | None) -> dict[int, Rating]:
    """A player's ratings by pool id; empty for nobody. One query for a player."""
    if player is None:
        return {}
    return {rating.pool_id: rating for rating in Rating.objects.filter(player=player).select_related("peak_match")}


def counts_in_games(pool: Pool) -> bool:
    """Whether experience is a number of games here, and not of the points that matches were played to."""
    return "length" not in pool.rating_system.uses
