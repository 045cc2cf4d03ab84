"""Who reads a page: the player of the login, and the time zone in which he is shown times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from players.models import Player


def page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view that is called as `view(request, reader, …)`, with the reader's time zone active.

    One query for a logged-in reader's player, none else.
    """

    @wraps(view)
    def in_readers_zone(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        reader = reader_of(request)
        with timezone.override(zone_of(reader)):
            return view(request, reader, *args, **kwargs)

    return in_readers_zone


def reader_of(request: HttpRequest) -> Player | None:
    """The player whose login reads, or None."""
    if not request.user.is_authenticated:
        return None
    return Player.objects.filter(user=request.user).first()


def zone_of(reader: Player | None) -> Any:
    """The player's time zone; the site's for everybody else, and where this machine does not know the player's."""
    if reader is not None:
        try:
            return ZoneInfo(reader.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    return timezone.get_default_timezone()


def day_of(ended_at: datetime, timed: bool) -> date:
    """The reader's day of a match. One known only by its date has that date for every reader."""
    if timed:
        return timezone.localtime(ended_at).date()
    return ended_at.astimezone(UTC).date()


def match_day(match: Any) -> date:
    """The reader's day of a match that has ended."""
    return day_of(match.ended_at, match.timed)
