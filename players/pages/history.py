"""A player's matches in a pool, newest first, and the points of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Any

from django.db.models import Case, Count, DateField, F, FilteredRelation, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber, TruncDate

from players.formatting import is_provisional, shown
from players.graph import MOST_POINTS, Point
from players.models import Player, Pool, Rating, RatingChange
from players.pages.reader import match_day
from players.systems.base import RatingSystem
from players.wording import reason

PAGE_SIZE = 20
RANGES: dict[str, int | None] = {"month": 30, "year": 365, "all": None}
"""The days that the graph can show."""
ORDER = ("ended_at", "timed", "sequence", "match_id")


@dataclass(frozen=True, slots=True)
class Played:
    """A match in a player's list. `own` and `others` are seats with what the match did: before, change, after, experience.

    `why_not` says why it did not count, "" where it did; `rounded`: the shown before and change do not add up to the shown after.
    """

    match: Any
    own: Any
    others: tuple[Any, ...]
    why_not: str
    rounded: bool


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
    the match did to them: None where it did not count."""
    line = FilteredRelation("match__changes", condition=Q(match__changes__player=F("player")))
    names = ("before", "change", "after", "experience_before", "experience_after")
    return seats.select_related("match", "player").annotate(line=line).annotate(**{name: F(f"line__{name}") for name in names})


def why_not_counted(system: RatingSystem, match: Any, seats: Sequence[Any]) -> str:
    """Why the match moved no rating, as a sentence; "" where it counted."""
    if not match.not_counted:
        return ""
    now = system.not_counted(match.result(seats))
    # The pool's rules can have changed since: the stored reason is the one that held.
    return reason(match.not_counted, now.values if now and now.code == match.not_counted else None)


def matches_of(player: Player, pool: Pool, rating: Rating, page: int = 1, size: int = PAGE_SIZE) -> Matches:
    """The player's finished matches in the pool, newest first, counted or not, voided ones too. Two queries."""
    own = player.participations.filter(match__pool=pool).exclude(match__status="open")
    newest = own.order_by(*(f"-match__{name}" for name in ORDER[:-1]), "-match_id").values_list("match_id", flat=True)
    ids = list(newest[(page - 1) * size : page * size + 1])
    listed = ids[:size]
    wanted = {*listed, rating.last_match_id} if rating.last_match_id else set(listed)
    seats = seats_with_changes(player.participations.model.objects.filter(match_id__in=wanted)).order_by("match_id", "seat")
    played = {match_id: _played(player, pool, list(group)) for match_id, group in groupby(seats, key=lambda seat: seat.match_id)}
    last = played.get(rating.last_match_id) if rating.last_match_id else None
    return Matches(tuple(played[match_id] for match_id in listed), last, page, len(ids) > size)


def _played(player: Player, pool: Pool, seats: list[Any]) -> Played:
    match = seats[0].match
    match.pool = pool
    own = next(seat for seat in seats if seat.player_id == player.pk)
    others = tuple(seat for seat in seats if seat is not own)
    rounded = own.change is not None and not adds_up(own, pool)
    return Played(match, own, others, why_not_counted(pool.rating_system, match, seats), rounded)


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


def series(rating: Rating, pool: Pool, days: int | None, today: date, zone: tzinfo) -> Series:
    """The rating over the last `days` days up to `today`, over all of them for None. One query.

    A match is a point within its day; where they are many, a day is one point, the rating at its end. Days are the reader's.
    """
    below = pool.provisional_below
    day = Case(
        When(timed=True, then=TruncDate("ended_at", tzinfo=zone)),
        default=TruncDate("ended_at", tzinfo=UTC),
        output_field=DateField(),
    )
    changes = RatingChange.objects.filter(rating=rating).annotate(day=day)
    if days is not None:
        first = today - timedelta(days=days - 1)
        # Two days more than needed, by index; no zone is further from UTC.
        since = datetime.combine(first - timedelta(days=2), time.min, UTC)
        changes = changes.filter(ended_at__gte=since, day__gte=first)
    rows = list(
        changes.annotate(
            number=Window(RowNumber(), partition_by=F("day"), order_by=ORDER),
            in_day=Window(Count("pk"), partition_by=F("day")),
            in_all=Window(Count("pk")),
            overall=Window(RowNumber(), order_by=("day", *ORDER)),
        )
        .filter(Q(number=F("in_day")) | Q(in_all__lte=MOST_POINTS) | Q(overall=1))
        .order_by("day", *ORDER)
        .values_list("day", "number", "in_day", "in_all", "before", "after", "experience_before", "experience_after")
    )
    points = tuple(
        Point(day, number / in_day, after, is_provisional(experience, below))
        for day, number, in_day, _, _, after, _, experience in rows
    )
    if not rows:
        return Series((), rating.value, is_provisional(rating.experience, below), first if days else today, today)
    whole_story = rows[0][3] == rating.matches
    if whole_story:
        start, start_experience = rating.opening, rating.opening_experience
        first = rows[0][0]
    else:
        start, start_experience = rows[0][4], rows[0][6]
    return Series(points, start, is_provisional(start_experience, below), first, max(today, rows[-1][0]))


def peak_in(rating: Rating, line: Series) -> tuple[date, float] | None:
    """The day and value (points) of the peak, where it lies within the series. The rating comes with its `peak_match`."""
    match = rating.peak_match
    if match is None:
        return None
    day = match_day(match)
    return (day, rating.peak) if line.first <= day <= line.last else None
