"""A page of a pool's ranking."""

from __future__ import annotations

from dataclasses import dataclass

from players import rankings
from players.formatting import shown
from players.models import Player, Pool, Rating, Tier

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the ranking; `tier` is that of the shown standing, `own` says whether it is the reader's."""

    rank: int
    rating: Rating
    tier: Tier | None
    own: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of the ranking: its lines, its number (from 1) of `pages`, and how many players are listed.

    `own_rank` and `own_page` say where the reader stands, None where he is not listed.
    """

    rows: tuple[Row, ...]
    number: int
    pages: int
    listed: int
    own_rank: int | None = None
    own_page: int | None = None


def ranking(pool: Pool, reader: Player | None, number: int) -> Ranking:
    """Page `number` of the ranking, the last one beyond the end. At most four queries, and two more for a reader."""
    listing = rankings.page(pool, number, PAGE_SIZE)
    tiers = list(pool.tiers.all())
    own = Rating.objects.filter(pool=pool, player=reader).first() if reader else None
    place = rankings.place(own) if own else None
    return Ranking(
        rows=tuple(_row(pool, tiers, line, reader) for line in listing.rows),
        number=listing.start // PAGE_SIZE + 1,
        pages=max(1, -(-listing.of // PAGE_SIZE)),
        listed=listing.of,
        own_rank=place.rank if place else None,
        own_page=place.position // PAGE_SIZE + 1 if place else None,
    )


def _row(pool: Pool, tiers: list[Tier], line: rankings.Ranked, reader: Player | None) -> Row:
    tier, _ = rankings.tier_of(tiers, float(shown(line.rating.standing, pool.shown_decimals)))
    return Row(line.rank, line.rating, tier, reader is not None and line.rating.player_id == reader.pk)
