"""Tables of game servers: opened, filled, left, closed; and how the matches that start there end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches import jobs
from matches.lobby import tables
from matches.models import Evaluation, Match, Report, Table, TableSeat
from matches.reports import reporting as reports
from matches.reports.reporting import Told
from matches.verify import verify
from players.models import Player, Pool, RatingChange
from players.systems.base import Result
from tests.asking import Asker, fields
from tests.building import at, complete, people, pool_of, won
from tests.pages import login_of
from tests.serving import key_of, posted, server

pytestmark = pytest.mark.django_db
VERA, DIDRIK = {"external_id": "u77", "name": "Vera"}, {"external_id": "u31", "name": "Didrik"}


def lobby_server(*pools: str, **more: Any) -> Asker:
    return server(*pools, lobby=True, **more)


def opened(api: Asker, external_id: str = "table-1", status: int = 201, **more: Any) -> Any:
    sent = {"pool": "fibs", "external_id": external_id, "host": VERA, "length": 5, **more}
    return api.post("tables/", {name: value for name, value in sent.items() if value is not None}, status)


def started(api: Asker, **more: Any) -> int:
    table = opened(api, **more)["id"]
    match = api.post(f"tables/{table}/seats/", {"player": DIDRIK})["match"]
    assert isinstance(match, int)
    return match


def finished(match: int, external_id: str = "game-1", **more: Any) -> dict[str, Any]:
    """A result of such a match, of which the table has said the terms."""
    players = [{"external_id": "u77"}, {"external_id": "u31"}]
    ended_at = timezone.now().replace(second=0, microsecond=0).isoformat()
    return posted(external_id, **{"match": match, "players": players, "length": None, "ended_at": ended_at, **more})


def delete(api: Asker, path: str, status: int = 200) -> Any:
    response = api.send("DELETE", path)
    assert response.status_code == status, response.content
    return response.json()


# --- From the table to the rating ---


def test_a_table_is_opened_filled_and_played() -> None:
    api = lobby_server()
    table = opened(api, max_difference=300, min_experience=0)
    assert (table["status"], table["match"], table["seats"]) == ("waiting", None, 2)
    assert [one["name"] for one in table["players"]] == ["Vera"] == [table["host"]["name"]]
    assert (table["external_id"], table["length"], table["max_difference"]) == ("table-1", 5, 300)
    assert [one["id"] for one in Asker().get("pools/fibs/lobby/")["tables"]] == [table["id"]]
    begun = api.post(f"tables/{table['id']}/seats/", {"player": DIDRIK})
    assert (begun["status"], [one["name"] for one in begun["players"]]) == ("started", ["Vera", "Didrik"])
    match = Match.objects.get(pk=begun["match"])
    assert (match.status, match.length, match.kind, match.source) == ("open", 5, "table", "")
    sent = finished(match.pk)
    answer = api.post("matches/", sent, 201)
    assert (answer["match"], answer["external_id"], answer["counted"]) == (match.pk, "game-1", True)
    assert [line["change"]["shown"] for line in answer["players"]] == ["+22.36", "−22.36"]
    assert api.post("matches/", sent, 201) == answer
    assert api.get(f"tables/{table['id']}/")["match"] == match.pk
    assert verify(pool_of("fibs")) == (1, None) and Match.objects.count() == 1


def test_four_seats() -> None:
    api = lobby_server("freewhist")
    table = opened(api, pool="freewhist", length=None, deals=24)
    assert api.post(f"tables/{table['id']}/seats/", {"player": DIDRIK})["status"] == "waiting"
    people(2)
    api.post(f"tables/{table['id']}/seats/", {"player": {"name": "Player 1"}})
    match = api.post(f"tables/{table['id']}/seats/", {"player": {"name": "Player 2"}})["match"]
    players = [VERA, DIDRIK, {"name": "Player 1"}, {"name": "Player 2"}]
    sent = finished(match, pool="freewhist", players=players, scores=None, places=[1, 2, 3, 4])
    assert [line["change"]["shown"] for line in api.post("matches/", sent, 201)["players"]] == ["+100", "+50", "−50", "−100"]


def test_a_player_of_the_site_sits_down_too() -> None:
    api, [player] = lobby_server(), people(1)
    table = opened(api)
    login_of(player).post(f"/tables/{table['id']}/seat/", {})
    tables.take_seat(table["id"], player)
    found = api.get(f"tables/{table['id']}/")
    assert found["status"] == "started"
    sent = finished(found["match"], players=[{"external_id": "u77"}, {"id": player.pk}], scores=[0, 1])
    assert api.post("matches/", sent, 201)["counted"]


def test_the_feed_tells_that_somebody_has_sat_down() -> None:
    api, [player] = lobby_server(), people(1)
    table = opened(api)
    after = api.get("feed/")["next"]
    login_of(player).post(f"/tables/{table['id']}/seat/", {})
    [event] = api.get(f"feed/?after={after}")["events"]
    assert (event["type"], event["pool"], event["match"], event["ratings"]) == ("table.changed", "fibs", None, None)
    assert (event["table"]["id"], event["table"]["external_id"], event["table"]["status"]) == (table["id"], "table-1", "started")
    assert [one["id"] for one in event["table"]["players"]] == [table["host"]["id"], player.pk]
    assert event["table"]["match"] == Match.objects.get().pk
    for reader in (Asker(), lobby_server(source="another")):
        assert reader.get(f"feed/?after={after}")["events"][0]["table"] == {**event["table"], "external_id": None}


# --- The same again, and what is not the same ---


def test_the_same_again_opens_no_second_table() -> None:
    api = lobby_server()
    first = opened(api)
    assert opened(api) == first and Table.objects.count() == 1 and Player.objects.count() == 1
    seated = api.post(f"tables/{first['id']}/seats/", {"player": DIDRIK})
    assert api.post(f"tables/{first['id']}/seats/", {"player": DIDRIK}) == seated == opened(api)
    assert Match.objects.count() == 1


def test_another_table_under_the_same_id_is_a_conflict() -> None:
    api = lobby_server("fibs", "tics")
    first = opened(api)
    answer = opened(api, status=409, length=7, host=DIDRIK, max_difference=100)
    assert fields(answer) == dict.fromkeys(("host", "length", "max_difference"), "stored_differs")
    assert answer["table"] == first["id"] and "Host: stored is Vera." in str(answer["fields"])
    assert fields(opened(api, status=409, pool="tics", length=None)) == {"pool": "stored_differs", "length": "stored_differs"}
    assert not Player.objects.filter(name="Didrik").exists(), "nobody is made by what is refused"
    other = lobby_server(source="other")
    assert opened(other, host={"name": "Didrik"})["id"] != first["id"], "another source has ids of its own"


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"length": 100}, {"length": "out_of_range"}),
        ({"deals": 12}, {"deals": "not_used"}),
        ({"stake": 5}, {"stake": "not_used"}),
        ({"host": {"external_id": "u9"}}, {"host": "name_for_new"}),
        ({"host": {"id": 999}}, {"host": "no_player"}),
        ({"host": {"id": 1, "name": "Vera"}}, {"host": "not_a_player"}),
        ({"host": {"name": "\0"}}, {"host.name": "no_name"}),
        ({"host": "Vera"}, {"host": "not_an_object"}),
        ({"external_id": "\0"}, {"external_id": "no_text"}),
        ({"max_difference": -1}, {"max_difference": "out_of_range"}),
        ({"max_difference": 10**30}, {"max_difference": "out_of_range"}),
        ({"min_experience": 5, "max_experience": 4}, {"max_experience": "below_least"}),
        ({"kind": "table"}, {"kind": "unknown_field"}),
        ({"host": None}, {"host": "needed"}),
    ],
)
def test_what_no_table_can_be(more: dict[str, Any], wrong: dict[str, str]) -> None:
    answer = opened(lobby_server(), status=400, **more)
    assert fields(answer) == wrong and all(one["detail"] for one in answer["fields"])
    assert not Table.objects.exists() and not Player.objects.exists()


def test_what_the_lobby_refuses_is_said_in_words() -> None:
    api = lobby_server()
    table = opened(api)
    answer = opened(api, "table-2", 409)
    assert (answer["code"], fields(answer)) == ("already", {"host": "already"})
    narrow = opened(api, "table-3", host=DIDRIK, min_experience=10)
    answer = api.post(f"tables/{narrow['id']}/seats/", {"player": {"name": "Inger"}}, 409)
    assert (answer["code"], fields(answer)) == ("not_admitted", {"player": "not_admitted"})
    assert "experience from 10" in answer["detail"] and not Player.objects.filter(name="Inger").exists()
    api.post(f"tables/{table['id']}/seats/", {"player": {"name": "Inger"}})
    assert api.post(f"tables/{table['id']}/seats/", {"player": DIDRIK}, 409)["code"] == "full"
    assert fields(api.post(f"tables/{table['id']}/seats/", {}, 400)) == {"player": "needed"}


# --- Getting up ---


def test_a_seat_is_left_and_a_table_closed() -> None:
    api = lobby_server("freewhist")
    table = opened(api, pool="freewhist", length=None, deals=24)
    host, path = table["host"]["id"], f"tables/{table['id']}/"
    didrik = api.post(f"{path}seats/", {"player": DIDRIK})["players"][1]["id"]
    assert [delete(api, f"{path}seats/{host}/")["host"]["name"] for _ in range(2)] == ["Didrik", "Didrik"]
    assert delete(api, f"{path}seats/999/", 404)["code"] == "not_found"
    closed = delete(api, f"{path}seats/{didrik}/")
    assert (closed["status"], closed["closed_because"]["code"]) == ("closed", "left")
    assert api.post(f"{path}seats/", {"player": DIDRIK}, 409)["code"] == "closed"
    second = opened(api, "table-2", pool="freewhist", length=None, deals=24)
    closed = delete(api, f"tables/{second['id']}/")
    assert closed["closed_because"]["code"] == "server" and delete(api, f"tables/{second['id']}/") == closed
    assert not TableSeat.objects.exists()


def test_a_table_whose_match_has_started_is_not_closed() -> None:
    api = lobby_server()
    started(api)
    table = Table.objects.get()
    assert delete(api, f"tables/{table.pk}/", 409)["code"] == "started"
    assert delete(api, f"tables/{table.pk}/seats/{table.host_id}/", 409)["code"] == "started"
    assert Match.objects.get().status == "open"


# --- Who may ---


def test_who_may_open_and_fill() -> None:
    assert "“lobby”" in opened(server(), status=403)["detail"]
    assert "not for the pool fibs" in opened(lobby_server("tics"), status=403)["detail"]
    assert opened(Asker(), status=401)["code"] == "not_authenticated"
    [player] = people(1)
    assert opened(Asker(client=login_of(player)), status=403)["code"] == "permission_denied"
    assert fields(opened(lobby_server(may_create_players=False), status=400)) == {"host": "not_created"}
    assert not Table.objects.exists()


def test_another_sources_table_is_not_ours() -> None:
    api, other, [player] = lobby_server(), lobby_server(source="other"), people(1)
    ours, sites = opened(api)["id"], tables.open_table(pool_of("fibs"), player, Result(length=5)).pk
    for asker, table in ((other, ours), (api, sites)):
        assert "your source" in asker.post(f"tables/{table}/seats/", {"player": {"name": "X"}}, 403)["detail"]
        assert delete(asker, f"tables/{table}/", 403)["code"] == "permission_denied"
        assert delete(asker, f"tables/{table}/seats/{player.pk}/", 403)["code"] == "permission_denied"
    assert other.get(f"tables/{ours}/")["external_id"] is None
    assert Table.objects.filter(status="waiting").count() == 2 and not Player.objects.filter(name="X").exists()


def test_a_challenge_is_nobody_elses_to_read() -> None:
    vera, didrik = people(2)
    table = tables.challenge(pool_of("fibs"), vera, didrik, Result(length=5))
    assert Asker().get(f"tables/{table.pk}/", 404)["code"] == "not_found"
    assert lobby_server().post(f"tables/{table.pk}/seats/", {"player": {"id": didrik.pk}}, 404)["code"] == "not_found"


def test_the_stake_of_a_table_is_for_those_who_may_see_it() -> None:
    Pool.objects.filter(slug="crowns-cup").update(stakes_shown_to=Pool.Stakes.PLAYERS)
    api, [player] = lobby_server("crowns-cup"), people(1)
    path = f"tables/{opened(api, pool='crowns-cup', stake=17.5, real_money=True)['id']}/"
    assert api.get(path)["stake"]["value"] == Asker(client=login_of(player)).get(path)["stake"]["value"] == 17.5
    assert Asker().get(path)["stake"] is None and Asker().get(path)["stake_hidden"]
    api.post(f"{path}seats/", {"player": DIDRIK})
    assert Asker(client=login_of(people(1)[0])).get(path)["stake_hidden"], "it is the players' own once they play"


def test_the_queries_of_a_table() -> None:
    api = lobby_server("freewhist")
    table = opened(api, pool="freewhist", length=None, deals=24)["id"]
    one = Asker().queries(f"tables/{table}/")
    for name in ("A", "B"):
        api.post(f"tables/{table}/seats/", {"player": {"name": name}})
    assert Asker().queries(f"tables/{table}/") == one <= 4


# --- How a match ends ---


def test_the_terms_are_those_of_the_table() -> None:
    api = lobby_server("fibs", "tics")
    match = started(api)
    other = [{"external_id": "u31"}, {"external_id": "u77"}]
    answer = api.post("matches/", finished(match, length=7, players=other, kind="challenge"), 409)
    assert fields(answer) == dict.fromkeys(("length", "players", "kind"), "stored_differs")
    assert {one["field"]: one["stored"] for one in answer["fields"]}["length"] == 5 and answer["match"] == match
    assert fields(api.post("matches/", finished(match, pool="tics"), 409)) == {"pool": "stored_differs"}
    assert fields(api.post("matches/", finished(match, scores=[1, 1]), 400)) == {"scores": "not_win_loss"}
    assert Match.objects.get().status == "open" and not RatingChange.objects.exists()
    assert api.post("matches/", finished(match, length=5, kind="table"), 201)["counted"]


def test_another_result_of_a_finished_match_is_a_conflict() -> None:
    api = lobby_server()
    match = started(api)
    sent = finished(match)
    api.post("matches/", sent, 201)
    assert fields(api.post("matches/", {**sent, "scores": [0, 1]}, 409)) == {"scores": "stored_differs"}
    assert fields(api.post("matches/", {**sent, "external_id": "game-2"}, 409)) == {"external_id": "stored_differs"}


def test_an_id_of_another_match_completes_nothing() -> None:
    api = lobby_server()
    match = started(api)
    api.post("matches/", posted("game-3"), 201)
    answer = api.post("matches/", finished(match, "game-3"), 409)
    assert answer["match"] != match and Match.objects.get(pk=match).status == "open"
    answer = api.post(f"matches/{match}/evaluate/", {"external_id": "game-3", "chance": 0.5, "note": "x"}, 409)
    assert answer["code"] == "conflict" and Match.objects.get(pk=match).status == "open" and not Evaluation.objects.exists()


def test_only_the_source_of_the_table_ends_its_match() -> None:
    api, other = lobby_server(), lobby_server(source="other")
    match, (one, two) = started(api), people(2)
    sites = tables.start_match(pool_of("fibs"), Result(length=5), [one, two], "table").pk
    for asker, pk in ((other, match), (api, sites)):
        sent = finished(pk, players=[{"name": "Vera"}, {"name": "Didrik"}])
        assert "your source" in asker.post("matches/", sent, 403)["detail"]
        evaluated = {"external_id": "g", "chance": 0.5, "note": "even"}
        assert asker.post(f"matches/{pk}/evaluate/", evaluated, 403)["code"] == "permission_denied"
        assert asker.post(f"matches/{pk}/call-off/", {"reason": "no"}, 403)["code"] == "permission_denied"
    without = Asker(key_of(results=False, lobby=True))
    assert "“results”" in without.post(f"matches/{match}/call-off/", {"reason": "no"}, 403)["detail"]
    assert api.post("matches/", finished(999), 404)["code"] == "not_found"
    assert set(Match.objects.values_list("status", flat=True)) == {"open"}


def test_a_match_that_the_players_settled_first() -> None:
    api = lobby_server()
    match = started(api)
    vera, didrik = (seat.player for seat in Match.objects.get().participants.order_by("seat"))
    made = reports.report(match_id=match, player=vera, told=Told(outcome="result", scores=(1, 0)))
    reports.confirm(report_id=made.pk, player=didrik)
    answer = api.post("matches/", finished(match, scores=[0, 1]), 409)
    assert {"scores", "external_id"} <= set(fields(answer)) and RatingChange.objects.count() == 2


def test_a_break_is_evaluated() -> None:
    api = lobby_server("crowns-cup")
    match = started(api, pool="crowns-cup", length=1, stake=9, real_money=True)
    vera = Match.objects.get().participants.get(seat=1).player
    reports.report(match_id=match, player=vera, told=Told(outcome="broken_off"))
    sent = {"external_id": "game-1", "chance": 0.75, "note": "Bearoff,\n2 against 5.", "evaluator": "GNU"}
    answer = api.post(f"matches/{match}/evaluate/", sent)
    assert [line["change"]["shown"] for line in answer["players"]] == ["+5.00", "−5.00"]
    assert answer["external_id"] == "game-1" and api.post(f"matches/{match}/evaluate/", sent) == answer
    made = Evaluation.objects.get()
    assert (made.note, made.evaluator, made.made_by) == ("Bearoff,\n2 against 5.", "GNU", None)
    assert Report.objects.get().state == "decided"
    assert api.post(f"matches/{match}/evaluate/", {**sent, "chance": 0.5}, 409)["code"] == "over"
    assert api.post(f"matches/{match}/evaluate/", {**sent, "external_id": "2"}, 409)["code"] == "over"
    assert api.post(f"matches/{match}/call-off/", {"reason": "no"}, 409)["code"] == "over"


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"chance": 1.5}, {"chance": "out_of_range"}),
        ({"chance": None}, {"chance": "needed"}),
        ({"chance": "0.5"}, {"chance": "not_a_number"}),
        ({"note": " "}, {"note": "no_text"}),
        ({"note": "x" * 1001}, {"note": "too_long"}),
        ({"note": "\0"}, {"note": "no_text"}),
        ({"evaluator": "x" * 101}, {"evaluator": "too_long"}),
        ({"points": 3}, {"points": "not_with_length"}),
    ],
)
def test_what_is_no_evaluation(more: dict[str, Any], wrong: dict[str, str]) -> None:
    api = lobby_server("crowns-cup")
    match = started(api, pool="crowns-cup", stake=9, real_money=True)
    sent = {"external_id": "game-1", "chance": 0.75, "note": "even", **more}
    assert fields(api.post(f"matches/{match}/evaluate/", sent, 400)) == wrong
    assert Match.objects.get().status == "open"


def test_a_pool_that_knows_no_breaks() -> None:
    api = lobby_server("tics")
    match = started(api, pool="tics", length=None)
    sent = {"external_id": "game-1", "chance": 0.75, "note": "even"}
    assert fields(api.post(f"matches/{match}/evaluate/", sent, 400)) == {"chance": "not_used"}


def test_a_match_is_called_off() -> None:
    api = lobby_server("fibs", corrections=True)
    match = started(api)
    vera = Match.objects.get().participants.get(seat=1).player
    reports.report(match_id=match, player=vera, told=Told(outcome="result", scores=(1, 0)))
    answer = api.post(f"matches/{match}/call-off/", {"reason": "Didrik did not come."})
    assert (answer["status"], answer["counted"]) == ("voided", False)
    assert api.post(f"matches/{match}/call-off/", {"reason": "Again."}) == answer
    assert (Report.objects.get().state, Report.objects.get().decision) == ("decided", "Didrik did not come.")
    assert fields(api.post(f"matches/{match}/call-off/", {}, 400)) == {"reason": "needed"}
    assert "scores" in fields(api.post("matches/", finished(match), 409))
    evaluated = {"external_id": "g", "chance": 0.5, "note": "even"}
    assert api.post(f"matches/{match}/evaluate/", evaluated, 409)["code"] == "over"
    assert api.post(f"matches/{match}/unvoid/", {"reason": "?"}, 403)["code"] == "permission_denied"
    assert not RatingChange.objects.exists()


def test_a_voided_result_is_not_a_match_that_was_called_off() -> None:
    api = lobby_server("fibs", corrections=True)
    match = started(api)
    sent = finished(match)
    api.post("matches/", sent, 201)
    api.post(f"matches/{match}/void/", {"reason": "a robot played"})
    assert api.post(f"matches/{match}/call-off/", {"reason": "no"}, 409)["code"] == "over"
    assert api.post("matches/", sent, 201)["status"] == "voided"


def test_a_late_result_is_completed_in_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many matches of its players came after it: no job for a server to wait for."""
    monkeypatch.setattr(jobs, "SMALL", 10)
    api = lobby_server()
    match = started(api)
    vera, didrik = (seat.player for seat in Match.objects.get().participants.order_by("seat"))
    complete(pool_of("fibs"), *(won(didrik, vera, at(n)) for n in range(30)))
    sent = finished(match, ended_at=(at(0) - timedelta(days=1)).isoformat())
    assert fields(api.post("matches/", sent, 400)) == {"ended_at": "before_start"}
    Match.objects.filter(pk=match).update(created_at=at(0) - timedelta(days=2))
    answer = api.post("matches/", sent, 201)
    assert answer["counted"] and verify(pool_of("fibs")) == (31, None)


def test_the_queries_of_a_result_are_as_many_however_often_it_comes() -> None:
    api = lobby_server()
    sent = finished(started(api))
    api.post("matches/", sent, 201)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            api.post("matches/", sent, 201)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 30


# --- In a batch ---


def batch(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"pool": "fibs", "matches": [{name: row[name] for name in row if name != "pool"} for row in rows], **more}


def started_between(api: Asker, number: int) -> tuple[int, list[dict[str, Any]]]:
    """A match of two players of its own, and how the server names them."""
    two = [{"external_id": f"h{number}", "name": f"Host {number}"}, {"external_id": f"g{number}", "name": f"Guest {number}"}]
    table = opened(api, f"table {number}", host=two[0])["id"]
    return api.post(f"tables/{table}/seats/", {"player": two[1]})["match"], two


def test_a_batch_ends_matches_of_tables_as_single_posts_do() -> None:
    api = lobby_server()
    (one, its), (two, others) = started_between(api, 1), started_between(api, 2)
    rows = [finished(one, "g1", players=its), posted("g2", "Vera", "Didrik"), finished(two, "g3", players=others, scores=[0, 1])]
    answer = api.post("matches/batch/", batch(*rows))
    assert (answer["stored"], answer["refused"]) == (3, 0)
    made = [row["result"] for row in answer["rows"]]
    assert [row["match"] for row in made][::2] == [one, two] and [row["status"] for row in made] == ["completed"] * 3
    assert [line["change"]["shown"] for line in made[0]["players"]] == ["+22.36", "−22.36"]
    assert api.post("matches/batch/", batch(*rows)) == answer
    assert [api.post("matches/", row, 201) for row in rows] == made, "each alone is the same"
    assert Match.objects.count() == 3 and verify(pool_of("fibs")) == (3, None)


def test_a_batch_with_a_row_that_cannot_end_its_match_is_refused_as_a_whole() -> None:
    api, other = lobby_server(), lobby_server(source="other")
    (one, its), (two, others) = started_between(api, 1), started_between(api, 2)
    foreign, theirs = started_between(other, 3)
    right = finished(one, "g1", players=its)
    for wrong, where in (
        (finished(999, "g2", players=others), {"matches[1].match": "no_match"}),
        (finished(foreign, "g2", players=theirs), {"matches[1].match": "not_your_match"}),
        (finished(one, "g2", players=its), {"matches[1].match": "match_again"}),
        (finished(two, "g1", players=others), {"matches[1].external_id": "id_again"}),
        (finished(two, "g2", players=others, scores=[1, 1]), {"matches[1].scores": "not_win_loss"}),
        (finished(two, "g2", players=[{"name": "Nobody"}, {"external_id": "g2"}]), {"matches[1].players[0]": "not_created"}),
        (finished(two, "g2", players=others, ended_at=at(0).isoformat()), {"matches[1].ended_at": "before_start"}),
        (finished(-1, "g2", players=others), {"matches[1].match": "out_of_range"}),
        (finished(True, "g2", players=others), {"matches[1].match": "not_whole"}),
    ):
        new = posted("g9", "Somebody", "New")
        assert fields(api.post("matches/batch/", batch(right, wrong, new), 400)) == where
    for wrong, where in (
        (finished(two, "g2", players=others, length=7), {"matches[1].length": "stored_differs"}),
        (finished(two, "g2", players=others[::-1]), {"matches[1].players": "stored_differs"}),
    ):
        assert fields(api.post("matches/batch/", batch(right, wrong), 409)) == where
    assert set(Match.objects.values_list("status", flat=True)) == {"open"} and not RatingChange.objects.exists()
    assert not Player.objects.filter(name="Somebody").exists()


def test_a_batch_ends_what_it_can_with_each() -> None:
    api = lobby_server()
    (one, its), (two, others), (three, last) = (started_between(api, number) for number in (1, 2, 3))
    api.post("matches/", finished(three, "g3", players=last), 201)
    rows = [
        finished(one, "g1", players=its),
        finished(two, "g2", players=others, length=7),
        finished(999, "g4", players=others),
        finished(three, "g5", players=last),
        finished(two, "g3", players=others),
        posted("g6", "Somebody", "New"),
        finished(one, "g1", players=its),
    ]
    answer = api.post("matches/batch/", batch(*rows, each=True))
    errors = {
        row["index"]: (row["error"]["code"], row["error"]["match"], set(fields(row["error"])))
        for row in answer["rows"]
        if row["error"]
    }
    assert errors == {
        1: ("conflict", two, {"length"}),
        2: ("invalid", None, {"match"}),
        3: ("conflict", three, {"external_id"}),
        4: ("conflict", three, {"match", "players"}),
    }
    assert answer["rows"][6]["result"] == answer["rows"][0]["result"] and answer["rows"][0]["result"]["match"] == one
    assert Match.objects.filter(status="completed").count() == 3 and Match.objects.get(pk=two).status == "open"
    assert verify(pool_of("fibs")) == (3, None)


def test_a_batch_ends_a_match_that_was_overtaken() -> None:
    api = lobby_server()
    match, two = started_between(api, 1)
    Match.objects.update(created_at=at(0))
    complete(pool_of("fibs"), *(won(*Player.objects.filter(name__in=("Host 1", "Guest 1")), at(n)) for n in (5, 6)))
    rows = [finished(match, "g1", players=two, ended_at=at(1).isoformat()), posted("g2", "Vera", "Didrik")]
    assert api.post("matches/batch/", batch(*rows))["stored"] == 2
    assert verify(pool_of("fibs")) == (4, None)


def test_a_batch_of_matches_at_tables_takes_as_many_queries_as_a_small_one() -> None:
    api = lobby_server()
    counts = []
    for size in (7, 12):
        rows = []
        for number in range(size):
            match, two = started_between(api, 100 * size + number)
            rows.append(finished(match, f"g{match}", players=two))
        with CaptureQueriesContext(connection) as queries:
            assert api.post("matches/batch/", batch(*rows))["stored"] == size
        counts.append(len(queries) - 2 * size)  # each match that was open is updated, and its seats are written anew
    assert counts[0] == counts[1]
