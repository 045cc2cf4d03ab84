"""A page of a pool's ranking."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Q

from players import rankings
from players.formatting import is_provisional, shown
from players.models import Player, Pool, Rating, Tier

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the ranking: the rating with its rank and player, and the tier of its shown standing."""

    rating: Rating
    rank: int
    tier: Tier | None
    provisional: bool
    own: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of the ranking; `own_rank` and `own_page` say where the reader stands, if he does."""

    rows: tuple[Row, ...]
    page: Page[Rating]
    count: int
    own: Rating | None
    own_rank: int | None
    own_page: int | None


def ranking(pool: Pool, reader: Player | None, wanted: str | None) -> Ranking:
    """The page `wanted` of the ranking: the last one beyond the end, the first one where it is no number.

    Two queries, and three more for a reader with a player.
    """
    paginator = Paginator(rankings.ranked(pool), PAGE_SIZE)
    paginator.count = rankings.listed(pool).count()
    page = paginator.get_page(wanted)
    tiers = list(pool.tiers.all())
    rows = tuple(_row(pool, tiers, rating, reader) for rating in page.object_list)
    own = Rating.objects.filter(pool=pool, player=reader, matches__gt=0).first() if reader else None
    own_rank = own_page = None
    if own is not None:
        everyone = Rating.objects.filter(pool=pool, matches__gt=0)
        higher = Q(rank_points__gt=own.rank_points)
        before_in_tie = Q(value__gt=own.value) | Q(value=own.value, player_id__lt=own.player_id)
        own_rank = everyone.filter(higher).count() + 1
        tied_before = everyone.filter(Q(rank_points=own.rank_points) & before_in_tie).count()
        own_page = (own_rank - 1 + tied_before) // PAGE_SIZE + 1
    return Ranking(rows, page, paginator.count, own, own_rank, own_page)


def _row(pool: Pool, tiers: list[Tier], rating: Rating, reader: Player | None) -> Row:
    tier, _ = rankings.tier_of(tiers, float(shown(rating.standing, pool.shown_decimals)))
    return Row(
        rating=rating,
        rank=rating.rank,  # type: ignore[attr-defined]
        tier=tier,
        provisional=is_provisional(rating.experience, pool.provisional_below),
        own=reader is not None and rating.player_id == reader.pk,
    )
