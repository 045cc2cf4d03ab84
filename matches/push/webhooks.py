"""Webhooks: signed posts of events, tried again until they are taken.

A delivery may come twice (a worker can die between the post and its record); its position tells a receiver that it knows it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import time
from datetime import datetime, timedelta
from functools import partial

import urllib3
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from matches.push.addresses import BadAddress, check_url, resolve
from matches.push.models import Delivery, Webhook, new_secret
from matches.push.payload import payloads

log = logging.getLogger(__name__)

TIMEOUT = 5.0
"""Seconds for the connection, and again for each part of the answer."""
LEASE = timedelta(seconds=60)
"""A delivery that is being sent is left alone for as long by others; afterwards whoever sent it must have died."""
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 720, 1440))
"""How long until the next attempt after the first, the second ...; after the last one a delivery is given up."""
BUDGET = 60.0
"""Seconds that one task sends to one webhook; the next sweep goes on."""
Status = Delivery.Status


def signature(secret: str, instant: int, body: bytes) -> str:
    """The header that proves who sent a body, and when: HMAC-SHA256 of the time (seconds since 1970), a dot and the body."""
    digest = hmac.new(secret.encode(), b"%d." % instant + body, hashlib.sha256).hexdigest()
    return f"t={instant},v1={digest}"


def waiting(now: datetime) -> list[int]:
    """The webhooks that have something to be sent by now."""
    due = Delivery.objects.filter(webhook=OuterRef("pk"), status=Status.PENDING, due_at__lte=now)
    return list(Webhook.objects.filter(Exists(due), active=True).order_by("pk").values_list("pk", flat=True))


def send_waiting(webhook_id: int) -> int:
    """Send what is due to one webhook, in the order of the events, until something is not taken; how many were."""
    webhook = Webhook.objects.filter(pk=webhook_id, active=True).first()
    began, taken = time.monotonic(), 0
    while webhook is not None and time.monotonic() - began < BUDGET:
        delivery = _claim(webhook, timezone.now())
        if delivery is None or not _send(webhook, delivery):
            break  # one that is down is not asked for everything else at once
        taken += 1
    return taken


def _claim(webhook: Webhook, now: datetime) -> Delivery | None:
    """The next delivery that is due, if nobody else is quicker: no lock is held while it is sent."""
    due = webhook.deliveries.filter(status=Status.PENDING, due_at__lte=now).order_by("due_at", "event__position")
    while (delivery := due.select_related("event__pool").first()) is not None:
        mine = Delivery.objects.filter(pk=delivery.pk, status=Status.PENDING, due_at=delivery.due_at)
        if mine.update(due_at=now + LEASE, attempts=F("attempts") + 1):
            delivery.attempts += 1
            return delivery
    return None


def _send(webhook: Webhook, delivery: Delivery) -> bool:
    """Post a delivery and record what came of it; whether it was taken."""
    [event] = payloads([delivery.event], webhook.source or None)
    body = json.dumps(event, ensure_ascii=False, allow_nan=False).encode()
    answer, error = None, ""
    try:
        answer = _post(webhook, body)
        if not 200 <= answer < 300:
            error = f"HTTP {answer}"
    except BadAddress as bad:
        error = str(bad)
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as failed:
        error = f"{type(failed).__name__}: {failed}"
    now = timezone.now()
    over = Delivery.objects.filter(pk=delivery.pk, status=Status.PENDING)
    if not error:
        over.update(status=Status.DELIVERED, answer=answer, error="", delivered_at=now)
        return True
    log.warning("Webhook %s did not take event %s: %s", webhook.pk, delivery.event_id, error)
    wait = WAITS[delivery.attempts - 1] if delivery.attempts <= len(WAITS) else None
    record = partial(over.update, answer=answer, error=error[:300])
    if wait is None:
        record(status=Status.FAILED)
    else:
        record(due_at=now + wait)
    return False


def _post(webhook: Webhook, body: bytes) -> int:
    """The status of the answer. Raises BadAddress, and what the connection raises."""
    scheme, host, port = check_url(webhook.url)
    address = resolve(host, port)
    headers = {
        "Content-Type": "application/json",
        "Host": host if port in (80, 443) else f"{host}:{port}",
        "User-Agent": "Rating-Room",
        "Rating-Signature": signature(webhook.secret, int(time.time()), body),
    }
    if scheme == "https":
        # Connected to the address that was checked, and the certificate is that of the name.
        pool: urllib3.HTTPConnectionPool = urllib3.HTTPSConnectionPool(address, port, server_hostname=host, assert_hostname=host)
    else:
        pool = urllib3.HTTPConnectionPool(address, port)
    timeout = urllib3.Timeout(connect=TIMEOUT, read=TIMEOUT)
    with pool:
        path = urllib3.util.parse_url(webhook.url).request_uri
        # Nothing is followed and nothing read: the status is the answer.
        answer = pool.urlopen(
            "POST", path, body=body, headers=headers, timeout=timeout, retries=False, redirect=False, preload_content=False
        )
        answer.close()
        return answer.status


def send_again(delivery_ids: list[int], now: datetime) -> int:
    """Send deliveries once more, whatever became of them."""
    return Delivery.objects.filter(pk__in=delivery_ids).update(
        status=Status.PENDING, attempts=0, due_at=now, answer=None, error="", delivered_at=None
    )


def renew_secret(webhook: Webhook) -> str:
    """A new secret, at once: what is sent from now on is signed by it."""
    webhook.secret = new_secret()
    webhook.save(update_fields=["secret"])
    return webhook.secret
