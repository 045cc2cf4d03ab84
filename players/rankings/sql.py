"""Reads of the rankings by the database alone, along the index `rating_ranking`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce, Rank

from players.models import Pool, Rating
from players.rankings.listing import Listing, Place, place_of, with_ranks

ORDER = ("-rank_points", "-value", "player_id")


def all_lines(pool_id: int) -> QuerySet[Rating]:
    """The ratings that the pool's ranking lists, in no order."""
    return Rating.objects.filter(pool=pool_id, matches__gt=0)


def listed(pool: Pool) -> QuerySet[Rating]:
    """The ratings that the pool's ranking lists, in its order, with their players."""
    return all_lines(pool.pk).select_related("player").order_by(*ORDER)


def ranked(pool: Pool) -> QuerySet[Rating]:
    """`listed` with `rank`. A slice of it keeps the ranks of the whole; far down it is slow, and `rows` is not."""
    return listed(pool).annotate(rank=Window(Rank(), order_by=F("rank_points").desc()))


def count(pool: Pool) -> int:
    """How many players the ranking lists. One query."""
    return all_lines(pool.pk).count()


def sizes(pools: Sequence[Pool]) -> dict[int, int]:
    """How many players each of the pools lists, by pool id. One query."""
    listed = Rating.objects.filter(matches__gt=0, pool__in=pools).order_by().values_list("pool").annotate(Count("pk"))
    return dict.fromkeys((pool.pk for pool in pools), 0) | dict(listed)


def place(rating: Rating) -> Place:
    """The place of a rating with a counted match. One query, so that its numbers are of one moment."""
    everyone = all_lines(rating.pool_id)
    level = everyone.filter(rank_points=rating.rank_points)
    before_in_tie = Q(value__gt=rating.value) | Q(value=rating.value, player_id__lt=rating.player_id)
    above, tied, before, below = Pool.objects.values_list(
        _number_of(everyone.filter(rank_points__gt=rating.rank_points)),
        _number_of(level),
        _number_of(level.filter(before_in_tie)),
        _number_of(everyone.filter(rank_points__lt=rating.rank_points)),
    ).get(pk=rating.pool_id)
    return place_of(above, before, below, above + tied + below)


def _number_of(rows: QuerySet[Rating]) -> Any:
    """The number of a pool's rows as a value within another query."""
    return Coalesce(Subquery(rows.order_by().values("pool").annotate(number=Count("*")).values("number")), 0)


def rows(pool: Pool, start: int, count: int) -> Listing:
    """At most `count` lines of the ranking from position `start` (from 0) on. Three queries."""
    of = all_lines(pool.pk).count()
    if start >= of:
        return Listing((), start, of)
    # The lines before the first are passed in the index alone, without their players.
    players = all_lines(pool.pk).order_by(*ORDER).values("player_id")[start : start + count]
    ratings = list(listed(pool).filter(player_id__in=players))
    if not ratings:
        return Listing((), start, of)
    above = all_lines(pool.pk).filter(rank_points__gt=ratings[0].rank_points).count()
    return Listing(with_ranks(ratings, start, above), start, of)


def counts(pool: Pool, bins_of: Callable[[int, int], range]) -> tuple[range, list[int]]:
    """The bins for the pool's lowest and highest rank points, and how many players are in each. Two queries.

    Who moved meanwhile out of the span is counted at its end.
    """
    everyone = all_lines(pool.pk)
    span = everyone.aggregate(lowest=Min("rank_points"), highest=Max("rank_points"))
    if span["lowest"] is None:
        return range(0), []
    bins = bins_of(span["lowest"], span["highest"])
    numbers = [0] * len(bins)
    # A division of whole numbers drops the rest.
    found = everyone.annotate(bin=(F("rank_points") - bins.start) / bins.step).values_list("bin").annotate(Count("pk"))
    for index, number in found.order_by():
        numbers[min(max(index, 0), len(bins) - 1)] += number
    return bins, numbers


def above(pool: Pool, points: Sequence[int]) -> list[int]:
    """How many stand above each of the rank points, which come in descending order, each once. One query.

    Each subquery counts what lies between two of them, so that no line of the index is passed twice.
    """
    lines = all_lines(pool.pk)
    between = [
        lines.filter(rank_points__gt=low) if high is None else lines.filter(rank_points__gt=low, rank_points__lte=high)
        for high, low in pairwise([None, *points])
    ]
    counts = Pool.objects.values_list(*(_number_of(rows) for rows in between)).get(pk=pool.pk)
    return list(accumulate(counts))
