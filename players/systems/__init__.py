"""The rating systems: pure Python, no Django. `get` finds one by its key, `of` with a pool's parameters; `base` is their
interface."""

import json
from collections.abc import Mapping
from functools import lru_cache

from players.systems import crowns_cup, fibs, freewhist, online_backgammon, tics
from players.systems.base import RatingSystem
from players.systems.registry import UnknownSystem, get, keys

__all__ = ["UnknownSystem", "crowns_cup", "fibs", "freewhist", "get", "keys", "of", "online_backgammon", "tics"]


def of(key: str, parameters: Mapping[str, object]) -> RatingSystem:
    """The system with a pool's stored parameters (JSON values). Raises UnknownSystem, BadParameter."""
    return _read(key, json.dumps(parameters))


@lru_cache(maxsize=1000)
def _read(key: str, parameters: str) -> RatingSystem:
    # Each pool that is read from the database comes by here, and has the same few parameters.
    return get(key).from_json(json.loads(parameters))
