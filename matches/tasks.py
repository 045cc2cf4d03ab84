"""Background jobs of the matches' side. Each may run twice: the second run changes nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from matches import jobs, matchmaking, tables
from matches.models import PairingRequest
from players.models import Pool


@shared_task
def run_correction(job_id: int) -> None:
    """Preview or apply a correction that is too large for a web request."""
    jobs.run(job_id)


@shared_task
def sweep_corrections() -> int:
    """Hand out again the corrections that a worker has lost, or that never reached one."""
    return jobs.sweep(timezone.now())


@shared_task
def pair_players() -> int:
    """Pair those who wait to be paired, in all pools; how many matches start."""
    now = timezone.now()
    waiting = Pool.objects.filter(pk__in=PairingRequest.objects.values("pool")).order_by("id")
    return sum(len(matchmaking.pair(pool, now=now)) for pool in waiting)


@shared_task
def sweep_lobbies() -> int:
    """Close the tables where nobody comes, and let those wait no more whom matchmaking has not paired; how many of both."""
    now = timezone.now()
    return tables.close_stale(now) + matchmaking.expire(now)
