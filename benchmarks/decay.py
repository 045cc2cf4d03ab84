"""Decay over a large pool against one bare UPDATE of the same rows, on a PostgreSQL that waits for the disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from benchmarks.measuring import Table, Timed, in_turns
from benchmarks.site import empty, insert, new_players

RATINGS, ROUNDS = 1_000_000, 1
NEEDS_POSTGRES = True
QUICK = {"ratings": 60_000, "rounds": 3}
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def run(ratings: int = RATINGS, rounds: int = ROUNDS) -> Table:
    from django.db import connection

    from players.ledger import update_standings
    from players.models import Pool

    pool = Pool.objects.get(slug="online-backgammon")
    fill(pool.pk, ratings)
    days = 0

    def decay() -> None:
        nonlocal days
        days += 1
        moved = update_standings(pool.pk, NOW + timedelta(days=days))
        assert moved == ratings, moved

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE players_rating SET version = version + 1, standing = standing + 1, standing_at = %s, "
                "rank_points = rank_points + 1 WHERE pool_id = %s",
                [NOW, pool.pk],
            )

    timed = Timed()
    for _ in range(rounds):
        for name, job in (("one bare UPDATE", bare), ("update_standings()", decay)):
            # Both find the table without the dead rows of the one before.
            with connection.cursor() as cursor:
                cursor.execute("VACUUM FULL ANALYZE players_rating")
                cursor.execute("CHECKPOINT")
            timed.add(name, in_turns({name: job}, 1).median(name))
    table = Table(("Decay", "seconds", "of the bare UPDATE", "target"))
    for name in timed.seconds:
        target = {"update_standings()": "at most 1.5"}.get(name, "")
        table.lines.append((name, f"{timed.median(name):.1f}", f"{timed.ratio(name, 'one bare UPDATE'):.2f}", target))
    said = "one round" if rounds == 1 else f"median of {rounds} rounds"
    table.notes.append(f"{ratings:,} ratings, all of which move; {said}.")
    return table


def fill(pool_id: int, ratings: int) -> None:
    """Ratings far above the tier where decay begins, of players who have been away for longer than the grace."""
    from matches.models import Match
    from players.models import Rating

    empty()
    new_players(ratings)
    long_ago = NOW - timedelta(days=365)
    match = Match.objects.create(pool_id=pool_id, status=Match.Status.COMPLETED, ended_at=long_ago, completed_at=long_ago)
    values = ((n, 50_000 + n * 7919 % 100_003 / 10) for n in range(1, ratings + 1))
    insert(
        Rating,
        ("player_id", "value", "standing", "peak", "rank_points"),
        ((player_id, value, value, value, round(value)) for player_id, value in values),
        ratings,
        pool_id=pool_id,
        matches=1,
        experience=100,
        opening=1500,
        last_match=match,
        last_ended_at=long_ago,
        last_timed=True,
        last_sequence=0,
    )
