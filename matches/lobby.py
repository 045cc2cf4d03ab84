"""Reads of the lobby: who waits at a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, FilteredRelation, Q

from matches.models import Table
from players.formatting import is_provisional
from players.models import Pool
from players.systems.base import Kind

MOST_TABLES = 200
"""A page shows no more; who waits longest comes first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting table with its host's rating (points) and experience; a new player's are those that he would start with."""

    table: Table
    rating: float
    experience: int
    provisional: bool


def waiting_tables(pool: Pool) -> tuple[Waiting, ...]:
    """The pool's waiting tables, the oldest first. One query."""
    tables = (
        Table.objects.filter(pool=pool, kind=Kind.TABLE, status=Table.Status.WAITING)
        .select_related("host")
        .annotate(host_rating=FilteredRelation("host__ratings", condition=Q(host__ratings__pool=pool)))
        .annotate(rating=F("host_rating__value"), experience=F("host_rating__experience"))
        .order_by("opened_at", "id")[:MOST_TABLES]
    )
    return tuple(_waiting(pool, table, table.rating, table.experience or 0) for table in tables)


def _waiting(pool: Pool, table: Table, rating: float | None, experience: int) -> Waiting:
    value = pool.rating_system.start if rating is None else rating
    return Waiting(table, value, experience, is_provisional(experience, pool.provisional_below))


def tables_by_pool(pools: Sequence[Pool]) -> list[tuple[Pool, int]]:
    """How many tables wait in each pool. One query."""
    waiting = Table.objects.filter(kind=Kind.TABLE, status=Table.Status.WAITING).order_by()
    counts = dict(waiting.values_list("pool").annotate(Count("pk")))
    return [(pool, counts.get(pool.pk, 0)) for pool in pools]
