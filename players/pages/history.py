"""A player's matches in a pool, newest first, and the points of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet

from players.formatting import is_provisional, shown
from players.graph import MOST_POINTS, Point
from players.models import Player, Pool, Rating, RatingChange
from players.pages.reader import day_of, match_day
from players.permissions import StakeSight
from players.systems.base import RatingSystem
from players.wording import reason

PAGE_SIZE = 20
RANGES: dict[str, int | None] = {"month": 30, "year": 365, "all": None}
"""The days that the graph can show."""
ORDER = ("ended_at", "timed", "sequence", "match_id")


@dataclass(frozen=True, slots=True)
class Played:
    """A match in a player's list. `own` and `others` are seats with what the match did: before, change, after, experience.

    `why_not` says why it did not count, "" where it did; `rounded`: the shown before and change do not add up to the shown after;
    `revised`: what is shown of it is not what was published; `shows_stake`: the reader may see what was at stake.
    """

    match: Any
    own: Any
    others: tuple[Any, ...]
    why_not: str
    rounded: bool
    revised: bool
    shows_stake: bool


@dataclass(frozen=True, slots=True)
class Matches:
    """A page of a player's matches; `last_counted` is there on every page. Pages count from 1."""

    lines: tuple[Played, ...]
    last_counted: Played | None
    page: int
    has_next: bool

    @property
    def rounded(self) -> bool:
        """Whether any line does not add up as shown."""
        return any(line.rounded for line in self.lines)


def seats_with_changes(seats: QuerySet[Any]) -> QuerySet[Any]:
    """Participants with match and player, and as `before`, `change`, `after`, `experience_before` and `experience_after` what
    the match did to them: None where it did not count. What was published of it, where a revision changed that, is in
    `published_change` and so on."""
    line = FilteredRelation("match__changes", condition=Q(match__changes__player=F("player")))
    old = FilteredRelation("match__published", condition=Q(match__published__player=F("player")))
    names = ("before", "change", "after", "experience_before", "experience_after")
    values = {name: F(f"line__{name}") for name in names} | {f"published_{name}": F(f"old__{name}") for name in names[:3]}
    return seats.select_related("match", "player").annotate(line=line, old=old).annotate(**values)


def why_not_counted(system: RatingSystem, match: Any, seats: Sequence[Any]) -> str:
    """Why the match moved no rating, as a sentence; "" where it counted."""
    if not match.not_counted:
        return ""
    now = system.not_counted(match.result(seats))
    # The pool's rules can have changed since: the stored reason is the one that held.
    return reason(match.not_counted, now.values if now and now.code == match.not_counted else None)


def matches_of(
    player: Player, pool: Pool, rating: Rating, page: int = 1, size: int = PAGE_SIZE, *, stakes: StakeSight
) -> Matches:
    """The player's finished matches in the pool, newest first, counted or not, voided ones too. Two queries.

    `stakes`: what the reader may see of the pool's.
    """
    own = player.participations.filter(match__pool=pool).exclude(match__status="open")
    newest = own.order_by(*(f"-match__{name}" for name in ORDER[:-1]), "-match_id").values_list("match_id", flat=True)
    ids = list(newest[(page - 1) * size : page * size + 1])
    listed = ids[:size]
    wanted = {*listed, rating.last_match_id} if rating.last_match_id else set(listed)
    seats = seats_with_changes(player.participations.model.objects.filter(match_id__in=wanted)).order_by("match_id", "seat")
    tables = groupby(seats, key=lambda seat: seat.match_id)
    played = {match_id: _played(player, pool, list(group), stakes) for match_id, group in tables}
    last = played.get(rating.last_match_id) if rating.last_match_id else None
    return Matches(tuple(played[match_id] for match_id in listed), last, page, len(ids) > size)


def _played(player: Player, pool: Pool, seats: list[Any], stakes: StakeSight) -> Played:
    match = seats[0].match
    match.pool = pool
    own = next(seat for seat in seats if seat.player_id == player.pk)
    others = tuple(seat for seat in seats if seat is not own)
    rounded = own.change is not None and not adds_up(own, pool)
    published = (own.published_before, own.published_change, own.published_after)
    revised = own.published_after is not None and shown_otherwise((own.before, own.change, own.after), published, pool)
    why_not = why_not_counted(pool.system_at(match.ended_at), match, seats)
    return Played(match, own, others, why_not, rounded, revised, shows_stake=stakes.of(seat.player for seat in seats))


def shown_otherwise(values: Sequence[float | None], published: Sequence[float], pool: Pool) -> bool:
    """Whether numbers differ from those that were published, as they are shown; None is a number that is no more."""
    return any(
        value is None or shown(value, pool.shown_decimals) != shown(old, pool.shown_decimals)
        for value, old in zip(values, published, strict=True)
    )


def adds_up(line: Any, pool: Pool) -> bool:
    """Whether before and change of a line add up to after, as they are shown."""
    before, change, after = (shown(value, pool.shown_decimals) for value in (line.before, line.change, line.after))
    return before + change == after


@dataclass(frozen=True, slots=True)
class Series:
    """What the graph draws: the rating at the beginning of the day `first`, and its points up to the end of the day `last`."""

    points: tuple[Point, ...]
    start: float
    start_provisional: bool
    first: date
    last: date

    @property
    def lowest(self) -> float:
        return min([self.start, *(point.rating for point in self.points)])

    @property
    def highest(self) -> float:
        return max([self.start, *(point.rating for point in self.points)])

    @property
    def end(self) -> float:
        return self.points[-1].rating if self.points else self.start


def usual_range(rating: Rating, now: datetime) -> str:
    """The range that the graph opens with: the year, or everything where there was no counted match in it."""
    last = rating.last_ended_at
    return "year" if last is not None and now - last < timedelta(days=365) else "all"


def series(rating: Rating, pool: Pool, days: int | None, today: date) -> Series:
    """The rating over the last `days` days up to `today`, over all of them for None. One query.

    A match is a point within its day; where they are many, a day is one point, the rating at its end. Days are the reader's.
    """
    below = pool.provisional_below
    changes = RatingChange.objects.filter(rating=rating).order_by(*ORDER)
    first = today
    if days is not None:
        first = today - timedelta(days=days - 1)
        # By index, and two days more than needed: no zone is further from UTC.
        changes = changes.filter(ended_at__gte=datetime.combine(first - timedelta(days=2), time.min, UTC))
    rows = changes.values_list("ended_at", "timed", "before", "after", "experience_before", "experience_after")
    by_day: dict[date, list[tuple[Any, ...]]] = {}
    for ended_at, timed, *line in rows.iterator(chunk_size=5000):
        by_day.setdefault(day_of(ended_at, timed), []).append(tuple(line))
    if days is not None:
        by_day = {day: lines for day, lines in by_day.items() if day >= first}
    if not by_day:
        return Series((), rating.value, is_provisional(rating.experience, below), first, today)

    count = sum(len(lines) for lines in by_day.values())
    points = []
    # A match known only by its date can come before one that is a day earlier where the reader lives.
    for day in sorted(by_day):
        lines = list(enumerate(by_day[day], start=1))
        for number, (_, after, _, experience) in lines if count <= MOST_POINTS else lines[-1:]:
            points.append(Point(day, number / len(lines), after, is_provisional(experience, below)))
    begins = min(by_day)
    start, _, start_experience, _ = by_day[begins][0]
    # Where these are all the matches there are, the picture begins with the first of them.
    whole_story = count == rating.matches
    return Series(
        tuple(points),
        start,
        is_provisional(start_experience, below),
        begins if whole_story or days is None else first,
        max(today, max(by_day)),
    )


def peak_in(rating: Rating, line: Series) -> tuple[date, float] | None:
    """The day and value (points) of the peak, where it lies within the series. The rating comes with its `peak_match`."""
    match = rating.peak_match
    if match is None:
        return None
    day = match_day(match)
    return (day, rating.peak) if line.first <= day <= line.last else None
