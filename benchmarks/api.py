"""Batches of a thousand by four clients at once: posted to the API, against `complete_matches()` with the same results called
directly. What the API adds is the key, the JSON in and out, whom the names mean, and the answer for each player."""

from __future__ import annotations

import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from benchmarks.completions import PATIENCE, PLAYERS, fresh
from benchmarks.measuring import Table
from benchmarks.site import set_up

CLIENTS, BATCHES, ROUNDS, BATCH = 4, 6, 3, 1000
NEEDS_POSTGRES = True
QUICK = {"batches": 2, "rounds": 1}


def run(batches: int = BATCHES, rounds: int = ROUNDS) -> Table:
    rates: dict[str, list[float]] = {}
    for _ in range(rounds):
        for way in ("direct", "api"):
            fresh()
            rates.setdefault(way, []).append(at_once(way, batches))
    ratio = statistics.median(api / direct for api, direct in zip(rates["api"], rates["direct"], strict=True))
    table = Table(("Batches of 1,000, 4 clients", "matches/s", "of the service", "target"))
    table.lines.append(("complete_matches() called directly", f"{statistics.median(rates['direct']):,.0f}", "1.00", ""))
    table.lines.append(("POST /api/v1/matches/batch/", f"{statistics.median(rates['api']):,.0f}", f"{ratio:.2f}", "0.5"))
    table.notes.append(f"Medians of {rounds} rounds of {batches} batches a client, players by id. Without a web server between.")
    return table


def at_once(way: str, batches: int) -> float:
    """Matches a second, of all clients together, from the first request to the last answer."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(CLIENTS), context.SimpleQueue()
    secret = _key() if way == "api" else ""
    clients = [context.Process(target=_work, args=(way, number, batches, secret, ready, done)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if any(client.exitcode for client in clients):
        raise RuntimeError("a client has failed")
    spans = [done.get() for _ in clients]
    return CLIENTS * batches * BATCH / (max(end for _, end in spans) - min(start for start, _ in spans))


def _key() -> str:
    from players.api.keys import make_key
    from players.api.models import ApiKey
    from players.models import Pool

    key = ApiKey(name=f"Bench {time.time()}", source="server", results=True, rate=100_000)
    return make_key(key, made_by=None, pools=Pool.objects.filter(slug="fibs"))


def _work(way: str, number: int, batches: int, secret: str, ready: Any, done: Any) -> None:
    set_up()
    send = {"direct": _direct, "api": _api}[way](number, batches + 1, secret)
    send(0)
    ready.wait(timeout=PATIENCE)
    # The clock of the machine, which all processes share.
    began = time.time()
    for batch in range(1, batches + 1):
        send(batch)
    done.put((began, time.time()))


def results(number: int, batch: int) -> list[dict[str, Any]]:
    """A thousand results of a client's own players, in order, as JSON values."""
    from django.utils import timezone

    dice = random.Random(1000 * number + batch)
    own = range(number + 1, PLAYERS + 1, CLIENTS)
    start = timezone.now() - timedelta(minutes=4)
    return [
        {
            "external_id": f"{number}-{batch}-{place}",
            "players": [{"id": one} for one in dice.sample(own, 2)],
            "scores": dice.choice(([1, 0], [0, 1])),
            "length": dice.choice((1, 3, 5, 7, 9, 11)),
            "ended_at": (start + timedelta(milliseconds=place + BATCH * batch)).isoformat(),
        }
        for place in range(BATCH)
    ]


def _direct(number: int, batches: int, secret: str) -> Callable[[int], None]:
    from datetime import datetime

    from matches.completion import complete_matches
    from matches.entries import Entry
    from players.models import Player, Pool
    from players.systems.base import Result

    pool, players = Pool.objects.get(slug="fibs"), Player.objects.in_bulk()
    entries = [
        [
            Entry(
                players=[players[one["id"]] for one in row["players"]],
                result=Result(scores=tuple(map(float, row["scores"])), length=row["length"]),
                ended_at=datetime.fromisoformat(row["ended_at"]),
                source="server",
                external_id=row["external_id"],
            )
            for row in results(number, batch)
        ]
        for batch in range(batches)
    ]

    def send(batch: int) -> None:
        complete_matches(pool, entries[batch])

    return send


def _api(number: int, batches: int, secret: str) -> Callable[[int], None]:
    from django.conf import settings
    from django.test import Client

    settings.ALLOWED_HOSTS = ["localhost"]
    client = Client(headers={"host": "localhost", "Authorization": f"Api-Key {secret}"})
    bodies = [json.dumps({"pool": "fibs", "matches": results(number, batch)}) for batch in range(batches)]

    def send(batch: int) -> None:
        answer = client.post("/api/v1/matches/batch/", bodies[batch], content_type="application/json")
        assert answer.status_code == 200, answer.content[:500]

    return send
