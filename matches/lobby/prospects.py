"""What a match would mean for a player before it starts: whether it counts, his chance, what he can gain and lose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from matches.lobby.admission import Strength
from matches.models import RakeBand
from matches.money.rake import rake_for
from players import simulation, wording
from players.models import Pool
from players.systems.base import Refused, Result, Seat


@dataclass(frozen=True, slots=True)
class Prospect:
    """For the player who would sit down: `chance` to win (0 to 1; where there are draws his expected score, at a table of four
    the chance of the first place), `gain` and `loss` in points for winning and losing (the first and the last place).

    A money game is reckoned for one point. Seats that are still free are reckoned at the mean of the table.
    """

    chance: float
    gain: float
    loss: float


def prospect(pool: Pool, terms: Result, own: Strength, others: Sequence[Strength]) -> Prospect | None:
    """None where the system does not rate such a match at all, so that there is nothing to reckon with."""
    system = pool.rating_system
    seats = [own.seat, *(other.seat for other in others)]
    mean = math.fsum(seat.rating for seat in seats) / len(seats)
    seats += [Seat(mean)] * (system.seats - len(seats))
    stake = terms.stake or Decimal(1) if "stake" in system.uses else None  # the chance does not depend on it
    points = 1 if "points" in system.uses and terms.length is None else None
    try:
        found = simulation.simulate(system, seats, length=terms.length, stake=stake, points=points, deals=terms.deals)
    except Refused:
        return None
    if isinstance(found, simulation.FourPlayers):
        changes = found.changes[0]
        return Prospect(found.chances[0][0], changes[0], changes[-1])
    return Prospect(found.expected[0], found.outcomes[0].changes[0], found.outcomes[-1].changes[0])


def why_not_counted(pool: Pool, terms: Result) -> str:
    """Why a match on these terms, of this kind, will move no rating, as a sentence; "" where it will count."""
    reason = pool.rating_system.not_counted(terms)
    return wording.reason(reason.code, reason.values) if reason else ""


def rake(bands: Sequence[RakeBand], terms: Result, own: Strength, others: Sequence[Strength]) -> Decimal | None:
    """What each player of such a match pays, in euros (in a money game for one point); None where no rake is taken."""
    ratings = [own.rating, *(other.rating for other in others)]
    return rake_for(bands, ratings=ratings, length=terms.length, stake=terms.stake, real_money=terms.real_money)
