"""Locks, in the one order that everybody keeps: Table, Match, Pool, Rating rows by player id.

A completion holds its pool shared, a replay holds it exclusive. No lock is upgraded in place: roll back and start again.
"""

from __future__ import annotations

from django.db import connection
from django.db.transaction import TransactionManagementError

from players.models import Pool

POOL_LOCKS = 7301
"""The first key of the pools' advisory locks on PostgreSQL; the second one is the pool's id."""


def require_transaction() -> None:
    """Raise TransactionManagementError outside a transaction: a lock taken there would be gone at once."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("locks are taken inside transaction.atomic()")


def hold_pool(pool_id: int, *, exclusive: bool) -> Pool:
    """Hold the pool until the transaction ends and return it as it is now. Raises Pool.DoesNotExist.

    PostgreSQL: a transaction-level advisory lock. SQLite: the write lock that the transaction began with already serves.
    """
    require_transaction()
    if connection.vendor == "postgresql":
        function = "pg_advisory_xact_lock" if exclusive else "pg_advisory_xact_lock_shared"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s, %s)", [POOL_LOCKS, pool_id])
    return Pool.objects.get(pk=pool_id)
