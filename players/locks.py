"""Locks, in the one order that everybody keeps: Table, Match, the pool's history, Pool, Rating rows by player id.

A completion holds its pool shared. Whoever rewrites lines of the history holds the history, so there is one at a time, and at the
end the pool exclusively. No lock is upgraded in place: roll back and start again.
"""

from __future__ import annotations

from django.db import connection
from django.db.transaction import TransactionManagementError

from players import rows
from players.models import Pool

POOL_LOCKS, HISTORY_LOCKS = 7301, 7302
"""The first keys of the advisory locks on PostgreSQL; the second one is the pool's id."""


def require_transaction() -> None:
    """Raise TransactionManagementError outside a transaction: a lock taken there would be gone at once."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("locks are taken inside transaction.atomic()")


def hold_history(pool_id: int) -> None:
    """Be the only one to rewrite the pool's history until the transaction ends. Completions in order go on meanwhile."""
    require_transaction()
    rows.run(*_advisory("pg_advisory_xact_lock", HISTORY_LOCKS, pool_id))


def hold_pool(pool_id: int, *, exclusive: bool) -> Pool:
    """Hold the pool (exclusively: its history as well) until the transaction ends and return it as it is now.

    Raises Pool.DoesNotExist.
    """
    require_transaction()
    if exclusive:
        hold_history(pool_id)
    # A statement after the lock, so that it sees what the holder before has committed.
    held = _advisory("pg_advisory_xact_lock" if exclusive else "pg_advisory_xact_lock_shared", POOL_LOCKS, pool_id)
    *_, found = rows.run(*held, (f"SELECT {rows.columns(Pool)} FROM players_pool WHERE id = %s", [pool_id]))
    if not found:
        raise Pool.DoesNotExist
    return rows.read(Pool, found)[0]


def _advisory(function: str, space: int, pool_id: int) -> list[rows.Statement]:
    # SQLite: the write lock that the transaction began with already serves.
    return [(f"SELECT {function}(%s, %s)", [space, pool_id])] if connection.vendor == "postgresql" else []
