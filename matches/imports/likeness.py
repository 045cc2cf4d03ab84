"""Names that are nearly those of players: written without accents, in another order, or with one letter more, less or other."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

SHORTEST = 4
"""Letters from which on one of them may differ."""
MOST = 3
"""Suggestions for a name."""
LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "þ": "th"})


def folded(name: str) -> str:
    """The name without case, accents, punctuation and the order of its words."""
    plain = unicodedata.normalize("NFKD", name.casefold().translate(LETTERS))
    words = re.split(r"\W+", "".join(char for char in plain if not unicodedata.combining(char)))
    return "".join(sorted(words))


def suggestions(names: Iterable[str], known: Iterable[str]) -> dict[str, list[str]]:
    """For each of the names, those known that are nearly the same; also others of the names themselves. One pass over `known`."""
    wanted = list(dict.fromkeys(names))
    by_variant: dict[str, set[str]] = defaultdict(set)
    for name in wanted:
        for variant in _variants(folded(name)):
            by_variant[variant].add(name)
    near: dict[str, list[str]] = {name: [] for name in wanted}
    for other in (*known, *wanted):
        for name in {name for variant in _variants(folded(other)) for name in by_variant.get(variant, ())}:
            # Guest 1 and Guest 2 are two.
            other_number = re.sub(r"\D", "", name) != re.sub(r"\D", "", other)
            if name != other and not other_number and other not in near[name] and len(near[name]) < MOST:
                near[name].append(other)
    return near


def _variants(text: str) -> Iterator[str]:
    """The text, and what is left of it without one of its letters: two texts that differ in one letter share one of these."""
    yield text
    if len(text) >= SHORTEST:
        for place in range(len(text)):
            yield text[:place] + text[place + 1 :]
