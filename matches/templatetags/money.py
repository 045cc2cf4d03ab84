"""How a statement writes amounts and months."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from django import template
from django.utils.formats import date_format
from django.utils.translation import pgettext

from players.formatting import MINUS, format_euros

register = template.Library()


@register.filter
def signed_euros(amount: Decimal) -> str:
    """An amount with its sign: +€10.00, −€2.50, €0.00."""
    if amount > 0:
        return f"+{format_euros(amount)}"
    return f"{MINUS}{format_euros(-amount)}" if amount < 0 else format_euros(abs(amount))


@register.filter
def money_direction(amount: Decimal) -> str:
    """up, down or level."""
    return "up" if amount > 0 else "down" if amount < 0 else "level"


@register.filter
def month(first: date) -> str:
    """A month by its first day: November 2026."""
    # Translators: a month with its year, in the letters of Django's date filter.
    return date_format(first, pgettext("date format", "F Y"))
