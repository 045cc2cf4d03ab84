"""Players by the beginning of their names: what a field suggests while somebody types."""

from __future__ import annotations

from django.db import connection
from django.db.models import Q

from players.models import Player
from players.names import clean_name, name_key

MOST = 10
LAST_LETTER = "\U0010ffff"


def begins_with(text: str, path: str = "name_key") -> Q:
    """Names that begin with the text, whatever the case of its letters; `path` leads to the stored key. Found by its index."""
    key = name_key(clean_name(text))
    if connection.vendor == "sqlite":
        # SQLite compares letters by their numbers, but does not use the index for LIKE.
        return Q(**{f"{path}__gte": key, f"{path}__lt": key + LAST_LETTER})
    return Q(**{f"{path}__startswith": key})


def suggestions(text: str, most: int = MOST) -> list[str]:
    """Names of players that begin with the text, in order; of more than `most`, some. One query, none for an empty text."""
    if not clean_name(text):
        return []
    players = Player.objects.filter(begins_with(text), merged_into=None).values_list("name_key", "name")
    return [name for _, name in sorted(players.order_by()[:most])]
