"""From the table to the rating, as players and organisers go: each in a browser of his own. The numbers are those that
`manage.py simulate` gives."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from matches.lobby.tables import start_match
from matches.models import Match
from matches.verify import verify
from players.formatting import format_change, format_rating
from players.models import Player, Pool, RatingChange
from players.services import create_players
from players.simulation import simulate
from players.systems.base import Result, Seat
from tests.building import DAY_ONE, complete, pool_of, won
from tests.e2e.conftest import PHONE, Visitor
from tests.pages import login_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Visit = Callable[..., Visitor]
NEW = [Seat(1500.0), Seat(1500.0)]


def named(*names: str) -> list[Player]:
    """Players with logins."""
    players = create_players(names)
    for player in players:
        login_of(player)
    return players


def organiser() -> object:
    return get_user_model().objects.create_superuser("organiser", "organiser@ratings.example", "secret")


def foretold(pool: Pool, seats: list[Seat], scores: tuple[float, ...], **terms: Any) -> list[float]:
    """The changes that the simulator gives for an outcome."""
    outcomes = simulate(pool.rating_system, seats, **terms).outcomes
    [found] = [one for one in outcomes if one.scores == scores]
    return list(found.changes)


def assert_both_see(visitors: list[Visitor], players: list[Player], match: Match, changes: list[float]) -> None:
    """Each one's cashier and the match's page show the change, and nothing was complained of."""
    decimals = match.pool.shown_decimals
    for visitor, player, change in zip(visitors, players, changes, strict=True):
        rating = player.ratings.get(pool=match.pool)
        visitor.goto(f"/cashier/{match.pool.slug}/")
        assert format_rating(rating.value, decimals) in visitor.text()
        assert format_change(change, decimals) in visitor.text()
        visitor.goto(match.get_absolute_url())
        assert format_change(change, decimals) in visitor.text() and format_rating(rating.value, decimals) in visitor.text()
        assert visitor.complaints == []
    lines = {line.player_id: line.change for line in RatingChange.objects.filter(match=match)}
    assert [lines[player.pk] for player in players] == changes
    assert verify(match.pool)[1] is None


def test_a_match_completed_in_the_admin_is_at_once_on_the_players_page(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    admin = visit(organiser())
    page = admin.goto(f"/admin/matches/match/add/?pool={pool_of('fibs').pk}")
    for row, player in enumerate((vera, nils)):
        # As if it had been found: what the choice fetches is the admin's own.
        page.evaluate(
            "([row, id, name]) => document.querySelector(`select[name=participants-${row}-player]`)"
            ".add(new Option(name, id, true, true))",
            [row, str(player.pk), player.name],
        )
    page.fill("input[name=length]", "5")
    outcome = page.locator("[name=outcome]")
    if outcome.count() == 1:
        outcome.select_option("1")
    else:
        outcome.and_(page.locator("[value='1']")).check()
    page.click("input[name=_save]")
    expect(page.locator(".messagelist")).to_contain_text("Vera")
    match = Match.objects.get(status="completed")
    changes = foretold(match.pool, NEW, (1.0, 0.0), length=5)
    visitors = [visit(vera), visit(nils, width=PHONE, scheme="dark")]
    assert_both_see(visitors, [vera, nils], match, changes)
    # The way from the rating to its calculation is a click.
    page = visitors[0].goto("/cashier/fibs/")
    page.locator(f"a[href='{match.get_absolute_url()}']").first.click()
    page.wait_for_url(f"**{match.get_absolute_url()}")
    assert "22.36" in visitors[0].text()


def report_and_confirm(one: Visitor, two: Visitor, match: Match, way: str, **fields: str) -> None:
    page = one.goto(f"/matches/{match.pk}/report/")
    page.check(f"input[name=outcome][value={way}]")
    for name, value in fields.items():
        page.fill(f"input[name={name}]", value)
    page.click("button:has-text('Report it')")
    expect(page.locator("h2").first).to_contain_text("waits for a confirmation")
    page = two.goto(f"/matches/{match.pk}/report/")
    page.click("button:has-text('It is right')")
    page.wait_for_load_state()


def test_two_players_from_the_table_to_the_rating(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    pool = pool_of("fibs")
    complete(pool, won(vera, nils, DAY_ONE, length=7))
    seats = [Seat(rating.value, rating.experience) for rating in (player.ratings.get(pool=pool) for player in (nils, vera))]
    changes = foretold(pool, seats, (1.0, 0.0), length=5)
    host, guest = visit(nils), visit(vera, width=PHONE)
    page = host.goto("/lobby/fibs/")
    page.click("#play > summary")
    page.fill("#id_length", "5")
    page.click("button:has-text('Open a table')")
    page.wait_for_selector("text=You wait at a table.")
    lost = format_change(changes[1], 2)
    guest.goto("/lobby/fibs/")
    assert format_rating(seats[0].rating, 2) in guest.text() and lost in guest.text()
    guest.page.click("button[id^=join-]")
    guest.page.wait_for_url("**/matches/*/")
    match = Match.objects.get(status="open")
    assert match.kind == "table"
    report_and_confirm(host, guest, match, "won_1")
    match.refresh_from_db()
    assert match.status == "completed"
    assert_both_see([host, guest], [nils, vera], match, changes)


def test_a_money_game(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    pool = pool_of("crowns-cup")
    terms = Result(stake=Decimal(5), real_money=True)
    match = start_match(pool, terms, [vera, nils], "table")
    changes = foretold(pool, NEW, (0.0, 1.0), stake=Decimal(5), points=4)
    one, two = visit(vera), visit(nils)
    report_and_confirm(one, two, match, "won_2", points="4")
    match.refresh_from_db()
    assert_both_see([one, two], [vera, nils], match, changes)
    two.goto("/cashier/statement/")
    assert "+€20.00" in two.text()


def test_a_table_of_four(visit: Visit) -> None:
    players = named("Ada", "Bo", "Cleo", "Dirk")
    pool = pool_of("freewhist")
    match = start_match(pool, Result(deals=24), players, "table")
    visitors = [visit(player) for player in players]
    places = {f"place_{seat}": str(place) for seat, place in enumerate((2, 1, 4, 3), start=1)}
    report_and_confirm(visitors[3], visitors[0], match, "finished", **places)
    match.refresh_from_db()
    # Four who are new, 24 deals: the figures of the rules.
    assert_both_see(visitors, players, match, [50.0, 100.0, -100.0, -50.0])


def test_a_disconnection_is_evaluated(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    pool = pool_of("crowns-cup")
    terms = Result(length=5, stake=Decimal(10), real_money=True)
    match = start_match(pool, terms, [vera, nils], "table")
    one, two = visit(vera), visit(nils)
    page = one.goto(f"/matches/{match.pk}/report/")
    page.check("input[name=outcome][value=broken_off]")
    page.click("button:has-text('Report it')")
    expect(page.locator("h2").first).to_contain_text("waits for an evaluation")
    admin = visit(organiser())
    page = admin.goto(f"/admin/matches/report/settle/{match.pk}/")
    page.fill("input[name=chance]", "0.8")
    page.locator("textarea[name=note]").last.fill("Rolled, 3 away 2 away, evaluated with GNU Backgammon")
    page.click("input[name=_evaluate]")
    page.wait_for_load_state()
    match.refresh_from_db()
    assert (match.status, match.chance) == ("completed", 0.8)
    won_, lost = (foretold(pool, NEW, scores, length=5, stake=Decimal(10)) for scores in ((1.0, 0.0), (0.0, 1.0)))
    lines = {line.player_id: line.change for line in RatingChange.objects.filter(match=match)}
    assert lines[vera.pk] == pytest.approx(0.8 * won_[0] + 0.2 * lost[0])
    assert_both_see([one, two], [vera, nils], match, [lines[vera.pk], lines[nils.pk]])
    assert "80%" in one.text() and "GNU Backgammon" in one.text()


def test_a_dispute_is_decided(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    pool = pool_of("fibs")
    match = start_match(pool, Result(length=3), [vera, nils], "table")
    one, two = visit(vera), visit(nils)
    page = one.goto(f"/matches/{match.pk}/report/")
    page.check("input[name=outcome][value=won_1]")
    page.click("button:has-text('Report it')")
    page = two.goto(f"/matches/{match.pk}/report/")
    page.click("summary:has-text('It went otherwise')")
    page.locator("details[open] input[name$=outcome][value=won_2]").check()
    page.click("button:has-text('Send my version')")
    expect(page.locator("h2").first).to_contain_text("an organiser decides")
    assert not RatingChange.objects.exists()
    admin = visit(organiser())
    page = admin.goto(f"/admin/matches/report/settle/{match.pk}/")
    page.check("input[name=outcome][value=won_2]")
    page.locator("textarea[name=reason]").fill("The log says so")
    page.click("input[name=_decide]")
    page.wait_for_load_state()
    match.refresh_from_db()
    assert match.status == "completed"
    changes = foretold(pool, NEW, (0.0, 1.0), length=3)
    assert_both_see([one, two], [vera, nils], match, changes)
    one.goto("/cashier/messages/")
    assert "disputed" in one.text() and "decided" in one.text()


def test_tabs_and_graph_are_walked_by_keyboard(visit: Visit) -> None:
    vera, nils = named("Vera", "Nils")
    pool = pool_of("fibs")
    complete(pool, *(won(vera, nils, DAY_ONE.replace(day=day), length=3) for day in range(1, 12)))
    visitor = visit(vera)
    page = visitor.goto("/cashier/fibs/?range=all")
    seen: list[str] = []
    read: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.closest('.tabs') ? 'tab ' : '') + document.activeElement.innerText")
        seen.append(focused)
        if page.evaluate("document.activeElement.getAttribute('role')") == "slider":
            for key, day in (("End", "11 Mar"), ("ArrowLeft", "10 Mar")):
                page.keyboard.press(key)
                expect(page.locator("figure .readout")).to_contain_text(day)
                read.append(page.inner_text("figure .readout"))
            break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"the focus is not seen on {focused!r}"
    assert [each for each in seen if each.startswith("tab ")][:2] == ["tab Rating", "tab Matches"]
    assert len(set(read)) == 2 and "Nils" in read[-1]
    assert visitor.complaints == []
