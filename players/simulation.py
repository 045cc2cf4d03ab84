"""What a match would do: every outcome's changes for given ratings, without a player, a match or a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from players.sums import Sum, sum_of
from players.systems.base import Rated, RatingSystem, Refused, Result, Seat
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


@dataclass(frozen=True, slots=True)
class Way:
    """One way for a match to end, with what it does to each seat and the sum of it."""

    result: Result
    rated: Rated
    sums: tuple[Sum, ...]


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
    terms = Result(length=length, stake=stake, points=points, deals=deals, chance=chance)
    _, rated = _rated(system, seats, counted(system, terms))
    if isinstance(system, FreeWhist):
        changes = tuple(tuple(rated[(place - seat) % 4].changes[seat] for place in range(4)) for seat in range(4))
        return FourPlayers(rated[0].expected, system.place_chances(seats), changes)
    outcomes = tuple(Outcome(one.scores, one.changes) for one in rated)
    return TwoPlayers(rated[0].expected, rated[0].k, outcomes)


def ways(system: RatingSystem, seats: Sequence[Seat], terms: Result, decimals: int) -> tuple[Way, ...]:
    """Every way for a match on these terms to end, each with its sums: for two players as `TwoPlayers` has them, or the one of
    `terms.chance`; for four, four ways in which everybody comes in at every place once. `decimals` are those that the pool shows.

    Raises Refused for what the system refuses or lacks. It is rated also where it would not count.
    """
    results, rated = _rated(system, seats, terms)
    return tuple(
        Way(result, one, tuple(sum_of(lines, decimals) for lines in system.explain(seats, result)))
        for result, one in zip(results, rated, strict=True)
    )


def counted(system: RatingSystem, terms: Result) -> Result:
    """The terms with whatever it takes to count in the pool: for real money, and of a kind that counts."""
    return replace(
        terms,
        real_money=True if "real_money" in system.needs else terms.real_money,
        kind=system.params.counted_kinds[0] if "kind" in system.needs else terms.kind,
    )


def way_at_place(several: Sequence[Way], seat: int, place: int) -> Way:
    """Among the ways of four players that in which the seat (from 0) comes in at the place (from 1)."""
    return several[(place - 1 - seat) % 4]


def _rated(system: RatingSystem, seats: Sequence[Seat], terms: Result) -> tuple[list[Result], list[Rated]]:
    if len(seats) != system.seats:
        raise Refused("players", "wrong_number", needed=system.seats, given=len(seats))
    results = _results(system, terms)
    for one in results:
        system.check(one)
    return results, [system.rate(seats, one) for one in results]


def _results(system: RatingSystem, terms: Result) -> list[Result]:
    if "places" in system.uses:
        # What a player gains depends on his own place alone: four results let everybody come in at every place once.
        return [replace(terms, places=tuple((seat + shift) % 4 + 1 for seat in range(4))) for shift in range(4)]
    if terms.chance is not None:
        return [terms]
    return [replace(terms, scores=scores) for scores in ((WIN, DRAW, LOSS) if system.draws else (WIN, LOSS))]
