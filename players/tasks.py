"""Background jobs of the players' side. Each may run twice: the second run changes nothing."""

from __future__ import annotations

import logging
from contextlib import suppress

from celery import shared_task
from django.utils import timezone

from players import ledger, rankings
from players.models import Pool

log = logging.getLogger(__name__)


@shared_task
def update_standings() -> int:
    """Bring the standings of all pools up to date; the number of ratings whose standing moved."""
    now = timezone.now()
    return sum(ledger.update_standings(pool_id, now) for pool_id in Pool.objects.order_by("id").values_list("id", flat=True))


@shared_task
def rebuild_ranking(pool_id: int) -> None:
    """Rebuild the ranking of one pool in Redis: a page has found it missing or wrong."""
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is not None:
        _rebuild(pool)


@shared_task
def rebuild_rankings() -> None:
    """Rebuild the rankings of all pools in Redis, whatever state they are in."""
    for pool in Pool.objects.order_by("id"):
        _rebuild(pool)


@shared_task
def check_rankings() -> None:
    """Rebuild the rankings in Redis that do not agree with the database."""
    for pool in Pool.objects.order_by("id"):
        with suppress(rankings.Unavailable):
            if not rankings.is_right(pool):
                log.warning("The ranking of %s in Redis is not that of the database.", pool)
                _rebuild(pool)


def _rebuild(pool: Pool) -> None:
    """Nothing where there is no Redis: the database answers. Where somebody else is at it, he will do."""
    with suppress(rankings.Unavailable, rankings.Busy):
        rankings.rebuild(pool)
