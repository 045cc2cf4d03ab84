"""Corrections by the API: the admin's rules, for what came from the key's own source."""

from __future__ import annotations

from typing import Any

import pytest

from matches import jobs as background
from matches.models import CorrectionJob, Match, Revision
from matches.verify import verify
from players.models import Rating, RatingChange
from tests.asking import Asker, fields
from tests.building import at, complete, people, pool_of, won
from tests.pages import login_of
from tests.serving import key_of, posted, server

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Asker:
    return server(corrections=True)


def _two(api: Asker) -> tuple[int, int]:
    """Two matches of the same two players, the second an hour after the first."""
    first = api.post("matches/", posted("1"), 201)["match"]
    return first, api.post("matches/", posted("2", length=3, ended_at="2026-03-01T21:00:00Z"), 201)["match"]


def patch(api: Asker, match: int, body: Any, status: int = 200) -> Any:
    response = api.send("PATCH", f"matches/{match}/", body)
    assert response.status_code == status, response.content
    return response.json()


def test_a_result_is_corrected_and_what_follows_is_rated_anew(api: Asker) -> None:
    first, second = _two(api)
    answer = patch(api, first, {"length": 9, "reason": "It was to nine"})
    assert (answer["revision"]["kind"], answer["preview"], answer["result"]["version"]) == ("edit", None, 2)
    assert answer["result"]["players"][0]["revised"]["change"]["value"] == RatingChange.objects.filter(match=first).first().change
    assert Match.objects.get(pk=first).length == 9 and Match.objects.get(pk=second).length == 3
    revision = Revision.objects.get()
    assert (revision.reason, revision.made_by.username.split(" (")[0]) == ("It was to nine", "Server 1")
    assert verify(pool_of("fibs")) == (2, None)


def test_only_what_is_sent_changes(api: Asker) -> None:
    first, _second = _two(api)
    patch(api, first, {"scores": [0, 1], "players": [{"name": "Didrik"}, {"name": "Vera"}], "reason": "x"})
    match = Match.objects.get(pk=first)
    assert [(seat.player.name, seat.score) for seat in match.participants.all()] == [("Didrik", 0.0), ("Vera", 1.0)]
    patch(api, first, {"date": "2026-03-02", "sequence": 4, "reason": "x"})
    match.refresh_from_db()
    assert (match.timed, match.sequence, match.length, match.external_id) == (False, 4, 5, "1")
    assert verify(pool_of("fibs")) == (2, None)


def test_the_way_it_ended_takes_the_place_of_the_old_one() -> None:
    api = server("crowns-cup", corrections=True)
    sent = posted(pool="crowns-cup", stake=10, real_money=True, kind="table")
    match = api.post("matches/", sent, 201)["match"]
    patch(api, match, {"chance": 0.6, "reason": "It was broken off"})
    stored = Match.objects.get()
    assert stored.chance == 0.6 and {seat.score for seat in stored.participants.all()} == {None}


def test_a_preview_writes_nothing(api: Asker) -> None:
    first, _second = _two(api)
    before = list(Rating.objects.order_by("pk").values_list("value", flat=True))
    seen = patch(api, first, {"length": 9, "reason": "x", "preview": True})["preview"]
    assert (seen["matches"], seen["moved"]) == (2, 2)
    assert list(Rating.objects.order_by("pk").values_list("value", flat=True)) == before
    answer = patch(api, first, {"length": 9, "reason": "x", "token": seen["token"]})
    assert answer["revision"]["lines"] == seen["lines"]
    after = {move["player"]["id"]: move["rating"][1]["value"] for move in seen["moves"]}
    assert dict(Rating.objects.values_list("player", "value")) == after


def test_where_the_pool_has_moved_on_the_new_preview_comes(api: Asker) -> None:
    first, _second = _two(api)
    seen = patch(api, first, {"length": 9, "reason": "x", "preview": True})["preview"]
    api.post("matches/", posted("3", length=1, ended_at="2026-03-01T22:00:00Z"), 201)
    answer = patch(api, first, {"length": 9, "reason": "x", "token": seen["token"]}, 409)
    assert answer["code"] == "moved" and answer["preview"]["token"] != seen["token"] and answer["preview"]["matches"] == 3
    assert not Revision.objects.exists()


def test_the_same_correction_again_changes_nothing(api: Asker) -> None:
    first, _second = _two(api)
    for _ in range(3):
        answer = patch(api, first, {"length": 9, "reason": "x"})
    assert answer["revision"] is None and answer["result"]["version"] == 2
    for path, status in (("void", "voided"), ("unvoid", "completed")):
        for count in range(2):
            answer = api.post(f"matches/{first}/{path}/", {"reason": "x"})
            assert answer["result"]["status"] == status and (answer["revision"] is None) == bool(count)
    assert [revision.kind for revision in Revision.objects.order_by("pk")] == ["edit", "void", "unvoid"]
    assert verify(pool_of("fibs")) == (2, None)


def test_a_version_that_has_risen_is_a_conflict(api: Asker) -> None:
    first, _second = _two(api)
    patch(api, first, {"length": 9, "reason": "It was to nine", "version": 1})
    answer = patch(api, first, {"length": 7, "reason": "x", "version": 1}, 409)
    assert answer["code"] == "conflict" and "It was to nine" in answer["detail"]
    assert api.post(f"matches/{first}/void/", {"reason": "x", "version": 1}, 409)["match"] == first
    assert Match.objects.get(pk=first).length == 9


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"length": 9}, {"reason": "needed"}),
        ({"length": 9, "reason": "  "}, {"reason": "no_text"}),
        ({"length": 9, "reason": "x" * 1001}, {"reason": "too_long"}),
        ({"length": 100, "reason": "x"}, {"length": "out_of_range"}),
        ({"stake": 5, "reason": "x"}, {"stake": "not_used"}),
        ({"scores": [1, 0], "chance": 0.5, "reason": "x"}, {"chance": "not_used"}),
        ({"players": [{"name": "Vera"}, {"name": "Unknown"}], "reason": "x"}, {"players[1]": "not_created"}),
        ({"players": [{"name": "Vera"}, {"name": "Vera"}], "reason": "x"}, {"players": "same_player"}),
        ({"ended_at": "2126-01-01T00:00:00Z", "reason": "x"}, {"ended_at": "in_future"}),
        ({"external_id": "7", "reason": "x"}, {"external_id": "unknown_field"}),
        ({"pool": "tics", "reason": "x"}, {"pool": "unknown_field"}),
        ({"version": 0, "reason": "x"}, {"version": "out_of_range"}),
        ([], {"body": "not_an_object"}),
    ],
)
def test_what_is_refused(api: Asker, body: Any, wrong: dict[str, str]) -> None:
    first, _second = _two(api)
    assert fields(patch(api, first, body, 400)) == wrong
    assert not Revision.objects.exists()


def test_who_may_correct(api: Asker) -> None:
    first, _second = _two(api)
    body = {"reason": "x", "length": 9}
    for other, status in (
        (Asker(), 401),
        (Asker(key_of()), 403),
        (Asker(key_of("tics", corrections=True)), 403),
        (Asker(key_of(corrections=True, source="other")), 403),
        (Asker(client=login_of(people(1)[0])), 403),
    ):
        patch(other, first, body, status)
        other.post(f"matches/{first}/void/", {"reason": "x"}, status)
    patch(api, 987654, body, 404)
    opened = Match.objects.create(pool=pool_of("fibs"), length=5, source="server")
    assert patch(api, opened.pk, body, 409)["code"] == "open"
    assert not Revision.objects.exists()
    [organiser] = people(1)
    client = login_of(organiser)
    pool_of("fibs").organisers.create(user=organiser.user)
    assert patch(Asker(client=client), first, body)["revision"]["kind"] == "edit"


def test_what_is_large_is_a_job(api: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "SMALL", 1)
    first, _second = _two(api)
    response = api.send("PATCH", f"matches/{first}/", {"length": 9, "reason": "It was to nine"})
    job = response.json()
    assert (response.status_code, job["status"], job["matches"], job["total"]) == (202, "previewing", [first], 2)
    address = f"jobs/{job['job']}/"
    assert api.post(f"{address}confirm/", {"token": "x"}, 409)["code"] == "not_waiting"
    background.run(job["job"])
    seen = api.get(address)
    assert (seen["status"], seen["preview"]["moved"], seen["revision"]) == ("previewed", 2, None)
    assert api.post(f"{address}confirm/", {"token": seen["preview"]["token"]}, 202)["status"] == "applying"
    assert api.post(f"{address}confirm/", {"token": seen["preview"]["token"]}, 202)["status"] == "applying"
    background.run(job["job"])
    assert api.get(address)["status"] == "done" and api.get(address)["revision"] == Revision.objects.get().pk
    assert api.post(f"{address}withdraw/", {}, 409)["code"] == "not_waiting"
    assert Match.objects.get(pk=first).length == 9


def test_a_job_is_nobody_elses(api: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "SMALL", 1)
    first, _second = _two(api)
    job = api.post(f"matches/{first}/void/", {"reason": "x"}, 202)["job"]
    for other, status in ((Asker(), 401), (Asker(key_of(corrections=True)), 404), (Asker(client=login_of(people(1)[0])), 404)):
        other.get(f"jobs/{job}/", status)
        other.post(f"jobs/{job}/withdraw/", {}, status)
    for _ in range(2):
        assert api.post(f"jobs/{job}/withdraw/", {})["status"] == "withdrawn"
    assert CorrectionJob.objects.get().status == "withdrawn"


def test_matches_of_the_site_itself_are_not_a_servers(api: Asker) -> None:
    [made] = complete(pool_of("fibs"), won(*people(2), at(0)))
    assert "your source" in api.post(f"matches/{made.pk}/void/", {"reason": "x"}, 403)["detail"]
