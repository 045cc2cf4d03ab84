"""The rating systems: pure Python, no Django. `registry.get(key)` finds one; `base` is their interface."""

from players.systems import crowns_cup, fibs, freewhist, online_backgammon, tics
from players.systems.registry import UnknownSystem, get, keys

__all__ = ["UnknownSystem", "crowns_cup", "fibs", "freewhist", "get", "keys", "online_backgammon", "tics"]
