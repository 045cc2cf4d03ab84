"""The list of a player's matches: what a reader can ask of it, and pages that stay what they are."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.test import Client

from matches.completion import Entry
from matches.corrections import Correction, correct
from players.models import Player, Pool
from players.pages.matches import PAGE_SIZE
from players.systems.base import Result
from tests.building import at, complete, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db
ADDRESS = "/players/player-1/matches/"


@pytest.fixture
def played() -> list[Player]:
    """Player 1 in three pools, against three others."""
    players = people(4)
    vera, didrik, inger, _ = players
    fibs, crowns, whist = pool_of("fibs"), pool_of("crowns-cup"), pool_of("freewhist")
    complete(fibs, won(vera, didrik, at(1), length=5), won(didrik, vera, at(2), length=7), won(vera, inger, at(3), length=None))
    money = {"stake": Decimal(5), "real_money": True, "kind": "table"}
    broken = Entry(players=(vera, didrik), result=Result(chance=0.6, length=7, **money), ended_at=at(4))
    complete(crowns, broken, won(inger, vera, at(5), length=3, **money | {"kind": "tournament"}))
    complete(whist, Entry(players=players, result=Result(places=(1, 2, 3, 4), deals=16), ended_at=at(6)))
    return players


def listed(client: Client, **asked: object) -> list[str]:
    return rows_of(client.get(f"{ADDRESS}?{urlencode(asked)}"), "changes")


def test_all_matches_of_all_pools_the_newest_first(played: list[Player], client: Client) -> None:
    lines = listed(client)
    pools = [next(name for name in ("FIBS", "Crowns Cup", "FreeWhist") if name in line) for line in lines]
    assert pools == ["FreeWhist", "Crowns Cup", "Crowns Cup", "FIBS", "FIBS", "FIBS"]
    text = text_of(client.get(ADDRESS))
    assert "6 matches" in text and "1 won, 1 lost · 4 counted" in text


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"pool": "fibs"}, 3),
        ({"pool": "tics"}, 0),
        ({"opponent": "player 2"}, 4),
        ({"opponent": "PLAYER"}, 6),
        ({"opponent": "player \u3000 2"}, 4),
        ({"opponent": "Player 1"}, 0),
        ({"opponent": "%"}, 0),
        ({"opponent": "_"}, 0),
        ({"result": "won"}, 2),
        ({"result": "lost"}, 2),
        ({"result": "drawn"}, 0),
        ({"result": "broken"}, 1),
        ({"result": "place1"}, 1),
        ({"result": "place2"}, 0),
        ({"length": 7}, 2),
        ({"length": 16}, 1),
        ({"counted": "yes"}, 4),
        ({"counted": "no"}, 2),
        ({"counted": "voided"}, 0),
        ({"since": "2026-03-02"}, 3),
        ({"until": "2026-03-01"}, 3),
        ({"since": "2026-03-01", "until": "2026-03-01", "pool": "fibs", "result": "won", "opponent": "Player 3"}, 1),
    ],
)
def test_what_can_be_asked(asked: dict[str, object], found: int, played: list[Player], client: Client) -> None:
    # The first evening begins at 20:00: the last three matches ended on the second day.
    assert len(listed(client, **asked)) == found


def test_a_voided_match_is_found_as_such(played: list[Player], client: Client) -> None:
    match = played[0].participations.filter(match__pool=pool_of("fibs")).earliest("match__ended_at").match
    correct(match.pool, [Correction(match, void=True)], reason="Annulled")
    [line] = listed(client, counted="voided")
    assert "Voided: it does not count." in line
    assert len(listed(client, counted="yes")) == 3


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"pool": "nowhere"}, "Select a valid choice"),
        ({"result": "maybe"}, "Select a valid choice"),
        ({"counted": "x"}, "Select a valid choice"),
        ({"length": 0}, "greater than or equal to 1"),
        ({"length": "9" * 5000}, "Enter a whole number"),
        ({"length": "1e400"}, "Enter a whole number"),
        ({"length": 10**9}, "less than or equal to"),
        ({"since": "yesterday"}, "A date such as 2026-11-29."),
        ({"since": "0001-01-01"}, "A date from 1900 to 2199."),
        ({"until": "9999-12-31"}, "A date from 1900 to 2199."),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "The period ends before it begins."),
        ({"opponent": "a\0b"}, "Null characters are not allowed"),
        ({"opponent": "x" * 81}, "at most 80 characters"),
        ({"older": "x"}, "The place in the list is the number of a match."),
        ({"newer": 2**63}, "The place in the list is the number of a match."),
    ],
)
def test_what_cannot_be_asked_is_said(asked: dict[str, object], words: str, played: list[Player], client: Client) -> None:
    response = client.get(f"{ADDRESS}?{urlencode(asked)}")
    assert response.status_code == 400 and words in text_of(response) and not rows_of(response, "changes")


def test_a_place_that_is_no_match_is_not_found(played: list[Player], client: Client) -> None:
    assert client.get(f"{ADDRESS}?older=999999").status_code == 404
    assert client.get(f"{ADDRESS}?newer={2**63 - 1}").status_code == 404


def long_list() -> tuple[Pool, Player, Player]:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    # Several end at the same instant, and some are known by their date alone.
    dated = [won(vera, didrik, datetime(2026, 3, 4, tzinfo=UTC), timed=False, sequence=n, length=1) for n in (2, 1, 3)]
    complete(pool, *(won(vera, didrik, at(n // 3), length=1) for n in range(2 * PAGE_SIZE + 4)), *dated)
    return pool, vera, didrik


def matches_in(client: Client, address: str) -> list[str]:
    return re.findall(r'<th scope="row">\s*<a href="(/matches/\d+/)">', client.get(address).content.decode())


def link(client: Client, address: str, rel: str) -> str:
    found = re.search(rf'<a rel="{rel}" href="([^"#]+)#matches"', client.get(address).content.decode())
    return found[1].replace("&amp;", "&") if found else ""


def test_the_pages_give_every_match_once_there_and_back(client: Client) -> None:
    _pool, vera, _ = long_list()
    pages, address = [], ADDRESS
    while address:
        pages.append((address, matches_in(client, address)))
        address = link(client, address, "next")
    everything = [match for _, matches in pages for match in matches]
    order = vera.matches.order_by("-ended_at", "-timed", "-sequence", "-pk")
    assert everything == [match.get_absolute_url() for match in order] and len(pages) == 3
    back = link(client, pages[-1][0], "prev")
    assert matches_in(client, back) == pages[1][1]
    first = link(client, back, "prev")
    assert matches_in(client, first) == pages[0][1] and not link(client, first, "prev")


def test_a_page_stays_what_it_is_when_a_match_comes_in(client: Client) -> None:
    pool, vera, didrik = long_list()
    second = link(client, ADDRESS, "next")
    before = matches_in(client, second)
    complete(pool, won(vera, didrik, at(500)))
    assert matches_in(client, second) == before


def test_what_is_asked_for_stays_from_page_to_page(client: Client) -> None:
    long_list()
    second = link(client, f"{ADDRESS}?pool=fibs&length=1", "next")
    assert "pool=fibs" in second and "length=1" in second


def test_days_are_the_readers(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    late, dated = datetime(2026, 3, 1, 23, 30, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    complete(pool, won(vera, didrik, late), won(vera, didrik, dated, timed=False))
    reader = login_of(vera, time_zone="Pacific/Auckland")
    for asked, found in (("since=2026-03-02", 1), ("until=2026-03-01", 1), ("since=2026-03-01&until=2026-03-02", 2)):
        assert len(rows_of(reader.get(f"/cashier/matches/?{asked}"), "changes")) == found
    assert len(listed(client, until="2026-03-01")) == 2


def test_stakes_that_are_not_for_everybody_are_not_in_the_list(played: list[Player], client: Client) -> None:
    assert "€5.00" in " ".join(listed(client))
    Pool.objects.filter(slug="crowns-cup").update(stakes_shown_to=Pool.Stakes.PLAYERS)
    assert "€" not in " ".join(listed(client))
    assert "€5.00" in text_of(login_of(played[0]).get("/cashier/matches/"))


def test_nobody_else_can_be_asked_for_at_the_cashier(played: list[Player]) -> None:
    page = login_of(played[3]).get(f"/cashier/matches/?player={played[0].pk}&slug={played[0].slug}")
    assert len(rows_of(page, "changes")) == 1


def test_an_empty_list_says_what_to_do(client: Client) -> None:
    people(1)
    assert "No match yet." in text_of(client.get(ADDRESS))
    assert "No match is like that. All matches" in text_of(client.get(f"{ADDRESS}?result=won"))


@pytest.mark.parametrize("query", ["", "?pool=fibs&opponent=player&result=won&length=1&counted=yes&since=2026-01-01"])
def test_the_number_of_queries_is_fixed(query: str, client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete(pool, won(vera, didrik, at(0), length=1))
    reader = login_of(vera)
    few = queries_of(client, ADDRESS + query), queries_of(reader, f"/cashier/matches/{query}")
    complete(pool, *(won(vera, didrik, at(n), length=1) for n in range(1, PAGE_SIZE + 10)))
    assert (queries_of(client, ADDRESS + query), queries_of(reader, f"/cashier/matches/{query}")) == few
    second = link(client, ADDRESS + query, "next")
    assert queries_of(client, second) == few[0] + 1  # where the page goes on
    assert max(few) + 1 <= 12
