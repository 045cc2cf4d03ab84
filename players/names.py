"""Names of players: what makes two names the same, and the address that a name gives."""

from __future__ import annotations

import re
import unicodedata

from django.utils.text import slugify

NAME_MAX = 80
JOINERS = "\u200c\u200d"
UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufdd0-\ufdef\U000e0100-\U000e01ef]"
    f"|[{''.join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))}]"
)
"""Fillers, selectors of a variant, and what is no character at all: letters and marks by their category."""
NEEDLESS_JOINER = re.compile(rf"(?:^|(?<=[\0-\u058f\u1e00-\u1fff]))[{JOINERS}]+|[{JOINERS}]+$")
"""After a letter of a script that joins none (Latin, Greek, Cyrillic, Armenian), and at an end."""
BLANKS = {"Cc", "Zl", "Zp"}


def clean_name(name: str) -> str:
    """The name as it is stored: NFC, nothing that cannot be seen, single spaces between words; "" where nothing can be seen."""
    printable = "".join(" " if unicodedata.category(char) in BLANKS or char == "\u2800" else char for char in name)
    # Format characters would hide in a name or turn its direction; the two joiners belong to some scripts' spelling.
    visible = "".join(char for char in printable if unicodedata.category(char) != "Cf" or char in JOINERS)
    visible = NEEDLESS_JOINER.sub("", UNSEEN.sub("", visible))
    if not any(unicodedata.category(char)[0] in "LNPS" for char in visible):
        return ""
    return " ".join(unicodedata.normalize("NFC", visible).split())


def name_key(name: str) -> str:
    """What two names must differ in: NFC(casefold(NFC(name)))."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def name_slug(name: str) -> str:
    """The address of a name: ASCII where that leaves anything, else its own letters, else `player`.

    One letter of a name can stand for many of an address, so it is cut to leave room for a number.
    """
    return (slugify(name) or slugify(name, allow_unicode=True) or "player")[: NAME_MAX * 3 // 2]
