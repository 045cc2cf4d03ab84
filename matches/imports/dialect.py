"""How a CSV file is written: what Excel makes of one in this or that country. Said or found once for a whole file, never row by
row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_lazy as _

from players.systems.base import Refused

DELIMITERS = ",;\t"
ENCODINGS: dict[str, Any] = {"utf-8": _("UTF-8"), "cp1252": _("Windows-1252 (Excel's plain CSV)")}
DECIMALS: dict[str, Any] = {"": _("as the file has it"), ".": _("a point: 2.50"), ",": _("a comma: 2,50")}
DATES: dict[str, Any] = {
    "iso": _("2026-03-31 (ISO)"),
    "d.m.y": _("31.3.2026 (day first)"),
    "d/m/y": _("31/3/2026 (day first)"),
    "d-m-y": _("31-3-2026 (day first)"),
    "m/d/y": _("3/31/2026 (month first)"),
}
EXAMPLES = {"iso": "2026-03-31", "d.m.y": "31.3.2026", "d/m/y": "31/3/2026", "d-m-y": "31-3-2026", "m/d/y": "3/31/2026"}
NUMBERS = frozenset({"stake", "chance", "result", "rating"})
"""Columns whose numbers may have decimals."""
COMMA_FOR_POINT = str.maketrans(",.", ".,")


@dataclass(frozen=True, slots=True)
class Dialect:
    """`dates` and `decimal` are keys of DATES and DECIMALS, `encoding` of ENCODINGS. The header tells how cells are separated.

    `columns` say which column stands under a heading of another name; an empty one is passed over. Headings are compared
    trimmed and without regard to case.
    """

    dates: str = "iso"
    decimal: str = ""
    encoding: str = "utf-8"
    columns: Mapping[str, str] = field(default_factory=dict)


def delimiter_of(header: str) -> str:
    """What separates the cells of a header: the one of DELIMITERS that stands most often outside quotation marks."""
    plain = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=plain.count)


def decimal_of(dialect: Dialect, cells: Iterable[str]) -> str:
    """The decimal mark of a file: as it is said, else as its numbers have it. With both in use it is a point, and
    what has a comma is refused."""
    if dialect.decimal:
        return dialect.decimal
    comma = False
    for cell in cells:
        if "." in cell:
            return "."
        comma = comma or "," in cell
    return "," if comma else "."


def plain_number(cell: str, decimal: str) -> str:
    """A number with a decimal point. What has another mark than the file's is no number any more."""
    return cell.translate(COMMA_FOR_POINT) if decimal == "," else cell


def iso_date(column: str, cell: str, dates: str) -> str:
    """A date, or a date with a time, with the date as in ISO 8601. Raises Refused where it is not written as it was said."""
    if dates == "iso":
        return cell
    mark = re.escape(dates[1])
    found = re.fullmatch(rf"([0-9]{{1,2}}){mark}([0-9]{{1,2}}){mark}([0-9]{{4}})((?:[T ].*)?)", cell, re.ASCII)
    if not found:
        raise Refused(column, "not_that_date", example=EXAMPLES[dates])
    one, two, year, rest = found.groups()
    day, month = (two, one) if dates[0] == "m" else (one, two)
    return f"{year}-{month:0>2}-{day:0>2}{rest}"
