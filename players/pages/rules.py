"""The rules of a pool as its page tells them: everything from the parameters that are in force, nothing by heart.

Words are the templates'; here are the numbers, the tables and the worked examples, reckoned by the pool's own system.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from players import curves, wording
from players.curves import Chart, Curve
from players.formatting import format_number, shown
from players.models import Pool, Tier
from players.pages.pools import counts_in_games
from players.simulation import Way, counted, way_at_place, ways
from players.standings import StandingRule
from players.systems.backgammon import AFTER, Backgammon
from players.systems.base import ALL_KINDS, EXPERIENCE_LIMIT, RATING_LIMIT, RatingSystem, Result, Seat
from players.systems.crowns_cup import CrownsCup
from players.systems.freewhist import FreeWhist
from players.systems.tics import Tics
from players.wording import parameter_label, parameter_value

LENGTHS = (1, 3, 5, 7, 11, 15, 25)
DRAWN_LENGTHS = (1, 3, 7, 15, 25)
STAKES = (1, 5, 10, 20, 100, 1000)
STEPS = 24
"""Straight pieces of a curve."""
PARTS = 5
"""The table of chances has so many differences above 0."""


@dataclass(frozen=True, slots=True)
class Chances:
    """The chart and the table beside it: for each difference (points) the chances under the heads. `mirrored`: to both sides."""

    chart: Chart
    heads: tuple[str, ...]
    rows: tuple[tuple[float, tuple[float, ...]], ...]
    mirrored: bool


@dataclass(frozen=True, slots=True)
class Points:
    """What a match moves between established players, in points: by its length or its deals."""

    size: int
    equal: float
    favourite_wins: float
    underdog_wins: float


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: who plays, how it ends, and the sum of the first of them."""

    title: str
    seats: tuple[Seat, ...]
    way: Way
    number: int

    @property
    def change(self) -> float:
        return self.way.rated.changes[self.number]

    @property
    def sum(self) -> Any:
        return self.way.sums[self.number]


@dataclass(frozen=True, slots=True)
class Changed:
    """A parameter that had another value once."""

    label: str
    was: str
    then: str


@dataclass(frozen=True, slots=True)
class PastRules:
    """Rules that rated the matches which ended before `until`, by what differs in those that came after."""

    until: datetime
    changes: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class PoolRules:
    """All that the page of a pool's rules says. `game` names the template of its system."""

    pool: Pool
    system: RatingSystem
    game: str
    params: Any
    in_games: bool
    kinds: tuple[tuple[str, bool], ...]
    all_kinds: bool
    tiers: tuple[Tier, ...]
    decay: StandingRule | None
    parameters: tuple[tuple[str, str], ...]
    past: tuple[PastRules, ...]
    chances: Chances | None = None
    points: tuple[Points, ...] = ()
    gap: float = 0.0
    established: int = 0
    experience: tuple[tuple[int, float], ...] = ()
    k_after: bool = False
    stakes: tuple[tuple[int, float], ...] = ()
    money_games: bool = False
    examples: tuple[Example, ...] = ()


def rules_of(pool: Pool) -> PoolRules:
    """The rules of a pool that comes with its tiers. At most one query, for its past rules."""
    system = pool.rating_system
    known = {str(kind): str(kind) in system.params.counted_kinds for kind in ALL_KINDS}
    page = PoolRules(
        pool=pool,
        system=system,
        game=_game(system),
        params=system.params,
        in_games=counts_in_games(pool),
        kinds=tuple((wording.kind_label(kind), counts) for kind, counts in known.items()),
        all_kinds=all(known.values()),
        tiers=tuple(pool.tiers.all()),
        decay=pool.standing_rule,
        parameters=tuple((parameter_label(name), parameter_value(name, value)) for name, value in _flat(system.params.to_json())),
        past=tuple(_past(pool)),
    )
    if isinstance(system, Backgammon):
        return _backgammon(page, system)
    if isinstance(system, FreeWhist):
        return _freewhist(page, system)
    if isinstance(system, Tics):
        return _tics(page, system)
    return page


def _game(system: RatingSystem) -> str:
    for known, name in ((Backgammon, "backgammon"), (FreeWhist, "freewhist"), (Tics, "tics")):
        if isinstance(system, known):
            return name
    return "other"


# --- Rules over time ---


def _flat(parameters: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """The parameters by their full names: those of an object within follow it."""
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _past(pool: Pool) -> Iterable[PastRules]:
    """The last change first."""
    rules = pool.rules
    eras = [dict(_flat(rules.at(None).params.to_json()))]
    for past in reversed(rules.past):
        was, then = dict(_flat(type(rules.at(None)).from_json(past.parameters).params.to_json())), eras[-1]
        names = [name for name in (*was, *(name for name in then if name not in was)) if _told(was, name) != _told(then, name)]
        changes = [Changed(parameter_label(name), _told(was, name), _told(then, name)) for name in names]
        eras.append(was)
        yield PastRules(past.until, tuple(changes))


def _told(parameters: Mapping[str, Any], name: str) -> str:
    """A parameter in words, also where it lies within one that is off, or is one that has others within."""
    if name in parameters:
        return parameter_value(name, parameters[name])
    return _("on") if any(other.startswith(f"{name}.") for other in parameters) else "–"


# --- What all systems share ---


Case = tuple[str, Sequence[Seat], Result, int, int]
"""Title, seats, terms, which of the ways to end, and whose sum."""


def _examples(pool: Pool, system: RatingSystem, cases: Sequence[Case]) -> tuple[Example, ...]:
    return tuple(
        Example(title, tuple(seats), ways(system, seats, counted(system, terms), pool.shown_decimals)[way], number)
        for title, seats, terms, way, number in cases
    )


def _around(start: float, gap: float) -> tuple[float, float]:
    """Two ratings so far apart, near the start and within what is accepted."""
    lower = max(min(start, RATING_LIMIT - gap), -RATING_LIMIT)
    return lower + gap, lower


def _nice(value: float) -> float:
    """The largest of 1, 2, 5, 10, 20, … (and of 0.5, 0.2, …) that is no larger."""
    power = 10.0 ** math.floor(math.log10(value))
    return max((digit for digit in (1, 2, 5) if digit * power <= value), default=0.5) * power


def _round(value: float) -> float:
    """To two digits that people like: 150, 26, 1.5."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(round(value / power) * power)


def _rating(pool: Pool, value: float) -> str:
    return wording.plain(float(shown(value, pool.shown_decimals)))


# --- Backgammon ---


def _backgammon(page: PoolRules, system: Backgammon) -> PoolRules:
    params, pool = system.params, page.pool
    gap = min(_round(params.spread * 0.075), RATING_LIMIT)
    high, low = _around(params.start, gap)
    terms, established = _terms(system), _established(system)
    return replace(
        page,
        established=established,
        chances=_chances(
            [(_length_name(n), replace(terms, length=n)) for n in DRAWN_LENGTHS], system, min(params.spread / 4, RATING_LIMIT)
        ),
        gap=gap,
        points=tuple(_points(system, n, replace(terms, length=n), high, low, established) for n in LENGTHS),
        experience=_ramp(system),
        k_after=params.experience_counts == AFTER,
        stakes=tuple((stake, math.log10(1 + stake)) for stake in STAKES) if system.stakes else (),
        money_games=system.money_games,
        examples=_examples(pool, system, _backgammon_cases(system, pool, terms, high, low, established)),
    )


def _terms(system: RatingSystem) -> Result:
    """What a match takes besides its length: for a stake of 10 euros where there are stakes."""
    return counted(system, Result(stake=Decimal(10) if "stake" in system.uses else None))


def _length_name(length: int) -> str:
    return ngettext("%(length)s point", "%(length)s points", length) % {"length": format_number(length, 0)}


def _points(system: RatingSystem, size: int, terms: Result, high: float, low: float, experience: int) -> Points:
    """What an established player gains, by the sizes of the changes."""

    def gain(one: float, two: float, scores: tuple[float, float]) -> float:
        rated = system.rate([Seat(one, experience), Seat(two, experience)], replace(terms, scores=scores))
        return abs(rated.changes[0])

    return Points(size, gain(low, low, (1.0, 0.0)), gain(high, low, (1.0, 0.0)), gain(high, low, (0.0, 1.0)))


def _established(system: Backgammon) -> int:
    """The experience from which K stays at its lowest, or any where it never moves."""
    ramp = system.params.ramp
    return 0 if ramp is None else min(math.ceil((ramp.highest - ramp.lowest) * ramp.per), EXPERIENCE_LIMIT)


def _ramp(system: Backgammon) -> tuple[tuple[int, float], ...]:
    """K by experience, from new to where it stays; a match of one point where it counts already."""
    ramp = system.params.ramp
    if ramp is None or ramp.highest == ramp.lowest:
        return ()
    return tuple((x, system.k(x, 0)) for x in sorted({math.ceil(_established(system) * step / 4) for step in range(5)}))


def _backgammon_cases(system: Backgammon, pool: Pool, terms: Result, high: float, low: float, experience: int) -> list[Case]:
    words = {"high": _rating(pool, high), "low": _rating(pool, low), "start": _rating(pool, system.start)}
    established = [Seat(high, experience), Seat(low, experience)]
    five = replace(terms, length=5)
    cases: list[Case] = [
        (_("The favourite wins: %(high)s beats %(low)s over 5 points") % words, established, five, 0, 0),
        (_("An upset: %(low)s beats %(high)s over 5 points") % words, established, five, 1, 1),
        (
            _("A new player wins his first match: 5 points against an established player, both at %(start)s") % words,
            [Seat(system.start, 0), Seat(system.start, experience)],
            five,
            0,
            0,
        ),
    ]
    if isinstance(system, CrownsCup):
        money = replace(terms, points=4)
        broken = replace(five, chance=0.75)
        cases += [
            (_("A money game: %(high)s wins 4 points from %(low)s, €10 a point") % words, established, money, 0, 0),
            (_("Broken off: %(high)s stood at 75%% against %(low)s") % words, established, broken, 0, 0),
        ]
    return cases


# --- TICS ---


def _tics(page: PoolRules, system: Tics) -> PoolRules:
    params, pool = system.params, page.pool
    gap = min(_round(params.scale * 0.4), RATING_LIMIT)
    high, low = _around(params.start, gap)
    words = {"high": _rating(pool, high), "low": _rating(pool, low)}
    seats, terms = [Seat(high), Seat(low)], _terms(system)
    cases = [
        (_("The favourite wins: %(high)s beats %(low)s") % words, seats, terms, 0, 0),
        (_("A draw between %(high)s and %(low)s, for the lower rated") % words, seats, terms, 1, 1),
        (_("An upset: %(low)s beats %(high)s") % words, seats, terms, 2, 1),
    ]
    chances = _chances([(_("a game"), terms)], system, min(params.scale, RATING_LIMIT))
    return replace(page, chances=chances, gap=gap, examples=_examples(pool, system, cases))


def _chances(kinds: Sequence[tuple[str, Result]], system: RatingSystem, furthest: float) -> Chances:
    """The favourite's chance by rating difference, up to the furthest, for several kinds of match."""

    def chance(difference: float, terms: Result) -> float:
        seats = [Seat(difference / 2), Seat(-difference / 2)]
        return system.rate(seats, replace(terms, scores=(1.0, 0.0))).expected[0]

    step = _nice(furthest / PARTS)
    last = PARTS * step
    along = [last * part / STEPS for part in range(STEPS + 1)]
    return Chances(
        chart=curves.draw(
            [Curve(name, [(x, chance(x, terms)) for x in along]) for name, terms in kinds],
            first=0,
            last=last,
            lowest=0.5,
            ticks=PARTS,
        ),
        heads=tuple(name for name, _terms in kinds),
        rows=tuple((step * part, tuple(chance(step * part, terms) for _name, terms in kinds)) for part in range(PARTS + 1)),
        mirrored=False,
    )


# --- FreeWhist ---


def _freewhist(page: PoolRules, system: FreeWhist) -> PoolRules:
    params, pool = system.params, page.pool
    gap = min(_round(params.curve_spread * 0.4), RATING_LIMIT / 2)
    high, low = _around(params.start, gap)
    most = replace(_terms(system), deals=params.deal_steps[-1][0])
    words = {"high": _rating(pool, high), "low": _rating(pool, low), "deals": format_number(most.deals or 0, 0)}
    established = min(math.ceil(10 * params.kc_halving), EXPERIENCE_LIMIT)
    seats = [Seat(rating, established) for rating in (high, high, low, low)]
    new = [Seat(params.start), *[Seat(params.start, established)] * 3]
    several = ways(system, seats, most, pool.shown_decimals)
    first = ways(system, new, most, pool.shown_decimals)
    examples = (
        Example(
            _("Two of %(high)s and two of %(low)s, %(deals)s deals: one of %(high)s wins the game") % words,
            tuple(seats),
            way_at_place(several, 0, 1),
            0,
        ),
        Example(_("The same table: one of %(low)s wins the game") % words, tuple(seats), way_at_place(several, 2, 1), 2),
        Example(
            _("A new player comes in second at a table of equals, %(deals)s deals") % words,
            tuple(new),
            way_at_place(first, 0, 2),
            0,
        ),
    )
    return replace(
        page,
        chances=_place_chances(system, params.curve_spread),
        gap=gap,
        established=established,
        experience=tuple((x, system.k(x)) for x in _halvings(params.kc_halving)) if params.kc_span else (),
        examples=examples,
    )


def _halvings(halving: float) -> list[int]:
    return sorted({0, *(min(math.ceil(halving * part), EXPERIENCE_LIMIT) for part in (0.5, 1, 2, 4, 10))})


def _place_chances(system: FreeWhist, furthest: float) -> Chances:
    """The chances of the four places by the difference to the mean of the table."""

    def chances(difference: float) -> tuple[float, ...]:
        # With the other three a third of it below zero, the mean is zero.
        others = Seat(-difference / 3)
        return system.place_chances([Seat(difference), others, others, others])[0]

    heads = tuple(_("place %(place)s") % {"place": format_number(place, 0)} for place in range(1, 5))
    step = _nice(min(furthest, RATING_LIMIT) / PARTS)
    last = PARTS * step
    points = [(x, chances(x)) for x in (last * part / STEPS for part in range(-STEPS, STEPS + 1))]
    drawn = [Curve(head, [(x, found[number]) for x, found in points]) for number, head in enumerate(heads)]
    rows = tuple((step * part, chances(step * part)) for part in range(-PARTS, PARTS + 1))
    return Chances(curves.draw(drawn, first=-last, last=last, lowest=0, ticks=4), heads, rows, mirrored=True)
