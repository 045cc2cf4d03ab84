"""Background jobs of the matches' side. Each may run twice: the second run changes nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from matches import jobs
from matches.imports import jobs as import_jobs
from matches.inbox import mail, telling
from matches.lobby import matchmaking, tables
from matches.models import PairingRequest
from matches.push import events, webhooks
from matches.reports import reporting
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
def run_import(import_id: int) -> None:
    """Check or make an import that is too large for a web request."""
    import_jobs.run(import_id)


@shared_task
def sweep_imports() -> int:
    """Hand out again the imports that a worker has lost, or that never reached one."""
    return import_jobs.sweep(timezone.now())


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


@shared_task
def sweep_events() -> int:
    """Put what has happened into the feed's order, and have players and webhooks told."""
    done = events.put_in_order([telling.of_events])
    for webhook_id in webhooks.waiting(timezone.now()):
        send_to_webhook.delay(webhook_id)
    return done


@shared_task(soft_time_limit=2 * int(webhooks.BUDGET))
def send_to_webhook(webhook_id: int) -> int:
    """Send one webhook what it waits for: a slow one keeps no other waiting."""
    return webhooks.send_waiting(webhook_id)


@shared_task
def forget_events() -> int:
    """Delete events that are older than the feed goes back."""
    return events.forget(timezone.now() - events.KEPT)


@shared_task
def confirm_silent() -> int:
    """Confirm the reported results that nobody has answered in time; how many."""
    return reporting.confirm_silent(timezone.now())


@shared_task
def send_mail() -> int:
    """Send players their messages by mail."""
    return mail.send_waiting(timezone.now())


@shared_task
def warn_of_decay() -> int:
    """Tell players whose standing is about to fall."""
    return telling.warn_of_decay(timezone.now())
