"""Reads CSV as text cells under a header line, in any of the dialects of `matches.imports.dialect`. What is wrong with the file
as a whole is said here.

Header names are compared trimmed and without regard to case, and cells are trimmed. Lines whose cells are all empty are left out.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from matches.imports.dialect import NUMBERS, Dialect, decimal_of, delimiter_of, plain_number

LONGEST_LINE = 100_000
"""Bytes of a line: no row of a list of matches comes near."""


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


def read_table(data: bytes, known: Collection[str], dialect: Dialect | None = None) -> Table:
    """The records of a CSV file, numbers with a decimal point. Raises BadFile, also where the header names a column that is not
    `known` or names one twice."""
    dialect = dialect or Dialect()
    columns: tuple[str, ...] | None = None
    lines = []
    for number, cells in _records(data, dialect):
        if columns is None:
            columns = _checked_header(cells, known, dialect)
        else:
            named = {column: cell for column, cell in zip(columns, cells, strict=False) if column}
            lines.append(Line(number, named, len(cells)))
    if columns is None:
        raise BadFile(_("The file is empty. Its first line names the columns: %(known)s.") % {"known": ", ".join(known)})
    if not lines:
        raise BadFile(_("The file has a header but no rows."))
    numbers = [column for column in columns if column in NUMBERS]
    decimal = decimal_of(dialect, (line.cells.get(column, "") for line in lines for column in numbers))
    if decimal != ".":
        for line in lines:
            line.cells.update({column: plain_number(line.cells[column], decimal) for column in numbers if column in line.cells})
    return Table(columns, lines)


def first_records(data: bytes, dialect: Dialect, count: int) -> list[list[str]]:
    """The header and the first rows of a CSV file, for somebody who says what its columns are. Raises BadFile."""
    return [cells for _, cells in itertools.islice(_records(data, dialect), count + 1)]


def quoted(cell: str, most: int = 60) -> str:
    """A cell as a message repeats it: on one line, and not at any length."""
    text = " ".join(cell.split())
    return text if len(text) <= most else f"{text[:most]}…"


def _decoded(data: bytes, encoding: str) -> str:
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise BadFile(_("Line %(line)d has a NUL byte: this is not a CSV file in UTF-8.") % {"line": line})
    for number, content in enumerate(io.BytesIO(data), start=1):
        if len(content) > LONGEST_LINE:
            raise BadFile(
                _("Line %(line)d has more than %(most)d bytes: this is no list of matches.")
                % {"line": number, "most": LONGEST_LINE}
            )
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            _("Line %(line)d is not UTF-8 (byte %(byte)s). Save the file as CSV UTF-8.")
            % {"line": number, "byte": f"0x{data[error.start]:02x}"}
        ) from None


def _records(data: bytes, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Trimmed records that are not empty, each with the line that it begins on."""
    text = _decoded(data, dialect.encoding)
    begins = 1
    # Excel's own way to say how cells are separated, on a line before the header.
    if said := re.match(r"sep=([,;\t])\r?\n", text, re.IGNORECASE):
        text, begins = text[said.end() :], 2
    delimiter = said[1] if said else delimiter_of(next((line for line in text.splitlines() if line.strip(", ;\t")), ""))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    before = begins - 1
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                yield begins, cells
            begins = before + reader.line_num + 1
    except csv.Error as error:
        raise BadFile(
            _("The record that begins on line %(line)d cannot be read: %(error)s. Check its quotation marks.")
            % {"line": begins, "error": error}
        ) from None


def _checked_header(cells: list[str], known: Collection[str], dialect: Dialect) -> tuple[str, ...]:
    """The columns, "" for one that is passed over."""
    named = tuple(cell.casefold() for cell in cells)
    mapped = {heading.strip().casefold(): column for heading, column in dialect.columns.items()}
    columns = tuple(mapped.get(name, name) for name in named)
    for place, column in enumerate(columns, start=1):
        if not column:
            if named[place - 1] in mapped:
                continue
            raise BadFile(_("Column %(place)d has no name in the header.") % {"place": place})
        if column not in known:
            raise BadFile(
                _("There is no column “%(column)s”. Known: %(known)s.")
                % {"column": quoted(cells[place - 1]), "known": ", ".join(known)}
            )
        if column in columns[: place - 1]:
            raise BadFile(_("The header names the column “%(column)s” twice.") % {"column": column})
    return columns
