"""What the rankings answer, and the little arithmetic that both ways of answering share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from players.models import Rating, Tier

MOST_BINS = 1000
USUAL_BINS = 40


@dataclass(frozen=True, slots=True)
class Place:
    """A player's rank (from 1) among `of` listed players, and the share of them, in [0, 1], who stand lower.

    `position` is his place in the order of the listing, from 0, where players who share a rank still follow one another: it
    tells the page that he is on.
    """

    rank: int
    of: int
    better_than: float
    position: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of a ranking: a rating, with its player, and its rank."""

    rank: int
    rating: Rating


@dataclass(frozen=True, slots=True)
class Listing:
    """A stretch of a pool's ranking: its lines, the position of the first of them (from 0), and how many players are listed."""

    rows: tuple[Ranked, ...]
    start: int
    of: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many players' shown standings (points) are from `low` on and below `high`."""

    low: float
    high: float
    count: int


def place_of(above: int, before: int, below: int, of: int) -> Place:
    """The place of a player with so many above him, before him in his tie, and below him."""
    of = max(of, above + before + 1)
    return Place(rank=above + 1, of=of, better_than=below / of, position=above + before)


def with_ranks(ratings: Sequence[Rating], start: int, above: int) -> tuple[Ranked, ...]:
    """The ratings, which follow one another from position `start` on, with their ranks; `above` stand above the first."""
    rows: list[Ranked] = []
    for position, rating in enumerate(ratings, start):
        if not rows:
            rank = min(above, start) + 1
        elif rating.rank_points != rows[-1].rating.rank_points:
            rank = position + 1
        rows.append(Ranked(rank, rating))
    return tuple(rows)


def bins_of(width: float | Decimal | None, decimals: int, lowest: int, highest: int) -> range:
    """The lower edges, in units of the last shown digit, of bins of `width` points that cover the span.

    Edges are multiples of the width. Without a width, the smallest of 1, 2, 5, 10, 20, ... units that needs no more than
    USUAL_BINS. Raises ValueError where the width is not a positive multiple of the unit or needs more than MOST_BINS.
    """
    if width is None:
        steps = (digit * 10**power for power in range(20) for digit in (1, 2, 5))
        return next(bins for step in steps if len(bins := _edges(step, lowest, highest)) <= USUAL_BINS)
    units = Decimal(str(width)).scaleb(decimals)
    if not units.is_finite() or units < 1 or units != units.to_integral_value():
        raise ValueError(f"a bin is a whole number of {Decimal(1).scaleb(-decimals)} points wide, not {width}")
    bins = _edges(int(units), lowest, highest)
    if len(bins) > MOST_BINS:
        raise ValueError(f"bins of {width} points are {len(bins)}, more than {MOST_BINS}")
    return bins


def _edges(units: int, lowest: int, highest: int) -> range:
    return range(lowest // units * units, highest + 1, units)


def tier_of(tiers: list[Tier], standing: float) -> tuple[Tier | None, Tier | None]:
    """The tier of a standing (points) and the next one up; `tiers` by threshold, as `pool.tiers.all()` gives them."""
    reached = [tier for tier in tiers if standing >= tier.threshold]
    ahead = [tier for tier in tiers if standing < tier.threshold]
    return (reached[-1] if reached else None, ahead[0] if ahead else None)
