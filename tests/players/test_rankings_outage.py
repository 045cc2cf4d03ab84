"""A Redis that is gone, or says nothing: the database answers, and nobody waits for long."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from matches.completion import complete_match
from players import rankings, tasks
from players.models import Rating
from players.rankings import filling, store
from tests.building import NOW, at, people, pool_of, won
from tests.players.ranking_sets import fill, plain_order, random_set

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["closed", "silent"])
def gone(request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A Redis that refuses connections, or takes them and says nothing: either fails in its own way."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if request.param == "silent":
            server.listen(50)
        monkeypatch.setattr(store, "BREAK_SECONDS", 600.0)  # the machine may be slow
        settings.REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        yield request.param


def seconds(began: float) -> float:
    return time.monotonic() - began


def test_pages_answer(gone: str, monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, random_set(3, 80)))
    began = time.monotonic()
    assert rankings.count(pool) == len(ordered)
    assert seconds(began) < 2
    # The circuit is open: nobody asks again.
    monkeypatch.setattr(store.store().client, "execute_command", lambda *args, **options: pytest.fail("asked again"))
    assert [line.rating.pk for line in rankings.page(pool, 1, 100).rows] == [rating.pk for rating in ordered]
    place = rankings.place(ordered[3])
    assert place is not None and place.position == 3
    assert rankings.neighbours(ordered[3]) is not None
    assert sum(bin.count for bin in rankings.distribution(pool, 50)) == len(ordered)
    assert client.get(pool.get_absolute_url()).status_code == 200


def test_a_completion_waits_for_a_second_at_most_and_only_once(
    gone: str, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    began = time.monotonic()
    with django_capture_on_commit_callbacks() as callbacks:
        for number in range(10):
            complete_match(pool, won(one, two, at(number)), now=NOW)
    assert len(callbacks) == 10
    began = time.monotonic()
    for callback in callbacks:
        callback()
    assert seconds(began) < 2
    kept = store.store()._kept[pool.pk]
    assert {entry.version for entry in kept if entry.player_id == one.pk} == set(range(1, 11))
    assert rankings.place(Rating.objects.get(pool=pool, player=one)) is not None
    for address in ("/", pool.get_absolute_url(), one.get_absolute_url()):
        assert client.get(address).status_code == 200


def test_tasks_do_nothing_and_the_command_says_so(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "BUILD_TIMEOUT", 0.5)
    tasks.rebuild_ranking(pool_of("tics").pk)
    tasks.rebuild_ranking(10**6)
    tasks.rebuild_rankings()
    tasks.check_rankings()
    with pytest.raises(CommandError, match="Redis does not answer"):
        call_command("rebuild_rankings")


def test_without_redis_there_is_nothing_to_do(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.REDIS_URL = ""
    tasks.rebuild_rankings()
    tasks.check_rankings()
    call_command("rebuild_rankings")
    assert "the database answers" in capsys.readouterr().out
    # What is written is not even looked at.
    rankings.changed(iter(lambda: pytest.fail("looked at"), None))


def test_after_some_seconds_one_caller_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(store.time, "monotonic", lambda: now)
    circuit = store.Circuit(5.0)
    assert circuit.may_call() and circuit.may_call()
    assert circuit.failed() and not circuit.failed()
    assert not circuit.may_call()
    now = 105.1
    assert circuit.may_call()
    assert not circuit.may_call(), "the others wait for his answer"
    circuit.failed()
    now = 110.0
    assert not circuit.may_call()
    now = 110.2
    assert circuit.may_call()
    circuit.worked()
    assert circuit.may_call() and circuit.may_call()
