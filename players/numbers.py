"""Numbers that come as text: in addresses, searches and forms, which anybody can write."""

from __future__ import annotations

ID_DIGITS = 18
"""What every column for the number of a row takes, whatever the digits are."""


def whole(text: str, digits: int = ID_DIGITS) -> int | None:
    """The number that these ASCII digits write, at most so many of them; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None
