"""The rating systems by key."""

from __future__ import annotations

from typing import TypeVar

from players.systems.base import RatingSystem

_systems: dict[str, type[RatingSystem]] = {}
S = TypeVar("S", bound=type[RatingSystem])


class UnknownSystem(LookupError):
    """No rating system has this key."""


def register(system: S) -> S:
    """Class decorator: make a system known by its key. Raises ValueError where two claim one key."""
    if _systems.setdefault(system.key, system) is not system:
        raise ValueError(f"two rating systems claim the key {system.key!r}")
    return system


def get(key: str) -> type[RatingSystem]:
    """The system's class. Raises UnknownSystem."""
    try:
        return _systems[key]
    except KeyError:
        raise UnknownSystem(key) from None


def keys() -> tuple[str, ...]:
    """The keys of all systems, in the order of registration."""
    return tuple(_systems)
