"""Rows in and out of the database by statements kept as text, for what runs with every match or over all of them.

The ORM compiles each statement anew, which takes longer than most of these take to run, and makes an object of each row. One row
and a million go the same way: `write` sends few rows as plain statements, in one round trip, and many by COPY (PostgreSQL).
The names of columns are the models' attnames; the values are those that the models' fields hold.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from django.db import connection, models

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")
Row = Sequence[Any]
Statement = tuple[str, Sequence[Any]]

FEW = 8
"""Up to as many rows go as plain statements: from there on COPY is faster."""
MOST_VALUES = 50
"""The driver takes a statement with more values apart each time; that takes longer than another round trip."""
FETCH = 5000
"""Rows that a stream fetches at a time."""
STAGED = "staged_rows"

_streams = itertools.count(1)


class Each:
    """Rows that are made one by one when they are sent: `make` of each of the items."""

    def __init__(self, make: Callable[[Any], Row], items: Collection[Any]) -> None:
        self.make, self.items = make, items

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Row]:
        return map(self.make, self.items)


Rows = Sequence[Row] | Each


@dataclass(frozen=True, slots=True)
class Insert:
    """New rows of a model: the values of the columns named, and of no other."""

    model: type[models.Model]
    names: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True, slots=True)
class Update:
    """Rows of a model that are there: first the id, then the new values of the columns named."""

    model: type[models.Model]
    names: tuple[str, ...]
    rows: Rows


def run(*statements: Statement) -> list[list[tuple[Any, ...]]]:
    """Run statements one after the other and return the rows of each. On PostgreSQL they share round trips.

    Each sees what was committed before it began, as if it had been sent alone.
    """
    answers: list[list[tuple[Any, ...]]] = []
    with connection.cursor() as cursor:
        for sql, values in _together(statements):
            cursor.execute(sql, values)
            if connection.vendor != "postgresql":
                answers.append(cursor.fetchall())
                continue
            more = True
            while more:
                # `description` would make an object of each column.
                answers.append(cursor.fetchall() if cursor.pgresult.nfields else [])
                more = cursor.nextset()
    return answers


def _together(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements joined to as few as the database takes and the driver keeps."""
    if connection.vendor != "postgresql":
        yield from statements
        return
    texts: list[str] = []
    values: list[Any] = []
    for sql, own in statements:
        if texts and len(values) + len(own) > MOST_VALUES:
            yield "; ".join(texts), values
            texts, values = [], []
        texts.append(sql)
        values += own
    if texts:
        yield "; ".join(texts), values


def among(column: str, values: Iterable[Any]) -> Statement:
    """The condition that a column is one of the values, however many: the same text each time."""
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s)", [list(values)]
    return f"{column} IN (SELECT value FROM json_each(%s))", [json.dumps(list(values))]


def new_ids(model: type[models.Model], count: int) -> Statement:
    """The statement that takes ids for rows to be inserted, in rising order."""
    table = model._meta.db_table
    if connection.vendor == "postgresql":
        return f"SELECT nextval('{_sequence(table)}') FROM generate_series(1, %s)", [count]
    # The transaction has the write lock, so nobody else takes them.
    last = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = %s), 0)"
    return f"SELECT {last} + key + 1 FROM json_each(%s)", [table, json.dumps([0] * count)]


@cache
def _sequence(table: str) -> str:
    [[(name,)]] = run(("SELECT pg_get_serial_sequence(%s, 'id')", [table]))
    return str(name)


# --- Reading ---


@cache
def columns(model: type[models.Model]) -> str:
    """All columns of a model, for a SELECT whose rows `read` turns into its objects."""
    table = _quoted(model._meta.db_table)
    return ", ".join(f"{table}.{_quoted(field.column)}" for field in model._meta.concrete_fields)


def read(model: type[M], rows: Iterable[Row]) -> list[M]:
    """Objects of a model from rows of all its columns, as the ORM would read them."""
    names, converters = _reader(model)
    objects = []
    for row in rows:
        if converters:
            row = list(row)
            for place, expression, convert in converters:
                for step in convert:
                    row[place] = step(row[place], expression, connection)
        objects.append(model.from_db(connection.alias, names, row))
    return objects


@cache
def _reader(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Any, list[Callable[..., Any]]]]]:
    fields = model._meta.concrete_fields
    compiler = model._default_manager.all().query.get_compiler(connection=connection)
    found = compiler.get_converters([field.get_col(model._meta.db_table) for field in fields])
    return [field.attname for field in fields], [(place, column, list(steps)) for place, (steps, column) in found.items()]


def walk(found: models.QuerySet[Any, T]) -> Iterator[T]:
    """What a query finds as it comes, for one that may find very many: memory does not grow with them."""
    if connection.vendor == "postgresql":
        _see_rows(found)
    yield from found.iterator(chunk_size=2000)


def stream(found: models.QuerySet[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a `values_list` as they come, of columns that hold what the models' fields hold (no JSON).

    PostgreSQL sends them in binary: to write and read texts would take five times as long.
    """
    if connection.vendor != "postgresql":
        yield from walk(found)
        return
    import psycopg

    _see_rows(found)
    sql = psycopg.ClientCursor(connection.connection).mogrify(*found.query.sql_with_params())
    name, held = f"stream_{next(_streams)}", not connection.in_atomic_block
    with connection.wrap_database_errors, psycopg.ServerCursor(connection.connection, name, withhold=held) as cursor:
        cursor.itersize = FETCH
        cursor.execute(sql, binary=True)
        yield from cursor


def _see_rows(found: models.QuerySet[Any, Any]) -> None:
    """Have PostgreSQL look again at those tables of a query that it takes for empty.

    It does so for as long as a minute where it looked while all rows were dead or not yet committed, as those of a site's first
    list are after its dry run. What reads thousands of rows would then be joined by going through a whole table for each.
    """
    tables = [_quoted(join.table_name) for join in found.query.alias_map.values()]
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE oid = ANY(%s::regclass[]) AND reltuples = 0 AND relpages > 0",
            [tables],
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"ANALYZE (SKIP_LOCKED) {_quoted(table)}")


# --- Writing ---


def write(*parts: Insert | Update) -> None:
    """Store rows, in the order of the parts."""
    parts = tuple(part for part in parts if part.rows)
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            for part in parts:
                cursor.executemany(_one(isinstance(part, Update), part.model, part.names), _for_sqlite(part))
    elif all(len(part.rows) <= FEW for part in parts):
        statements = [statement for part in parts for statement in _few(part)]
        if statements:
            run(*statements)
    else:
        for part in parts:
            with connection.cursor() as cursor:
                if isinstance(part, Insert):
                    _copy(cursor, _quoted(part.model._meta.db_table), part)
                else:
                    _stage(cursor, part)
                    _update_from_staged(cursor, part)


def _few(part: Insert | Update) -> Iterable[Statement]:
    if isinstance(part, Update):
        sql = _one(True, part.model, part.names)
        return [(sql, (*row[1:], row[0])) for row in part.rows]
    rows, step = list(part.rows), max(1, MOST_VALUES // len(part.names))
    pieces = (rows[start : start + step] for start in range(0, len(rows), step))
    return [(_several(part.model, part.names, len(piece)), [value for row in piece for value in row]) for piece in pieces]


@cache
def _one(update: bool, model: type[models.Model], names: tuple[str, ...]) -> str:
    """The statement for one row. That of an update takes the id last."""
    if not update:
        return _several(model, names, 1)
    values = ", ".join(f"{column} = %s" for column in _columns(model, names)[1:])
    return f"UPDATE {_quoted(model._meta.db_table)} SET {values} WHERE {_columns(model, names)[0]} = %s"


@cache
def _several(model: type[models.Model], names: tuple[str, ...], count: int) -> str:
    row = f"({', '.join(['%s'] * len(names))})"
    into = f"{_quoted(model._meta.db_table)} ({', '.join(_columns(model, names))})"
    return f"INSERT INTO {into} VALUES {', '.join([row] * count)}"


def _field(model: type[models.Model], name: str) -> Any:
    return model._meta.get_field(name)


def _columns(model: type[models.Model], names: Iterable[str]) -> list[str]:
    return [_quoted(_field(model, name).column) for name in names]


def _quoted(name: Any) -> str:
    return connection.ops.quote_name(name)


def _for_sqlite(part: Insert | Update) -> Any:
    """The part's rows as its driver takes them, which knows only texts and numbers; the id of an update comes last."""
    prepare = [_field(part.model, name).get_db_prep_save for name in part.names]
    id_last = isinstance(part, Update)
    for row in part.rows:
        values = [step(value, connection=connection) for step, value in zip(prepare, row, strict=True)]
        yield [*values[1:], values[0]] if id_last else values


# --- Many rows on PostgreSQL ---


def _copy(cursor: Any, table: str, part: Insert | Update) -> None:
    """Put the part's rows into a table as they come. In binary: to write and read texts would take ten times as long."""
    sql = f"COPY {table} ({', '.join(_columns(part.model, part.names))}) FROM STDIN (FORMAT BINARY)"
    with connection.wrap_database_errors, cursor.copy(sql) as into:
        into.set_types([_type(part.model, name) for name in part.names])
        for row in part.rows:
            into.write_row(row)


@cache
def _type(model: type[models.Model], name: str) -> str:
    return str(_field(model, name).db_type(connection)).partition("(")[0]


def _stage(cursor: Any, part: Update) -> None:
    """Put what rows will become into a temporary table, which takes no lock on them."""
    cursor.execute(f"DROP TABLE IF EXISTS {STAGED}")
    cursor.execute(
        f"CREATE TEMPORARY TABLE {STAGED} ON COMMIT DROP AS SELECT {', '.join(_columns(part.model, part.names))} "
        f"FROM {_quoted(part.model._meta.db_table)} WITH NO DATA"
    )
    _copy(cursor, STAGED, part)


def _update_from_staged(cursor: Any, part: Update) -> None:
    table = _quoted(part.model._meta.db_table)
    key, *others = _columns(part.model, part.names)
    values = ", ".join(f"{column} = {STAGED}.{column}" for column in others)
    cursor.execute(f"UPDATE {table} SET {values} FROM {STAGED} WHERE {table}.{key} = {STAGED}.{key}")
