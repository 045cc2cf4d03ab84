"""Lists page by page: each page names the cursor of the next, which says where the last line stands in the list's order.

What is added or taken away meanwhile shifts nothing: no line comes twice and none is left out.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from players.api.reading import BIG, Unfit

PAGE_SIZE, MOST = 50, 200


def encode(values: Sequence[Any]) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, ensure_ascii=False).encode()).decode().rstrip("=")


def reader(kinds: Sequence[type]) -> Callable[[str, Any], tuple[Any, ...]]:
    """The reader of cursors whose values are of these types."""

    def read(name: str, value: str) -> tuple[Any, ...]:
        try:
            plain = json.loads(base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True))
            values = [datetime.fromisoformat(one) if kind is datetime else one for one, kind in zip(plain, kinds, strict=True)]
        except (ValueError, TypeError, RecursionError, binascii.Error):
            raise Unfit(name, "bad_cursor") from None
        if not all(map(_fits, values, kinds)):
            raise Unfit(name, "bad_cursor")
        return tuple(values)

    return read


def _fits(value: Any, kind: type) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, datetime):
        return value.utcoffset() == timedelta(0)  # as `encode` writes it: of another offset a year can be beyond the calendar
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
    return not isinstance(value, int) or -BIG <= value < BIG


def after(rows: QuerySet[Any], names: Sequence[str], values: Sequence[Any], *, descending: bool = False) -> QuerySet[Any]:
    """The rows that come after these values in the order of the names."""
    ahead = "lt" if descending else "gt"
    beyond, same = Q(), Q()
    for name, value in zip(names, values, strict=True):
        beyond |= same & Q(**{f"{name}__{ahead}": value})
        same &= Q(**{name: value})
    # The first condition alone lets the database begin at the right place of an index.
    return rows.filter(Q(**{f"{names[0]}__{ahead}e": values[0]}), beyond)
