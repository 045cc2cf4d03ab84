"""A player's window in a browser: the graph read out by keys and pointer, tabs that are links, and nothing that axe finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.utils import timezone

from players.models import Player
from tests.building import complete, people, pool_of, won
from tests.e2e.conftest import PHONE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]
Visit = Callable[..., Visitor]
PAGES = ("cashier/fibs/", "cashier/fibs/?by=matches", "cashier/matches/", "cashier/matches/?length=0", "cashier/statistics/fibs/")
PUBLIC = ("players/player-2/", "players/player-1/vs/player-2/", "players/player-1/fibs/history/")


@pytest.fixture
def vera() -> Player:
    """A player with a win, a loss and a win against one other, the last one yesterday."""
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    now = timezone.now()
    pairs = ((vera, didrik), (didrik, vera), (vera, didrik))
    complete(pool, *(won(*pair, now - timedelta(days=day)) for pair, day in zip(pairs, (30, 10, 1), strict=True)), now=now)
    return vera


def test_the_graph_is_read_out_by_keys_and_by_pointer(visit: Visit, vera: Player) -> None:
    page = visit(vera).goto("/cashier/fibs/")
    page.focus(".plot-reader")

    def reads(words: str) -> None:
        page.wait_for_function("words => document.querySelector('.readout').innerText.includes(words)", arg=words)

    page.keyboard.press("End")
    reads("Won against Player 2, match to 5")
    page.keyboard.press("ArrowLeft")
    reads("Lost to Player 2, match to 5")
    slider = page.locator(".plot-reader")
    assert "Lost to Player 2" in (slider.get_attribute("aria-valuetext") or "")
    assert [slider.get_attribute(f"aria-value{name}") for name in ("min", "now", "max")] == ["0", "1", "2"]
    page.keyboard.press("Home")
    reads("1522.36 +22.36")
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 40)
    reads("Won against Player 2")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_url("**/matches/*/")


def test_the_tabs_are_walked_by_key(visit: Visit, vera: Player) -> None:
    page = visit(vera).goto("/cashier/")
    page.focus(".tabs a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cashier/matches/")
    assert page.locator(".tabs [aria-current=page]").inner_text() == "Matches"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(scheme: Any, visit: Visit, vera: Player) -> None:
    # The policy of the site would keep axe out.
    visitor = visit(vera, scheme=scheme, bypass_csp=True)
    page = visitor.page
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for address in (*PAGES, *PUBLIC):
            page.goto(f"{visitor.base}/{address}")  # one of them is refused, and is read all the same
            found = [(violation["id"], violation["nodes"][0]["html"]) for violation in Axe().run(page).response["violations"]]
            assert found == [], (address, width)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (address, width)


def test_a_phone_has_a_header_of_two_lines(visit: Visit, vera: Player) -> None:
    visitor = visit(vera, width=PHONE)
    page = visitor.page
    for language in ("en", "de", "da", "nl"):
        page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": visitor.base}])
        visitor.goto("/cashier/")
        # Two lines are 88 pixels, three would be 120 and more.
        assert page.evaluate("document.querySelector('header').offsetHeight") <= 100, language
        nav = "document.querySelector('.site-nav')"
        assert page.evaluate(f"{nav}.scrollWidth <= {nav}.clientWidth"), language
