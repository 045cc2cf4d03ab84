"""How the rankings get into Redis: rating by rating after each commit, and from the database as a whole."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

from django.db import transaction
from django.db.models import Count, Q, Sum

from players.models import Pool, Rating
from players.rankings import scripts
from players.rankings.store import Entry, Store, Unavailable, entry, entry_of, store

BUILD_SECONDS = 60
"""A builder that is silent for so long is gone."""
BUILD_TIMEOUT = 10.0
BUILD_CHUNK = 1000
TRIES = 3


class Busy(Exception):
    """Somebody else is rebuilding the pool's set."""


def changed(ratings: Iterable[Rating]) -> None:
    """Tell Redis of ratings that this transaction has written, once it is committed. Without Redis, they are not looked at."""
    try:
        known = store()
    except Unavailable:
        return
    by_pool: dict[int, list[Entry]] = {}
    for rating in ratings:
        by_pool.setdefault(rating.pool_id, []).append(entry(rating))
    for pool_id, entries in by_pool.items():
        transaction.on_commit(partial(known.put, pool_id, entries), robust=True)


def rebuild(pool: Pool, progress: Callable[[int], object] = lambda done: None) -> int:
    """Fill the pool's set from the database and return how many players it lists. `progress` hears how many ratings are done.

    Until the new set takes its place the old one goes on, and what is written meanwhile goes into both. Raises Busy, and
    Unavailable where Redis does not answer.
    """
    server = store(BUILD_TIMEOUT)
    for _ in range(TRIES):
        listed = _rebuild(server, pool, progress)
        if listed is not None:
            return listed
    raise Busy


def _rebuild(server: Store, pool: Pool, progress: Callable[[int], object]) -> int | None:
    """None where somebody dropped the set meanwhile, since it was wrong: what was read here may be wrong too."""
    token = uuid.uuid4().hex
    if not server.run(scripts.BEGIN, pool.pk, token, BUILD_SECONDS):
        raise Busy
    done = 0
    try:
        # Only now: what was written before is read, and what is written from here on is put into the new set as well.
        for entries in stored_entries(pool):
            values = (value for one in entries for value in one)
            if not server.run(scripts.LOAD, pool.pk, token, BUILD_SECONDS, *values):
                return None
            done += len(entries)
            progress(done)
        listed: int | None = server.run(scripts.FINISH, pool.pk, token)
        return listed
    except BaseException:
        with suppress(Unavailable):
            server.run(scripts.ABANDON, pool.pk, token)
        raise


def stored_entries(pool: Pool) -> Iterator[list[Entry]]:
    """The pool's ratings that have ever been written, in chunks. Short queries: no snapshot is kept for long."""
    ratings = Rating.objects.filter(Q(matches__gt=0) | Q(version__gt=0), pool=pool).order_by("player_id")
    columns = ratings.values_list("player_id", "version", "rank_points", "value", "matches")
    last = 0
    while chunk := list(columns.filter(player_id__gt=last)[:BUILD_CHUNK]):
        yield [entry_of(*row) for row in chunk]
        last = chunk[-1][0]


def is_right(pool: Pool, pause: float = 1.0) -> bool:
    """Whether the pool's set has as many players as the database, and the sum of their versions, which rises with every write.

    What is on its way from one to the other arrives within a few pauses (seconds); what was lost does not. Raises Unavailable.
    """
    for again in range(TRIES):
        if again:
            time.sleep(pause)
        before = _numbers(pool)
        ratings = Rating.objects.filter(pool=pool)
        known = ratings.aggregate(listed=Count("pk", filter=Q(matches__gt=0)), versions=Sum("version", default=0))
        after = _numbers(pool)
        if before is None or after is None:
            return False
        if before == after == (known["listed"], known["versions"]):
            return True
        if before != after and before[1] <= known["versions"] <= after[1]:
            return True
    return False


def _numbers(pool: Pool) -> tuple[int, int] | None:
    answer = store(BUILD_TIMEOUT).run(scripts.COUNT, pool.pk)
    return None if answer is None else (answer[0], answer[1])
