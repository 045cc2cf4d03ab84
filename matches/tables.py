"""Tables: whoever waits for opponents, and the match that starts when the last seat is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matches.completion import save_open
from matches.models import Match
from players.models import Player, Pool
from players.systems.base import Kind, Refused, Result


def start_match(pool: Pool, terms: Result, players: Sequence[Player], kind: Kind | str) -> Match:
    """Start a match: it is stored as not finished, its participants in the order given, its kind by how it came about.

    The one way by which a match comes about on the site itself. `terms` are length, deals, stake and real money; how it will end
    is not among them. A merged duplicate is seated as the player whom he was merged into. Raises Refused.
    """
    if kind not in tuple(Kind):
        raise Refused("kind", "unknown")
    return save_open(pool, players=players, terms=replace(terms, kind=str(kind)))
