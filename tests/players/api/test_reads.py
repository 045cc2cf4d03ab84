"""The API's public reads of pools, players, ratings and rankings."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from matches.corrections import Correction, correct
from matches.merging import merge
from matches.models import Match
from players.api.cursors import encode
from players.models import Rating
from players.services import create_player, rename_player
from tests.asking import Asker, fields
from tests.building import NOW, at, complete, history, people, pool_of, won
from tests.pages import login_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Asker:
    return Asker()


def test_pools(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0)))
    pools = api.get("pools/")["pools"]
    assert [(line["slug"], line["players"]) for line in pools] == [
        ("fibs", 2),
        ("crowns-cup", 0),
        ("online-backgammon", 0),
        ("freewhist", 0),
        ("tics", 0),
    ]
    assert pools[1]["system_name"] == "Crowns Cup backgammon"


def test_a_pool_says_what_a_result_says_there(api: Asker) -> None:
    page = api.get("pools/online-backgammon/")
    assert page["needed_fields"] == ["kind"]
    assert page["start"] == {"value": 600.0, "shown": "600"}
    assert page["tiers"][0] == {"name": "Bronze", "from": {"value": 600.0, "shown": "600"}, "decays": False}
    assert page["parameters"]["factor"] == 8
    assert api.get("pools/crowns-cup/")["result_fields"] == [
        "chance",
        "kind",
        "length",
        "points",
        "real_money",
        "scores",
        "stake",
    ]
    assert api.get("pools/chess/", 404)["code"] == "not_found"


def test_a_rating_has_every_digit_and_what_is_shown(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0), length=7))
    page = api.get(f"players/{one.pk}/ratings/fibs/")
    stored = Rating.objects.get(player=one)
    assert page["rating"] == {"value": stored.value, "shown": "1526.46"}
    assert (page["rank"], page["of"], page["better_than"], page["experience"], page["provisional"]) == (1, 2, 0.5, 7, True)
    assert page["record"] == {"won": 1, "drawn": 0, "lost": 0, "broken_off": 0, "places": []}
    german = api.get(f"players/{one.pk}/ratings/fibs/", **{"Accept-Language": "de-AT,de;q=0.9"})
    assert german["rating"]["shown"] == "1526,46"
    unplayed = api.get(f"players/{one.pk}/ratings/tics/")
    assert (unplayed["rank"], unplayed["rating"]["value"], unplayed["last"]) == (None, 1500.0, {"ended_at": None, "date": None})
    assert [line["pool"] for line in api.get(f"players/{one.pk}/")["ratings"]] == ["fibs"]


def test_players_by_name_page_by_page(api: Asker) -> None:
    people(7)
    names, cursor = [], ""
    while cursor is not None:
        page = api.get(f"players/?limit=3&cursor={cursor}")
        names += [one["name"] for one in page["players"]]
        cursor = page["next"]
    assert names == [f"Player {number}" for number in range(1, 8)]
    assert [one["name"] for one in api.get("players/?search=YER 3")["players"]] == ["Player 3"]
    assert api.get("players/?search=nobody") == {"players": [], "next": None}


def test_a_renamed_and_a_merged_player(api: Asker) -> None:
    one, two = people(2)
    rename_player(one, "Vera")
    assert api.get(f"players/{one.pk}/")["name"] == "Vera"
    merge(one, two, reason="the same person")
    assert api.get(f"players/{two.pk}/")["id"] == one.pk
    assert [line["name"] for line in api.get("players/")["players"]] == ["Vera"]
    assert api.get("players/987654/", 404)["detail"] == "There is no such player."


def test_a_history_page_by_page_and_since(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, *(won(one, two, at(number), length=number + 1) for number in range(7)))
    address = f"players/{one.pk}/ratings/fibs/history/"
    lines, cursor = [], ""
    while cursor is not None:
        page = api.get(f"{address}?limit=3&cursor={cursor}")
        lines += page["changes"]
        cursor = page["next"]
    stored = history(one, pool)
    assert [line["match"] for line in lines] == [line.match_id for line in stored]
    assert [line["change"]["value"] for line in lines] == [line.change for line in stored]
    assert lines[0]["ended_at"] == "2026-03-01T20:00:00Z" and lines[0]["change"]["shown"] == "+10.00"
    assert len(api.get(f"{address}?since=2026-03-01T23:00:00Z")["changes"]) == 4
    assert len(api.get(f"{address}?since=2026-03-02")["changes"]) == 3
    assert len(api.get(f"{address}?since=2026-03-02T00:00:00%2B01:00")["changes"]) == 4


def test_a_match_known_by_its_date(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0), timed=False))
    [line] = api.get(f"players/{one.pk}/ratings/fibs/history/")["changes"]
    assert (line["ended_at"], line["date"]) == (None, "2026-03-01")


def test_rankings_by_page_and_around_a_player(api: Asker) -> None:
    pool, players = pool_of("fibs"), people(9)
    complete(pool, *(won(players[number], players[number + 1], at(number), length=number + 1) for number in range(8)))
    whole = api.get("pools/fibs/rankings/")
    assert (whole["listed"], whole["page"], whole["pages"]) == (9, 1, 1)
    assert [line["rank"] for line in whole["lines"]] == list(range(1, 10))
    last = api.get("pools/fibs/rankings/?limit=4&page=9")
    assert (last["page"], last["pages"], last["lines"]) == (3, 3, whole["lines"][8:])
    middle = whole["lines"][4]["player"]["id"]
    around = api.get(f"pools/fibs/rankings/?around={middle}&each=2")
    assert (around["start"], around["page"], around["lines"]) == (2, None, whole["lines"][2:7])
    newcomer = create_player("Newcomer")
    assert "no counted match" in api.get(f"pools/fibs/rankings/?around={newcomer.pk}", 404)["detail"]


def test_a_prediction(api: Asker) -> None:
    """The figures of RULES.md: 1650 against 1500 to 5 points at a stake of 10, both established."""
    pool, (one, two) = pool_of("crowns-cup"), people(2)
    body = {"players": [{"rating": 1650, "experience": 400}, {"rating": 1500, "experience": 400}], "length": 5, "stake": 10}
    outcomes = api.post("pools/crowns-cup/simulate/", body)["outcomes"]
    assert [[change["shown"] for change in outcome["changes"]] for outcome in outcomes] == [
        ["+3.77", "−3.77"],
        ["−5.55", "+5.55"],
    ]
    found = api.get(f"pools/{pool.slug}/prediction/?a={one.pk}&b={two.pk}&length=1&stake=9")
    assert [seat["expected"] for seat in found["players"]] == [0.5, 0.5]
    assert found["outcomes"][0]["changes"][0] == {"value": 10.0, "shown": "+10.00"}
    assert found["players"][0]["player"]["name"] == "Player 1"


def test_all_five_systems_are_simulated(api: Asker) -> None:
    two = [{"rating": 1500, "experience": 50}, {"rating": 1500}]
    for pool, terms in (
        ("fibs", {"length": 5}),
        ("crowns-cup", {"points": 4, "stake": 2.5}),
        ("online-backgammon", {"length": 7}),
        ("tics", {}),
    ):
        assert api.post(f"pools/{pool}/simulate/", {"players": two, **terms})["places"] == []
    four = [{"rating": rating} for rating in (1100, 1500, 1500, 1500)]
    found = api.post("pools/freewhist/simulate/", {"players": four, "deals": 24})
    assert [round(100 * place["chance"]) for place in found["places"][0]] == [3, 15, 31, 51]
    assert found["outcomes"] == [] and round(found["players"][0]["expected"], 2) == 0.22
    broken = api.post("pools/crowns-cup/simulate/", {"players": two, "length": 5, "stake": 10, "chance": 0.7})
    assert len(broken["outcomes"]) == 1 and broken["outcomes"][0]["scores"][0] == 0.7


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {"players": "needed"}),
        ([], {"body": "not_an_object"}),
        ({"players": []}, {"players": "no_list_length"}),
        ({"players": {"rating": 1}}, {"players": "not_a_list"}),
        ({"players": [{"rating": 1500}, {}], "length": 5}, {"players[1].rating": "needed"}),
        ({"players": [{"rating": "1500"}, 7], "length": 5}, {"players[0].rating": "not_a_number", "players[1]": "not_an_object"}),
        ({"players": [{"rating": 1e300}, {"rating": 1}], "length": 5}, {"rating": "out_of_range"}),
        ({"players": [{"rating": 10**400}, {"rating": 1}], "length": 5}, {"rating": "out_of_range"}),
        ({"players": [{"rating": 1}] * 2, "length": 0}, {"length": "out_of_range"}),
        ({"players": [{"rating": 1}] * 2, "length": 5.5}, {"length": "not_whole"}),
        ({"players": [{"rating": 1}] * 2, "length": True}, {"length": "not_whole"}),
        ({"players": [{"rating": 1}] * 2}, {"length": "needed"}),
        ({"players": [{"rating": 1}] * 3, "length": 5}, {"players": "wrong_number"}),
        ({"players": [{"rating": 1}] * 2, "length": 5, "stake": 10}, {"stake": "not_used"}),
        ({"players": [{"rating": 1, "name": "x"}] * 2, "size": 5}, None),
    ],
)
def test_what_a_simulation_refuses(api: Asker, body: Any, wrong: dict[str, str] | None) -> None:
    answer = api.post("pools/fibs/simulate/", body, 400)
    assert answer["code"] == "invalid" and answer["detail"] == answer["fields"][0]["detail"]
    if wrong is not None:
        assert fields(answer) == wrong


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("players/?sarch=x", {"sarch": "unknown_field"}),
        ("players/?limit=5&limit=6", {"limit": "given_twice"}),
        ("players/?limit=0", {"limit": "out_of_range"}),
        ("players/?limit=" + "9" * 5000, {"limit": "not_whole"}),
        ("players/?limit=%D9%A3", {"limit": "not_whole"}),
        ("players/?search=%00", {"search": "no_text"}),
        ("players/?search=" + "x" * 81, {"search": "too_long"}),
        ("players/?cursor=xx", {"cursor": "bad_cursor"}),
        ("players/?cursor=WyJcdTAwMDAiXQ", {"cursor": "bad_cursor"}),
        ("players/?cursor=W1tbW1tb", {"cursor": "bad_cursor"}),
        *(
            (f"players/1/ratings/fibs/history/?cursor={encode([instant, True, 0, 1])}", {"cursor": "bad_cursor"})
            for instant in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-03-01T20:00:00")
        ),
        ("players/1/ratings/fibs/history/?since=yesterday", {"since": "not_an_instant"}),
        ("players/1/ratings/fibs/history/?since=2026-02-30", {"since": "not_a_date"}),
        ("players/1/ratings/fibs/history/?since=2026-02-03T10:00", {"since": "not_an_instant"}),
        ("players/1/ratings/fibs/history/?since=0001-01-01T00:00:00%2B14:00", {"since": "not_an_instant"}),
        ("pools/fibs/rankings/?page=0", {"page": "out_of_range"}),
        ("pools/fibs/rankings/?around=9223372036854775808", {"around": "out_of_range"}),
        ("pools/fibs/prediction/?a=1", {"b": "needed"}),
        ("pools/fibs/prediction/?a=1&b=2&length=5", {"a": "no_player"}),
        ("pools/fibs/prediction/?a=1&b=2&chance=nan", {"chance": "not_a_number"}),
        ("pools/fibs/prediction/?a=1&b=2&stake=1e999999999", {"stake": "not_an_amount"}),
    ],
)
def test_what_reads_refuse(api: Asker, address: str, wrong: dict[str, str]) -> None:
    assert fields(api.get(address, 400)) == wrong


def test_a_player_against_himself_is_not_predicted(api: Asker) -> None:
    one, _two = people(2)
    assert fields(api.get(f"pools/fibs/prediction/?a={one.pk}&b={one.pk}&length=5", 400)) == {"b": "same_player"}


@pytest.mark.parametrize(
    ("address", "queries"),
    [
        ("pools/", 3),
        ("pools/fibs/", 3),
        ("pools/fibs/rankings/", 5),
        ("pools/fibs/rankings/?around={one}", 8),
        ("pools/fibs/prediction/?a={one}&b={two}&length=5", 5),
        ("players/", 1),
        ("players/{one}/", 4),
        ("players/{one}/ratings/fibs/", 6),
        ("players/{one}/ratings/fibs/history/", 4),
    ],
)
@pytest.mark.parametrize("matches", [2, 12])
def test_the_number_of_queries_is_fixed(api: Asker, address: str, queries: int, matches: int, settings: Any) -> None:
    settings.REDIS_URL = ""
    pool, players = pool_of("fibs"), people(matches + 1)
    complete(pool, *(won(players[number], players[number + 1], at(number)) for number in range(matches)))
    correct(pool, [Correction(Match.objects.earliest("pk"), void=True)], reason="x", now=NOW)
    assert api.queries(address.format(one=players[1].pk, two=players[2].pk)) == queries


def test_nothing_private_is_said(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0)))
    client = login_of(one, language="de", time_zone="Asia/Tokyo")
    one.user.email = "one@example.org"
    one.user.save()
    for address in ("players/", f"players/{one.pk}/", f"players/{one.pk}/ratings/fibs/", "pools/fibs/rankings/"):
        text = str(Asker(client=client).get(address))
        for secret in ("example.org", "login-", "Tokyo"):
            assert secret not in text


# --- What all answers have in common ---


def test_what_has_not_changed_is_not_sent_again(api: Asker) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, at(0)))
    first = api.send("GET", "pools/fibs/rankings/")
    assert first["Cache-Control"] == "public, max-age=10" and {"Accept-Language", "Authorization"} <= set(
        first["Vary"].split(", ")
    )
    again = api.send("GET", "pools/fibs/rankings/", **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert again["Cache-Control"] == first["Cache-Control"]
    complete(pool, won(one, two, at(1)))
    assert api.send("GET", "pools/fibs/rankings/", **{"If-None-Match": first["ETag"]}).status_code == 200


def test_what_a_login_reads_is_kept_by_no_cache_between() -> None:
    [one] = people(1)
    assert "private" in Asker(client=login_of(one)).send("GET", "pools/")["Cache-Control"]


def test_errors_are_not_kept(api: Asker) -> None:
    assert api.send("GET", "pools/chess/")["Cache-Control"] == "no-store"


def test_the_language_is_that_of_the_header_alone(api: Asker) -> None:
    api.client.cookies["django_language"] = "de"
    response = api.send("GET", "pools/")
    assert response["Content-Language"] == "en"
    assert api.send("GET", "pools/", **{"Accept-Language": "xx, da;q=0.5"})["Content-Language"] == "da"
    assert api.send("GET", "pools/", **{"Accept-Language": "\xff;;q=9" * 50})["Content-Language"] == "en"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "no JSON"),
        (b'{"length": NaN}', "NaN is no number"),
        (b'{"length": -Infinity}', "-Infinity is no number"),
        (b'{"length": 1, "length": 2}', "a name stands twice"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"x": "\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 10_000, "no JSON"),
    ],
)
def test_malformed_bodies(api: Asker, raw: bytes, says: str) -> None:
    response = api.send("POST", "pools/fibs/simulate/", raw=raw)
    assert (response.status_code, response.json()["code"]) == (400, "malformed")
    assert says in response.json()["detail"]


def test_bodies_of_another_kind_and_size(api: Asker) -> None:
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/json5", ""):
        response = api.send("POST", "pools/fibs/simulate/", raw=b"{}", content_type=kind)
        assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")
    response = api.send("POST", "pools/fibs/simulate/", raw=b" " * (2 * 2**20 + 1))
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert api.send("POST", "pools/fibs/simulate/", raw=b"{}", content_type="application/json; charset=utf-8").status_code == 400


def test_other_methods_and_addresses() -> None:
    client = Client()
    response = client.delete("/api/v1/pools/")
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in response["Allow"]
    for address in ("/api/v1/", "/api/v1/nothing/", "/api/v1/players/0/", "/api/v1/players/" + "9" * 40 + "/", "/api/v1/a%0Ab"):
        response = client.get(address)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_too_many_requests(api: Asker, settings: Any) -> None:
    settings.API_RATES = {**settings.API_RATES, "compute": 2}
    body = {"players": [{"rating": 1500}, {"rating": 1500}], "length": 5}
    statuses = [api.send("POST", "pools/fibs/simulate/", body, **{"X-Forwarded-For": f"10.0.0.{n}"}) for n in range(6)]
    assert [response.status_code for response in statuses].count(429) in (2, 4)  # two where the minute ended in between
    held = statuses[-1] if statuses[-1].status_code == 429 else statuses[3]
    assert held.status_code != 429 or 1 <= int(held["Retry-After"]) <= 60
    assert api.send("GET", "pools/").status_code == 200


def test_without_a_cache_nobody_is_held_up(api: Asker, settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    assert api.send("GET", "pools/").status_code == 200


def test_options_tell_what_may_be_asked(client: Client) -> None:
    for path, allowed in (("pools/", "GET, HEAD, OPTIONS"), ("matches/", "GET, POST, HEAD, OPTIONS")):
        answer = client.options(f"/api/v1/{path}")
        assert (answer.status_code, answer["Allow"], answer.content) == (204, allowed, b"")
