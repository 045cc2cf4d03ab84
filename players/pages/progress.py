"""A player's rating in a pool over time and match by match: the points of the graph, at most MOST_POINTS, out of the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from players.formatting import is_provisional
from players.graph import Beside
from players.models import Pool, PublishedChange, Rating
from players.pages.reader import day_of
from players.pages.step_rows import MOST_POINTS, Edges, StepRow, step_rows
from players.standings import StandingRule, elapsed_days, standing

MOST_NOTES = 5
RANGES: dict[str, int | None] = {"month": 30, "year": 365, "all": None}
"""The days that the graph can show."""
TIME, MATCHES = "time", "matches"
AXES = (TIME, MATCHES)
"""What the graph can have across: time, or the number of the match."""


@dataclass(frozen=True, slots=True)
class Step:
    """The rating after a match, or after the last of several that share a point of the graph.

    `at`: where it is across, in days or matches from the beginning. `number` counts the player's matches in the pool from 1,
    `matches` those since the step before, whose change (points) is summed in `change`. `begun` is when the first of them ended.
    """

    at: float
    day: date
    ended_at: datetime
    begun: datetime
    match_id: int
    number: int
    matches: int
    change: float
    rating: float
    provisional: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """What the graph draws: the rating where it begins, `start`, and its steps, from the day `first` to the end of `last`.

    `span` is the width of the picture in days or matches; `previous` when the last match before it ended; `peak` the number of
    the step that is the peak, where it is among them; `first_number` the number of its first match.
    """

    axis: str
    steps: tuple[Step, ...]
    start: float
    start_provisional: bool
    first: date
    last: date
    span: float
    first_number: int
    previous: datetime | None
    peak: int | None

    @property
    def lowest(self) -> float:
        return min([self.start, *(step.rating for step in self.steps)])

    @property
    def highest(self) -> float:
        return max([self.start, *(step.rating for step in self.steps)])

    @property
    def end(self) -> float:
        return self.steps[-1].rating if self.steps else self.start


def usual_range(rating: Rating, now: datetime) -> str:
    """The range that the graph opens with: the year, or everything where there was no counted match in it."""
    last = rating.last_ended_at
    return "year" if last is not None and now - last < timedelta(days=365) else "all"


def of_rating(rating: Rating, pool: Pool, chosen: str, now: datetime, *, axis: str = TIME) -> Progress:
    """The rating over one of RANGES, up to now. One query.

    A match is a point; of more than MOST_POINTS the last in each stretch of whole days, or of so many matches, is one, and the
    peak. Days are the reader's. The rating comes with `began`, see `pools.ratings_of`.
    """
    days, today = RANGES[chosen], timezone.localtime(now).date()
    began = getattr(rating, "began", None) or rating.last_ended_at
    first = None if days is None else today - timedelta(days=days - 1)
    # For the stretches of time only: a day that is not after the first match, whatever the zone.
    begins = first or (began.astimezone(UTC).date() - timedelta(days=1) if began else today)
    rows = step_rows(rating, first, _edges(begins, today) if axis == TIME else None)
    if not rows:
        return _nothing(rating, pool, first or today, today, axis)
    days_of = [day_of(row.ended_at, row.timed) for row in rows]
    total = rows[0].total
    # Where these are all the matches there are, the picture begins with the first of them.
    whole_story = first is None or total == rating.matches
    first_day = min(days_of) if first is None or whole_story else first
    if axis == TIME and whole_story and total > MOST_POINTS:
        first_day = min(first_day, timezone.localtime(min(row.begun for row in rows)).date())
    last = max(today, max(days_of))
    steps = tuple(_steps(rating, rows, days_of, first_day, axis, pool.provisional_below))
    return Progress(
        axis=axis,
        steps=steps,
        start=rows[0].start,
        start_provisional=is_provisional(rows[0].start_experience, pool.provisional_below),
        first=first_day,
        last=last,
        span=float((last - first_day).days + 1 if axis == TIME else total),
        first_number=rating.matches - total + 1,
        previous=rows[0].previous,
        peak=next((index for index, step in enumerate(steps) if step.match_id == rating.peak_match_id), None),
    )


def _nothing(rating: Rating, pool: Pool, first: date, today: date, axis: str) -> Progress:
    """A time without a counted match: a level line."""
    return Progress(
        axis=axis,
        steps=(),
        start=rating.value,
        start_provisional=is_provisional(rating.experience, pool.provisional_below),
        first=first,
        last=today,
        span=float((today - first).days + 1),
        first_number=rating.matches,
        previous=rating.last_ended_at,
        peak=None,
    )


def _edges(begins: date, today: date) -> Edges:
    """The days that begin a stretch of whole days, of which there are at most MOST_POINTS; without the first."""
    days = -(-((today - begins).days + 1) // MOST_POINTS)
    return Edges(begins + timedelta(days), days, (today - begins).days // days)


def _steps(
    rating: Rating, rows: Sequence[StepRow], days_of: Sequence[date], first: date, axis: str, below: int | None
) -> Iterator[Step]:
    total = rows[0].total
    before, value = 0, rows[0].start
    # A match known only by its date can come before one that is a day earlier where the reader lives.
    dated = sorted(zip(days_of, rows, strict=True), key=lambda pair: pair[0]) if axis == TIME else zip(days_of, rows, strict=True)
    for day, group in groupby(dated, key=lambda pair: pair[0]):
        of_day = [row for _, row in group]
        for place, row in enumerate(of_day, start=1):
            matches = max(1, row.number - before)
            yield Step(
                at=float(row.number) if axis == MATCHES else (day - first).days + place / len(of_day),
                day=day,
                ended_at=row.ended_at,
                begun=row.begun if axis == TIME and total > MOST_POINTS else row.ended_at,
                match_id=row.match_id,
                number=rating.matches - total + row.number,
                matches=matches,
                change=row.change if matches == 1 else row.after - value,
                rating=row.after,
                provisional=is_provisional(row.experience_after, below),
            )
            before, value = row.number, row.after


def standing_beside(line: Progress, rating: Rating, rule: StandingRule | None, now: datetime) -> list[Beside]:
    """The standing over the same span, by the pool's present rule; none where the standing is the rating.

    Across the matches it can be apart by the floor, and at the end: time away has no room between two matches.
    """
    if rule is None:
        return []

    def at_of(instant: datetime) -> float:
        return (timezone.localtime(instant).date() - line.first).days + 0.5

    def beside(at: float, value: float, standing: float) -> Beside:
        return Beside(at, standing, standing != value)

    found = [beside(0.0, line.start, max(rule.floor, line.start))]
    last, value, at = line.previous, line.start, at_of(line.previous) if line.previous else 0.0
    for step in line.steps:
        if line.axis == TIME:
            back = step.at if step.begun == step.ended_at else min(step.at, at_of(step.begun))
            found += [beside(x, value, y) for x, y in away(rule, value, last, step.begun, at, back)]
        found.append(beside(step.at, step.rating, max(rule.floor, step.rating)))
        last, value, at = step.ended_at, step.rating, step.at
    if line.axis == TIME:
        found += [beside(x, value, y) for x, y in away(rule, value, last, now, at, line.span)]
    return [*found, beside(line.span, value, rating.standing)]


def away(
    rule: StandingRule, value: float, last: datetime | None, until: datetime, begins: float, ends: float
) -> list[tuple[float, float]]:
    """The corners (days, points) of the standing between two matches, of which the first was at the place `begins` in days; what
    lies before the picture is left out."""
    if rule.decays_from is None or not rule.per_day or elapsed_days(last, until) <= rule.grace_days or value < rule.decays_from:
        return []
    falls = begins + rule.grace_days
    held = falls + (value - rule.decays_from) / rule.per_day
    lowest = max(rule.floor, rule.decays_from)
    corners = [(falls, value)] if falls >= 0 else [(0.0, max(lowest, value + falls * rule.per_day))]
    if 0 < held < ends:
        corners.append((held, lowest))
    return [*corners, (ends, standing(rule, value, last, until))]


@dataclass(frozen=True, slots=True)
class Note:
    """A revision that changed what was published of the player: from which match on, and what it was."""

    match_id: int
    day: date
    at: float
    kind: Any
    made_at: datetime


def notes_of(line: Progress, rating: Rating) -> list[Note]:
    """The last MOST_NOTES revisions that changed lines within the picture, the newest first. One query."""
    key = ("match__ended_at", "match__timed", "match__sequence", "match_id")
    published = PublishedChange.objects.filter(rating=rating).annotate(
        place=Window(RowNumber(), partition_by=["revision_id"], order_by=key)
    )
    first_of_each = published.filter(place=1).order_by("-revision__made_at", "-revision_id")
    revisions: Any = PublishedChange._meta.get_field("revision").related_model
    kinds = dict(revisions.Kind.choices)
    notes = []
    rows: Any = first_of_each.values_list("match_id", "match__ended_at", "match__timed", "revision__kind", "revision__made_at")
    for match_id, ended_at, timed, kind, made_at in rows[: 4 * MOST_NOTES]:
        day = day_of(ended_at, timed)
        at = _place(line, ended_at, day)
        if at is not None:
            notes.append(Note(match_id, day, at, kinds.get(kind, kind), made_at))
    return notes[:MOST_NOTES]


def _place(line: Progress, ended_at: datetime, day: date) -> float | None:
    """Where a match is across; None where it is outside the picture."""
    if not line.first <= day <= line.last:
        return None
    step = next((step for step in line.steps if step.ended_at >= ended_at), None)
    if step is not None and (line.axis == MATCHES or step.day == day):
        return step.at
    return (day - line.first).days + 0.5 if line.axis == TIME else None
