"""The pools that a page can show."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from players.models import Era, Organiser, Player, Pool, Rating
from players.permissions import AnyUser


def all_pools(user: AnyUser | None = None) -> list[Pool]:
    """Every pool with its tiers, whether its rules have changed, and whether the user organises it. Two queries."""
    eras = Era.objects.filter(pool=OuterRef("pk"))
    organisers = Organiser.objects.filter(pool=OuterRef("pk"), user=user.pk if user else None)
    pools = list(Pool.objects.annotate(changed=Exists(eras), organised=Exists(organisers)).prefetch_related("tiers"))
    for pool in pools:
        pool.has_eras = pool.changed
        if user is not None:
            pool.organised_by = (user.pk, pool.organised)
    return list[Pool](pools)


def ratings_of(player: Player | None) -> dict[int, Rating]:
    """A player's ratings by pool id; empty for nobody. One query for a player."""
    if player is None:
        return {}
    return {rating.pool_id: rating for rating in Rating.objects.filter(player=player).select_related("peak_match")}


def counts_in_games(pool: Pool) -> bool:
    """Whether experience is a number of games here, and not of the points that matches were played to."""
    return "length" not in pool.rating_system.uses
