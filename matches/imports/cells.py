"""Cells of an import to values. Everything here raises Refused with the column as its field; empty cells are the caller's.

Numbers are written plainly, in ASCII digits with a point: what a spreadsheet or `repr` writes, nothing that only Python reads.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal

from players.systems.base import Kind, Refused

WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
DECIMAL = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})(e[+-]?[0-9]{1,4})?", re.ASCII | re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?",
    re.ASCII | re.IGNORECASE,
)
FORMULA = tuple("=+-@\t\r'")
"""What a formula begins with in some spreadsheet, and the apostrophe that says that it is none."""
YES = frozenset({"1", "true", "yes"})
NO = frozenset({"0", "false", "no"})
RESULTS = {Decimal(1): (1.0, 0.0), Decimal("0.5"): (0.5, 0.5), Decimal(0): (0.0, 1.0)}
"""Player 1's score and what it makes of both."""


def whole(column: str, cell: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    if not WHOLE.fullmatch(cell):
        raise Refused(column, "not_whole", low=low, high=high)
    number = int(cell)
    if not low <= number <= high:
        raise Refused(column, "out_of_range", low=low, high=high)
    return number


def amount(column: str, cell: str) -> Decimal:
    """An amount in euros; its range is the rating system's to judge."""
    if not DECIMAL.fullmatch(cell):
        raise Refused(column, "not_an_amount")
    return Decimal(cell)


def real(column: str, cell: str, low: float, high: float) -> float:
    """A finite number from `low` to `high`; an exponent may be given, as in 1e-05."""
    if not NUMBER.fullmatch(cell) or not math.isfinite(float(cell)):
        raise Refused(column, "not_a_number")
    number = float(cell)
    if not low <= number <= high:
        raise Refused(column, "out_of_range", low=low, high=high)
    return number + 0.0  # never a negative zero


def yes_or_no(column: str, cell: str) -> bool:
    """1, true, yes or 0, false, no, in any case."""
    word = cell.casefold()
    if word not in YES | NO:
        raise Refused(column, "not_yes_or_no")
    return word in YES


def kind(column: str, cell: str) -> str:
    """One of the kinds of match, in any case."""
    word = cell.casefold()
    if word not in set(Kind):
        raise Refused(column, "unknown")
    return word


def scores(column: str, cell: str) -> tuple[float, float]:
    """Player 1's result, 1, 0.5 or 0, as the scores of both. Whether there are draws is the rating system's to judge."""
    both = RESULTS.get(Decimal(cell)) if DECIMAL.fullmatch(cell) else None
    if both is None:
        raise Refused(column, "not_a_result")
    return both


def protected(name: str) -> str:
    """A name as it stands in a CSV: one that a spreadsheet would take for a formula has an apostrophe before it."""
    return f"'{name}" if name[:1] in FORMULA else name


def unprotected(cell: str) -> str:
    """The name that `protected` wrote."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in FORMULA else cell


def day(column: str, cell: str) -> date:
    """A date as in 2026-03-31."""
    try:
        if DATE.fullmatch(cell):
            return date.fromisoformat(cell)
    except ValueError:
        pass
    raise Refused(column, "not_a_date")


def instant(column: str, cell: str) -> datetime:
    """A date with a time as in 2026-03-31T20:15:00+02:00 or 2026-03-31 18:15Z, in UTC. Without an offset it is UTC already."""
    try:
        if INSTANT.fullmatch(cell):
            given = datetime.fromisoformat(cell.upper())
            return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise Refused(column, "not_an_instant")
