"""Game servers at the same time, on PostgreSQL: whatever arrives how often at once, each result is one match."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from matches.models import Match, Table
from matches.verify import verify
from players.api.models import ExternalPlayer
from players.models import Player
from tests.asking import Asker
from tests.building import people, pool_of
from tests.concurrency.running import assert_whole, at_once
from tests.serving import posted, result, server

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def _send(api: Asker, path: str, body: Any) -> Any:
    """With a client of its own, as another process would."""
    return Asker(**api.headers).send("POST", path, body)


def test_ten_identical_results_at_once_make_one_match_and_ten_equal_answers() -> None:
    """Also the players are new, and each is made once."""
    api = server()
    sent = posted(players=[{"external_id": "u1", "name": "Vera"}, {"name": "Didrik"}])
    answers = at_once([lambda: _send(api, "matches/", sent) for _ in range(10)])
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert_whole(pool_of("fibs"), 1)
    assert sorted(Player.objects.values_list("name", flat=True)) == ["Didrik", "Vera"]
    assert ExternalPlayer.objects.count() == 1


def test_ten_identical_batches_at_once_make_each_match_once() -> None:
    api = server()
    names = ("A", "B", "C", "D")
    rows = [result(str(n), names[n % 4], names[(n + 1) % 4], ended_at=f"2026-03-01T{n % 24:02}:00:00Z") for n in range(40)]
    body = {"pool": "fibs", "matches": rows}
    answers = at_once([lambda: _send(api, "matches/batch/", body) for _ in range(10)])
    assert {answer.status_code for answer in answers} == {200}
    ids = [[row["result"]["match"] for row in answer.json()["rows"]] for answer in answers]
    assert all(one == ids[0] for one in ids)
    assert_whole(pool_of("fibs"), 40)
    assert Player.objects.count() == 4


def test_two_pools_at_once_make_the_same_new_player_once() -> None:
    """No pool's lock keeps them apart: the unique name does."""
    api = server("fibs", "online-backgammon", "tics")
    bodies = [
        posted(str(n), pool=pool, **({"kind": "matchmade"} if pool == "online-backgammon" else {}), length=length)
        for n, (pool, length) in enumerate([("fibs", 5), ("online-backgammon", 5), ("tics", None)] * 3)
    ]
    answers = at_once([lambda body=body: _send(api, "matches/", body) for body in bodies])
    assert [answer.status_code for answer in answers] == [201] * 9, [answer.content for answer in answers]
    assert sorted(Player.objects.values_list("name", flat=True)) == ["Didrik", "Vera"]
    assert Match.objects.count() == 9


def test_different_results_under_one_id_at_once_make_one_match_and_conflicts() -> None:
    api = server()
    bodies = [posted(length=n + 1) for n in range(6)]
    answers = at_once([lambda body=body: _send(api, "matches/", body) for body in bodies])
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409, 409]
    assert_whole(pool_of("fibs"), 1)


def test_ten_at_once_open_one_table_take_one_seat_and_finish_one_match() -> None:
    """Also both players are new."""
    api = server(lobby=True)
    table = {"pool": "fibs", "external_id": "table-1", "host": {"external_id": "u77", "name": "Vera"}, "length": 5}
    opened = at_once([lambda: _send(api, "tables/", table) for _ in range(10)])
    assert {(answer.status_code, answer.content) for answer in opened} == {(201, opened[0].content)}, opened
    path = f"tables/{opened[0].json()['id']}/seats/"
    seat = {"player": {"external_id": "u31", "name": "Didrik"}}
    seated = at_once([lambda: _send(api, path, seat) for _ in range(10)])
    assert {(answer.status_code, answer.content) for answer in seated} == {(200, seated[0].content)}, seated
    match = seated[0].json()["match"]
    players = [{"external_id": "u77"}, {"external_id": "u31"}]
    sent = posted("game-1", match=match, players=players, ended_at=timezone.now().isoformat())
    answers = at_once([lambda: _send(api, "matches/", sent) for _ in range(10)])
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}, answers
    assert answers[0].json()["match"] == match
    assert_whole(pool_of("fibs"), 1)
    assert Player.objects.count() == 2 == ExternalPlayer.objects.count() and Table.objects.count() == 1


def test_batches_at_once_end_matches_of_tables_once() -> None:
    """Also with new players beside them, for whom the pool is held alone."""
    api = server(lobby=True)
    rows = [result("new", "Inger", "Rune")]
    for number in range(5):
        two = [{"external_id": f"h{number}", "name": f"Host {number}"}, {"external_id": f"g{number}", "name": f"Guest {number}"}]
        table = {"pool": "fibs", "external_id": f"table-{number}", "host": two[0], "length": 5}
        path = f"tables/{_send(api, 'tables/', table).json()['id']}/seats/"
        match = _send(api, path, {"player": two[1]}).json()["match"]
        rows.append(result(f"game-{number}", players=two, match=match, ended_at=timezone.now().isoformat()))
    bodies = [{"pool": "fibs", "matches": rows[:: 1 if number % 2 else -1]} for number in range(10)]
    answers = at_once([lambda body=body: _send(api, "matches/batch/", body) for body in bodies])
    assert {answer.status_code for answer in answers} == {200}, [answer.content for answer in answers]
    assert_whole(pool_of("fibs"), 6)
    assert Player.objects.count() == 12


def test_a_match_is_called_off_or_finished_and_not_both() -> None:
    api = server("crowns-cup", lobby=True)
    terms = {"length": 5, "stake": 10, "real_money": True}
    people(2)
    for number in range(6):
        table = {"pool": "crowns-cup", "external_id": f"table-{number}", "host": {"name": "Player 1"}, **terms}
        path = f"tables/{_send(api, 'tables/', table).json()['id']}/seats/"
        match = _send(api, path, {"player": {"name": "Player 2"}}).json()["match"]
        sent = posted(
            f"game-{number}", "Player 1", "Player 2", match=match, pool="crowns-cup", ended_at=timezone.now().isoformat()
        )
        evaluated = {"external_id": f"game-{number}", "chance": 0.5, "note": "even"}
        answers = at_once(
            [
                lambda sent=sent: _send(api, "matches/", sent),
                lambda match=match: _send(api, f"matches/{match}/call-off/", {"reason": "nobody came"}),
                lambda match=match, evaluated=evaluated: _send(api, f"matches/{match}/evaluate/", evaluated),
            ]
        )
        assert sorted(answer.status_code for answer in answers)[1:] == [409, 409], answers
    counted = Match.objects.filter(status="completed").count()
    assert verify(pool_of("crowns-cup")) == (counted, None) and Match.objects.exclude(status="open").count() == 6
