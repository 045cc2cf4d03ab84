"""How numbers are written."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.utils import translation
from django.utils.formats import date_format
from hypothesis import given
from hypothesis import strategies as st

from players.formatting import (
    format_change,
    format_euros,
    format_number,
    format_percent,
    format_plain,
    format_rating,
    format_term,
    is_provisional,
    shown,
)
from players.systems.base import Unit


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (1970.995, 2, "1971.00"),
        (1970.9949999, 2, "1970.99"),
        (-1970.995, 2, "-1971.00"),
        (0.5, 0, "1"),
        (1.5, 0, "2"),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (1.005, 2, "1.01"),
        (2.675, 2, "2.68"),
        (3.7690486832235854, 2, "3.77"),
        (644.27414595449584, 0, "644"),
        (-0.004, 2, "0.00"),
        (-0.0, 2, "0.00"),
        (-0.5, 0, "-1"),
        (-0.4, 0, "0"),
        (1e-7, 2, "0.00"),
        (100_000.0, 2, "100000.00"),
        (1e22, 0, "10000000000000000000000"),
        (1500, 2, "1500.00"),
    ],
)
def test_half_up_on_the_shortest_decimal(value: float, decimals: int, text: str) -> None:
    assert str(shown(value, decimals)) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_any_double_can_be_shown(value: float, decimals: int) -> None:
    number = shown(value, decimals)
    assert abs(number - Decimal(repr(value))) <= Decimal(1).scaleb(-decimals) / 2 or abs(value) > 1e20
    assert not (number == 0 and number.is_signed())
    assert shown(-value, decimals) == -number


@pytest.mark.parametrize(
    ("language", "rating"), [("en", "1234567.25"), ("de", "1234567,25"), ("da", "1234567,25"), ("nl", "1234567,25")]
)
def test_ratings_in_the_readers_language(language: str, rating: str) -> None:
    with translation.override(language):
        assert format_rating(1_234_567.249999999, 2) == rating
        assert format_rating(1_234_567.25, 0) == "1234567"


@pytest.mark.parametrize("grouping", [True, False])
def test_ratings_are_never_grouped(settings: pytest.FixtureRequest, grouping: bool) -> None:
    settings.USE_THOUSAND_SEPARATOR = grouping  # type: ignore[attr-defined]
    assert format_rating(12345.0, 2) == "12345.00"


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (3.7690486832235854, "+3.77", "+3,77"),
        (-3.7690486832235854, "−3.77", "−3,77"),
        (0.0, "0.00", "0,00"),
        (-0.0, "0.00", "0,00"),
        (0.004, "0.00", "0,00"),
        (-0.004, "0.00", "0,00"),
        (0.005, "+0.01", "+0,01"),
    ],
)
def test_changes(value: float, english: str, german: str) -> None:
    assert format_change(value, 2) == english
    with translation.override("de"):
        assert format_change(value, 2) == german


def test_a_rating_below_zero() -> None:
    assert format_rating(-12.5, 0) == "−13"


@pytest.mark.parametrize(
    ("value", "text"), [(2.23606797749979, "2.236068"), (5.0, "5"), (100.0, "100"), (0.1, "0.1"), (-1e-9, "0"), (-1.5, "−1.5")]
)
def test_numbers(value: float, text: str) -> None:
    assert format_number(value) == text


def test_per_cent_and_euros() -> None:
    assert format_percent(0.40464318533759985, 4) == "40.4643%"
    assert format_percent(0.5, 0) == "50%"
    assert format_percent(1e-300, 4) == "0%"
    assert format_euros(Decimal("2.5")) == "€2.50"
    assert format_euros(10.0) == "€10.00"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1500.126, Unit.RATING, "1500.13"),
        (-3.769, Unit.CHANGE, "−3.77"),
        (150.1234567, Unit.NUMBER, "150.123457"),
        (1.041392685158225, Unit.FACTOR, "1.041393"),
        (0.40464318533759985, Unit.CHANCE, "40.4643%"),
        (400, Unit.COUNT, "400"),
        (10.0, Unit.EUROS, "€10.00"),
        (-0.0, Unit.NUMBER, "0"),
        (-0.0, Unit.CHANGE, "0.00"),
        (-0.0, Unit.RATING, "0.00"),
    ],
)
def test_terms(value: float, unit: Unit, text: str) -> None:
    assert format_term(value, unit, 2) == text


def test_plain_numbers_keep_every_digit_in_every_language() -> None:
    with translation.override("de"):
        assert format_plain(3.7690486832235854) == "3.7690486832235854"
        assert format_plain(-0.0) == "0.0"


@pytest.mark.parametrize(
    ("experience", "below", "grey"),
    [(0, 50, True), (49, 50, True), (50, 50, False), (5000, 50, False), (0, None, False), (0, 0, False)],
)
def test_provisional(experience: int, below: int | None, grey: bool) -> None:
    assert is_provisional(experience, below) is grey


def test_django_writes_dates_as_the_pages_do() -> None:
    for name, text in (("DATETIME_FORMAT", "30 Nov 2026, 14:40"), ("DATE_FORMAT", "30 Nov 2026"), ("TIME_FORMAT", "14:40")):
        assert date_format(datetime(2026, 11, 30, 14, 40, tzinfo=UTC), name) == text
