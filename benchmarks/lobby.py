"""A lobby that 200 players look at while its tables change: what a poll costs, with a change and without."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.measuring import Table, in_turns
from benchmarks.site import empty, new_players

VIEWERS, WAITING, HOSTS, CHANGES = 200, 50, 40, 20
"""Players who look, tables that wait all the time, players who come and go, changes a second."""
ROUNDS, SECONDS, THREADS = 61, 10.0, 4
NEEDS_POSTGRES = True
QUICK = {"viewers": 20, "rounds": 5, "seconds": 2.0}
SLUG, UNCHANGED = "fibs", "a poll without a change"
PAGE, POLL = f"/lobby/{SLUG}/", f"/lobby/{SLUG}/tables/"


def run(viewers: int = VIEWERS, rounds: int = ROUNDS, seconds: float = SECONDS) -> Table:
    from django.conf import settings
    from django.db import connection
    from django.test.utils import override_settings

    from matches.lobby import reads
    from matches.lobby.views import POLL_SECONDS

    clients = fill(viewers)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    table = Table(("A lobby with 50 tables", "ms", "of the page", "a second", "target"))
    # The names of collected files are looked up once and kept: none are collected here, so none are looked up.
    plain = {**settings.STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(STORAGES=plain, ALLOWED_HOSTS=["localhost"]):
        viewer, shown_for = Viewer(clients[0]), reads.SHOWN_FOR
        reads.SHOWN_FOR = 10**12  # no minute passes, so that no change is none
        try:
            viewer.poll()
            jobs = {
                "the page": viewer.page,
                "a poll with a change": viewer.poll_anew,
                UNCHANGED: viewer.poll_unchanged,
            }
            timed = in_turns(jobs, rounds)
        finally:
            reads.SHOWN_FOR = shown_for
        for name in jobs:
            target = "at most 0.20" if name == UNCHANGED else ""
            table.lines.append((name, f"{timed.median(name) * 1000:.1f}", f"{timed.ratio(name, 'the page'):.2f}", "", target))
        needed = viewers / POLL_SECONDS
        for name, changes in (("polls of all viewers, nothing changes", 0), (f"the same, {CHANGES} changes a second", CHANGES)):
            if not changes:
                reads.SHOWN_FOR = 10**12
            try:
                found = under_way(clients, changes, seconds)
            finally:
                reads.SHOWN_FOR = shown_for
            p95 = statistics.quantiles(found.times, n=20)[18] * 1000
            cells = f"{statistics.median(found.times) * 1000:.1f} (p95 {p95:.1f})", "", f"{len(found.times) / seconds:.0f}"
            table.lines.append((name, *cells, f"{needed:.0f} polls"))
            table.notes.append(
                f"{name}: {found.unchanged / len(found.times):.0%} answered 304, {found.changed / seconds:.1f} changes a second."
            )
    table.notes.append(
        f"From the request to the answer, without the network, in one process; median of {rounds} rounds. Polls of all {viewers} "
        f"viewers by {THREADS} threads of it for {seconds:.0f} s, as fast as they go; a page polls every {POLL_SECONDS} s."
    )
    return table


class Viewer:
    """A browser with the lobby open."""

    def __init__(self, client: Any) -> None:
        self.client, self.etag = client, ""

    def page(self) -> None:
        assert self.client.get(PAGE).status_code == 200

    def poll(self) -> bool:
        """Ask as the page does; whether it was answered that nothing has changed."""
        answer = self.client.get(POLL, headers={"if-none-match": self.etag})
        assert answer.status_code in (200, 304), answer
        self.etag = answer["ETag"]
        return bool(answer.status_code == 304)

    def poll_anew(self) -> None:
        assert self.client.get(POLL, headers={"if-none-match": '"another"'}).status_code == 200

    def poll_unchanged(self) -> None:
        assert self.poll()


class Found:
    def __init__(self) -> None:
        self.times: list[float] = []
        self.unchanged = self.changed = 0


def under_way(clients: list[Any], changes: int, seconds: float) -> Found:
    """All viewers poll in turns, and hosts come and go, until the time is over."""
    from django.db import connections

    viewers = [Viewer(client) for client in clients]
    for viewer in viewers:  # so that each has something to compare with
        viewer.poll()
    found, stop = Found(), time.monotonic() + seconds
    shares = [itertools.cycle(viewers[number::THREADS]) for number in range(THREADS)]

    def polls(own: Any) -> Callable[[], None]:
        def job() -> None:
            while (began := time.monotonic()) < stop:
                unchanged = next(own).poll()
                found.times.append(time.monotonic() - began)
                found.unchanged += unchanged

        return job

    def comings_and_goings() -> None:
        from matches.lobby.tables import leave_table, open_table
        from matches.models import Table as WaitingTable
        from players.models import Player, Pool
        from players.systems.base import Result

        pool = Pool.objects.get(slug=SLUG)
        hosts = itertools.cycle(Player.objects.filter(pk__gt=len(clients) + WAITING).order_by("pk")[:HOSTS])
        due = time.monotonic()
        while changes and (now := time.monotonic()) < stop:
            host, waiting = next(hosts), None
            waiting = WaitingTable.objects.filter(host=host, status="waiting").first()
            leave_table(waiting.pk, host) if waiting else open_table(pool, host, Result(length=5))
            found.changed += 1
            due += 1 / changes
            time.sleep(max(0.0, due - now))

    def closing(job: Callable[[], None]) -> Callable[[], None]:
        def closed() -> None:
            try:
                job()
            finally:
                connections.close_all()

        return closed

    jobs = [closing(job) for job in (*map(polls, shares), comings_and_goings)]
    with ThreadPoolExecutor(len(jobs)) as threads:
        for job in [threads.submit(job) for job in jobs]:
            job.result()  # raises where it has failed
    return found


def fill(viewers: int) -> list[Any]:
    """Players with logins who look, each with a browser that is logged in; and tables that wait."""
    from django.contrib.auth.models import User
    from django.test import Client

    from matches.lobby.tables import open_table
    from players.models import Player, Pool
    from players.systems.base import Result

    empty()
    new_players(viewers + WAITING + HOSTS)
    users = User.objects.bulk_create(User(username=f"viewer {number}") for number in range(viewers))
    players = list(Player.objects.order_by("pk"))
    clients = []
    for player, user in zip(players, users, strict=False):
        player.user = user
        client = Client(headers={"host": "localhost"})
        client.force_login(user)
        clients.append(client)
    Player.objects.bulk_update(players[:viewers], ["user"])
    pool = Pool.objects.get(slug=SLUG)
    for player in players[viewers : viewers + WAITING]:
        open_table(pool, player, Result(length=5), max_difference=100)
    return clients
