"""The change feed: everything that moves ratings or changes an open table, in the order in which it became known."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.response import Response

from matches.api import shapes
from matches.inbox import telling
from matches.push import events
from matches.push.payload import payloads
from players.api import reading
from players.api.actors import source_of
from players.api.base import ApiView, named_pool
from players.api.errors import ApiError
from players.api.reading import json_number, read_query
from players.api.schema import Param, readable, readers

MOST = 200
FEED = (
    Param(
        "after",
        "The `next` of the answer before; 0, or left out, begins with the oldest event that is kept.",
        lambda name, value: reading.whole(name, json_number(value), 0, reading.BIG - 1),
        {"type": "integer", "minimum": 0},
    ),
    Param("pool", "Only of this pool.", lambda name, value: reading.text(name, value, 50)),
    Param(
        "limit",
        f"Events an answer, 1 to {MOST}; 50 where it is left out.",
        lambda name, value: reading.whole(name, json_number(value), 1, MOST),
        {"type": "integer", "minimum": 1, "maximum": MOST},
    ),
)


class Feed(ApiView):
    max_age = 1

    @readable(
        "What happened since",
        "Matches completed, ratings revised, standings moved, open tables that were opened, filled, left or closed, each with "
        f"its position. Ask again with `after` set to `next`: no event is ever skipped, also none that was on its way meanwhile. "
        f"Events are kept for {events.KEPT.days} days.",
        shapes.Feed,
        params=FEED,
        tag="feed",
        errors=(410,),
        operation_id="feed_list",
    )
    def get(self, request: HttpRequest) -> Response:
        values = read_query(request.GET, readers(FEED))
        pool = named_pool(values) if "pool" in values else None
        after, limit = values.get("after", 0), values.get("limit", 50)
        events.put_in_order([telling.of_events])
        last = events.last_position()
        try:
            found = list(events.after(after, limit, pool))
        except events.Forgotten:
            detail = _("Events after position %(after)d are no longer kept. Read what you need anew, and begin with after=0.")
            raise ApiError(410, detail % {"after": after}) from None
        told: list[dict[str, Any]] = payloads(found, source_of(request))
        more = len(told) == limit
        # At the end also what other pools had to tell is passed.
        following = told[-1]["position"] if more else max(after, last, *(event["position"] for event in told))
        return Response({"events": told, "next": following, "more": more})
