"""A page of a pool's ranking: whole, or those who meet some criteria; the reader's own line; and where everybody stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import cache
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from players import histogram, rankings
from players.formatting import shown
from players.histogram import Histogram
from players.models import Player, Pool, Rating, Tier
from players.names import clean_name, name_key
from players.numbers import whole
from players.rankings import Bin, Criteria, Key
from players.rankings.filtering import MOST_SCANNED
from players.systems.base import EXPERIENCE_LIMIT, Refused
from players.wording import refusal_rule

PAGE_SIZE = 50
MOST_DAYS = 36_500
LONGEST = 80
"""Letters of a criterion that are looked at."""
DISTRIBUTION_SECONDS = 300
"""How long the picture of a long ranking may be old, where the database has to count it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the ranking; `tier` is that of the shown standing, `own` says whether it is the reader's."""

    rank: int
    rating: Rating
    tier: Tier | None
    own: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A criterion as it was typed, and what is wrong with it."""

    value: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The criteria of a page: as typed, and as they are meant. What is wrong is left out of them."""

    q: Field
    tier: Field
    days: Field
    experience: Field
    criteria: Criteria

    @property
    def wrong(self) -> bool:
        return any(field.error for field in (self.q, self.tier, self.days, self.experience))

    @property
    def query(self) -> str:
        """The criteria as they stand in an address, "" without any."""
        named = {name: getattr(self, name).value for name in ("q", "tier", "days", "experience")}
        return urlencode({name: value for name, value in named.items() if value})


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of the ranking: its lines, its number (from 1) of `pages`, and how many players are listed.

    A page of those who meet criteria is `filtered` and has no number, but links on and back. `own` is the reader's line, `place`
    where he stands and `own_page` the page of the whole ranking that he is on; None where he is not listed. `own_shown`: his
    line is among the rows.
    """

    rows: tuple[Row, ...]
    listed: int
    asked: Asked
    number: int = 1
    pages: int = 1
    filtered: bool = False
    following: str = ""
    preceding: str = ""
    cut: bool = False
    own: Row | None = None
    place: rankings.Place | None = None
    own_page: int | None = None
    own_shown: bool = False
    picture: Histogram | None = None


def ranking(pool: Pool, reader: Player | None, number: int, query: Mapping[str, str], now: datetime) -> Ranking:
    """Page `number` of the ranking, the last one beyond the end; or the lines that meet the criteria of `query`.

    At most five queries, and two more for a reader; one more in a ranking of more than MOST_SCANNED lines.
    """
    tiers = list(pool.tiers.all())
    asked = criteria_of(pool, tiers, query, now)
    bins = distribution(pool)
    listed = sum(one.count for one in bins)
    own = Rating.objects.filter(pool=pool, player=reader).first() if reader else None
    place = rankings.place(own) if own else None
    if own is not None and reader is not None:
        own.player = reader
    common: dict[str, Any] = {
        "asked": asked,
        "own": _row(pool, tiers, rankings.Ranked(place.rank, own), reader) if own and place else None,
        "place": place,
        "own_page": place.position // PAGE_SIZE + 1 if place else None,
        "picture": histogram.draw(
            [(one.low, one.high, one.count) for one in bins],
            float(shown(own.standing, pool.shown_decimals)) if own and place else None,
        ),
    }
    if asked.criteria:
        return _filtered(pool, tiers, asked, query, reader, listed, common)
    pages = max(1, -(-listed // PAGE_SIZE))
    listing = rankings.page(pool, min(number, pages), PAGE_SIZE)
    rows = tuple(_row(pool, tiers, line, reader) for line in listing.rows)
    return Ranking(
        rows=rows,
        listed=listing.of,
        number=listing.start // PAGE_SIZE + 1,
        pages=max(1, -(-listing.of // PAGE_SIZE)),
        own_shown=any(row.own for row in rows),
        **common,
    )


def _filtered(
    pool: Pool,
    tiers: Sequence[Tier],
    asked: Asked,
    query: Mapping[str, str],
    reader: Player | None,
    listed: int,
    common: Mapping[str, Any],
) -> Ranking:
    before = Key.read(query.get("before", ""))
    after = None if before else Key.read(query.get("after", ""))
    found = rankings.filtered(pool, tiers, asked.criteria, size=PAGE_SIZE, long=listed > MOST_SCANNED, after=after, before=before)
    rows = tuple(_row(pool, tiers, line, reader) for line in found.rows)
    first, last = (rankings.key_of(rows[end].rating) if rows else None for end in (0, -1))
    following, preceding = (last, found.onward) if before else (found.onward, after and (first or after))
    return Ranking(
        rows=rows,
        listed=listed,
        filtered=True,
        following=f"{asked.query}&after={following}" if following else "",
        preceding=f"{asked.query}&before={preceding}" if preceding else "",
        cut=found.cut,
        own_shown=any(row.own for row in rows),
        **common,
    )


def _row(pool: Pool, tiers: Sequence[Tier], line: rankings.Ranked, reader: Player | None) -> Row:
    tier, _next = rankings.tier_of(list(tiers), float(shown(line.rating.standing, pool.shown_decimals)))
    return Row(line.rank, line.rating, tier, reader is not None and line.rating.player_id == reader.pk)


# --- What is asked for ---


def criteria_of(pool: Pool, tiers: Sequence[Tier], query: Mapping[str, str], now: datetime) -> Asked:
    """The criteria of an address: `q` of a name, `tier` by its name, `days` since the last counted match, least `experience`."""
    texts = {name: query.get(name, "")[:LONGEST].replace("\0", "").strip() for name in ("q", "tier", "days", "experience")}
    tier, tier_error = _tier(tiers, texts["tier"])
    days, days_error = _whole(texts["days"], 1, MOST_DAYS)
    experience, experience_error = _whole(texts["experience"], 0, EXPERIENCE_LIMIT)
    return Asked(
        q=Field(texts["q"]),
        tier=Field(texts["tier"], tier_error),
        days=Field(texts["days"], days_error),
        experience=Field(texts["experience"], experience_error),
        criteria=Criteria(
            name=name_key(clean_name(texts["q"])),
            tier=tier,
            since=None if days is None else now - timedelta(days=days),
            experience=experience or 0,
        ),
    )


def _tier(tiers: Sequence[Tier], name: str) -> tuple[Tier | None, str]:
    if not name:
        return None, ""
    found = next((tier for tier in tiers if tier.name == name), None)
    return found, "" if found else _("There is no such tier in this pool.")


def _whole(text: str, low: int, high: int) -> tuple[int | None, str]:
    if not text:
        return None, ""
    number = whole(text)
    if number is None or not low <= number <= high:
        return None, capfirst(refusal_rule(Refused("experience", "not_whole", low=low, high=high)))
    return number, ""


# --- Where everybody stands ---


def distribution(pool: Pool) -> list[Bin]:
    """Where the listed players stand. At most two queries; a long ranking is counted by the database once in a while."""
    if settings.REDIS_URL:
        return rankings.distribution(pool)
    key = f"distribution:{pool.pk}:{pool.shown_decimals}"
    kept: list[Bin] | None = cache.get(key)
    if kept is None:
        kept = rankings.distribution(pool)
        if sum(one.count for one in kept) > MOST_SCANNED:
            cache.set(key, kept, DISTRIBUTION_SECONDS)
    return kept
