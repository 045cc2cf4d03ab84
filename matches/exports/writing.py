"""Rows as lines of a file: CSV or JSON lines, in UTF-8, with every digit."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from matches.exports.tables import EVERYTHING, Cell, Row, Table, as_of_one_moment
from matches.imports.cells import protected
from players.models import Pool
from players.permissions import StakeSight

FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}
"""By how the name of a file ends, its type."""


class _Line:
    """What a csv writer writes to: keeps the line."""

    def write(self, text: str) -> str:
        return text


def csv_lines() -> Callable[[Iterable[Any]], str]:
    """What makes cells a line of CSV, for one file."""
    writer: Any = csv.writer(_Line(), lineterminator="\n")
    return writer.writerow


def lines(table: Table, pool: Pool, form: str, stakes: StakeSight = EVERYTHING) -> Iterator[str]:
    """The table of a pool as lines, as they come: a header and rows of CSV, or an object a line. Read as of one moment."""
    columns = table.columns(pool)
    with as_of_one_moment():
        rows = table.rows(pool, stakes)
        yield from _csv(columns, rows, table.names) if form == "csv" else _json(columns, rows)


def _csv(columns: tuple[str, ...], rows: Iterator[Row], names: frozenset[str]) -> Iterator[str]:
    line = csv_lines()
    yield line(columns)
    named = [column in names for column in columns]
    for row in rows:
        yield line([_cell(cell, is_name) for cell, is_name in zip(row, named, strict=True)])


def _cell(cell: Cell, is_name: bool) -> Cell:
    """A float is written as repr does, which csv does by itself."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return protected(cell) if is_name and isinstance(cell, str) else cell


def _json(columns: tuple[str, ...], rows: Iterator[Row]) -> Iterator[str]:
    for row in rows:
        values = (str(cell) if isinstance(cell, Decimal) else cell for cell in row)
        yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n"
