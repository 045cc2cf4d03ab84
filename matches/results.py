"""Reads of the front page: the best of each pool and the last results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matches.lobby.reads import tables_by_pool
from matches.models import Match, Participant
from players import rankings
from players.models import Pool, Rating
from players.rankings.listing import Ranked, with_ranks

BEST = 5
LAST = 8


@dataclass(frozen=True, slots=True)
class PoolCard:
    """A pool on the front page: its best players with their ranks, how many are listed, how many tables wait, the own rating."""

    pool: Pool
    best: tuple[Ranked, ...]
    listed: int
    waiting: int
    own: Rating | None


@dataclass(frozen=True, slots=True)
class LastResult:
    match: Match
    seats: tuple[Participant, ...]


def pool_cards(pools: Sequence[Pool], own: dict[int, Rating]) -> list[PoolCard]:
    """A card for each pool. Three queries at most, however many pools there are."""
    best: dict[int, list[Rating]] = {pool.pk: [] for pool in pools}
    for rating in _first_of_each(rankings.listed, pools, Rating.objects.select_related("player"), BEST):
        best[rating.pool_id].append(rating)
    for ratings in best.values():
        ratings.sort(key=lambda rating: (-rating.rank_points, -rating.value, rating.player_id))
    sizes = rankings.sizes(pools)
    return [
        PoolCard(pool, with_ranks(best[pool.pk], start=0, above=0), sizes.get(pool.pk, 0), waiting, own.get(pool.pk))
        for pool, waiting in tables_by_pool(pools)
    ]


def last_results(pools: Sequence[Pool]) -> list[LastResult]:
    """The last completed matches of all pools, newest first. Two queries."""

    def newest(pool: Pool) -> Any:
        return Match.objects.filter(pool=pool, status=Match.Status.COMPLETED).order_by("-ended_at", "-id")

    matches = list(_first_of_each(newest, pools, Match.objects.all(), LAST))
    matches.sort(key=lambda match: match.order, reverse=True)
    by_id = {match.pk: match for match in matches[:LAST]}
    seats = Participant.objects.filter(match_id__in=by_id).select_related("player").order_by("match_id", "seat")
    seated = {match_id: tuple(group) for match_id, group in groupby(seats, key=lambda seat: seat.match_id)}
    pool_by_id = {pool.pk: pool for pool in pools}
    for match in by_id.values():
        match.pool = pool_by_id[match.pool_id]
    return [LastResult(match, seated.get(match.pk, ())) for match in by_id.values()]


def _first_of_each(rows: Any, pools: Sequence[Pool], base: Any, count: int) -> Any:
    """The first `count` rows of every pool in one query, each pool's found by its index: with OR, the whole table is read."""
    if not pools:
        return base.none()
    one, *others = [base.filter(pk__in=rows(pool).values("pk")[:count]) for pool in pools]
    return one.union(*others, all=True)
