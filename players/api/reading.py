"""Values out of a request: each reader takes what was sent and returns what was meant, or raises Unfit: the field and the rule.

What makes a result possible is not judged here but by the rating systems and services; this only tells types.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.http import QueryDict

from players.systems.base import Refused

WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,9})?")
INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII)
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
BIG = 2**63


class Unfit(Refused):
    """A value that the API cannot read. The words are in `players.api.words`."""


class Unfits(Exception):
    """All that is wrong with a request: refusals, by the path to the field (`matches[3].length`)."""

    def __init__(self, refusals: list[tuple[str, Refused]]) -> None:
        super().__init__("; ".join(f"{path}: {refused.code}" for path, refused in refusals))
        self.refusals = refusals


# --- One value, as JSON has it; numbers with a point come as Decimal ---


def whole(name: str, value: Any, low: int = -BIG, high: int = BIG - 1) -> int:
    if isinstance(value, Decimal) and value.is_finite() and abs(value) < BIG and value == value.to_integral_value():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(name, "not_whole", low=low, high=high)
    if not low <= value <= high:
        raise Unfit(name, "out_of_range", low=low, high=high)
    return value


def number(name: str, value: Any) -> float:
    """A number in double precision. Beyond its range, the infinity on that side, which every range refuses."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise Unfit(name, "not_a_number")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def amount(name: str, value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise Unfit(name, "not_an_amount")
    found = Decimal(value)
    # Written out with its zeros, 1e999999999 would fill the memory.
    if not -20 <= found.adjusted() <= 20:
        raise Unfit(name, "not_an_amount")
    return found


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit(name, "not_yes_or_no")
    return value


def text(name: str, value: Any, most: int) -> str:
    """Text without control characters, not empty."""
    if not isinstance(value, str):
        raise Unfit(name, "not_text")
    if len(value) > most:
        raise Unfit(name, "too_long", most=most)
    if not value.strip() or (not value.isprintable() and any(unicodedata.category(char) == "Cc" for char in value)):
        raise Unfit(name, "no_text")
    return value


def instant(name: str, value: Any) -> datetime:
    """An instant with its offset, in UTC."""
    if isinstance(value, str) and INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise Unfit(name, "not_an_instant")


def day(name: str, value: Any) -> date:
    if isinstance(value, str) and DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise Unfit(name, "not_a_date")


def moment(name: str, value: Any) -> datetime:
    """An instant, or the midnight (UTC) that begins a date."""
    if isinstance(value, str) and DAY.fullmatch(value):
        return datetime.combine(day(name, value), datetime.min.time(), tzinfo=UTC)
    return instant(name, value)


def one_of(name: str, value: Any, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise Unfit(name, "not_in_list", allowed=", ".join(allowed))
    return value


def listed(name: str, value: Any, low: int, high: int) -> list[Any]:
    if not isinstance(value, list):
        raise Unfit(name, "not_a_list")
    if not low <= len(value) <= high:
        raise Unfit(name, "no_list_length", low=low, high=high)
    return value


# --- The same, as a query has it: text ---


def json_number(value: str) -> int | Decimal | str:
    """The number that a text is, else the text: for the readers above."""
    if WHOLE.fullmatch(value):
        return int(value)
    if NUMBER.fullmatch(value):
        try:
            return Decimal(value)
        except InvalidOperation:
            pass
    return value


def json_flag(value: str) -> bool | str:
    return {"true": True, "false": False, "1": True, "0": False}.get(value, value)


# --- Whole objects and queries ---

Reader = Callable[[str, Any], Any]


def read_object(value: Any, readers: Mapping[str, Reader], name: str = "body", required: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a JSON object, each by its reader; null is the same as not given. Raises Unfits with all that is wrong."""
    if not isinstance(value, dict):
        raise Unfits([(name, Unfit(name, "not_an_object"))])
    values, wrong = {}, []
    for key, given in value.items():
        reader = readers.get(key)
        try:
            if reader is None:
                raise Unfit(key, "unknown_field", known=", ".join(readers))
            if given is not None:
                values[key] = reader(key, given)
        except Unfits as unfits:
            wrong += unfits.refusals
        except Refused as refused:
            wrong.append((key, refused))
    wrong += [(key, Unfit(key, "needed")) for key in required if value.get(key) is None]
    if wrong:
        raise Unfits(wrong)
    return values


def read_query(query: QueryDict, readers: Mapping[str, Reader], required: Collection[str] = ()) -> dict[str, Any]:
    """The same of a query; what is empty is not given."""
    values: dict[str, Any] = {}
    wrong: list[tuple[str, Refused]] = []
    for key, given in query.lists():
        reader = readers.get(key)
        try:
            if reader is None:
                raise Unfit(key, "unknown_field", known=", ".join(readers))
            if len(given) != 1:
                raise Unfit(key, "given_twice")
            if given[0] != "":
                values[key] = reader(key, given[0])
        except Refused as refused:
            wrong.append((key, refused))
    wrong += [(key, Unfit(key, "needed")) for key in required if not query.get(key)]
    if wrong:
        raise Unfits(wrong)
    return values
