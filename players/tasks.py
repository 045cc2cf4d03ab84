"""Background jobs of the players' side. Each may run twice: the second run changes nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from players import ledger
from players.models import Pool


@shared_task
def update_standings() -> int:
    """Bring the standings of all pools up to date; the number of ratings whose standing moved."""
    now = timezone.now()
    return sum(ledger.update_standings(pool_id, now) for pool_id in Pool.objects.order_by("id").values_list("id", flat=True))
