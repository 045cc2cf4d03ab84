"""The pools that a page can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Subquery

from players.models import Era, Organiser, Player, Pool, Rating, RatingChange
from players.permissions import AnyUser


@dataclass(frozen=True, slots=True)
class PoolLink:
    """A pool in the overview, with the player's rating there and the address of the page that shows it."""

    pool: Pool
    rating: Rating | None
    address: str


def all_pools(user: AnyUser | None = None, *, tiers: bool = True) -> list[Pool]:
    """Every pool with its tiers, whether its rules have changed, and whether the user organises it. Two queries; one without the
    tiers."""
    eras = Era.objects.filter(pool=OuterRef("pk"))
    organisers = Organiser.objects.filter(pool=OuterRef("pk"), user=user.pk if user else None)
    found = Pool.objects.annotate(changed=Exists(eras), organised=Exists(organisers))
    pools = list(found.prefetch_related("tiers") if tiers else found)
    for pool in pools:
        pool.has_eras = pool.changed
        if user is not None:
            pool.organised_by = (user.pk, pool.organised)
    return list[Pool](pools)


def ratings_of(player: Player | None) -> dict[int, Rating]:
    """A player's ratings by pool id, with `peak_match`, and as `began` when the first counted match ended; empty for nobody.
    One query for a player."""
    if player is None:
        return {}
    first = RatingChange.objects.filter(rating=OuterRef("pk")).order_by("ended_at").values("ended_at")[:1]
    ratings = Rating.objects.filter(player=player).select_related("peak_match").annotate(began=Subquery(first))
    return {rating.pool_id: rating for rating in ratings}


def liveliest(pools: Sequence[Pool], ratings: Mapping[int, Rating]) -> Pool | None:
    """The pool of the player's last counted match; else the first."""
    played = {pool: ratings[pool.pk].last_ended_at for pool in pools if pool.pk in ratings}
    last = max((ended_at for ended_at in played.values() if ended_at), default=None)
    return next((pool for pool in played if last and played[pool] == last), pools[0] if pools else None)


def counts_in_games(pool: Pool) -> bool:
    """Whether experience is a number of games here, and not of the points that matches were played to."""
    return "length" not in pool.rating_system.uses
