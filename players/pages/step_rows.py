"""The lines of the history that are points of a graph, chosen by the database.

The statement is kept as text: to have the ORM compile it takes longer than to run it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from players.dbfunctions import bounds_text, stretch_sql
from players.models import Rating, RatingChange

MOST_POINTS = 400
OLDEST_FIRST = '"ended_at", "timed", "sequence", "match_id"'
NEWEST_FIRST = '"ended_at" DESC, "timed" DESC, "sequence" DESC, "match_id" DESC'


class StepRow(NamedTuple):
    """A line that is a point, with its `number` among the `total` shown. `start` and `start_experience` are what the first of
    all of them began with, `begun` is when the first of its stretch of time ended, `previous` when the last one before them did.
    """

    ended_at: datetime
    timed: bool
    match_id: int
    change: float
    after: float
    experience_after: int
    number: int
    total: int
    start: float
    start_experience: int
    begun: datetime
    previous: datetime | None


def begins(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, zone).astimezone(UTC)


class Edges(NamedTuple):
    """Every so many days one, from a day on: where stretches of time begin."""

    first: date
    days: int
    number: int


@lru_cache(maxsize=128)
def _bounds(edges: Edges, zone: tzinfo) -> str:
    return bounds_text(begins(edges.first + timedelta(edges.days * number), zone) for number in range(edges.number))


def step_rows(rating: Rating, first: date | None, edges: Edges | None) -> list[StepRow]:
    """The lines from the reader's day `first` on (None: all) that are points, in the order of rating. One query.

    Of at most MOST_POINTS lines each is one. Of more the last of each stretch of time is, of those that begin at `edges`; or,
    without them, the last of each of MOST_POINTS equal parts. The peak is one in any case.
    """
    table = RatingChange._meta.db_table
    zone = timezone.get_current_timezone()
    params: list[Any] = []
    if edges is None:
        stretch, rest, begun = "0", "0", '"ended_at"'
        is_step = f"number * {MOST_POINTS} / total <> (number - 1) * {MOST_POINTS} / total"
    else:
        timed, timed_bounds = stretch_sql('"ended_at"', _bounds(edges, zone))
        dated, dated_bounds = stretch_sql('"ended_at"', _bounds(edges, UTC))
        stretch = f'CASE WHEN "timed" THEN {timed} ELSE {dated} END'
        params += [timed_bounds, dated_bounds]
        rest = f"ROW_NUMBER() OVER (PARTITION BY stretch ORDER BY {NEWEST_FIRST})"
        begun = 'MIN("ended_at") OVER (PARTITION BY stretch)'
        is_step = "rest = 1"
    since, previous = "", "NULL"
    params.append(rating.pk)
    if first is not None:
        on_or_after = '("timed" AND "ended_at" >= %s OR NOT "timed" AND "ended_at" >= %s)'
        instants = [_param(begins(first, zone)), _param(begins(first, UTC))]
        # By index, and a day more than needed: no zone is further from UTC.
        since = f'AND {on_or_after} AND "ended_at" >= %s'
        params += [*instants, _param(begins(first, UTC) - timedelta(days=1))]
        earlier = f'"rating_id" = %s AND NOT {on_or_after} AND "ended_at" < %s'
        previous = f'(SELECT "ended_at" FROM {table} WHERE {earlier} ORDER BY "ended_at" DESC LIMIT 1)'
        params = [rating.pk, *instants, _param(begins(first, UTC) + timedelta(days=1)), *params]
    params += [MOST_POINTS, rating.peak_match_id]
    statement = f"""
        SELECT "ended_at", "timed", "match_id", "change", "after", "experience_after",
               number, total, start, start_experience, begun, {previous}
        FROM (
            SELECT "ended_at", "timed", "match_id", "change", "after", "experience_after",
                   ROW_NUMBER() OVER history AS number,
                   COUNT(*) OVER () AS total,
                   FIRST_VALUE("before") OVER history AS start,
                   FIRST_VALUE("experience_before") OVER history AS start_experience,
                   {rest} AS rest,
                   {begun} AS begun
            FROM (SELECT *, {stretch} AS stretch FROM {table} WHERE "rating_id" = %s {since}) AS line
            WINDOW history AS (ORDER BY {OLDEST_FIRST})
        ) AS numbered
        WHERE total <= %s OR {is_step} OR "match_id" = %s
        ORDER BY number"""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        if connection.vendor == "postgresql":
            return [StepRow._make(row) for row in cursor.fetchall()]
        return [_from_texts(StepRow._make(row)) for row in cursor.fetchall()]


def _param(instant: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(instant)


def _from_texts(row: StepRow) -> StepRow:
    """SQLite keeps instants as texts, in UTC, and truth as numbers."""
    ended_at, begun, previous = map(_instant, (row.ended_at, row.begun, row.previous))
    assert ended_at is not None and begun is not None
    return row._replace(ended_at=ended_at, begun=begun, previous=previous, timed=bool(row.timed))


def _instant(found: Any) -> datetime | None:
    # A column by itself is an instant already, an expression a text.
    instant = parse_datetime(found) if isinstance(found, str) else found
    return instant.replace(tzinfo=UTC) if instant else None
