"""Game servers at the same time, on PostgreSQL: whatever arrives how often at once, each result is one match."""

from __future__ import annotations

from typing import Any

import pytest

from matches.models import Match
from players.api.models import ExternalPlayer
from players.models import Player
from tests.asking import Asker
from tests.building import pool_of
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
