"""Background jobs of the matches' side. Each may run twice: the second run changes nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from matches import jobs


@shared_task
def run_correction(job_id: int) -> None:
    """Preview or apply a correction that is too large for a web request."""
    jobs.run(job_id)


@shared_task
def sweep_corrections() -> int:
    """Hand out again the corrections that a worker has lost, or that never reached one."""
    return jobs.sweep(timezone.now())
