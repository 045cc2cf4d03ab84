"""The API's public reads of matches and of the lobby."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from matches.corrections import Correction, correct
from matches.lobby.tables import open_table
from matches.merging import merge
from matches.models import Match
from players.models import Pool, RatingChange
from players.systems.base import Result
from tests.asking import Asker, fields
from tests.building import NOW, Entry, at, complete, people, pool_of, won
from tests.pages import login_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Asker:
    return Asker()


def test_matches_newest_first_page_by_page(api: Asker) -> None:
    pool, players = pool_of("fibs"), people(3)
    made = complete(pool, *(won(players[number % 3], players[(number + 1) % 3], at(number)) for number in range(7)))
    made += complete(pool, won(players[0], players[1], at(3), length=3))
    ids, cursor = [], ""
    while cursor is not None:
        page = api.get(f"matches/?pool=fibs&limit=3&cursor={cursor}")
        ids += [match["id"] for match in page["matches"]]
        cursor = page["next"]
    assert ids == [match.pk for match in sorted(made, key=lambda match: match.order, reverse=True)]


def test_a_match_with_what_it_did(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    [made] = complete(pool, won(one, two, at(0), length=1, kind="table"))
    [match] = api.get("matches/?pool=fibs")["matches"]
    assert (match["id"], match["status"], match["length"], match["kind"]) == (made.pk, "completed", 1, "table")
    assert match["players"][0]["change"] == {"value": 10.0, "shown": "+10.00"}
    assert match["not_counted"] is None and match["external_id"] is None


def test_a_match_that_does_not_count_says_why(api: Asker) -> None:
    pool, (one, two) = pool_of("online-backgammon"), people(2)
    complete(pool, won(one, two, at(0), kind="challenge"))
    [match] = api.get("matches/?pool=online-backgammon")["matches"]
    assert match["not_counted"] == {"code": "kind_not_counted", "detail": "Challenges do not count in this pool."}
    assert match["players"][0]["change"] is None
    german = api.get("matches/?pool=online-backgammon", **{"Accept-Language": "de"})
    assert german["matches"][0]["not_counted"]["detail"] != match["not_counted"]["detail"]


def test_filters(api: Asker) -> None:
    pool, players = pool_of("online-backgammon"), people(3)
    made = complete(
        pool,
        won(players[0], players[1], at(0), kind="matchmade"),
        won(players[1], players[2], at(24), kind="matchmade"),
        won(players[0], players[2], at(48), kind="challenge"),
        won(players[0], players[2], at(72), kind="matchmade"),
    )
    complete(pool_of("fibs"), won(players[0], players[1], at(0)))
    correct(pool, [Correction(made[3], void=True)], reason="x", now=NOW)
    Match.objects.create(pool=pool, length=5)

    def found(query: str) -> list[int]:
        return [
            made.index(next(one for one in made if one.pk == match["id"])) for match in api.get(f"matches/?{query}")["matches"]
        ]

    here = "pool=online-backgammon"
    assert found(here) == [3, 2, 1, 0]
    assert found(f"{here}&player={players[1].pk}") == [1, 0]
    assert found(f"{here}&status=voided") == [3]
    assert found(f"{here}&counted=true") == [1, 0]
    assert found(f"{here}&counted=false") == [3, 2]
    assert found(f"{here}&since=2026-03-02T20:00:00Z&until=2026-03-04") == [2, 1]
    assert len(api.get(f"matches/?player={players[0].pk}")["matches"]) == 4
    assert api.get("matches/?player=987654")["matches"] == []
    merge(people(1)[0], players[0], reason="the same person")
    assert len(api.get(f"matches/?player={players[0].pk}")["matches"]) == 4


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("", {"pool": "narrow"}),
        ("status=voided", {"pool": "narrow"}),
        ("pool=chess", {"pool": "no_pool"}),
        ("pool=fibs&status=open", {"status": "not_in_list"}),
        ("pool=fibs&counted=perhaps", {"counted": "not_yes_or_no"}),
        ("pool=fibs&cursor=WzEsMiwzLDRd", {"cursor": "bad_cursor"}),
        ("external_id=7", {"external_id": "source_needed"}),
    ],
)
def test_what_the_list_refuses(api: Asker, query: str, wrong: dict[str, str]) -> None:
    assert fields(api.get(f"matches/?{query}", 400)) == wrong


def test_the_sheet_as_data(api: Asker) -> None:
    pool, (one, two) = pool_of("crowns-cup"), people(2)
    [made] = complete(pool, won(one, two, at(0), length=None, points=4, stake=Decimal("2.5"), real_money=True, kind="table"))
    page = api.get(f"matches/{made.pk}/")
    column = page["players"][0]
    line = RatingChange.objects.get(match=made, player=one)
    assert column["change"]["value"] == column["terms"][-1]["value"] == line.change
    assert column["terms"][-1]["code"] == "change" and column["terms"][-1]["shown"] == column["change"]["shown"]
    stake = next(term for term in column["terms"] if term["code"] == "money_game_stake")
    assert (stake["value"], stake["unit"], stake["shown"], stake["formula"]) == (10.0, "euros", "€10.00", "€2.50 × 4")
    assert page["stake"] == {"value": 2.5, "shown": "€2.50"}
    assert (page["counted"], page["explained"], page["revisions"]) == (True, True, [])


def test_the_sheet_of_a_game_for_four(api: Asker) -> None:
    [made] = complete(
        pool_of("freewhist"), Entry(players=people(4), result=Result(places=(1, 2, 3, 4), deals=24), ended_at=at(0))
    )
    page = api.get(f"matches/{made.pk}/")
    assert [column["change"]["shown"] for column in page["players"]] == ["+100", "+50", "−50", "−100"]


def test_the_sheet_of_a_revised_match(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    first, second = complete(pool, won(one, two, at(0)), won(one, two, at(1)))
    correct(pool, [Correction(first, void=True)], reason="Annulled by the jury", now=NOW)
    page = api.get(f"matches/{first.pk}/")
    assert (page["status"], page["counted"], page["version"]) == ("voided", False, 2)
    assert page["players"][0]["change"] is None and page["players"][0]["published"]["before"]["value"] == 1500.0
    assert (page["revisions"][0]["kind"], page["revisions"][0]["reason"]) == ("void", "Annulled by the jury")
    other = api.get(f"matches/{second.pk}/")
    assert other["players"][0]["before"]["value"] == 1500.0 and other["players"][0]["published"] is not None
    assert other["revisions"][0]["for_match"] == first.pk
    assert api.get("matches/987654/", 404)["detail"] == "There is no such match."


def test_the_lobby(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0), length=1))
    open_table(pool, one, Result(length=5))
    open_table(pool, two, Result())
    tables = api.get("pools/fibs/lobby/")["tables"]
    assert [(table["host"]["name"], table["rating"]["shown"], table["length"]) for table in tables] == [
        ("Player 1", "1510.00", 5),
        ("Player 2", "1490.00", None),
    ]
    assert api.get("pools/chess/lobby/", 404)["code"] == "not_found"


@pytest.mark.parametrize(("address", "queries"), [("matches/?pool=fibs", 4), ("matches/{match}/", 6), ("pools/fibs/lobby/", 4)])
@pytest.mark.parametrize("matches", [2, 12])
def test_the_number_of_queries_is_fixed(api: Asker, address: str, queries: int, matches: int, settings: Any) -> None:
    settings.REDIS_URL = ""
    pool, players = pool_of("fibs"), people(matches + 1)
    made = complete(pool, *(won(players[number], players[number + 1], at(number)) for number in range(matches)))
    for player in players:
        open_table(pool, player, Result(length=5))
    correct(pool, [Correction(made[0], void=True)], reason="x", now=NOW)
    assert api.queries(address.format(match=made[1].pk)) == queries


def test_stakes_that_a_pool_hides(api: Asker) -> None:
    """The public sees none; who played sees his own."""
    pool, (one, two) = pool_of("crowns-cup"), people(2)
    Pool.objects.filter(pk=pool.pk).update(stakes_shown_to=Pool.Stakes.PLAYERS)
    [made] = complete(pool, won(one, two, at(0), stake=Decimal(31), real_money=True, kind="table"))
    open_table(pool, one, Result(length=5, stake=Decimal(31), real_money=True))
    for address in (f"matches/{made.pk}/", "matches/?pool=crowns-cup", "pools/crowns-cup/lobby/"):
        response = api.send("GET", address)
        assert b'"stake":null,"stake_hidden":true' in response.content and b"stake_factor" not in response.content
    own = Asker(client=login_of(one))
    assert (
        own.get(f"matches/{made.pk}/")["stake"]["value"]
        == own.get("matches/?pool=crowns-cup")["matches"][0]["stake"]["value"]
        == 31
    )
    assert "stake_factor" in [term["code"] for term in own.get(f"matches/{made.pk}/")["players"][0]["terms"]]
    assert own.get("pools/crowns-cup/lobby/")["tables"][0]["stake"]["value"] == 31
