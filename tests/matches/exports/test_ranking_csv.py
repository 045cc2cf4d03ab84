"""The ranking as a file that a reader takes along."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from players.models import Rating
from players.services import create_players
from tests.building import at, complete, people, pool_of, won

pytestmark = pytest.mark.django_db


def rows(client: Client, address: str, **query: Any) -> list[list[str]]:
    response = client.get(address, query)
    assert response.status_code == 200 and response["Content-Type"] == "text/csv; charset=utf-8" and response.streaming
    return list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_every_digit_and_the_true_ranks(client: Client) -> None:
    pool = pool_of("fibs")
    one, two, three, four = people(4)
    complete(pool, won(one, two, at(1), length=7), won(three, four, at(2), length=7), won(one, four, at(3), length=3))
    header, *lines = rows(client, "/rankings/fibs.csv")
    assert header == ["rank", "player", "rating", "standing", "experience", "matches"]
    stored = {rating.player.name: rating for rating in Rating.objects.select_related("player")}
    assert len(lines) == 4
    for line in lines:
        rating = stored[line[1]]
        assert line[2:] == [repr(rating.value), repr(rating.standing), str(rating.experience), str(rating.matches)]
        assert int(line[0]) == 1 + sum(other.rank_points > rating.rank_points for other in stored.values())
    few = rows(client, "/rankings/fibs.csv", experience="8")[1:]
    assert few == [line for line in lines if int(line[4]) >= 8] and 0 < len(few) < 4
    assert [line[1] for line in rows(client, "/rankings/fibs.csv", q="player 2")[1:]] == ["Player 2"]


def test_names_are_no_formulas(client: Client) -> None:
    pool = pool_of("tics")
    table = create_players(["=1+1", "+2", "-3", "@SUM(A1)", '=HYPERLINK("http://x")', "Vera"])
    complete(pool, *(won(table[number], table[number + 1], at(number), length=None) for number in (0, 2, 4)))
    names = {line[1] for line in rows(client, "/rankings/tics.csv")[1:]}
    assert names == {"'=1+1", "'+2", "'-3", "'@SUM(A1)", '\'=HYPERLINK("http://x")', "Vera"}


def test_an_empty_ranking_is_a_header(client: Client) -> None:
    assert rows(client, "/rankings/fibs.csv") == [["rank", "player", "rating", "standing", "experience", "matches"]]


def test_no_pool(client: Client) -> None:
    assert client.get("/rankings/none.csv").status_code == 404
    assert client.post("/rankings/fibs.csv").status_code == 405
