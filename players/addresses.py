"""Which words of an address are pages' own, so that no pool can be called so."""

from __future__ import annotations

from django.urls.converters import SlugConverter

RESERVED = ("data", "history", "matches", "messages", "points", "profile", "rating", "statement", "statistics", "vs")
"""What stands in an address where the address of a pool could stand: the tabs of a window, and `vs` between two players."""


class PoolConverter(SlugConverter):
    """The address of a pool: a slug that is no page's own word, wherever in the list of addresses that page stands."""

    regex = rf"(?!(?:{'|'.join(RESERVED)})/)[-a-zA-Z0-9_]+"
