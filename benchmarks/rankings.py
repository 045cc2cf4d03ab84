"""The rankings of a pool with a million players, by Redis and by the database, right after 5 % of its ratings have changed,
beside bare Redis commands. It starts a PostgreSQL and a Valkey; a process of its own is measured, which knows both."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measuring import Table
from benchmarks.site import empty, insert, new_players

PLAYERS = 1_000_000
NEEDS_POSTGRES = False
QUICK = {"players": 50_000}
PAGE_SIZE, SEED = 50, 20
SHARE = 20
"""One in so many ratings changes."""
CALLS, SQL_CALLS, WARMING_UP = 1000, 30, 5
BARE, RANK, PAGE = "bare ZREVRANK", "rank by Redis", "page by Redis: who, standing and rank"
HELD_TO_IT = {RANK, PAGE}


def run(players: int = PLAYERS) -> Table:
    from tests import servers

    with servers.postgres() as database, servers.redis() as redis, tempfile.TemporaryDirectory() as var:
        site = {"DATABASE_URL": database, "REDIS_URL": redis, "VAR_DIR": var, "LOG_LEVEL": "WARNING"}
        site |= {"DEBUG": "", "SECRET_KEY": "of a benchmark", "INSECURE_HTTP": "1"}  # DEBUG would keep every query
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks.rankings", str(players)],
            env={**os.environ, **site, "DJANGO_SETTINGS_MODULE": "ratings_site.settings"},
            cwd=Path(__file__).resolve().parents[1],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    answer = json.loads(result.stdout)
    table = Table(("Rankings", "p50 ms", "p95 ms", "of ZREVRANK's: p50, p95", "target"))
    bare = median_and_p95(answer["times"][BARE])
    for what, times in answer["times"].items():
        found = median_and_p95(times)
        ratios = ", ".join(f"{own / other:.1f}" for own, other in zip(found, bare, strict=True))
        table.lines.append((what, *(f"{number:.2f}" for number in found), ratios, "p95 at most 4" if what in HELD_TO_IT else ""))
    table.notes += [
        f"{players:,} players, {answer['changed']:,} of whose ratings changed just before; {CALLS} calls of each by Redis and "
        f"{SQL_CALLS} by SQL, in turns. Pages have {PAGE_SIZE} lines.",
        f"Filling Redis took {answer['rebuild']:.0f} s, telling it of what changed {answer['told']:.1f} s; it takes "
        f"{answer['memory'] / 1e6:.0f} MB there. The check against the database takes {answer['check']:.1f} s.",
    ]
    return table


def median_and_p95(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def in_turns(jobs: dict[str, Callable[[int], Any]], calls: int) -> dict[str, list[float]]:
    """Milliseconds of each call, one of each job after the other."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(-WARMING_UP, calls):
        for name, job in jobs.items():
            began = time.perf_counter()
            job(number)
            if number >= 0:
                times[name].append((time.perf_counter() - began) * 1000)
    return times


def fill(pool: Any, players: int) -> None:
    """Players and ratings straight into the tables, as the ledger would have written them: 1500 ± 200, in whole points."""
    from django.db import connection

    from matches.models import Match
    from players.models import Rating

    empty()
    new_players(players)
    now, dice = datetime.now(UTC), random.Random(SEED)
    match = Match.objects.create(pool=pool, status=Match.Status.COMPLETED, ended_at=now, completed_at=now)
    values = ((number, dice.gauss(1500, 200)) for number in range(1, players + 1))
    insert(
        Rating,
        ("player_id", "value", "standing", "peak", "rank_points"),
        ((player_id, value, value, value, round(value)) for player_id, value in values),
        players,
        pool_id=pool.pk,
        matches=60,
        experience=60,
        opening=1500,
        last_match=match,
        last_ended_at=now,
        last_timed=True,
        last_sequence=0,
        version=1,
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE players_player, players_rating")


def change_some(pool: Any) -> tuple[int, float]:
    """Change the ratings of one player in SHARE, and tell Redis of it as the ledger does: how many, and in how many seconds."""
    from django.db import connection

    from players.models import Rating
    from players.rankings.store import entry, store

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE players_rating SET value = value + 40, standing = standing + 40, peak = peak + 40, "
            "rank_points = rank_points + 40, version = version + 1 WHERE pool_id = %s AND player_id %% %s = 0",
            [pool.pk, SHARE],
        )
    entries = [entry(rating) for rating in Rating.objects.filter(pool=pool, version=2).iterator()]
    began = time.perf_counter()
    for start in range(0, len(entries), 500):
        store().put(pool.pk, entries[start : start + 500])
    return len(entries), time.perf_counter() - began


def measure(players: int) -> dict[str, Any]:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)

    from players import rankings
    from players.models import Pool, Rating
    from players.rankings import cached, scripts, sql
    from players.rankings.listing import bins_of
    from players.rankings.store import keys, pack, store, unpack

    pool, dice = Pool.objects.get(slug="tics"), random.Random(SEED)
    fill(pool, players)
    began = time.perf_counter()
    rankings.rebuild(pool)
    rebuild = time.perf_counter() - began
    changed, told = change_some(pool)
    client, key = store().client, keys(pool.pk)[0]
    listed = cached.count(pool)
    ids = dice.sample(range(1, players), CALLS + WARMING_UP)
    ratings = list(Rating.objects.filter(pool=pool, player_id__in=ids).select_related("pool"))
    members = [pack(rating.value, rating.player_id) for rating in ratings]
    starts = [dice.randrange(listed - PAGE_SIZE) for _ in ratings]

    def order(number: int) -> list[Any]:
        _, _, answer = store().read(scripts.ROWS, pool.pk, starts[number], starts[number] + PAGE_SIZE - 1)
        return [(*unpack(member), int(score)) for member, score in zip(answer[::2], answer[1::2], strict=True)]

    def bins(lowest: int, highest: int) -> range:
        return bins_of(20, 0, lowest, highest)

    times = in_turns(
        {
            BARE: lambda n: client.zrevrank(key, members[n]),
            "bare ZREVRANGE of a page": lambda n: client.zrevrange(key, starts[n], starts[n] + PAGE_SIZE - 1, withscores=True),
            RANK: lambda n: cached.place(ratings[n]),
            PAGE: order,
            "page by Redis, with the players by SQL": lambda n: cached.rows(pool, starts[n], PAGE_SIZE),
            "those players alone by SQL": lambda n: list(
                Rating.objects.filter(pool=pool, player_id__in=[one.player_id for one in ratings[:PAGE_SIZE]]).select_related(
                    "player"
                )
            ),
            "distribution by Redis": lambda n: cached.counts(pool, bins),
        },
        CALLS,
    )
    times |= in_turns(
        {
            "rank by SQL": lambda n: sql.place(ratings[n]),
            "first page by SQL": lambda n: sql.rows(pool, 0, PAGE_SIZE),
            "page anywhere by SQL": lambda n: sql.rows(pool, starts[n], PAGE_SIZE),
            "distribution by SQL": lambda n: sql.counts(pool, bins),
        },
        SQL_CALLS,
    )
    for n in range(5):
        assert cached.place(ratings[n]) == sql.place(ratings[n])
        assert cached.rows(pool, starts[n], PAGE_SIZE) == sql.rows(pool, starts[n], PAGE_SIZE)
    assert cached.counts(pool, bins) == sql.counts(pool, bins)
    began = time.perf_counter()
    assert rankings.is_right(pool)
    check = time.perf_counter() - began
    memory = sum(client.memory_usage(name) for name in keys(pool.pk)[:2])
    return {"times": times, "changed": changed, "rebuild": rebuild, "told": told, "memory": memory, "check": check}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
