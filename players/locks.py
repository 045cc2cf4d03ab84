"""Locks, in the one order that everybody keeps: Table, PairingRequest, open matches, the pool's history, completed matches, Pool,
Player, Rating rows by player id, Lobby.

A completion holds its pool shared. Whoever rewrites lines of the history holds the history, so there is one at a time, and at the
end the pool exclusively. Whoever holds the pool shared for long, as an import does, holds the history before it: so nobody waits
for the pool alone, and keeps out all who come after him, until that is done. No lock is upgraded in place: roll back and start
again.

Whoever seats players holds them, together with others who do; a merge holds the duplicate alone, after its pools.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import DatabaseError, OperationalError, connection
from django.db.transaction import TransactionManagementError

from players import rows
from players.models import Player, Pool

POOL_LOCKS, HISTORY_LOCKS, FEED_LOCK, SIGN_UP_LOCK = 7301, 7302, 7303, 7304
"""The first keys of the advisory locks on PostgreSQL; the second one is the pool's id, of the others 0."""


PATIENCE = 3
"""Seconds that a merge, which keeps results of its pools waiting, waits for those who seat the duplicate elsewhere."""


def lost_race(error: DatabaseError) -> bool:
    """Whether another writer stored the same key first, or the two blocked each other: trying again may help.

    SQLite has one writer at a time, so there is no race to lose there.
    """
    return getattr(error.__cause__, "sqlstate", None) in {"23505", "40P01"}


def require_transaction() -> None:
    """Raise TransactionManagementError outside a transaction: a lock taken there would be gone at once."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("locks are taken inside transaction.atomic()")


def hold_history(pool_id: int) -> None:
    """Be the only one to rewrite the pool's history, or to add much to it, until the transaction ends. Completions in order go on
    meanwhile."""
    require_transaction()
    rows.run(*_advisory("pg_advisory_xact_lock", HISTORY_LOCKS, pool_id))


def hold_pool(pool_id: int, *, exclusive: bool) -> Pool:
    """Hold the pool (exclusively: its history as well) until the transaction ends and return it as it is now.

    Raises Pool.DoesNotExist.
    """
    return hold_pool_and_ask(pool_id, exclusive=exclusive)[0]


def hold_pool_and_ask(pool_id: int, *questions: rows.Statement, exclusive: bool) -> tuple[Pool, list[list[tuple[Any, ...]]]]:
    """The same, and the rows of each of the statements, which are run while the pool is held, in the same round trip."""
    require_transaction()
    if exclusive:
        hold_history(pool_id)
    # A statement after the lock, so that it sees what the holder before has committed.
    held = _advisory("pg_advisory_xact_lock" if exclusive else "pg_advisory_xact_lock_shared", POOL_LOCKS, pool_id)
    eras = "EXISTS (SELECT 1 FROM players_era WHERE pool_id = players_pool.id)"
    present = (f"SELECT {rows.columns(Pool)}, {eras} FROM players_pool WHERE id = %s", [pool_id])
    found, *answers = rows.run(*held, present, *questions)[len(held) :]
    if not found:
        raise Pool.DoesNotExist
    [(*values, has_eras)] = found
    pool = rows.read(Pool, [values])[0]
    pool.has_eras = bool(has_eras)
    return pool, answers


def try_feed() -> bool:
    """Be the only one who puts events in order until the transaction ends; False where somebody else is."""
    require_transaction()
    answers = rows.run(*_advisory("pg_try_advisory_xact_lock", FEED_LOCK, 0))
    return not answers or bool(answers[0][0][0])


def hold_sign_ups() -> None:
    """Sign up one after the other, until the transaction ends: whose address or user name is taken is then known for certain."""
    require_transaction()
    rows.run(*_advisory("pg_advisory_xact_lock", SIGN_UP_LOCK, 0))


def _advisory(function: str, space: int, pool_id: int) -> list[rows.Statement]:
    # SQLite: the write lock that the transaction began with already serves.
    return [(f"SELECT {function}(%s, %s)", [space, pool_id])] if connection.vendor == "postgresql" else []


def holding_players(player_ids: Collection[int], *, hold: bool = True) -> rows.Statement:
    """The statement that keeps players from being merged into others until the transaction ends, together with others who hold
    them: their ids, and those of the players into whom they have been merged already.

    Without `hold` it only looks.

    A foreign key would not do: it is checked at the commit, when it is too late to seat somebody else.
    """
    among, ids = rows.among("id", sorted(player_ids))
    lock = " FOR KEY SHARE" if hold and connection.vendor == "postgresql" else ""
    return f"SELECT id, merged_into_id FROM players_player WHERE {among} ORDER BY id{lock}", ids


def hold_players(player_ids: Collection[int]) -> set[int]:
    """Keep players from being merged into others until the transaction ends. Returns those who have been, already."""
    require_transaction()
    [held] = rows.run(holding_players(player_ids))
    return {player_id for player_id, merged_into in held if merged_into is not None}


class Busy(Exception):
    """A player is held by a long transaction that seats him, such as an import."""


def hold_merging(duplicate_id: int, keep_id: int) -> dict[int, Player]:
    """Hold a duplicate alone, so that nobody seats him, and the player whom he is merged into as who he is. Both as they are.

    The last lock of a merge, since those who seat players hold pools. Raises Busy after some seconds.
    """
    require_transaction()
    if connection.vendor == "postgresql":
        rows.run((f"SET LOCAL lock_timeout = '{PATIENCE}s'", []))
    held = {}
    try:
        for player_id in sorted((duplicate_id, keep_id)):
            found = Player.objects.select_for_update(no_key=player_id == keep_id, of=("self",))
            held[player_id] = found.get(pk=player_id)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == "55P03":
            raise Busy from error
        raise
    return held
