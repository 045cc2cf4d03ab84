"""Two players in two browsers: one opens a table, the other one sees it appear, sits down, and both are at their match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matches.lobby import matchmaking
from matches.lobby.tables import leave_table, open_table
from matches.models import Match, Table
from players.systems.base import Result
from tests.building import people, pool_of
from tests.e2e.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

FIVE = Result(length=5)
Visit = Callable[..., Visitor]


def test_a_table_appears_and_both_are_led_to_their_match(visit: Visit) -> None:
    vera, didrik = people(2)
    visitors = visit(vera), visit(didrik)
    host, guest = (visitor.goto("/lobby/fibs/") for visitor in visitors)
    host.click("#play > summary")
    host.fill("#id_length", "3")
    host.click("button:has-text('Open a table')")
    host.wait_for_selector("text=You wait at a table.")
    row = guest.wait_for_selector("table.lobby tbody tr")  # nobody reloads
    assert row is not None and "Player 1" in row.inner_text() and "50%" in row.inner_text()
    guest.click("table.lobby button")
    guest.wait_for_url("**/matches/*/")
    host.wait_for_url("**/matches/*/")
    assert host.url == guest.url == visitors[0].base + Match.objects.get().get_absolute_url()
    assert [visitor.complaints for visitor in visitors] == [[], []]


def test_what_the_reader_has_open_and_in_focus_stays_so(visit: Visit) -> None:
    vera, didrik, inger = people(3)
    pool = pool_of("online-backgammon")
    table = open_table(pool, vera, FIVE)
    visitor = visit(didrik)
    reader = visitor.goto("/lobby/online-backgammon/")
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
    assert visitor.complaints == []


def test_a_lobby_where_nothing_happens_is_not_drawn_anew(visit: Visit, monkeypatch: Any) -> None:
    monkeypatch.setattr("matches.lobby.reads.SHOWN_FOR", 10**12)
    [vera] = people(1)
    open_table(pool_of("fibs"), vera, FIVE)
    visitor = visit()
    reader, answers = visitor.page, list[int]()
    reader.on("response", lambda response: answers.append(response.status) if "/tables/" in response.url else None)
    visitor.goto("/lobby/fibs/")
    reader.evaluate("document.querySelector('#tables').dataset.same = 'yes'")
    with reader.expect_response("**/tables/**"):
        pass
    with reader.expect_response("**/tables/**"):
        pass
    assert reader.evaluate("document.querySelector('#tables').dataset.same") == "yes"
    assert set(answers) == {304}


def test_two_who_wait_to_be_paired_are_led_to_their_match(visit: Visit) -> None:
    vera, didrik = people(2)
    pages = [visit(player).goto("/lobby/online-backgammon/") for player in (vera, didrik)]
    for page in pages:
        page.click("#play > summary")
        page.click("button:has-text('Find me an opponent')")
        page.wait_for_selector("text=You wait to be paired.")
        assert "Player 1" not in page.inner_text("main") and "Player 2" not in page.inner_text("main")
    matchmaking.pair(pool_of("online-backgammon"))
    for page in pages:
        page.wait_for_url("**/matches/*/")
        assert page.locator("text=This match will count.").count() == 1
    assert Match.objects.get().kind == "matchmade" and not Table.objects.exists()


def test_without_a_script_the_lobby_works(visit: Visit) -> None:
    vera, didrik = people(2)
    table = open_table(pool_of("fibs"), vera, FIVE)
    page = visit(didrik, java_script_enabled=False).goto("/lobby/fibs/")
    page.click(f"#join-{table.pk}")
    page.wait_for_url("**/matches/*/")
