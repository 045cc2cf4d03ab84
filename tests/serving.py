"""Game servers for tests: keys, and results as they send them."""

from __future__ import annotations

from typing import Any

from players.api.keys import make_key
from players.api.models import ApiKey
from players.models import Pool
from tests.asking import Asker


def key_of(*pools: str, source: str = "server", **fields: Any) -> str:
    """The secret of a new key that may post results to the pools."""
    number = ApiKey.objects.count() + 1
    values = {"name": f"Server {number}", "source": source, "results": True, "rate": 100_000, **fields}
    return make_key(ApiKey(**values), made_by=None, pools=Pool.objects.filter(slug__in=pools or ["fibs"]))


def server(*pools: str, **fields: Any) -> Asker:
    """A game server that may create players, unless otherwise said."""
    return Asker(key_of(*pools, **{"may_create_players": True, **fields}))


def result(external_id: str = "1", *names: str, **fields: Any) -> dict[str, Any]:
    """A result as a server sends it: the first of the named players wins a match to 5."""
    players = [{"name": name} for name in names or ("Vera", "Didrik")]
    values = {"players": players, "scores": [1, 0], "length": 5, "ended_at": "2026-03-01T20:00:00Z", **fields}
    return {"external_id": external_id, **{name: value for name, value in values.items() if value is not None}}


def posted(external_id: str = "1", *names: str, pool: str = "fibs", **fields: Any) -> dict[str, Any]:
    return {"pool": pool, **result(external_id, *names, **fields)}
