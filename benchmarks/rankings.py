"""The rankings of a pool with a million players, by Redis and by the database, beside bare Redis commands.

    python -m benchmarks.rankings [PLAYERS]

starts a PostgreSQL and a Valkey of its own. A process of its own is measured, whatever settings this one has.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PLAYERS = 1_000_000
PAGE_SIZE = 50
SEED = 20


def run(players: int = PLAYERS) -> list[tuple[str, ...]]:
    """Rows for a table: what, times, p50 and p95 in milliseconds."""
    from tests import servers

    with servers.postgres() as database, servers.redis() as redis, tempfile.TemporaryDirectory() as var:
        site = {"DATABASE_URL": database, "REDIS_URL": redis, "VAR_DIR": var, "LOG_LEVEL": "WARNING"}
        site |= {"DEBUG": "", "SECRET_KEY": "of a benchmark"}  # DEBUG would keep every query
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks.rankings", "--measure", str(players)],
            env={**os.environ, **site, "DJANGO_SETTINGS_MODULE": "ratings_site.settings"},
            cwd=Path(__file__).resolve().parents[1],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return [("what", "calls", "p50 ms", "p95 ms"), *(tuple(row) for row in json.loads(result.stdout))]


def measured(what: str, calls: Iterable[Callable[[], Any]]) -> tuple[str, ...]:
    times = []
    for call in calls:
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    p95 = statistics.quantiles(times, n=20)[18] if len(times) > 1 else times[0]
    return (what, str(len(times)), f"{statistics.median(times):.2f}", f"{p95:.2f}")


def copy_players(players: int) -> None:
    """Players and ratings straight into the tables, as the ledger would have written them: 1500 ± 200, in whole points."""
    from django.db import connection

    from matches.completion import Entry, complete_match
    from players.models import Player, Pool
    from players.services import create_players
    from players.systems.base import Result

    now, pool = datetime.now(UTC), Pool.objects.get(slug="tics")
    match = complete_match(pool, Entry(players=create_players(["A", "B"]), result=Result(scores=(1.0, 0.0)), ended_at=now))
    first, dice = Player.objects.order_by("-pk")[0].pk + 1, random.Random(SEED)
    with connection.cursor() as cursor:
        with cursor.copy("COPY players_player (id, name, name_key, slug, time_zone, language, created_at) FROM STDIN") as copy:
            for number in range(first, first + players):
                copy.write_row((number, f"Player {number}", f"player {number}", f"player-{number}", "UTC", "en", now))
        columns = "pool_id, player_id, value, experience, matches, standing, standing_at, rank_points, peak, opening"
        columns += ", opening_experience, last_ended_at, last_timed, last_sequence, last_match_id, version"
        with cursor.copy(f"COPY players_rating ({columns}) FROM STDIN") as copy:
            for number in range(first, first + players):
                value = dice.gauss(1500, 200)
                state = (pool.pk, number, value, 60, 60, value, now, round(value), value, 1500.0, 0)
                copy.write_row((*state, match.ended_at, True, 0, match.pk, 1))
        cursor.execute("VACUUM ANALYZE players_player, players_rating")


def measure(players: int) -> list[tuple[str, ...]]:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    copy_players(players)

    from players import rankings
    from players.models import Player, Pool, Rating
    from players.rankings import cached, sql
    from players.rankings.listing import bins_of
    from players.rankings.store import entry, keys, pack, store

    pool, dice = Pool.objects.get(slug="tics"), random.Random(SEED)
    rows = [measured("rebuild", [lambda: rankings.rebuild(pool)])]
    assert rankings.is_right(pool)
    client, key = store().client, keys(pool.pk)[0]
    memory = sum(client.memory_usage(name) for name in keys(pool.pk)[:2])
    listed = cached.count(pool)
    ids = dice.sample(range(1, players), 1000)
    ratings = list(Rating.objects.filter(pool=pool, player_id__in=ids).select_related("pool"))
    starts = [dice.randrange(listed - PAGE_SIZE) for _ in range(1000)]
    members = [pack(rating.value, rating.player_id) for rating in ratings]

    def bins(lowest: int, highest: int) -> range:
        return bins_of(20, 0, lowest, highest)

    rows += [
        measured("bare ZREVRANK", [lambda one=one: client.zrevrank(key, one) for one in members]),
        measured("bare ZREVRANGE of a page anywhere", [lambda n=n: client.zrevrange(key, n, n + PAGE_SIZE - 1) for n in starts]),
        measured(
            "bare SELECT of a page's players by id",
            [
                lambda some=some: list(Rating.objects.filter(pool=pool, player_id__in=some).select_related("player"))
                for some in (dice.sample(ids, PAGE_SIZE) for _ in range(300))
            ],
        ),
    ]
    assert cached.place(ratings[0]) == sql.place(ratings[0])
    assert cached.rows(pool, starts[0], PAGE_SIZE) == sql.rows(pool, starts[0], PAGE_SIZE)
    assert cached.counts(pool, bins) == sql.counts(pool, bins)

    def compared(source: str, answers: Any, times: int) -> list[tuple[str, ...]]:
        return [
            measured(f"{source}: place", [lambda one=one: answers.place(one) for one in ratings[:times]]),
            measured(f"{source}: count", [lambda: answers.count(pool)] * times),
            measured(f"{source}: first page", [lambda: answers.rows(pool, 0, PAGE_SIZE)] * times),
            measured(f"{source}: page anywhere", [lambda n=n: answers.rows(pool, n, PAGE_SIZE) for n in starts[:times]]),
            measured(f"{source}: last page", [lambda: answers.rows(pool, listed - PAGE_SIZE, PAGE_SIZE)] * times),
            measured(f"{source}: distribution in bins of 20", [lambda: answers.counts(pool, bins)] * min(times, 200)),
        ]

    rows += compared("Redis", cached, 1000)
    rows += compared("SQL", sql, 40)
    rows.append(measured("neighbours, 5 each side", [lambda one=one: rankings.neighbours(one) for one in ratings]))
    entries = [entry(rating)._replace(version=2) for rating in ratings]
    rows += [
        measured(
            "telling Redis of a match (2 ratings)",
            [lambda n=n: store().put(pool.pk, entries[n : n + 2]) for n in range(0, 500, 2)],
        ),
        measured("telling Redis of 500 ratings", [lambda: store().put(pool.pk, entries[500:])]),
        measured("the check", [lambda: rankings.is_right(pool, pause=0) for _ in range(3)]),
    ]
    rows.append((f"{listed} players take {memory / 1e6:.0f} MB in Redis", "", "", ""))
    assert Player.objects.count() == players + 2
    return rows


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measure(int(arguments[1]))))
    else:
        for row in run(*map(int, arguments)):
            print(f"{row[0]:45}", *(f"{cell:>9}" for cell in row[1:]))
