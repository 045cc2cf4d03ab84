"""The feed never skips what commits late, and makes each delivery once."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from matches.completion import complete_match
from matches.models import Delivery, Event, Webhook
from matches.push import events
from tests.building import NOW, at, complete, people, pool_of, won
from tests.concurrency.running import at_once

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_a_match_that_commits_late_comes_later_in_the_feed() -> None:
    pool, players = pool_of("fibs"), people(4)
    stored, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            complete_match(pool, won(*players[:2], at(0)), now=NOW)
            stored.set()
            go_on.wait(10)

    def later() -> Any:
        stored.wait(10)
        try:
            [match] = complete(pool, won(*players[2:], at(1)))
            events.put_in_order()
            seen = [(event.position, event.match_id) for event in events.after(0, 10)]
            assert seen == [(1, match.pk)]
            # By its id, the one that is still on its way comes first.
            assert Event.objects.get().pk > 1
        finally:
            go_on.set()

    assert [answer for answer in at_once([slow, later]) if isinstance(answer, BaseException)] == []
    events.put_in_order()
    assert [event.position for event in events.after(1, 10)] == [2]


@pytest.mark.parametrize("guarded", [True, False])
def test_many_sweeps_at_once_make_each_delivery_once(guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, players = pool_of("fibs"), people(2)
    Webhook.objects.create(name="one", url="https://one.example/", kinds=["match.rated"])
    complete(pool, *(won(*players, at(number)) for number in range(20)))
    if not guarded:
        # Each has a lock of its own, and all have read the same events before one of them writes.
        together = threading.Barrier(4, timeout=5)
        own = events._to_webhooks

        def wait(found: Any) -> None:
            together.wait()
            own(found)

        monkeypatch.setattr(events, "_to_webhooks", wait)
        monkeypatch.setattr(events, "try_feed", lambda: True)
    answers = at_once([events.put_in_order] * 4)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    if not guarded:
        assert failed  # the database refuses the second delivery; what another sweep had made would be lost with it
        return
    assert failed == [] and sum(answers) == 20
    assert Delivery.objects.count() == 20
    assert sorted(Event.objects.values_list("position", flat=True)) == list(range(1, 21))
    assert connection.vendor == "postgresql"
