"""What pages call: each read asks Redis, and the database where Redis cannot say. The two give the same answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import wraps
from typing import ParamSpec, TypeVar

from players.models import Pool, Rating
from players.rankings import cached, sql
from players.rankings.listing import Bin, Listing, Place, bins_of
from players.rankings.store import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


def either(by_redis: Callable[P, T], by_sql: Callable[P, T]) -> Callable[P, T]:
    @wraps(by_sql)
    def read(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return by_redis(*args, **kwargs)
        except Unavailable:
            return by_sql(*args, **kwargs)

    return read


_count = either(cached.count, sql.count)
_sizes = either(cached.sizes, sql.sizes)
_place = either(cached.place, sql.place)
_rows = either(cached.rows, sql.rows)
_counts = either(cached.counts, sql.counts)
_above = either(cached.above, sql.above)


def count(pool: Pool) -> int:
    """How many players the pool's ranking lists. At most one query."""
    return _count(pool)


def sizes(pools: Sequence[Pool]) -> dict[int, int]:
    """How many players each of the pools lists, by pool id. At most one query."""
    return _sizes(pools)


def place(rating: Rating) -> Place | None:
    """The rating's place in its pool, or None before its first counted match. At most one query."""
    return _place(rating) if rating.matches else None


def rows(pool: Pool, start: int, count: int) -> Listing:
    """At most `count` lines of the ranking from position `start` (from 0) on; none beyond the end. At most three queries."""
    return _rows(pool, max(start, 0), max(count, 1))


def page(pool: Pool, number: int, size: int) -> Listing:
    """Page `number` (from 1) of the ranking, `size` players each; the last page beyond the end. At most four queries."""
    listing = rows(pool, (max(number, 1) - 1) * size, size)
    if listing.of and not listing.rows:
        listing = rows(pool, (listing.of - 1) // size * size, size)
    return listing


def neighbours(rating: Rating, each: int = 5) -> Listing | None:
    """The lines around a rating, at most `each` before and after it; None before its first counted match.

    At most five queries.
    """
    found = place(rating)
    if found is None:
        return None
    start = max(0, found.position - each)
    return rows(rating.pool, start, found.position + each + 1 - start)


def above(pool: Pool, points: Sequence[int]) -> list[int]:
    """How many players stand above each of the rank points, which come in descending order, each once. At most one query."""
    return _above(pool, points) if points else []


def distribution(pool: Pool, width: float | Decimal | None = None) -> list[Bin]:
    """How many listed players stand where: bins of `width` points side by side, from the lowest standing to the highest.

    A player is in the bin of his shown standing; the edges are multiples of the width, which is a multiple of the last digit that
    the pool shows. Without a width, a round one that gives at most 40 bins. At most two queries. Raises ValueError for another
    width, or one so small that it gives more than 1000 bins.
    """
    scale = 10**pool.shown_decimals
    bins, counts = _counts(pool, lambda lowest, highest: bins_of(width, pool.shown_decimals, lowest, highest))
    return [Bin(edge / scale, (edge + bins.step) / scale, number) for edge, number in zip(bins, counts, strict=True)]
