"""What tests of reports have in common: matches that were started in a lobby, and what players say of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from matches.lobby.tables import start_match
from matches.models import Match, Report
from matches.reports.reporting import Told
from players.models import Player
from players.systems.base import Result
from tests.building import people, pool_of

TERMS: dict[str, dict[str, Any]] = {
    "fibs": {"length": 5},
    "crowns-cup": {"length": 5, "stake": Decimal(10), "real_money": True},
    "online-backgammon": {"length": 5},
    "freewhist": {"deals": 24},
    "tics": {},
}
KINDS = {"online-backgammon": "matchmade"}
FIRST_WON = Told(outcome="result", scores=(1.0, 0.0))
SECOND_WON = Told(outcome="result", scores=(0.0, 1.0))
DRAWN = Told(outcome="result", scores=(0.5, 0.5))
BROKEN_OFF = Told(outcome="broken_off")
CALLED_OFF = Told(outcome="called_off")
PLACED = Told(outcome="result", places=(1, 2, 3, 4))


def started(slug: str = "fibs", players: list[Player] | None = None, **terms: Any) -> tuple[Match, list[Player]]:
    """A match that is being played, and its players in the order of their seats."""
    pool = pool_of(slug)
    players = people(pool.rating_system.seats) if players is None else players
    return start_match(pool, Result(**TERMS[slug] | terms), players, KINDS.get(slug, "table")), players


def live(match: Match) -> Report | None:
    return Report.objects.filter(match=match, state__in=Report.LIVE).first()
