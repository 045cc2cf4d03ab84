"""Two players in two browsers: one opens a table, the other one sees it appear, sits down, and both are at their match."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page

from matches.lobby import matchmaking
from matches.lobby.tables import leave_table, open_table
from matches.models import Match, Table
from players.models import Player
from players.systems.base import Result
from tests.building import people, pool_of
from tests.pages import login_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

FIVE = Result(length=5)
PATIENCE = 30_000
"""Milliseconds: the machine may be busy."""


def page_of(browser: Browser, address: str, player: Player | None = None) -> Page:
    """A browser of its own, logged in as the player. Whatever its console complains of fails the test that asks `complaints`."""
    context = browser.new_context()
    if player is not None:
        client: Client = login_of(player)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.complaints.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)  # type: ignore[attr-defined]
    return page


def test_a_table_appears_and_both_are_led_to_their_match(browser: Browser, live_server: Any) -> None:
    vera, didrik = people(2)
    host, guest = (page_of(browser, live_server.url, player) for player in (vera, didrik))
    for page in (host, guest):
        page.goto(f"{live_server.url}/lobby/fibs/")
    host.click("#play > summary")
    host.fill("#id_length", "3")
    host.click("button:has-text('Open a table')")
    host.wait_for_selector("text=You wait at a table.")
    row = guest.wait_for_selector("table.lobby tbody tr")  # nobody reloads
    assert row is not None and "Player 1" in row.inner_text() and "50%" in row.inner_text()
    guest.click("table.lobby button")
    guest.wait_for_url("**/matches/*/")
    host.wait_for_url("**/matches/*/")
    assert host.url == guest.url == live_server.url + Match.objects.get().get_absolute_url()
    assert host.complaints == guest.complaints == []  # type: ignore[attr-defined]


def test_what_the_reader_has_open_and_in_focus_stays_so(browser: Browser, live_server: Any) -> None:
    vera, didrik, inger = people(3)
    pool = pool_of("online-backgammon")
    table = open_table(pool, vera, FIVE)
    reader = page_of(browser, live_server.url, didrik)
    reader.goto(f"{live_server.url}/lobby/online-backgammon/")
    reader.click(f"#why-of-{table.pk}")
    reader.focus(f"#join-{table.pk}")
    other = open_table(pool, inger, FIVE)
    reader.wait_for_selector(f"#row-{other.pk}")
    assert reader.evaluate("document.activeElement.id") == f"join-{table.pk}"
    assert reader.evaluate(f"document.getElementById('why-{table.pk}').open") is True
    assert reader.evaluate(f"document.getElementById('why-{other.pk}').open") is False
    leave_table(other.pk, inger)
    reader.wait_for_selector(f"#row-{other.pk}", state="detached")
    assert reader.evaluate("document.activeElement.id") == f"join-{table.pk}"
    assert reader.complaints == []  # type: ignore[attr-defined]


def test_a_lobby_where_nothing_happens_is_not_drawn_anew(browser: Browser, live_server: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("matches.lobby.reads.SHOWN_FOR", 10**12)
    [vera] = people(1)
    open_table(pool_of("fibs"), vera, FIVE)
    reader = page_of(browser, live_server.url)
    answers: list[int] = []
    reader.on("response", lambda response: answers.append(response.status) if "/tables/" in response.url else None)
    reader.goto(f"{live_server.url}/lobby/fibs/")
    reader.evaluate("document.querySelector('#tables').dataset.same = 'yes'")
    with reader.expect_response("**/tables/**"):
        pass
    with reader.expect_response("**/tables/**"):
        pass
    assert reader.evaluate("document.querySelector('#tables').dataset.same") == "yes"
    assert set(answers) == {304}


def test_two_who_wait_to_be_paired_are_led_to_their_match(browser: Browser, live_server: Any) -> None:
    vera, didrik = people(2)
    pages = [page_of(browser, live_server.url, player) for player in (vera, didrik)]
    for page in pages:
        page.goto(f"{live_server.url}/lobby/online-backgammon/")
        page.click("#play > summary")
        page.click("button:has-text('Find me an opponent')")
        page.wait_for_selector("text=You wait to be paired.")
        assert "Player 1" not in page.inner_text("main") and "Player 2" not in page.inner_text("main")
    matchmaking.pair(pool_of("online-backgammon"))
    for page in pages:
        page.wait_for_url("**/matches/*/")
        assert page.locator("text=This match will count.").count() == 1
    assert Match.objects.get().kind == "matchmade" and not Table.objects.exists()


def test_without_a_script_the_lobby_works(browser: Browser, live_server: Any) -> None:
    vera, didrik = people(2)
    table = open_table(pool_of("fibs"), vera, FIVE)
    client = login_of(didrik)
    context = browser.new_context(java_script_enabled=False)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{live_server.url}/lobby/fibs/")
    page.click(f"#join-{table.pk}")
    page.wait_for_url("**/matches/*/")
