"""The tabs of a player's window, and the words of its statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import template
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from players import formatting
from players.models import Pool
from players.pages.statistics import Band, Period, Tally
from players.pages.window import TabLink, Window

register = template.Library()


@register.simple_tag
def window_tabs(window: Window, chosen: str, pool: Pool | None = None) -> list[TabLink]:
    """The tabs of a player's window, of which one is chosen."""
    return window.tabs(chosen, pool or None)


@register.simple_tag
def tally_rows(lines: Sequence[tuple[Any, Tally]], kind: str, pool: Pool, window: Window) -> list[tuple[str, str, Tally]]:
    """Lines of statistics with the words for what each is about: a length, band, period or opponent; and an address or ""."""
    if kind == "opponent":
        own = window.player.slug
        return [(one.name, reverse("head_to_head", args=[own, one.slug]), tally) for one, tally in lines]
    in_words: dict[str, Callable[[Any, Pool], str]] = {"length": _length_words, "band": _band_words, "period": _period_words}
    words = in_words[kind]
    return [(words(each, pool), "", tally) for each, tally in lines]


def _length_words(length: int | None, pool: Pool) -> str:
    if length is None:
        return _("money game") if "points" in pool.rating_system.uses else _("unlimited")
    shown = {"length": formatting.format_number(length, 0)}
    if "deals" in pool.rating_system.uses:
        return ngettext("%(deals)s deal", "%(deals)s deals", length) % {"deals": shown["length"]}
    return _("to %(length)s") % shown


def _band_words(band: Band, pool: Pool) -> str:
    low, high = (formatting.format_rating(value, 0) for value in (band.low, band.high))
    return pgettext("from one number to below another", "%(low)s–%(high)s") % {"low": low, "high": high}


def _period_words(period: Period, pool: Pool) -> str:
    # Translators: a month of a year, such as "Nov 2026".
    return date_format(period.day, pgettext("date format", "M Y") if period.unit == "month" else "Y")


@register.filter
def whole_percent(share: float) -> str:
    return formatting.format_percent(share, 0)


@register.simple_tag
def meter_width(share: float, width: int) -> str:
    """A part of so many pixels, as SVG reads it."""
    return f"{share * width:.1f}"
