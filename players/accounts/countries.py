"""Countries by their ISO 3166 codes, with their names in the language that is active."""

from __future__ import annotations

from functools import cache

from babel import Locale
from django.conf import settings
from django.utils.translation import get_language

# Codes of CLDR that are no country: groups of them, and what is set aside for tests or for the unknown.
NO_COUNTRIES = frozenset({"AC", "CP", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})


@cache
def names(language: str) -> dict[str, str]:
    """The names by the codes, in the order of the names."""
    found = Locale.parse(language, sep="-").territories
    countries = {code: name for code, name in found.items() if len(code) == 2 and code.isalpha() and code not in NO_COUNTRIES}
    return dict(sorted(countries.items(), key=lambda each: each[1].casefold()))


def choices() -> list[tuple[str, str]]:
    language = (get_language() or settings.LANGUAGE_CODE).partition("-")[0]
    return [("", "–"), *names(language).items()]
