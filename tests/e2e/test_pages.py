"""Every page at a phone's and at a desk's width, in both schemes and four languages: nothing sticks out, nothing breaks the
content security policy, and axe finds nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from matches import demo
from matches.lobby.tables import start_match
from matches.models import Match, Table
from players.models import Player, Pool
from players.systems.base import Result
from tests.e2e.conftest import DESKTOP, PHONE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

AXE: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
}


def everybodys() -> list[str]:
    """Pages that all may see, each kind at least once for every pool where it differs."""
    vera = Player.objects.get(name="Vera")
    pools = list(Pool.objects.values_list("slug", flat=True))
    match_ids = [Match.objects.filter(pool__slug=slug, status="completed").latest("ended_at").pk for slug in pools]
    broken_off = Match.objects.filter(chance__isnull=False).latest("ended_at").pk
    uncounted = Match.objects.exclude(not_counted="").latest("ended_at").pk
    return [
        "/",
        "/lobby/",
        *(f"/lobby/{slug}/" for slug in pools),
        *(f"/tables/{Table.objects.filter(pool__slug=slug, status='waiting').latest('pk').pk}/" for slug in pools),
        "/rankings/",
        *(f"/rankings/{slug}/" for slug in pools),
        *(f"/rules/{slug}/" for slug in pools),
        *(f"/simulator/{slug}/" for slug in pools),
        *(f"/matches/{pk}/" for pk in (*match_ids, broken_off, uncounted)),
        *(f"/players/{vera.slug}/{slug}/" for slug in pools),
        f"/players/{vera.slug}/matches/",
        f"/players/{vera.slug}/statistics/",
        f"/players/{vera.slug}/vs/didrik/",
        "/accounts/login/",
        "/accounts/signup/",
        "/accounts/password/reset/",
        "/api/v1/docs/",
    ]


def readers() -> list[str]:
    """Pages of a player who is logged in."""
    pools = list(Pool.objects.values_list("slug", flat=True))
    open_match = Match.objects.filter(status="open").latest("pk").pk
    return [
        "/",
        "/cashier/",
        *(f"/cashier/{slug}/" for slug in pools),
        "/cashier/matches/",
        "/cashier/statistics/",
        "/cashier/statement/",
        "/cashier/messages/",
        "/cashier/profile/",
        "/lobby/fibs/",
        "/lobby/crowns-cup/",
        "/lobby/freewhist/",
        "/rankings/fibs/",
        "/matches/unfinished/",
        f"/matches/{open_match}/",
        "/players/didrik/",
        "/accounts/email/",
        "/accounts/password/change/",
    ]


def loaded() -> Player:
    """The demo, with a match of Vera's that is being played; Vera."""
    demo.load(timezone.now())
    vera, didrik = Player.objects.get(name="Vera"), Player.objects.get(name="Didrik")
    start_match(Pool.objects.get(slug="fibs"), Result(length=5), [vera, didrik], "table")
    return Player.objects.select_related("user").get(pk=vera.pk)


def faults(visitor: Visitor, path: str, *, axe: bool) -> Iterable[str]:
    visitor.complaints.clear()
    try:
        page = visitor.goto(path)
    except AssertionError as failed:
        yield str(failed)
        return
    wide, there = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    if wide > there:
        yield f"{path}: {wide} px wide, where there are {there}: {page.evaluate(STICKING_OUT)}"
    if axe and not path.startswith("/api/"):  # that page is Swagger's own
        for violation in Axe().run(page, options=AXE).response["violations"]:
            yield f"{path}: {violation['id']}: {[node['html'][:120] for node in violation['nodes'][:3]]}"
    yield from (f"{path}: {said}" for said in visitor.complaints)


STICKING_OUT = """[...document.querySelectorAll("main *, header *, footer *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)
    .map((one) => one.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_every_page_fits_and_is_accessible(visit: Callable[..., Visitor], width: int, scheme: str) -> None:
    vera = loaded()
    found = []
    for who, paths in ((None, everybodys()), (vera, readers())):
        visitor = visit(who, width=width, scheme=scheme)
        for path in paths:
            found += faults(visitor, path, axe=True)
    assert found == [], "\n".join(found)


@pytest.mark.full
@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_every_page_in_every_language_and_scheme(visit: Callable[..., Visitor], width: int, scheme: str, language: str) -> None:
    vera = loaded()
    found = []
    for who, paths in ((None, everybodys()), (vera, readers())):
        visitor = visit(who, width=width, scheme=scheme, language=language)
        for path in paths:
            # Swagger's own page speaks English and is not ours.
            found += faults(visitor, path, axe=language == "en" or language == "de")
    assert found == [], "\n".join(found)


def test_an_empty_site_says_what_to_do(visit: Callable[..., Visitor]) -> None:
    visitor = visit(width=PHONE)
    found = []
    for path in ("/", "/lobby/", "/rankings/", "/rankings/fibs/", "/lobby/fibs/", "/rules/fibs/", "/simulator/fibs/"):
        found += faults(visitor, path, axe=True)
    assert found == [], "\n".join(found)
    assert get_user_model().objects.count() == 0
