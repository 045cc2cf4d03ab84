"""Webhooks: signed posts of events, tried again until they are taken.

A delivery may come twice (a worker can die between the post and its record); its position tells a receiver that it knows it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlsplit

from django.db.models import Exists, F, OuterRef
from django.utils import timezone
from django.utils.encoding import iri_to_uri

from matches.push.addresses import PORTS, BadAddress, check_url, resolve
from matches.push.models import Delivery, Webhook, new_secret
from matches.push.payload import payloads

log = logging.getLogger(__name__)

TIMEOUT = 5.0
"""Seconds for the connection, and again for each part of the answer."""
DEADLINE = 15.0
"""Seconds for all of it: a receiver that sends its answer in drops keeps no worker."""
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
    """The webhooks that have something to be sent by now.

    One that is being sent something at this moment, or has not taken something within the last minute, is left alone: else one
    that is down, and has much to be told, would keep worker after worker.
    """
    own = Delivery.objects.filter(webhook=OuterRef("pk"), status=Status.PENDING)
    due, tried = own.filter(due_at__lte=now), own.filter(attempts__gt=0, due_at__gt=now, due_at__lte=now + LEASE)
    found = Webhook.objects.filter(Exists(due), ~Exists(tried), active=True)
    return list(found.order_by("pk").values_list("pk", flat=True))


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
            delivery.due_at, delivery.attempts = now + LEASE, delivery.attempts + 1
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
    except (http.client.HTTPException, OSError, ValueError) as failed:
        error = f"{type(failed).__name__}: {failed}"
    now = timezone.now()
    # Where somebody wants it sent again meanwhile, this attempt says nothing of it any more.
    over = Delivery.objects.filter(pk=delivery.pk, status=Status.PENDING, due_at=delivery.due_at)
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
    named = f"[{host}]" if ":" in host else host
    headers = {
        "Content-Type": "application/json",
        "Host": named if port == PORTS[scheme] else f"{named}:{port}",
        "User-Agent": "Rating-Room",
        "Rating-Signature": signature(webhook.secret, int(time.time()), body),
        "Connection": "close",
    }
    line = socket.create_connection((address, port), TIMEOUT)
    with _cut_after(DEADLINE, line), contextlib.ExitStack() as stack:
        stack.callback(line.close)
        if scheme == "https":
            # Connected to the address that was checked, and the certificate is that of the name.
            line = stack.enter_context(ssl.create_default_context().wrap_socket(line, server_hostname=host))
        connection = http.client.HTTPConnection(host, port)
        connection.sock = line
        # Nothing is followed and nothing read: the status is the answer.
        parts = urlsplit(webhook.url)
        path = iri_to_uri((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        connection.request("POST", path, body=body, headers=headers)
        with connection.getresponse() as answer:
            return answer.status


@contextlib.contextmanager
def _cut_after(seconds: float, line: socket.socket) -> Iterator[None]:
    """End a connection that takes longer than so many seconds, whatever it is at. Raises TimeoutError then."""
    # A handle of its own: whatever wraps the line takes the other.
    handle, late = line.dup(), threading.Event()

    def cut() -> None:
        late.set()
        with contextlib.suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        if not late.is_set():
            raise
    finally:
        timer.cancel()
        handle.close()
    if late.is_set():
        raise TimeoutError(f"no answer within {seconds:g} seconds")


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
