"""A large pool on a PostgreSQL that waits for the disk: its first rating, and all of it rated anew after a correction while
results go on coming in. Beside them the floor: the same rows of ratings and history copied out and in again by COPY."""

from __future__ import annotations

import multiprocessing
import random
import time
import uuid
from typing import Any

from benchmarks.measuring import Table, Timed
from benchmarks.site import empty, insert, new_players, set_up
from benchmarks.world import games

SIZES = ((100_000, 5_000, 3), (1_000_000, 50_000, 1))
"""Matches, players, rounds."""
NEEDS_POSTGRES = True
PATIENCE = 120
"""Seconds within which the other process must have completed a match."""
QUICK = {"sizes": ((20_000, 1_000, 2),)}
TABLES = ("players_rating", "players_ratingchange")
FLOOR, FIRST, ANEW, HELD = "COPY out and in", "first rating", "all rated anew", "completions held up"


def run(sizes: tuple[tuple[int, int, int], ...] = SIZES) -> Table:
    table = Table(("A pool's replay", *(f"{matches:,} matches" for matches, _, _ in sizes), "of COPY", "target"))
    columns = [measured(*size) for size in sizes]
    for name, target in ((FLOOR, ""), (FIRST, "at most 2.5"), (ANEW, "")):
        ratios = ", ".join(f"{timed.ratio(name, FLOOR):.1f}" for timed in columns)
        table.lines.append((name, *(f"{timed.median(name):.1f} s" for timed in columns), ratios, target))
    table.lines.append((HELD, *(f"{timed.median(HELD):.2f} s" for timed in columns), "", "at most 1 s at 100,000"))
    rounds = " and ".join(str(rounds) for _, _, rounds in sizes)
    table.notes.append(
        f"Medians of {rounds} rounds. Rated anew: `corrections.correct` voids the first match, which moves nearly every line. "
        "Held up: the longest completion of another process meanwhile."
    )
    return table


def measured(matches: int, players: int, rounds: int) -> Timed:
    timed = Timed()
    fill(matches, players)
    for _ in range(rounds):
        reset()
        timed.add(FIRST, first_rating())
        timed.add(FLOOR, floor())
        seconds, held_up = rate_anew()
        timed.add(ANEW, seconds)
        timed.add(HELD, held_up)
    return timed


def fill(matches: int, players: int) -> None:
    """Completed matches as they are stored, not yet rated."""
    from django.db import connection

    from matches.models import Match, Participant
    from players.models import Pool

    empty()
    new_players(players)
    pool_id = Pool.objects.get(slug="fibs").pk
    played = (
        (number, game.length, game.ended_at, game.ended_at, uuid.UUID(int=number))
        for number, game in enumerate(games(matches, players), start=1)
    )
    names = ("id", "length", "ended_at", "completed_at", "entry_token")
    insert(Match, names, played, matches, pool_id=pool_id, status=Match.Status.COMPLETED)
    seats = (
        seat
        for number, game in enumerate(games(matches, players), start=1)
        for seat in ((number, game.one, 1, float(game.first_won)), (number, game.two, 2, 1.0 - game.first_won))
    )
    insert(Participant, ("match_id", "player_id", "seat", "score"), seats, 2 * matches)
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('matches_match', 'id'), %s)", [matches])


def reset() -> None:
    """As before the first rating."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE players_rating, players_ratingchange, players_publishedchange, matches_revision CASCADE")
        cursor.execute("UPDATE matches_match SET status = 'completed' WHERE status <> 'completed'")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


def first_rating() -> float:
    from django.db import transaction
    from django.utils import timezone

    from matches.replay import replay
    from players.locks import hold_pool
    from players.models import Pool

    began = time.perf_counter()
    with transaction.atomic():
        replay(hold_pool(Pool.objects.get(slug="fibs").pk, exclusive=True), timezone.now())
    return time.perf_counter() - began


def floor() -> float:
    """Copy the ratings and their history out and into the same tables again, with their indexes and constraints."""
    from django.db import connection, transaction

    began = time.perf_counter()
    kept = {}
    with transaction.atomic(), connection.cursor() as cursor:
        for table in TABLES:
            with cursor.copy(f"COPY {table} TO STDOUT") as out:
                kept[table] = list(out)
    copied_out = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(TABLES)} CASCADE")
        cursor.execute("CHECKPOINT")
    began = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for table in TABLES:
            with cursor.copy(f"COPY {table} FROM STDIN") as into:
                for block in kept[table]:
                    into.write(block)
    copied_in = time.perf_counter() - began
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        cursor.execute("VACUUM ANALYZE")
    return copied_out + copied_in


def rate_anew() -> tuple[float, float]:
    """Void the pool's first match while another process completes matches: seconds, and those of the longest completion."""
    from matches.corrections import Correction, correct
    from matches.models import Match
    from players.models import Pool

    context = multiprocessing.get_context("spawn")
    go, stop, answer = context.Event(), context.Event(), context.SimpleQueue()
    process = context.Process(target=_go_on_completing, args=(go, stop, answer))
    process.start()
    try:
        if not go.wait(timeout=PATIENCE):
            raise RuntimeError("the other process does not complete matches")
        first = Match.objects.order_by("ended_at", "id").filter(status="completed")[0]
        began = time.perf_counter()
        correct(Pool.objects.get(slug="fibs"), [Correction(first, void=True)], reason="annulled")
        seconds = time.perf_counter() - began
    finally:
        stop.set()
        process.join()
    if process.exitcode:
        raise RuntimeError("the other process has failed")
    return seconds, answer.get()


def _go_on_completing(go: Any, stop: Any, answer: Any) -> None:
    set_up()
    from django.utils import timezone

    from matches.completion import complete_match
    from matches.entries import Entry
    from players.models import Player, Pool
    from players.systems.base import Result

    pool, players, dice, longest = Pool.objects.get(slug="fibs"), list(Player.objects.all()[:5000]), random.Random(9), 0.0
    while not stop.is_set():
        began = time.perf_counter()
        entry = Entry(players=dice.sample(players, 2), result=Result(scores=(1.0, 0.0), length=5), ended_at=timezone.now())
        complete_match(pool, entry)
        if go.is_set():
            longest = max(longest, time.perf_counter() - began)
        go.set()
        time.sleep(0.02)
    answer.put(longest)
