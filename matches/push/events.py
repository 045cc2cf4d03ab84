"""Events: written inside the transaction that they tell of, put in order and handed on after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, QuerySet

from matches.models import Match, Table
from matches.push.models import Delivery, Event, Webhook
from players import rows
from players.locks import require_transaction, try_feed
from players.models import Pool
from players.systems.base import Kind

PIECE = 500
"""Ratings that one event tells of at most: more make several events."""
AT_ONCE = 2000
"""Events that get their places in one transaction."""
KEPT = timedelta(days=90)
"""How long the feed goes back."""
EVENT_COLUMNS = ("kind", "pool_id", "match_id", "made_at")

Moved = Sequence[float]
"""A player's id, and his rating or standing (points) before and after."""


def rated(pool: Pool, matches: Iterable[Match], now: datetime) -> rows.Insert:
    """The rows that tell of matches which are completed; whoever stores the matches writes them along."""
    events = [(Event.Kind.RATED.value, pool.pk, match.pk, now) for match in matches]
    return rows.Insert(Event, EVENT_COLUMNS, events)


def revised(pool: Pool, moved: Sequence[Moved], now: datetime, revision_id: int | None) -> None:
    """Tell of ratings that are not what they were, by a revision (None: by a match that was entered a little late)."""
    _tell(Event.Kind.REVISED, pool, moved, now, revision_id)


def standings(pool: Pool, moved: Sequence[Moved], now: datetime) -> None:
    """Tell of standings that time has moved."""
    _tell(Event.Kind.STANDING, pool, moved, now, None)


def table_changed(table: Table, player_ids: Sequence[int], now: datetime) -> None:
    """Tell who sits at an open table by now, by seat, and what has become of it. Others are private, and not told of."""
    require_transaction()
    if table.kind != Kind.TABLE:
        return
    said = {
        "id": table.pk,
        "source": table.source,
        "external_id": table.external_id,
        "status": str(table.status),
        "closed_because": str(table.closed_because),
        "match": table.match_id,
        "players": list(player_ids),
    }
    Event.objects.create(kind=Event.Kind.TABLE, pool_id=table.pool_id, table=said, made_at=now)


def _tell(kind: Event.Kind, pool: Pool, moved: Sequence[Moved], now: datetime, revision_id: int | None) -> None:
    require_transaction()
    Event.objects.bulk_create(
        Event(kind=kind, pool=pool, revision_id=revision_id, ratings=moved[start : start + PIECE], made_at=now)
        for start in range(0, len(moved), PIECE)
    )


Consumer = Callable[[Sequence[Event]], None]
"""Makes what events ask for, in the transaction that gives them their places: so once."""


def put_in_order(consumers: Collection[Consumer] = ()) -> int:
    """Give places in the feed to the events that are committed, and make what they ask for; how many there were.

    One after the other: where somebody else is at it, this does nothing, and he will do.
    """
    done = 0
    while step := _put_some_in_order(consumers):
        done += step
    return done


def _put_some_in_order(consumers: Collection[Consumer]) -> int:
    waiting = Event.objects.filter(position=None).order_by("pk")
    if not waiting.exists():  # SQLite takes its write lock for a transaction: not for nothing
        return 0
    with transaction.atomic():
        if not try_feed():
            return 0
        last = last_position()
        events = list(waiting.select_related("pool")[:AT_ONCE])
        for position, event in enumerate(events, start=last + 1):
            event.position = position
        rows.write(rows.Update(Event, ("id", "position"), [(event.pk, event.position) for event in events]))
        _to_webhooks(events)
        for consumer in consumers:
            consumer(events)
    return len(events)


def _to_webhooks(events: Sequence[Event]) -> None:
    """A delivery of each event for each webhook that listens."""
    listening = [
        (webhook, set(webhook.kinds), {pool.pk for pool in webhook.pools.all()})
        for webhook in Webhook.objects.filter(active=True).prefetch_related("pools")
    ]
    Delivery.objects.bulk_create(
        (
            Delivery(webhook=webhook, event=event)
            for webhook, kinds, pool_ids in listening
            for event in events
            if event.kind in kinds and (not pool_ids or event.pool_id in pool_ids)
        ),
        batch_size=PIECE,
    )


def last_position() -> int:
    """The last place that is given; 0 before the first."""
    return Event.objects.aggregate(last=Max("position"))["last"] or 0


class Forgotten(Exception):
    """What comes after a position is kept no longer."""


def after(position: int, limit: int, pool: Pool | None = None) -> QuerySet[Event]:
    """The next events of the feed after a position (0: from the first that is kept), at most `limit`.

    Raises Forgotten where some of them have been deleted already.
    """
    first = Event.objects.filter(position__isnull=False).order_by("position").values_list("position", flat=True).first()
    if first is not None and 0 < position < first - 1:
        raise Forgotten
    found = Event.objects.filter(position__gt=position).order_by("position").select_related("pool")
    return (found if pool is None else found.filter(pool=pool))[:limit]


def forget(before: datetime) -> int:
    """Delete events that are older, with their deliveries; the last one stays, so that positions only rise."""
    last = last_position()
    old = Event.objects.filter(made_at__lt=before, position__lt=last).exclude(deliveries__status=Delivery.Status.PENDING)
    deleted = 0
    while ids := list(old.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        with transaction.atomic():
            deleted += Event.objects.filter(pk__in=ids).delete()[1].get("matches.Event", 0)
    return deleted
