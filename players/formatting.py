"""How numbers are written: for readers in their language, and plain for files and programs.

A rating is rounded here and nowhere else, so every page, export and answer shows the same digits.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from django.utils.formats import get_format
from django.utils.translation import pgettext

from players.systems.base import Unit

MINUS = "\N{MINUS SIGN}"
TERM_DECIMALS = 6
"""Digits after the point in the lines that explain a change, unless a pocket calculator needs more: see `players.sums`."""
ROUNDING = Context(prec=400, rounding=ROUND_HALF_UP)
"""Wide enough for any double."""


def shown(value: float, decimals: int) -> Decimal:
    """The number as it is shown: half up, away from zero, on the shortest decimal that stands for the double.

    1970.995 with 2 decimals is 1971.00, although the double lies a little below. Never a negative zero. Raises
    decimal.InvalidOperation for NaN and infinity.
    """
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), context=ROUNDING)
    return rounded if rounded else rounded.copy_abs()


def is_provisional(experience: int, provisional_below: int | None) -> bool:
    """Whether a rating is grey: the experience is below the pool's limit. Without a limit nobody is."""
    return provisional_below is not None and experience < provisional_below


def format_rating(value: float, decimals: int) -> str:
    """A rating (points) for readers: 1500.25, in German 1500,25; digits are not grouped."""
    return _localised(shown(value, decimals))


def format_change(value: float, decimals: int) -> str:
    """A change (points) for readers, with its sign: +3.77, −3.77, 0.00."""
    rounded = shown(value, decimals)
    return f"+{_localised(rounded)}" if rounded > 0 else _localised(rounded)


def format_number(value: float, decimals: int = TERM_DECIMALS) -> str:
    """A number for readers with at most so many decimals, without zeros at the end: 2.236068, 5."""
    return _localised(_trimmed(shown(value, decimals)))


def format_percent(chance: float, decimals: int) -> str:
    """A chance from 0 to 1 for readers, in per cent with at most so many decimals: 59.5%."""
    percent = _trimmed(shown(chance, decimals + 2).scaleb(2, ROUNDING))
    return pgettext("percentage", "%(number)s%%") % {"number": _localised(percent)}


def format_euros(amount: float | Decimal) -> str:
    """An amount for readers, with cents: €10.00."""
    rounded = amount.quantize(Decimal("0.01"), context=ROUNDING) if isinstance(amount, Decimal) else shown(amount, 2)
    return pgettext("amount in euros", "€%(amount)s") % {"amount": _localised(rounded)}


def format_term(value: float, unit: Unit, decimals: int, digits: int = TERM_DECIMALS) -> str:
    """The value of one line of an explanation, for readers; `decimals` are those that the pool shows, `digits` those of a line
    that is neither a rating nor a change."""
    match unit:
        case Unit.RATING:
            return format_rating(value, decimals)
        case Unit.CHANGE:
            return format_change(value, decimals)
        case Unit.CHANCE:
            return format_percent(value, digits - 2)
        case Unit.COUNT:
            return format_number(value, 0)
        case Unit.EUROS:
            return format_euros(value)
        case _:
            return format_number(value, digits)


def format_plain(value: float) -> str:
    """A number for files and programs: a point, and every digit that the double needs."""
    return repr(float(value) + 0.0)  # adding 0.0 turns -0.0 into 0.0


def _trimmed(number: Decimal) -> Decimal:
    """Without zeros after the last digit that says something."""
    whole = number.to_integral_value(context=ROUNDING)
    return whole if number == whole else number.normalize(ROUNDING)


def _localised(number: Decimal) -> str:
    text = f"{number.copy_abs():f}".replace(".", get_format("DECIMAL_SEPARATOR"))
    return f"{MINUS}{text}" if number < 0 else text
