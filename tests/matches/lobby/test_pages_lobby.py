"""The front page, the lobby, and what every page keeps to."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from matches.completion import Entry, complete_matches
from matches.lobby.tables import open_table
from matches.models import Table
from players.models import Player
from players.services import create_player, create_players
from players.systems.base import Result
from tests.building import complete, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db


def waits(slug: str, host: Player, minutes: float = 5, **terms: Any) -> Table:
    return open_table(pool_of(slug), host, Result(**terms), now=timezone.now() - timedelta(minutes=minutes))


def play(slug: str, *entries: Entry) -> None:
    complete(pool_of(slug), *entries, now=timezone.now())


# --- The lobby ---


@pytest.mark.parametrize(("experience", "provisional"), [(49, True), (50, False)])
def test_the_elo_is_grey_below_50_experience_and_not_by_colour_alone(experience: int, provisional: bool, client: Client) -> None:
    vera, didrik = people(2)
    play("fibs", won(vera, didrik, timezone.now(), length=experience))
    waits("fibs", vera, length=5)
    response = client.get("/lobby/fibs/")
    page, [row] = response.content.decode(), rows_of(response, "lobby")
    assert ('<span class="elo provisional" title="provisional: 49 of 50 experience">' in page) is provisional
    assert ("(provisional: 49 of 50 experience)" in row) is provisional
    assert f"{1500 + 20 * 0.5 * experience**0.5:.2f}" in row


def test_a_newcomers_elo_is_where_everybody_starts(client: Client) -> None:
    [vera] = people(1)
    waits("crowns-cup", vera, length=7, stake=Decimal("2.50"), real_money=True)
    [row] = rows_of(client.get("/lobby/crowns-cup/"), "lobby")
    assert "1500.00 (provisional: 0 of 50 experience)" in row


def test_the_elo_is_that_of_the_pool(client: Client) -> None:
    vera, didrik = people(2)
    play("tics", won(vera, didrik, timezone.now(), length=None))
    play("fibs", won(didrik, vera, timezone.now(), length=60))
    for slug, elo in (("tics", "1525 "), ("fibs", "1422.54 ")):
        waits(slug, vera, **({"length": 5} if slug == "fibs" else {}))
        assert elo in rows_of(client.get(f"/lobby/{slug}/"), "lobby")[0]


def test_tables_show_their_terms_the_longest_wait_first(client: Client) -> None:
    vera, didrik, inger = people(3)
    waits("crowns-cup", vera, 3, length=7, stake=Decimal("2.50"), real_money=True)
    waits("crowns-cup", didrik, 130, stake=Decimal(10), real_money=False)
    waits("freewhist", inger, 3000, deals=16)
    unlimited, match = rows_of(client.get("/lobby/crowns-cup/"), "lobby")
    assert unlimited.startswith("Player 2") and "unlimited €10.00 per point play money 2 h" in unlimited
    assert match.startswith("Player 1") and "7 €2.50 real money 3 min" in match
    [whist] = rows_of(client.get("/lobby/freewhist/"), "lobby")
    assert "1200 (provisional: 0 of 50 experience) 16 2 days" in whist and "money" not in whist


def test_an_empty_lobby_says_what_to_do_and_where_others_wait(client: Client) -> None:
    [vera] = people(1)
    waits("tics", vera)
    text = text_of(client.get("/lobby/fibs/"))
    assert "Nobody waits at a table in FIBS just now." in text and "Whoever is logged in can open one." in text
    assert "TICS 1 waiting" in text
    assert client.get("/lobby/")["Location"] == "/lobby/fibs/" and client.get("/lobby/none/").status_code == 404


# --- The front page ---


def test_the_front_page_shows_the_best_of_each_pool_and_the_last_results(client: Client) -> None:
    table = people(12)
    now = timezone.now()
    for number in range(6):
        play("fibs", won(table[number], table[number + 6], now - timedelta(hours=20 - number), length=number + 1))
    play("tics", won(table[0], table[1], now - timedelta(hours=30), length=None))
    response = client.get("/")
    card, *_ = response.context["cards"]
    assert [line.rating.player.name for line in card.best] == [f"Player {number}" for number in (6, 5, 4, 3, 2)]
    assert [line.rank for line in card.best] == [1, 2, 3, 4, 5] and card.listed == 12
    assert [result.match.length for result in response.context["results"]] == [6, 5, 4, 3, 2, 1, None]
    text = text_of(response)
    assert "Player 6 won against Player 12, match to 6 FIBS ·" in text and "How strong you play, match by match" in text


def test_the_best_share_ranks_as_in_the_ranking(client: Client) -> None:
    table = people(8)
    now = timezone.now()
    complete_matches(pool_of("tics"), [won(table[n], table[n + 4], now, length=None) for n in range(4)], now=now)
    card = next(card for card in client.get("/").context["cards"] if card.pool.slug == "tics")
    assert [line.rank for line in card.best] == [1, 1, 1, 1, 5]


def test_the_own_ratings_come_first() -> None:
    vera, didrik = people(2)
    play("fibs", won(vera, didrik, timezone.now()))
    text = text_of(login_of(vera).get("/"))
    assert text.index("Player 1 to your cashier’s window") < text.index("FIBS 1522.36") < text.index("Pools")
    assert "Crowns Cup not played" in text


def test_an_empty_site_says_what_will_be_here(client: Client) -> None:
    text = text_of(client.get("/"))
    assert "No match has been completed yet." in text and "The first counted match opens the ranking." in text


# --- Every page ---


def everything() -> tuple[Client, list[str]]:
    """A reader and the address of every page, with something on each of them."""
    players = [*people(2), create_player("محمد"), create_player("W" * 80)]
    vera, didrik, *_ = players
    now = timezone.now()
    play("fibs", won(vera, didrik, now - timedelta(days=3), length=5), won(vera, didrik, now, length=None))
    table = Entry(players=players, result=Result(places=(1, 1, 3, 4), deals=16), ended_at=now)
    [whist] = complete(pool_of("freewhist"), table, now=now)
    waits("fibs", vera, length=5)
    return login_of(vera), [
        "/",
        "/cashier/",
        "/cashier/tics/",
        "/players/player-2/fibs/",
        "/rankings/fibs/",
        "/rankings/tics/",
        "/lobby/fibs/",
        "/lobby/tics/",
        whist.get_absolute_url(),
        "/accounts/login/",
    ]


def test_pages_keep_to_the_content_security_policy_and_have_what_a_screen_reader_needs() -> None:
    reader, addresses = everything()
    for address in addresses:
        response = (Client() if "login" in address else reader).get(address)
        page = response.content.decode()
        assert response.status_code == 200 and "Content-Security-Policy" in response
        assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page), address
        assert not re.search(r"<style|<script(?![^>]*\ssrc=)|javascript:", page), address
        assert page.count("<h1") == page.count("<main") == 1 and '<html lang="en">' in page, address
        levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
        assert all(following <= level + 1 for level, following in pairwise(levels)), address
        assert page.count("<table") == page.count("<caption"), address
        ids = re.findall(r'\sid="([^"]+)"', page)
        assert len(ids) == len(set(ids)), address


@pytest.mark.parametrize("language", ["de", "da", "nl"])
def test_pages_are_there_in_every_language(language: str) -> None:
    reader, addresses = everything()
    for address in addresses[:-1]:
        page = reader.get(address, headers={"accept-language": language}).content.decode()
        assert f'<html lang="{language}">' in page, address


def test_the_numbers_of_queries_are_fixed(client: Client) -> None:
    vera, didrik = people(2)
    play("fibs", won(vera, didrik, timezone.now() - timedelta(hours=5)))
    waits("fibs", vera, length=5)
    reader = login_of(vera)
    few = {address: (queries_of(client, address), queries_of(reader, address)) for address in ("/", "/lobby/fibs/")}
    guests = create_players(f"Guest {number}" for number in range(20))
    now = timezone.now()
    for slug in ("fibs", "tics"):
        length = 5 if slug == "fibs" else None
        entries = [won(one, two, now, length=length) for one, two in zip(guests[::2], guests[1::2], strict=True)]
        complete_matches(pool_of(slug), entries, now=now)
        for guest in guests:
            waits(slug, guest, length=length)
    assert {address: (queries_of(client, address), queries_of(reader, address)) for address in few} == few
    assert max(max(counts) for counts in few.values()) <= 13


@pytest.mark.parametrize("name", ["400.html", "403_csrf.html", "500.html"])
def test_errors_need_no_request_and_no_database(name: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        page = render_to_string(name)
    assert "Rating <b>Room</b>" in page and "<form" not in page


def test_an_error_has_the_look_of_the_site(client: Client) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404 and "There is nothing at this address" in text_of(response)
    assert "Something went wrong" not in text_of(response)
    refused = Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"})
    assert refused.status_code == 403 and "This form has expired" in text_of(refused)


@pytest.mark.parametrize("address", ["/", "/cashier/", "/rankings/fibs/", "/lobby/fibs/", "/players/player-1/"])
def test_pages_are_for_reading_only(address: str) -> None:
    [vera] = people(1)
    assert login_of(vera).post(address).status_code == 405
