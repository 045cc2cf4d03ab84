"""The reader's time zone: which names are accepted."""

from __future__ import annotations

from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


def validate_time_zone(name: str) -> None:
    """Raise ValidationError unless `name` is a zone of the IANA database."""
    if name not in available_timezones():
        raise ValidationError(_("“%(name)s” is not a time zone. Example: Europe/Copenhagen."), params={"name": name})
