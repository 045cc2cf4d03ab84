"""The rules of `players.standings` as SQL, for set-based jobs. Tests hold the two bit-equal on both databases."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, DateTimeField, ExpressionWrapper, FloatField, Func, Value
from django.db.models.expressions import Combinable

from players.standings import rank_points

SQLITE_RANK_POINTS = "rank_points"


class ElapsedDays(Func):
    """Whole days of 24 hours from an instant to `now`, as a double; never negative."""

    output_field = FloatField()

    def __init__(self, since: Combinable, now: datetime, **extra: Any) -> None:
        super().__init__(Value(now, DateTimeField()), since, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "GREATEST(0, FLOOR(EXTRACT(EPOCH FROM (%(expressions)s)) / 86400))::double precision"
        return self.as_sql(compiler, connection, template=template, arg_joiner=" - ", **extra)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        # django_timestamp_diff answers microseconds; SQLite divides whole numbers towards zero, and MAX cuts what is below it.
        now, since = self.get_source_expressions()
        now_sql, now_params = compiler.compile(now)
        since_sql, since_params = compiler.compile(since)
        sql = f"CAST(MAX(0, django_timestamp_diff({now_sql}, {since_sql}) / 86400000000) AS REAL)"
        return sql, (*now_params, *since_params)


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


def add_sqlite_functions(connection: Any, **_: Any) -> None:
    """Receiver of `connection_created`: SQLite lends Python's rounding."""
    if connection.vendor == "sqlite":
        lite: sqlite3.Connection = connection.connection
        lite.create_function(SQLITE_RANK_POINTS, 2, rank_points, deterministic=True)
