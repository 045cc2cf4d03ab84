"""Reads CSV as text cells: UTF-8, commas, a header line. What is wrong with the file as a whole is said here.

Header names are compared trimmed and without regard to case, and cells are trimmed. Lines whose cells are all empty are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _


class BadFile(ValueError):
    """The file as a whole cannot be taken. The message says why, in words."""


@dataclass(frozen=True, slots=True)
class Line:
    """One record: the physical line it begins on, from 1, its cells by column, and how many cells it has."""

    number: int
    cells: dict[str, str]
    count: int


@dataclass(frozen=True, slots=True)
class Table:
    """A file's columns, in their order, and its records."""

    columns: tuple[str, ...]
    lines: list[Line]


def read_table(data: bytes, known: Collection[str]) -> Table:
    """The records of a CSV file. Raises BadFile, also where the header names a column that is not `known` or names one twice."""
    reader = csv.reader(io.StringIO(_decoded(data), newline=""), strict=True)
    columns: tuple[str, ...] | None = None
    lines = []
    for number, cells in _records(reader):
        if columns is None:
            columns = _checked_header(cells, known)
        else:
            lines.append(Line(number, dict(zip(columns, cells, strict=False)), len(cells)))
    if columns is None:
        raise BadFile(_("The file is empty. Its first line names the columns: %(known)s.") % {"known": ", ".join(known)})
    if not lines:
        raise BadFile(_("The file has a header but no rows."))
    return Table(columns, lines)


def quoted(cell: str, most: int = 60) -> str:
    """A cell as a message repeats it: on one line, and not at any length."""
    text = " ".join(cell.split())
    return text if len(text) <= most else f"{text[:most]}…"


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise BadFile(_("Line %(line)d has a NUL byte: this is not a CSV file in UTF-8.") % {"line": line})
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            _("Line %(line)d is not UTF-8 (byte %(byte)s). Save the file as CSV UTF-8.")
            % {"line": line, "byte": f"0x{data[error.start]:02x}"}
        ) from None


def _records(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Trimmed records that are not empty, each with the line that it begins on."""
    begins = 1
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                yield begins, cells
            begins = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as error:
        raise BadFile(
            _("The record that begins on line %(line)d cannot be read: %(error)s. Check its quotation marks.")
            % {"line": begins, "error": error}
        ) from None


def _checked_header(cells: list[str], known: Collection[str]) -> tuple[str, ...]:
    columns = tuple(cell.casefold() for cell in cells)
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        raise BadFile(_("The cells must be separated by commas. Save the file as CSV with commas."))
    for place, column in enumerate(columns, start=1):
        if not column:
            raise BadFile(_("Column %(place)d has no name in the header.") % {"place": place})
        if column not in known:
            raise BadFile(
                _("There is no column “%(column)s”. Known: %(known)s.")
                % {"column": quoted(cells[place - 1]), "known": ", ".join(known)}
            )
        if column in columns[: place - 1]:
            raise BadFile(_("The header names the column “%(column)s” twice.") % {"column": column})
    return columns
