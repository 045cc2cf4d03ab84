"""Results from game servers: every form of the five systems, whom they mean, and that the same request has one effect."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches.api.published import results_of
from matches.completion import complete_matches
from matches.corrections import Correction, correct
from matches.entries import entry_of
from matches.merging import merge
from matches.models import Match
from matches.verify import verify
from players.api.actors import Actor
from players.api.models import ApiKey, ExternalPlayer
from players.models import Player, Pool, RatingChange
from players.services import create_player
from tests.asking import Asker, fields
from tests.building import NOW, at, people, pool_of, won
from tests.pages import login_of
from tests.serving import key_of, posted, result, server

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("pool", "sent", "changes"),
    [
        ("fibs", {"length": 1}, ["+10.00", "−10.00"]),
        ("crowns-cup", {"length": 1, "stake": 9, "real_money": True, "kind": "table"}, ["+10.00", "−10.00"]),
        ("crowns-cup", {"length": None, "points": 3, "stake": 3, "real_money": True, "kind": "table"}, ["+10.00", "−10.00"]),
        (
            "crowns-cup",
            {"scores": None, "chance": 0.75, "length": 1, "stake": 9.0, "real_money": True, "kind": "matchmade"},
            ["+5.00", "−5.00"],
        ),
        ("online-backgammon", {"length": 5, "kind": "matchmade"}, ["+44", "−44"]),
        ("tics", {"scores": [0.5, 0.5], "length": None}, ["0", "0"]),
        ("tics", {"scores": [0, 1], "length": None, "kind": "rematch"}, ["−25", "+25"]),
    ],
)
def test_every_form_of_a_result(pool: str, sent: dict[str, Any], changes: list[str]) -> None:
    answer = server(pool).post("matches/", posted(pool=pool, **sent), 201)
    assert [line["change"]["shown"] for line in answer["players"]] == changes
    assert answer["counted"] and answer["not_counted"] is None and answer["status"] == "completed"
    line = RatingChange.objects.get(match=answer["match"], player__name="Vera")
    values = [answer["players"][0][name]["value"] for name in ("before", "change", "after")]
    assert values == [line.before, line.change, line.after]


def test_four_at_a_table() -> None:
    sent = posted("7", "A", "B", "C", "D", pool="freewhist", scores=None, length=None, places=[2, 1, 2, 4], deals=24)
    answer = server("freewhist").post("matches/", sent, 201)
    assert [line["change"]["shown"] for line in answer["players"]] == ["0", "+100", "0", "−100"]


def test_a_match_that_does_not_count_says_why() -> None:
    answer = server("online-backgammon").post("matches/", posted(pool="online-backgammon", kind="challenge"), 201)
    assert answer["not_counted"] == {"code": "kind_not_counted", "detail": "Challenges do not count in this pool."}
    assert not answer["counted"] and answer["players"][0]["before"] is None and answer["players"][0]["revised"] is None


def test_a_match_known_by_its_date() -> None:
    answer = server().post("matches/", posted(ended_at=None, date="2026-03-01", sequence=7), 201)
    assert (answer["ended_at"], answer["date"]) == (None, "2026-03-01")
    assert Match.objects.get().sequence == 7 and not Match.objects.get().timed


def test_the_source_is_the_keys() -> None:
    server(source="Galaxy").post("matches/", posted(), 201)
    match = Match.objects.get()
    assert (match.source, match.external_id) == ("Galaxy", "1")
    assert match.entered_by == ApiKey.objects.get().login and not match.entered_by.is_active
    assert fields(server().post("matches/", posted(source="Galaxy"), 400)) == {"source": "unknown_field"}


# --- Whom a server means ---


def test_players_by_id_name_and_the_servers_own_id() -> None:
    api, (one, two) = server(may_create_players=False), people(2)
    ExternalPlayer.objects.create(source="server", external_id="u2", player=two)
    sent = posted(players=[{"id": one.pk}, {"external_id": "u2"}])
    assert [line["player"]["id"] for line in api.post("matches/", sent, 201)["players"]] == [one.pk, two.pk]
    sent = posted("2", players=[{"name": "  player  2 "}, {"name": "PLAYER 1"}])
    assert [line["player"]["id"] for line in api.post("matches/", sent, 201)["players"]] == [two.pk, one.pk]


def test_another_sources_ids_are_not_ours() -> None:
    [one] = people(1)
    ExternalPlayer.objects.create(source="other", external_id="u1", player=one)
    sent = posted(players=[{"external_id": "u1"}, {"name": "Vera"}])
    assert fields(server().post("matches/", sent, 400)) == {"players[0]": "name_for_new"}


def test_players_are_created_where_the_key_may() -> None:
    create_player("Vera")
    api = server()
    sent = posted(players=[{"external_id": "u1", "name": "Vera"}, {"external_id": "u2", "name": "Didrik"}])
    names = [line["player"]["name"] for line in api.post("matches/", sent, 201)["players"]]
    assert names == ["Vera (2)", "Didrik"], "the server's own id says that she is somebody else"
    sent = posted("2", players=[{"external_id": "u1", "name": "Renamed there"}, {"name": "Vera"}])
    names = [line["player"]["name"] for line in api.post("matches/", sent, 201)["players"]]
    assert names == ["Vera (2)", "Vera"]
    assert Player.objects.count() == 3


def test_players_are_not_created_where_the_key_may_not() -> None:
    answer = server(may_create_players=False).post("matches/", posted(), 400)
    assert fields(answer) == {"players[0]": "not_created"} and "Vera" in answer["detail"]
    assert not Player.objects.exists() and not Match.objects.exists()


def test_nobody_is_created_by_a_result_that_is_refused() -> None:
    api = server()
    assert fields(api.post("matches/", posted(length=0), 400)) == {"length": "out_of_range"}
    assert fields(api.post("matches/", posted(kind="duel"), 400)) == {"kind": "unknown"}
    assert not Player.objects.exists() and not ExternalPlayer.objects.exists()


def test_a_merged_player_is_who_he_is() -> None:
    api, (one, two) = server(), people(2)
    sent = posted(players=[{"id": two.pk}, {"name": "Vera"}])
    first = api.post("matches/", sent, 201)
    merge(one, two, reason="the same person")
    again = api.post("matches/", sent, 201)
    assert again["match"] == first["match"] and again["players"][0]["player"]["id"] == one.pk
    assert again["players"][0]["change"] == first["players"][0]["change"]


# --- The same again ---


def test_the_same_request_again_gets_the_same_answer() -> None:
    api, sent = server(), posted(players=[{"external_id": "u1", "name": "Vera"}, {"name": "Didrik"}])
    first = api.send("POST", "matches/", sent)
    assert first.status_code == 201
    again = [api.send("POST", "matches/", sent) for _ in range(3)]
    assert {(one.status_code, one.content) for one in again} == {(201, first.content)}
    assert Match.objects.count() == 1 and Player.objects.count() == 2


def test_another_result_under_the_same_id_is_a_conflict() -> None:
    api = server()
    first = api.post("matches/", posted(), 201)
    answer = api.post("matches/", posted(length=7, scores=[0, 1], ended_at="2026-03-02T20:00:00+01:00"), 409)
    assert (answer["code"], answer["match"]) == ("conflict", first["match"])
    assert {one["field"]: (one["stored"], one["sent"]) for one in answer["fields"]} == {
        "length": (5, 7),
        "scores": ([1.0, 0.0], [0.0, 1.0]),
        "ended_at": ("2026-03-01T20:00:00+00:00", "2026-03-02T19:00:00+00:00"),
    }
    assert "Match length" in answer["detail"]
    assert fields(api.post("matches/", posted("1", "Didrik", "Vera"), 409)) == {"players": "stored_differs"}
    assert fields(api.post("matches/", posted(pool="tics", length=None), 403)) == {}
    assert Match.objects.count() == 1


def test_another_source_has_ids_of_its_own() -> None:
    first = server().post("matches/", posted(), 201)
    second = server(source="other").post("matches/", posted(length=7, ended_at="2026-03-02T20:00:00Z"), 201)
    assert first["match"] != second["match"]


def test_the_same_again_after_a_correction() -> None:
    """What was first published, and what it is by now; not a conflict with the match as it was corrected."""
    api, pool = server(), pool_of("fibs")
    first = api.post("matches/", posted(), 201)
    later = api.post("matches/", posted("2", length=3, ended_at="2026-03-01T21:00:00Z"), 201)
    match = Match.objects.get(pk=first["match"])
    entry = entry_of(match, list(match.participants.select_related("player")))
    correct(pool, [Correction(match, entry=replace(entry, result=replace(entry.result, length=9)))], reason="x", now=NOW)
    again = api.post("matches/", posted(), 201)
    for line, was in zip(again["players"], first["players"], strict=True):
        assert {name: line[name] for name in ("before", "change", "after")} == {
            name: was[name] for name in ("before", "change", "after")
        }
        stored = RatingChange.objects.get(match=match, player=line["player"]["id"])
        assert line["revised"]["change"]["value"] == stored.change != was["change"]["value"]
    moved = api.post("matches/", posted("2", length=3, ended_at="2026-03-01T21:00:00Z"), 201)
    assert moved["players"][0]["before"] == later["players"][0]["before"] != moved["players"][0]["revised"]["before"]
    assert fields(api.post("matches/", posted(length=7), 409)) == {"length": "stored_differs"}
    assert api.post("matches/", posted(length=9), 201)["match"] == first["match"], "what is stored is no conflict either"


def test_the_same_again_after_a_void() -> None:
    api = server()
    first = api.post("matches/", posted(), 201)
    correct(pool_of("fibs"), [Correction(Match.objects.get(), void=True)], reason="x", now=NOW)
    again = api.post("matches/", posted(), 201)
    assert (again["status"], again["counted"]) == ("voided", False)
    assert again["players"][0]["change"] == first["players"][0]["change"]
    assert again["players"][0]["revised"] == dict.fromkeys(("before", "change", "after", "experience_before", "experience_after"))


def test_the_same_again_where_it_counts_only_since_a_correction() -> None:
    api, pool = server("online-backgammon"), pool_of("online-backgammon")
    sent = posted(pool=pool.slug, kind="challenge")
    first = api.post("matches/", sent, 201)
    match = Match.objects.get()
    entry = entry_of(match, list(match.participants.select_related("player")))
    correct(pool, [Correction(match, entry=replace(entry, result=replace(entry.result, kind="matchmade")))], reason="x", now=NOW)
    again = api.post("matches/", sent, 201)
    assert again["counted"] and again["players"][0]["before"] is None is first["players"][0]["before"]
    assert again["players"][0]["revised"]["before"]["value"] == 600


def test_the_same_again_where_a_player_was_corrected() -> None:
    api, pool = server(), pool_of("fibs")
    api.post("matches/", posted(), 201)
    inger = create_player("Inger")
    match = Match.objects.get()
    entry = entry_of(match, list(match.participants.select_related("player")))
    correct(pool, [Correction(match, entry=replace(entry, players=[entry.players[0], inger]))], reason="x", now=NOW)
    again = api.post("matches/", posted(), 201)
    assert [line["player"]["name"] for line in again["players"]] == ["Vera", "Inger", "Didrik"]
    assert again["players"][2]["change"] is not None and again["players"][2]["revised"]["change"] is None


# --- Many at once ---


def test_a_batch_is_rated_in_order() -> None:
    api = server()
    rows = [result(str(n), ended_at=f"2026-03-0{9 - n}T20:00:00Z", length=n + 1) for n in range(8)]
    answer = api.post("matches/batch/", {"pool": "fibs", "matches": rows})
    assert (answer["stored"], answer["refused"]) == (8, 0)
    assert [row["external_id"] for row in answer["rows"]] == [str(n) for n in range(8)]
    assert verify(pool_of("fibs")) == (8, None)
    assert answer["rows"][7]["result"]["players"][0]["before"]["value"] == 1500.0
    single = api.post("matches/", {"pool": "fibs", **rows[3]}, 201)
    assert single == answer["rows"][3]["result"]
    assert api.post("matches/batch/", {"pool": "fibs", "matches": rows}) == answer


def test_a_batch_is_all_or_none() -> None:
    api = server()
    api.post("matches/", posted("0"), 201)
    rows = [result("1"), result("2", length=0), result("3", "Vera", "VERA"), {"external_id": "4"}, 5]
    answer = api.post("matches/batch/", {"pool": "fibs", "matches": rows}, 400)
    assert fields(answer) == {
        "matches[1].length": "out_of_range",
        "matches[3].players": "needed",
        "matches[4]": "not_an_object",
    }, "what cannot be read"
    rows = [result("1", "New", "Newer"), result("3", "Vera", "VERA"), result("5", ended_at="2036-01-01T00:00:00Z")]
    answer = api.post("matches/batch/", {"pool": "fibs", "matches": rows}, 400)
    assert fields(answer) == {"matches[1].players": "same_player", "matches[2].ended_at": "in_future"}, "what cannot be"
    answer = api.post("matches/batch/", {"pool": "fibs", "matches": [result("1"), result("0", length=7)]}, 409)
    assert fields(answer) == {"matches[1].length": "stored_differs"}, "what is stored already"
    assert Match.objects.count() == 1 and Player.objects.count() == 2


def test_a_batch_row_by_row() -> None:
    api = server()
    first = api.post("matches/", posted("0"), 201)
    rows = [
        result("1", "Inger", "Rune"),
        result("2", length=0),
        result("3", "Nobody", "NOBODY"),
        {"external_id": "4"},
        5,
        result("0", length=7),
        result("0"),
        result("1", "Inger", "Rune", length=3),
        result("1", "Inger", "Rune"),
        result("6", kind="duel"),
    ]
    answer = api.post("matches/batch/", {"pool": "fibs", "matches": rows, "each": True})
    codes = [row["error"] and (row["error"]["code"], fields(row["error"])) for row in answer["rows"]]
    assert codes == [
        None,
        ("invalid", {"length": "out_of_range"}),
        ("invalid", {"players": "same_player"}),
        ("invalid", {"players": "needed"}),
        ("invalid", {"row": "not_an_object"}),
        ("conflict", {"length": "stored_differs"}),
        None,
        ("invalid", {"external_id": "id_again"}),
        None,
        ("invalid", {"kind": "unknown"}),
    ]
    assert (answer["stored"], answer["refused"]) == (3, 7)
    assert answer["rows"][6]["result"] == first and answer["rows"][8]["result"] == answer["rows"][0]["result"]
    assert answer["rows"][5]["error"]["match"] == first["match"]
    assert Match.objects.count() == 2 and set(Player.objects.values_list("name", flat=True)) == {
        "Vera",
        "Didrik",
        "Inger",
        "Rune",
    }


def test_what_is_refused_only_when_it_is_rated() -> None:
    """A rating at the end of its range: the row goes, and those whom it would have made with it."""
    Pool.objects.filter(slug="tics").update(parameters={**pool_of("tics").parameters, "start": 99_990.0})
    rows = [result(str(n), "A", name, length=None, ended_at=f"2026-03-01T2{n}:00:00Z") for n, name in enumerate("BCD")]
    api = server("tics")
    answer = api.post("matches/batch/", {"pool": "tics", "matches": rows, "each": True})
    assert [row["error"] and row["error"]["fields"][0]["field"] for row in answer["rows"]] == ["rating"] * 3
    assert not Player.objects.exists() and not Match.objects.exists()
    assert api.post("matches/batch/", {"pool": "tics", "matches": rows}, 400)["code"] == "invalid"


def test_the_size_of_a_batch() -> None:
    api = server()
    assert fields(api.post("matches/batch/", {"pool": "fibs", "matches": []}, 400)) == {"matches": "no_list_length"}
    rows = [result(str(n)) for n in range(1001)]
    assert fields(api.post("matches/batch/", {"pool": "fibs", "matches": rows}, 400)) == {"matches": "no_list_length"}
    assert fields(api.post("matches/batch/", {"pool": "chess", "matches": [1]}, 400)) == {"pool": "no_pool"}


def test_a_batch_takes_as_many_queries_as_a_small_one() -> None:
    """At most eleven of the API's own, beside those of `complete_matches`."""
    api, players = server(), people(4)

    def rows(day: int, count: int) -> dict[str, Any]:
        sent = [
            result(f"{day}-{n}", players[n % 4].name, players[(n + 1) % 4].name, ended_at=f"2026-04-{day:02}T{n % 24:02}:00:00Z")
            for n in range(count)
        ]
        return {"pool": "fibs", "matches": sent}

    api.post("matches/batch/", rows(1, 8))
    taken = []
    for day, count in ((2, 4), (4, 40)):
        with CaptureQueriesContext(connection) as batch:
            api.post("matches/batch/", rows(day, count))
        entries = [won(players[n % 4], players[(n + 1) % 4], at(24 * (31 + day) + n % 24)) for n in range(count)]
        with CaptureQueriesContext(connection) as direct:
            complete_matches(pool_of("fibs"), entries)
        taken.append(len(batch) - len(direct))
    assert taken[0] == taken[1] <= 11


# --- What is refused ---


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"external_id": None}, {"external_id": "needed"}),
        ({"external_id": ""}, {"external_id": "no_text"}),
        ({"external_id": "a\0b"}, {"external_id": "no_text"}),
        ({"external_id": "x" * 201}, {"external_id": "too_long"}),
        ({"external_id": 7}, {"external_id": "not_text"}),
        ({"players": None}, {"players": "needed"}),
        ({"players": "Vera"}, {"players": "not_a_list"}),
        ({"players": [{"name": "Vera"}]}, {"players": "wrong_number"}),
        ({"players": [{"name": "Vera"}, {}]}, {"players[1]": "not_a_player"}),
        ({"players": [{"name": "Vera"}, {"id": 1, "name": "x"}]}, {"players[1]": "not_a_player"}),
        ({"players": [{"name": "\0"}, {"id": 10**30}]}, {"players[0].name": "no_name", "players[1].id": "out_of_range"}),
        ({"players": [{"name": "x" * 81}, {"nick": "x"}]}, {"players[0].name": "no_name", "players[1].nick": "unknown_field"}),
        ({"players": [{"name": "Vera"}, {"id": 987654}]}, {"players[1]": "no_player"}),
        ({"players": [{"name": "Vera"}, {"name": "VERA"}]}, {"players": "same_player"}),
        ({"scores": None}, {"result": "needed"}),
        ({"scores": [1, 1]}, {"scores": "not_win_loss"}),
        ({"scores": [0.5, 0.5]}, {"scores": "not_win_loss"}),
        ({"scores": ["1", "0"]}, {"scores": "not_a_number"}),
        ({"scores": [True, False]}, {"scores": "not_a_number"}),
        ({"places": [1, 2]}, {"places": "not_used"}),
        ({"chance": 0.5}, {"chance": "not_used"}),
        ({"length": 100}, {"length": "out_of_range"}),
        ({"length": 10**30}, {"length": "out_of_range"}),
        ({"length": "5"}, {"length": "not_whole"}),
        ({"stake": 5}, {"stake": "not_used"}),
        ({"stake": "5"}, {"stake": "not_an_amount"}),
        ({"kind": "duel"}, {"kind": "unknown"}),
        ({"kind": 3}, {"kind": "not_text"}),
        ({"ended_at": None}, {"ended_at": "not_an_end"}),
        ({"date": "2026-03-01"}, {"ended_at": "not_an_end"}),
        ({"ended_at": "2026-03-01T20:00:00"}, {"ended_at": "not_an_instant"}),
        ({"ended_at": "2026-03-01 25:00:00Z"}, {"ended_at": "not_an_instant"}),
        ({"ended_at": 1772395200}, {"ended_at": "not_an_instant"}),
        ({"ended_at": "1800-03-01T20:00:00Z"}, {"ended_at": "too_early"}),
        ({"ended_at": "2126-03-01T20:00:00Z"}, {"ended_at": "in_future"}),
        ({"sequence": 2**60}, {"sequence": "out_of_range"}),
        ({"pool": "chess"}, {"pool": "no_pool"}),
        ({"pool": 7}, {"pool": "not_text"}),
        ({"winner": 1}, {"winner": "unknown_field"}),
    ],
)
def test_what_is_refused(change: dict[str, Any], wrong: dict[str, str]) -> None:
    sent = {name: value for name, value in {**posted(), **change}.items() if value is not None}
    answer = server().post("matches/", sent, 400)
    assert fields(answer) == wrong
    assert all(one["detail"] for one in answer["fields"])
    assert not Match.objects.exists() and not Player.objects.exists()


def test_numbers_that_are_too_large_are_refused_at_once() -> None:
    api = server("crowns-cup")
    sent = b'{"pool":"crowns-cup","external_id":"1","players":[{"name":"A"},{"name":"B"}],"scores":[1,0],"length":5,'
    sent += b'"kind":"table","real_money":true,"ended_at":"2026-03-01T20:00:00Z","stake":%s}'
    for stake in (b"1e999999999", b"1e-999999999", b"9" * 4000, b"1e30"):
        response = api.send("POST", "matches/", raw=sent % stake)
        assert (response.status_code, fields(response.json())) == (400, {"stake": "not_an_amount"})
    assert fields(api.send("POST", "matches/", raw=sent % b"99999999999").json()) == {"stake": "too_high"}
    assert fields(api.send("POST", "matches/", raw=sent % b"5.001").json()) == {"stake": "too_many_decimals"}


def test_the_words_are_in_the_readers_language() -> None:
    english = server().post("matches/", posted(length=100), 400)
    german = server().post("matches/", posted(length=100), 400, **{"Accept-Language": "de"})
    assert english["detail"] != german["detail"] and english["fields"][0]["code"] == german["fields"][0]["code"]


# --- Who may ---


def test_who_may_post() -> None:
    [one] = people(1)
    assert Asker().post("matches/", posted(), 401)["code"] == "not_authenticated"
    assert Asker("rr_00000000_nonsense").post("matches/", posted(), 401)["code"] == "bad_key"
    assert "“results”" in Asker(key_of(results=False)).post("matches/", posted(), 403)["detail"]
    assert "not for the pool fibs" in Asker(key_of("tics")).post("matches/", posted(), 403)["detail"]
    assert Asker(client=login_of(one)).post("matches/", posted(), 403)["code"] == "permission_denied"
    assert not Match.objects.exists()


def test_a_bearer_and_an_organisers_login() -> None:
    secret, (one, two) = key_of(may_create_players=True), people(2)
    assert Asker().post("matches/", posted(), 201, Authorization=f"Bearer {secret}")["counted"]
    client = login_of(one)
    pool_of("fibs").organisers.create(user=one.user)
    sent = posted(players=[{"id": one.pk}, {"id": two.pk}])
    Asker(client=client).post("matches/", sent, 201)
    assert set(Match.objects.values_list("source", flat=True)) == {"server", f"login:{one.user.pk}"}
    assert fields(Asker(client=client).post("matches/", posted("2", "Somebody", "New"), 400)) == {"players[0]": "not_created"}


def test_ones_own_ids_and_no_others() -> None:
    api, other = server(), server(source="other")
    made = api.post("matches/", posted("game-7"), 201)["match"]
    assert [match["id"] for match in api.get("matches/?external_id=game-7")["matches"]] == [made]
    assert api.get(f"matches/{made}/")["external_id"] == "game-7"
    assert other.get("matches/?external_id=game-7")["matches"] == []
    assert other.get(f"matches/{made}/")["external_id"] is Asker().get(f"matches/{made}/")["external_id"] is None


def test_a_match_that_ended_a_moment_from_now() -> None:
    """A server's clock may run ahead by five minutes."""
    soon = (timezone.now() + timedelta(minutes=4)).isoformat()
    assert server().post("matches/", posted(ended_at=soon), 201)["counted"]


def test_the_rake_is_for_those_who_may_see_the_stake() -> None:
    """It is a function of the stake."""
    Pool.objects.filter(slug="crowns-cup").update(stakes_shown_to=Pool.Stakes.PLAYERS)
    stake = {"stake": 10, "real_money": True, "kind": "table"}
    sent = server("crowns-cup").post("matches/", posted(pool="crowns-cup", **stake), 201)
    assert all(line["rake"]["value"] > 0 for line in sent["players"]), "a server knows what it has sent"
    key_of(source="other")
    stranger, organiser = (User.objects.create(username=name) for name in ("stranger", "organiser"))
    Pool.objects.get(slug="crowns-cup").organisers.create(user=organiser)
    other = ApiKey.objects.get(source="other")

    def rakes(actor: Actor) -> list[Any]:
        return [line["rake"] for line in results_of([sent["match"]], actor)[sent["match"]]["players"]]

    assert rakes(Actor(other.login, other)) == rakes(Actor(stranger, None)) == [None, None]
    assert rakes(Actor(organiser, None)) == [line["rake"] for line in sent["players"]]
    Pool.objects.update(stakes_shown_to=Pool.Stakes.EVERYBODY)
    assert None not in rakes(Actor(stranger, None))
