"""The catalogues are complete: every string of the code and the templates, in every language that the site offers."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from babel.messages import extract, mofile, pofile
from babel.messages.catalog import Catalog
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
APPS = ("players", "matches", "ratings_site")
KEYWORDS = {
    **extract.DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
PLACEHOLDERS = re.compile(r"%\(\w+\)[sd]|%%|\{\w+\}|</?\w+")


def read(language: str) -> Catalog:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        return pofile.read_po(file, locale=language)


def strings_of_the_site() -> set[tuple[str | None, str]]:
    """(context, string) of everything that goes through gettext."""
    found = set()
    sources = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    for path in sources + list((ROOT / "templates").rglob("*.html")):
        text = path.read_text()
        if path.suffix == ".html":
            # Its indentation is the template's, which is none for Python.
            text = "\n".join(line.lstrip() for line in templatize(text, origin=str(path)).splitlines())
        for _, message, _, context in extract.extract("python", io.BytesIO(text.encode()), KEYWORDS):
            found.add((context, message[0] if isinstance(message, tuple) else message))
    return found


def test_the_site_has_strings() -> None:
    assert len(strings_of_the_site()) > 300


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_string_is_missing_untranslated_or_fuzzy(language: str) -> None:
    catalogue = read(language)
    known = {(message.context, message.id[0] if isinstance(message.id, tuple) else message.id) for message in catalogue}
    assert strings_of_the_site() - known == set()
    wanting = [m.id for m in catalogue if m.id and (m.fuzzy or not all(m.string if isinstance(m.string, tuple) else (m.string,)))]
    assert wanting == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_placeholders_and_tags(language: str) -> None:
    for message in read(language):
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        allowed = {frozenset(PLACEHOLDERS.findall(text)) for text in ids}
        for text in strings:
            assert frozenset(PLACEHOLDERS.findall(text)) in allowed, (message.id, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.mo").open("rb") as file:
        compiled = mofile.read_mo(file)
    written = {(m.context, m.id): m.string for m in read(language) if m.id}
    read_back = {(m.context, tuple(m.id) if isinstance(m.id, list) else m.id): m.string for m in compiled if m.id}
    assert {key: _forms(text) for key, text in read_back.items()} == {key: _forms(text) for key, text in written.items()}


def _forms(text: object) -> list[str]:
    return [str(form) for form in text] if isinstance(text, (list, tuple)) else [str(text)]
