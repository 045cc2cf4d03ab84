"""Reads of the rankings by Redis: who is where comes from the pool's sorted set, what is shown of him from the database.

Every function raises Unavailable where Redis cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db import connection

from players.models import Pool, Rating
from players.rankings import scripts
from players.rankings.listing import Listing, Place, place_of, with_ranks
from players.rankings.store import Unavailable, entry, pack, store, unpack

TRIES = 3


def count(pool: Pool) -> int:
    """How many players the ranking lists. No query."""
    return store().read(scripts.COUNT, pool.pk)[0]


def sizes(pools: Sequence[Pool]) -> dict[int, int]:
    """How many players each of the pools lists, by pool id. No query."""
    return {pool.pk: count(pool) for pool in pools}


def place(rating: Rating) -> Place:
    """The place of a rating with a counted match. No query."""
    answer = store().read(scripts.PLACE, rating.pool_id, rating.rank_points, pack(rating.value, rating.player_id))
    if len(answer) == 1:
        # It is on its way here, or it is not what is stored.
        raise Unavailable
    of, above, below, position = answer
    return place_of(above, position - above, below, of)


def rows(pool: Pool, start: int, count: int) -> Listing:
    """At most `count` lines of the ranking from position `start` (from 0) on. One query.

    The ranks are those of the set, so each line must be as the set has it. What was written meanwhile is put there, and the set
    asked again.
    """
    for _ in range(TRIES):
        of, above, answer = store().read(scripts.ROWS, pool.pk, start, start + count - 1)
        places = [(*unpack(member), int(score)) for member, score in zip(answer[::2], answer[1::2], strict=True)]
        stored = Rating.objects.filter(pool=pool, player_id__in=[player_id for _, player_id, _ in places])
        ratings = {rating.player_id: rating for rating in stored.select_related("player")} if places else {}
        if len(ratings) < len(places):
            store().ask_for_rebuild(pool.pk)
            break
        listed = [ratings[player_id] for _, player_id, _ in places]
        moved = [
            rating
            for rating, (value, _, points) in zip(listed, places, strict=True)
            if not rating.matches or (rating.rank_points, rating.value) != (points, value)
        ]
        if not moved:
            return Listing(with_ranks(listed, start, above), start, of)
        if connection.in_atomic_block:
            # It may be rolled back yet.
            break
        store().put(pool.pk, [entry(rating) for rating in moved])
    raise Unavailable


def counts(pool: Pool, bins_of: Callable[[int, int], range]) -> tuple[range, list[int]]:
    """The bins for the pool's lowest and highest rank points, and how many players are in each. No query."""
    span = store().read(scripts.SPAN, pool.pk)
    if not span:
        return range(0), []
    bins = bins_of(int(span[0]), int(span[1]))
    return bins, store().read(scripts.COUNTS, pool.pk, bins.start, bins.step, len(bins))


def above(pool: Pool, points: Sequence[int]) -> list[int]:
    """How many stand above each of the rank points. No query."""
    counts: list[int] = store().read(scripts.ABOVE, pool.pk, *points)
    return counts
