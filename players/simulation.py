"""What a match would do: every outcome's changes for given ratings, without a player, a match or a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from players.systems.base import RatingSystem, Refused, Result, Seat
from players.systems.freewhist import FreeWhist

WIN, DRAW, LOSS = (1.0, 0.0), (0.5, 0.5), (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way for a match to end: both scores, and both changes in points."""

    scores: tuple[float, ...]
    changes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TwoPlayers:
    """Expected scores and experience factors by player, and the outcomes: player 1 wins, draws (if there are draws), loses."""

    expected: tuple[float, ...]
    k: tuple[float, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class FourPlayers:
    """Expected scores by player, and by player and place (1 to 4) the chances and the changes in points."""

    expected: tuple[float, ...]
    chances: tuple[tuple[float, ...], ...]
    changes: tuple[tuple[float, ...], ...]


def simulate(
    system: RatingSystem,
    seats: Sequence[Seat],
    *,
    length: int | None = None,
    stake: Decimal | None = None,
    points: int | None = None,
    deals: int | None = None,
    chance: float | None = None,
) -> TwoPlayers | FourPlayers:
    """Rate every outcome of a match that counts in the pool.

    `length` in points, `stake` in euros per player (in a money game per point), `points` won in a money game, `chance` player
    1's winning chance at a break (then that is the one outcome). Raises Refused for what the system refuses or lacks.
    """
    if len(seats) != system.seats:
        raise Refused("players", "wrong_number", needed=system.seats, given=len(seats))
    result = Result(
        length=length,
        stake=stake,
        points=points,
        deals=deals,
        real_money=True if "real_money" in system.needs else None,
        kind=system.params.counted_kinds[0] if "kind" in system.needs else "",
    )
    if isinstance(system, FreeWhist):
        return _four(system, seats, replace(result, chance=chance))
    return _two(system, seats, result, chance)


def _two(system: RatingSystem, seats: Sequence[Seat], result: Result, chance: float | None) -> TwoPlayers:
    if chance is not None:
        results = [replace(result, chance=chance)]
    else:
        results = [replace(result, scores=scores) for scores in ((WIN, DRAW, LOSS) if system.draws else (WIN, LOSS))]
    for one in results:
        system.check(one)
    rated = [system.rate(seats, one) for one in results]
    outcomes = tuple(Outcome(one.scores, one.changes) for one in rated)
    return TwoPlayers(rated[0].expected, rated[0].k, outcomes)


def _four(system: FreeWhist, seats: Sequence[Seat], result: Result) -> FourPlayers:
    # What a player gains depends on his own place alone: four results let everybody come in at every place once.
    rated = []
    for shift in range(4):
        one = replace(result, places=tuple((seat + shift) % 4 + 1 for seat in range(4)))
        system.check(one)
        rated.append(system.rate(seats, one))
    changes = tuple(tuple(rated[(place - seat) % 4].changes[seat] for place in range(4)) for seat in range(4))
    return FourPlayers(rated[0].expected, system.place_chances(seats), changes)
