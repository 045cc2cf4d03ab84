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


def test_the_graph_is_read_out_by_touch_and_the_page_still_scrolls(visit: Visit, vera: Player) -> None:
    visitor = visit(vera, width=PHONE, has_touch=True, is_mobile=True)
    page = visitor.goto("/cashier/fibs/")
    page.evaluate("document.querySelector('#graph').scrollIntoView()")
    box = page.locator(".plot-reader").bounding_box()
    assert box
    touch = page.context.new_cdp_session(page)
    left, right, middle = box["x"] + 2, box["x"] + box["width"] - 2, box["y"] + box["height"] / 2

    def reads(*words: str) -> None:
        told = "words => words.every(word => document.querySelector('.readout').innerText.includes(word))"
        page.wait_for_function(told, arg=words)

    def finger(kind: str, x: float = 0, y: float = 0) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    page.touchscreen.tap(right, middle)
    reads("Won against Player 2", "+", str(timezone.localdate().year))
    finger("touchStart", right, middle)
    for step in range(1, 11):
        finger("touchMove", right + (left - right) * step / 10, middle)
    reads("1522.36 +22.36", "Won against Player 2")
    finger("touchMove", left + (right - left) * 0.7, middle)
    reads("Lost to Player 2")
    finger("touchEnd")
    reads("Lost to Player 2")  # it stays when the finger is lifted, so that the match can be tapped
    assert page.locator(".plot-reader").bounding_box() == box  # and the graph has stayed under the finger
    scrolled = page.evaluate("scrollY")
    finger("touchStart", left, middle)
    for step in range(1, 11):
        finger("touchMove", left, middle - 20 * step)
    finger("touchEnd")
    page.wait_for_function("before => scrollY > before + 50", arg=scrolled)
    assert visitor.complaints == []


def test_a_change_opens_into_its_sum_in_place(visit: Visit, vera: Player) -> None:
    visitor = visit(vera)
    page = visitor.goto("/cashier/fibs/")
    change = page.locator("[data-slip]").first
    assert (change.get_attribute("role"), change.get_attribute("aria-expanded")) == ("button", "false")
    assert change.get_attribute("aria-label") == f"{change.inner_text()}: the calculation"
    change.focus()
    scrolled = page.evaluate("scrollY")
    page.keyboard.press("Enter")
    slip = page.locator(".slip-row")
    slip.wait_for()
    assert "Change, shown as" in slip.inner_text() and change.inner_text() in slip.inner_text()
    assert change.get_attribute("aria-expanded") == "true"
    assert change.get_attribute("aria-controls") == slip.get_attribute("id")
    assert page.evaluate("document.activeElement.hasAttribute('data-slip')")
    page.keyboard.press("Space")
    slip.wait_for(state="hidden")
    assert change.get_attribute("aria-expanded") == "false" and page.evaluate("scrollY") == scrolled
    # Anywhere in its row, but for the links that lead elsewhere.
    page.locator("tr.opens .sub").first.click()
    slip.wait_for()
    assert page.locator(".slip-row").count() == 1
    page.locator("tr.opens th a").first.click()
    page.wait_for_url("**/matches/*/")
    assert visitor.complaints == []


def test_a_change_is_a_link_without_a_script_and_where_its_sum_cannot_be_fetched(visit: Visit, vera: Player) -> None:
    for more in ({"java_script_enabled": False}, {}):
        visitor = visit(vera, **more)
        visitor.page.route("**/seats/*/", lambda route: route.abort())
        visitor.goto("/cashier/matches/").locator("[data-slip]").first.click()
        visitor.page.wait_for_url("**/matches/*/#seat-1")
        assert visitor.page.locator("#seat-1").inner_text().startswith("Player 1")


@pytest.mark.parametrize("width", [1280, PHONE])
def test_an_open_sum_keeps_the_columns_and_axe_content(width: int, visit: Visit, vera: Player) -> None:
    page = visit(vera, width=width, bypass_csp=True).goto("/cashier/fibs/history/")
    widths = "[...document.querySelectorAll('.changes thead th')].map(cell => cell.offsetWidth)"
    before = page.evaluate(widths)
    page.locator("[data-slip]").last.click()
    page.locator(".slip-row").wait_for()
    assert page.evaluate(widths) == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Axe().run(page).response["violations"] == []
