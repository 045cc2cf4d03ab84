"""How pages write ratings, changes, shares, amounts and times. No template rounds or formats a number by other means."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format, get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from players import formatting, wording
from players.models import Pool
from players.pages import outcomes
from players.pages.reader import match_day
from players.systems.base import Term, Unit

register = template.Library()

PERCENT_DECIMALS = 1


# --- Numbers ---


@register.filter
def rating(value: float, pool: Pool) -> str:
    """A rating, standing or threshold in points, with the pool's decimals."""
    return formatting.format_rating(value, pool.shown_decimals)


@register.filter
def change(value: float, pool: Pool) -> str:
    """A change in points, with its sign."""
    return formatting.format_change(value, pool.shown_decimals)


@register.filter
def direction(value: float, pool: Pool) -> str:
    """up, down or level: by what is shown, so that a change of 0.00 is neither."""
    rounded = formatting.shown(value, pool.shown_decimals)
    return "up" if rounded > 0 else "down" if rounded < 0 else "level"


@register.simple_tag
def big_rating(value: float, pool: Pool) -> SafeString:
    """A rating whose decimals are set smaller."""
    text = formatting.format_rating(value, pool.shown_decimals)
    separator = get_format("DECIMAL_SEPARATOR")
    whole, point, decimals = text.partition(separator)
    return format_html("{}<small>{}{}</small>", whole, point, decimals) if point else format_html("{}", whole)


@register.simple_tag
def grid_value(value: float, decimals: int) -> str:
    """A value beside a line of the graph's grid."""
    return formatting.format_rating(value, decimals)


@register.filter
def number(value: float) -> str:
    """A count, a length or a factor."""
    return formatting.format_number(value)


@register.filter
def plain(value: float) -> str:
    """A parameter, with all its digits."""
    return wording.plain(value)


@register.filter
def of_hundred(value: Decimal) -> str:
    """A number of per cent: 2.5%."""
    return formatting.format_percent(float(value) / 100, 4)


@register.filter
def rank(value: int | None) -> str:
    """A rank; a dash for a player who is not listed."""
    return "–" if value is None else formatting.format_number(value, 0)


@register.filter
def factor(value: float) -> str:
    """An experience factor, with two decimals at most: it is explained here, not reckoned with."""
    return formatting.format_number(value, 2)


@register.filter
def whole(value: float) -> str:
    """A number without decimals."""
    return formatting.format_number(value, 0)


@register.filter
def duration(seconds: float) -> str:
    """How long something will take: 40 s, 12 min, 3 h."""
    if seconds < 90:
        return _("%(seconds)s s") % {"seconds": formatting.format_number(seconds, 0)}
    if seconds < 90 * 60:
        return _("%(minutes)s min") % {"minutes": formatting.format_number(seconds / 60, 0)}
    return _("%(hours)s h") % {"hours": formatting.format_number(seconds / 3600, 1)}


@register.filter
def percent(share: float) -> str:
    """A share of 1, in per cent."""
    return formatting.format_percent(share, PERCENT_DECIMALS)


@register.filter
def euros(amount: Decimal | float) -> str:
    return formatting.format_euros(amount)


@register.simple_tag
def elo(value: float, experience: int, pool: Pool) -> SafeString:
    """A rating that is grey, dotted and said to be provisional where the pool says so."""
    text = formatting.format_rating(value, pool.shown_decimals)
    if not formatting.is_provisional(experience, pool.provisional_below):
        return format_html('<span class="elo">{}</span>', text)
    words = _("provisional: %(experience)s of %(needed)s experience") % {
        "experience": formatting.format_number(experience, 0),
        "needed": formatting.format_number(pool.provisional_below or 0, 0),
    }
    return format_html(
        '<span class="elo provisional" title="{}">{}<span class="visually-hidden"> ({})</span></span>', words, text, words
    )


# --- The lines that explain a change ---


@register.filter
def term_label(term: Term) -> str:
    return wording.term_label(term)


@register.simple_tag
def term_formula(term: Term, pool: Pool, digits: int) -> str:
    return wording.term_formula(term, pool.shown_decimals, digits)


@register.simple_tag
def term_rounded(term: Term, pool: Pool, digits: int) -> str:
    """That a rating among the lines is rounded, with the number that it stands for; "" where it is shown whole."""
    exact = formatting.shown(term.value, digits)
    if term.unit != Unit.RATING or formatting.shown(term.value, pool.shown_decimals) == exact:
        return ""
    return _("rounded from %(number)s") % {"number": formatting.format_number(term.value, digits)}


@register.simple_tag
def term_value(term: Term, pool: Pool, digits: int) -> str:
    return formatting.format_term(term.value, term.unit, pool.shown_decimals, digits)


@register.filter
def kind_label(kind: str) -> str:
    return wording.kind_label(kind)


@register.filter
def system_label(key: str) -> str:
    return wording.system_label(key)


# --- Results ---


@register.simple_tag
def own_outcome(match: Any, own: Any, others: Sequence[Any]) -> str:
    """How a match ended, as one of its players tells it."""
    return outcomes.own_outcome(match, own, others)


@register.simple_tag
def story(line: Any, seat: Any) -> str:
    """What was expected of a player and what he did, in one sentence."""
    expected, score = formatting.format_percent(line.expected, PERCENT_DECIMALS), line.score
    if seat.place is not None:
        words = {"expected": formatting.format_number(line.expected, 2), "score": formatting.format_number(score, 2)}
        return _("Expected a score of %(expected)s and scored %(score)s.") % words
    if seat.score is None:
        words = {"expected": expected, "chance": formatting.format_percent(score, PERCENT_DECIMALS)}
        return _("Expected to win with a chance of %(expected)s, and stood at %(chance)s at the break.") % words
    if score == 1:
        sentence = _("Expected to win with a chance of %(expected)s, and won.")
    elif score == 0:
        sentence = _("Expected to win with a chance of %(expected)s, and lost.")
    else:
        words = {"expected": formatting.format_number(line.expected, 2), "score": formatting.format_number(score, 2)}
        return _("Expected a score of %(expected)s; the draw gave %(score)s.") % words
    return sentence % {"expected": expected}


@register.simple_tag
def own_story(own: Any) -> str:
    """The same of a seat that comes with what the match did to it: `seats_with_changes`."""
    return story(SimpleNamespace(expected=own.expected, score=own.gained), own)


@register.simple_tag
def outcome(match: Any, seats: Sequence[Any]) -> str:
    """How a match ended, as a bystander tells it."""
    return outcomes.outcome(match, seats)


# --- Times, in the reader's zone ---


def _date_formats() -> tuple[str, str]:
    # Translators: a date such as "29 Nov 2026", in the letters of Django's date filter.
    short = pgettext("date format", "j M Y")
    # Translators: a date with the time of day.
    return short, pgettext("date format", "j M Y, H:i")


@register.filter
def day(value: date) -> SafeString:
    """A date: the 29th of November."""
    return format_html('<time datetime="{}">{}</time>', value.isoformat(), date_format(value, _date_formats()[0]))


@register.filter
def moment(value: datetime) -> SafeString:
    """An instant in the reader's zone."""
    local = timezone.localtime(value)
    return format_html(
        '<time datetime="{}">{}</time>', local.isoformat(timespec="seconds"), date_format(local, _date_formats()[1])
    )


@register.filter
def day_of_moment(value: datetime) -> SafeString:
    """The reader's day of an instant."""
    return day(timezone.localtime(value).date())


@register.filter
def ended(match: Any) -> SafeString:
    """When a match ended: in the reader's zone, or the date alone where only that is known, the same for every reader."""
    return moment(match.ended_at) if match.timed else day(match_day(match))


@register.filter
def ended_day(match: Any) -> SafeString:
    """The day of a match, to go on in a sentence: today, yesterday, on 29 Nov 2026."""
    played = match_day(match)
    ago = (timezone.localdate() - played).days
    if ago == 0:
        words = _("today")
    elif ago == 1:
        words = _("yesterday")
    else:
        words = pgettext("day in a sentence", "on %(date)s") % {"date": date_format(played, _date_formats()[0])}
    return format_html('<time datetime="{}">{}</time>', played.isoformat(), words)


@register.filter
def graph_date(value: date, unit: str) -> str:
    """A date below the graph, as much of it as the unit says."""
    formats = {
        # Translators: a day below the graph, such as "3 Nov".
        "day": pgettext("date format", "j M"),
        # Translators: a month below the graph, such as "Nov".
        "month": pgettext("date format", "M"),
        "year": "Y",
    }
    return date_format(value, formats[unit])


@register.filter
def waiting(since: datetime) -> str:
    """How long somebody has waited: 12 min, 3 h, 2 days."""
    minutes = max(0, int((timezone.now() - since).total_seconds() // 60))
    if minutes < 60:
        return _("%(minutes)s min") % {"minutes": formatting.format_number(minutes, 0)}
    hours = minutes // 60
    if hours < 24:
        return _("%(hours)s h") % {"hours": formatting.format_number(hours, 0)}
    days = hours // 24
    return ngettext("%(days)s day", "%(days)s days", days) % {"days": formatting.format_number(days, 0)}
