"""The reader's time zone: which names are accepted."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


@cache
def time_zones() -> frozenset[str]:
    """The names of the IANA database. To find them is to walk through it on the disk: once is enough."""
    return frozenset(available_timezones())


def validate_time_zone(name: str) -> None:
    """Raise ValidationError unless `name` is a zone of the IANA database."""
    if name not in time_zones():
        raise ValidationError(_("“%(name)s” is not a time zone. Example: Europe/Copenhagen."), params={"name": name})
