"""The rankings: ranks that hold over pages, grey where provisional, the reader's own line."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from matches.completion import complete_matches
from players.models import Player, Pool, Rating
from players.services import create_players
from tests.building import people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db


def pairs(pool: Pool, count: int) -> list[Player]:
    """So many pairs of players, each with one match: the winners share a standing, and so do the losers."""
    table = people(2 * count)
    now = timezone.now()
    entries = [
        won(table[2 * number], table[2 * number + 1], now - timedelta(hours=1, seconds=number), kind="matchmade")
        for number in range(count)
    ]
    complete_matches(pool, entries, now=now)
    return table


def ranks(client: Client, address: str) -> list[str]:
    return [row.split()[0] for row in rows_of(client.get(address), "ranking")]


def test_equal_standings_share_a_rank_over_the_pages(client: Client) -> None:
    pairs(pool_of("fibs"), 60)
    assert ranks(client, "/rankings/fibs/") == ["1"] * 50
    assert ranks(client, "/rankings/fibs/?page=2") == ["1"] * 10 + ["61"] * 40
    assert ranks(client, "/rankings/fibs/?page=3") == ["61"] * 20


@pytest.mark.parametrize("page", ["4", "1000000", "9" * 30])
def test_beyond_the_end_is_the_last_page(page: str, client: Client) -> None:
    pairs(pool_of("fibs"), 60)
    response = client.get(f"/rankings/fibs/?page={page}")
    assert len(rows_of(response, "ranking")) == 20 and "Page 3 of 3" in text_of(response)


@pytest.mark.parametrize("page", ["", "0", "-1", "x", "1.5", "²", "١", "%00", "1&page="])
def test_what_is_no_page_is_the_first(page: str, client: Client) -> None:
    pairs(pool_of("fibs"), 60)
    assert "Page 1 of 3" in text_of(client.get(f"/rankings/fibs/?page={page}"))


def test_a_provisional_rating_is_grey_and_says_so(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete_matches(pool, [won(vera, didrik, timezone.now(), length=49)], now=timezone.now())
    first, _ = rows_of(client.get("/rankings/fibs/"), "ranking")
    assert "(provisional: 49 of 50 experience)" in first
    complete_matches(pool, [won(vera, didrik, timezone.now(), length=1)], now=timezone.now())
    response = client.get("/rankings/fibs/")
    assert "provisional:" not in rows_of(response, "ranking")[0]
    assert "grey and dotted: provisional, below 50 experience" in text_of(response)


def test_the_readers_own_line_is_marked_and_found() -> None:
    table = pairs(pool_of("fibs"), 60)
    loser = login_of(table[-1])
    response = loser.get("/rankings/fibs/")
    assert "Your rank: 61 Jump to me" in text_of(response)
    # Pinned above the page that he is not on.
    [pinned] = re.findall(r'<tbody class="pinned">(.*?)</tbody>', response.content.decode(), flags=re.DOTALL)
    assert text_of(pinned).startswith("61 Player 120 you ")
    [page] = re.findall(r'<a href="/rankings/fibs/\?page=(\d+)#you">', response.content.decode())
    found = loser.get(f"/rankings/fibs/?page={page}")
    assert found.content.decode().count('<tr class="own" id="you">') == 1
    [own] = [row for row in rows_of(found, "ranking") if " you " in row]
    assert own.startswith("61 Player 120 you ")
    assert '<a href="#you">' in found.content.decode() and 'class="pinned"' not in found.content.decode()


def test_a_reader_who_is_not_listed_has_no_rank() -> None:
    table = people(1)
    assert "Your rank" not in text_of(login_of(table[0]).get("/rankings/fibs/"))


def test_tiers_and_the_rating_beside_the_standing(client: Client) -> None:
    table = pairs(pool_of("online-backgammon"), 1)
    winner, loser = rows_of(client.get("/rankings/online-backgammon/"), "ranking")
    assert winner == "1 Player 1 Bronze Bronze 644 644 5 1"
    assert loser == "2 Player 2 Bronze Bronze 600 556 5 1"
    Rating.objects.filter(player=table[0]).update(value=899.6, standing=899.6, rank_points=900)
    assert "Platinum" in rows_of(client.get("/rankings/online-backgammon/"), "ranking")[0]


def test_an_empty_ranking_says_what_fills_it(client: Client) -> None:
    people(3)
    text = text_of(client.get("/rankings/tics/"))
    assert "Nobody is listed in TICS yet: a player is, after his first counted match." in text


def test_the_list_of_pools_is_the_first_pool_and_without_a_pool_a_page_that_says_so(client: Client) -> None:
    assert client.get("/rankings/")["Location"] == "/rankings/fibs/"
    assert client.get("/rankings/none/").status_code == 404
    Pool.objects.all().delete()
    assert "There is no pool yet" in text_of(client.get("/rankings/"))
    assert "There is no pool yet" in text_of(client.get("/lobby/"))
    assert "There is no pool yet" in text_of(client.get("/"))


def test_the_number_of_queries_does_not_grow_with_the_players(client: Client) -> None:
    pool = pool_of("online-backgammon")
    table = pairs(pool, 1)
    reader = login_of(table[0])
    client.get("/rankings/online-backgammon/")
    few = queries_of(client, "/rankings/online-backgammon/"), queries_of(reader, "/rankings/online-backgammon/")
    more = create_players(f"Guest {number}" for number in range(90))
    now = timezone.now()
    complete_matches(
        pool, [won(one, two, now, kind="matchmade") for one, two in zip(more[::2], more[1::2], strict=True)], now=now
    )
    assert (queries_of(client, "/rankings/online-backgammon/"), queries_of(reader, "/rankings/online-backgammon/")) == few
    assert few[1] <= 12


# --- Light and dark ---


def test_the_chosen_colours_are_remembered_by_the_server(client: Client) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "/rankings/fibs/?page=2"})
    assert response["Location"] == "/rankings/fibs/?page=2" and client.cookies["theme"].value == "dark"
    assert '<html lang="en" data-theme="dark">' in client.get("/").content.decode()
    client.post("/theme/", {"theme": "light"})
    assert '<html lang="en" data-theme="light">' in client.get("/").content.decode()
    client.post("/theme/", {"theme": "<b>"})
    assert '<html lang="en">' in client.get("/").content.decode()


@pytest.mark.parametrize(
    "back", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", "\\\\elsewhere.example"]
)
def test_choosing_colours_leads_nowhere_else(back: str, client: Client) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": back})["Location"] == "/"
