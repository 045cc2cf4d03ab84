"""A ranking with some of its lines left out: those that are left keep the ranks that they have in the whole.

A page looks at no more than MOST_SCANNED lines, however rare what is asked for is: where these are not enough it ends there, and
the next page goes on. Pages begin after a key (or end before one) and not at a number, so that a player who moves between two
pages makes nobody else appear twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, Value

from players.models import Pool, Rating, Tier
from players.rankings.listing import Ranked
from players.rankings.reads import above
from players.rankings.sql import ORDER, all_lines
from players.rankings.sql import ranked as in_order
from players.searching import begins_with

MOST_SCANNED = 50_000
KEY = re.compile(r"(-?[0-9]{1,18})_(-?[0-9]{1,6}(?:\.[0-9]{1,20})?(?:e-[0-9]{1,3})?)_([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    """A place in the order of a ranking: that of a line, whoever stands there by now."""

    rank_points: int
    value: float
    player_id: int

    def __str__(self) -> str:
        return f"{self.rank_points}_{self.value!r}_{self.player_id}"

    @classmethod
    def read(cls, text: str) -> Key | None:
        """The key that was written so; None for anything else."""
        found = KEY.fullmatch(text)
        return cls(int(found[1]), float(found[2]), int(found[3])) if found else None


@dataclass(frozen=True, slots=True)
class Criteria:
    """Whom to list: whose name contains (in a long ranking: begins with) `name`, whose standing is that of the `tier`, who has
    played a counted match `since`, and has at least so much `experience`."""

    name: str = ""
    tier: Tier | None = None
    since: datetime | None = None
    experience: int = 0

    def __bool__(self) -> bool:
        return self != Criteria()


@dataclass(frozen=True, slots=True)
class Filtered:
    """Lines with their ranks, and where the search goes on, in the direction that it had: None at the end of the ranking.

    `cut`: it stopped before the page was full, since it had looked at enough.
    """

    rows: tuple[Ranked, ...]
    onward: Key | None
    cut: bool


def key_of(rating: Rating) -> Key:
    return Key(rating.rank_points, rating.value, rating.player_id)


def filtered(
    pool: Pool,
    tiers: Sequence[Tier],
    criteria: Criteria,
    *,
    size: int,
    long: bool,
    after: Key | None = None,
    before: Key | None = None,
    most: int = MOST_SCANNED,
) -> Filtered:
    """The next `size` lines after a key, or the last ones before one, always in the order of the ranking. `long`: it has more
    than `most` lines.

    Two queries, and one more in a long ranking.
    """
    backwards = before is not None
    order = tuple(_reversed(name) for name in ORDER) if backwards else ORDER
    lines = all_lines(pool.pk).filter(_beyond(before, backwards=True) if before else _beyond(after) if after else Q())
    lines = lines.filter(_in_tier(pool, tiers, criteria.tier)).order_by(*order)
    found = lines.filter(_wanted(criteria, long)).select_related("player")
    end = None
    if long and not criteria.name:
        # Known first, so that the database passes the lines in order and stops at a full page, or here.
        end = lines.only("rank_points", "value", "player_id")[most - 1 : most].first()
        if end is not None:
            found = found.filter(_up_to(key_of(end), backwards=backwards))
    hits = list(found[: size + 1])
    more, hits = len(hits) > size, hits[:size]
    onward = key_of(hits[-1]) if more else key_of(end) if end else None
    if backwards:
        hits.reverse()
    return Filtered(with_ranks_in_all(pool, hits), onward, cut=end is not None and not more)


def with_ranks_in_all(pool: Pool, ratings: Sequence[Rating]) -> tuple[Ranked, ...]:
    """The ratings, in the order of the ranking, with their ranks in the whole of it. At most one query."""
    points = sorted({rating.rank_points for rating in ratings}, reverse=True)
    ranks = dict(zip(points, above(pool, points), strict=True)) if points else {}
    return tuple(Ranked(ranks[rating.rank_points] + 1, rating) for rating in ratings)


def _reversed(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _beyond(key: Key, *, backwards: bool = False) -> Q:
    """The lines after a key in the order of the ranking, or before it."""
    further, later = ("gt", "lt") if backwards else ("lt", "gt")
    level = Q(rank_points=key.rank_points)
    return (
        Q(**{f"rank_points__{further}": key.rank_points})
        | level & Q(**{f"value__{further}": key.value})
        | level & Q(value=key.value, **{f"player_id__{later}": key.player_id})
    ) & Q(**{f"rank_points__{further}e": key.rank_points})  # for the index


def _up_to(key: Key, *, backwards: bool) -> Q:
    """The lines that do not come after a key, in the direction of the search; its own is among them."""
    own = Q(rank_points=key.rank_points, value=key.value, player_id=key.player_id)
    nearer = "lte" if backwards else "gte"
    return (_beyond(key, backwards=not backwards) | own) & Q(**{f"rank_points__{nearer}": key.rank_points})  # for the index


def _in_tier(pool: Pool, tiers: Sequence[Tier], tier: Tier | None) -> Q:
    if tier is None:
        return Q()
    found = Q(rank_points__gte=_points(tier, pool))
    higher = [other for other in tiers if other.threshold > tier.threshold]
    return found & Q(rank_points__lt=_points(higher[0], pool)) if higher else found


def _points(tier: Tier, pool: Pool) -> int:
    """The lowest shown standing that reaches the tier, in units of the last shown digit."""
    exact = Decimal(repr(tier.threshold)).scaleb(pool.shown_decimals)
    return int(exact.to_integral_value(ROUND_CEILING))


def _wanted(criteria: Criteria, long: bool) -> Q:
    wanted = Q()
    if criteria.name:
        wanted &= begins_with(criteria.name, "player__name_key") if long else Q(player__name_key__contains=criteria.name)
    if criteria.since is not None:
        wanted &= Q(last_ended_at__gte=criteria.since)
    if criteria.experience:
        wanted &= Q(experience__gte=criteria.experience)
    return wanted


def marked(pool: Pool, tiers: Sequence[Tier], criteria: Criteria) -> QuerySet[Rating]:
    """The whole ranking with ranks, each line with `wanted`: whether it meets the criteria, a name wherever it contains what is
    asked for."""
    wanted = _in_tier(pool, tiers, criteria.tier) & _wanted(criteria, long=False)
    return in_order(pool).annotate(wanted=ExpressionWrapper(wanted, BooleanField()) if wanted else Value(True))
