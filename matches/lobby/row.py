"""The row of a pool's lobby: its settings, and the version that tells whether its page has changed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F

from matches.models import Lobby
from players.locks import require_transaction
from players.models import Pool


def lobby_of(pool: Pool) -> Lobby:
    """The pool's lobby as it is stored, else with the defaults. One query."""
    return Lobby.objects.filter(pool=pool).first() or Lobby(pool=pool)


def touch(pool_ids: Iterable[int]) -> None:
    """Say that what the lobbies of these pools show has changed. The last lock of a transaction, in the order of the pools."""
    require_transaction()
    for pool_id in sorted(set(pool_ids)):
        rows = Lobby.objects.filter(pool=pool_id)
        if not rows.update(version=F("version") + 1):
            Lobby.objects.bulk_create([Lobby(pool_id=pool_id)], ignore_conflicts=True)
            rows.update(version=F("version") + 1)
