"""The rules of `players.standings` as SQL, for set-based jobs, and stretches of time. Tests hold SQL and Python equal on both
databases."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import (
    BigIntegerField,
    BooleanField,
    DateTimeField,
    ExpressionWrapper,
    FloatField,
    Func,
    IntegerField,
    Value,
)
from django.db.models.expressions import Combinable

from players import rows
from players.standings import rank_points

SQLITE_RANK_POINTS = "rank_points"
SQLITE_STRETCH = "stretch"


class ElapsedDays(Func):
    """Whole days of 24 hours from an instant to `now`, as a double; never negative."""

    output_field = FloatField()

    def __init__(self, since: Combinable, now: datetime, **extra: Any) -> None:
        super().__init__(Value(now, DateTimeField()), since, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        # Between two instants PostgreSQL counts whole days of 24 hours, and then the rest, towards zero.
        template = "GREATEST(0, DATE_PART('day', %(expressions)s))"
        return self.as_sql(compiler, connection, template=template, arg_joiner=" - ", **extra)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        # django_timestamp_diff answers microseconds; SQLite divides whole numbers towards zero, and MAX cuts what is below it.
        now, since = self.get_source_expressions()
        now_sql, now_params = compiler.compile(now)
        since_sql, since_params = compiler.compile(since)
        sql = f"CAST(MAX(0, django_timestamp_diff({now_sql}, {since_sql}) / 86400000000) AS REAL)"
        return sql, (*now_params, *since_params)


class Among(Func):
    """Whether a column is one of the values, however many: for thousands, which Django's own lookup would prepare one by one."""

    output_field = BooleanField()

    def __init__(self, column: str, values: Iterable[int], **extra: Any) -> None:
        super().__init__(column, **extra)
        self.values = tuple(values)

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **kwargs: Any) -> Any:
        sql, params = compiler.compile(self.get_source_expressions()[0])
        among, values = rows.among(sql, self.values)
        return among, (*params, *values)


class RankPoints(Func):
    """`standings.rank_points` of an expression."""

    output_field = BigIntegerField()

    def __init__(self, standing: Any, decimals: int, **extra: Any) -> None:
        super().__init__(standing, Value(decimals), **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        # The text of a double is its shortest decimal, and numeric rounds half away from zero.
        standing, decimals = self.get_source_expressions()
        sql, params = compiler.compile(ExpressionWrapper(standing, FloatField()))
        places = int(decimals.value)
        return f"(ROUND(({sql})::double precision::text::numeric, {places}) * {10**places})::bigint", params

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function=SQLITE_RANK_POINTS, **extra)


class Stretch(Func):
    """The number of the stretch of time in which an instant lies: how many of `bounds`, instants in order, are not after it."""

    output_field = IntegerField()

    def __init__(self, instant: Any, bounds: Sequence[datetime], **extra: Any) -> None:
        self.bounds = list(bounds)
        super().__init__(instant, **extra)

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Any:  # type: ignore[override]
        sql, params = compiler.compile(self.get_source_expressions()[0])
        function, bounds = stretch_sql(sql, bounds_text(self.bounds))
        return function, (*params, bounds)

    def __repr__(self) -> str:
        return f"Stretch({self.get_source_expressions()[0]!r}, {len(self.bounds)} bounds)"

    @property
    def identity(self) -> Any:
        return (*super().identity, tuple(self.bounds))


def stretch_sql(instant: str, bounds: str) -> tuple[str, str]:
    """The number of the stretch of an instant, given as SQL, with the parameter that follows those of the instant: `bounds_text`
    as the database reads it."""
    if connection.vendor == "postgresql":
        return f"width_bucket({instant}, %s::timestamptz[])", "{" + bounds.replace("|", ",") + "}"
    # SQLite keeps instants as texts without their zone, UTC, in the order of time.
    return f"{SQLITE_STRETCH}({instant}, %s)", bounds.replace("+00", "")


def bounds_text(bounds: Iterable[datetime]) -> str:
    """Instants of UTC in one text, for `stretch_sql`."""
    return "|".join(f"{bound:%Y-%m-%d %H:%M:%S}+00" for bound in bounds)


def stretch(instant: str, bounds: str) -> int:
    """`Stretch` for SQLite: instants as texts, the bounds in one."""
    return bisect_right(_split(bounds), instant)


@lru_cache(maxsize=32)
def _split(bounds: str) -> list[str]:
    return bounds.split("|") if bounds else []


def add_sqlite_functions(connection: Any, **_: Any) -> None:
    """Receiver of `connection_created`: SQLite lends Python's rounding."""
    if connection.vendor == "sqlite":
        lite: sqlite3.Connection = connection.connection
        lite.create_function(SQLITE_RANK_POINTS, 2, rank_points, deterministic=True)
        lite.create_function(SQLITE_STRETCH, 2, stretch, deterministic=True)
