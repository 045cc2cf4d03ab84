"""Names of players: what makes two names the same, and the address that a name gives."""

from __future__ import annotations

import unicodedata

from django.utils.text import slugify

NAME_MAX = 80


def clean_name(name: str) -> str:
    """The name as it is stored: NFC, no control characters, single spaces between words, none around."""
    printable = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in name)
    return " ".join(unicodedata.normalize("NFC", printable).split())


def name_key(name: str) -> str:
    """What two names must differ in: NFC(casefold(NFC(name)))."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def name_slug(name: str) -> str:
    """The address of a name: ASCII where that leaves anything, else its own letters, else `player`.

    One letter of a name can stand for many of an address, so it is cut to leave room for a number.
    """
    return (slugify(name) or slugify(name, allow_unicode=True) or "player")[: NAME_MAX * 3 // 2]
