"""The organiser of one pool in the admin: what he may there, and that he may nothing anywhere else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches import jobs
from matches.completion import complete_matches, save_open
from matches.corrections import Correction, correct
from matches.models import CorrectionJob, Match, Revision
from matches.verify import verify
from players.models import Organiser, Player
from players.systems.base import Result
from tests.building import NOW, at, people, pool_of, won
from tests.matches.admin.test_corrections import choose, corrected, untouched, voided
from tests.matches.entering import SOUND, add_url, change_url, correct_url, ended, opened_form, press, queries, seated, void_url
from tests.matches.test_corrections import a_season, everything, fresh

pytestmark = pytest.mark.django_db


@pytest.fixture
def organiser() -> User:
    """Of FIBS, with no permission of Django's."""
    user = User.objects.create_user("organiser", is_staff=True)
    Organiser.objects.create(user=user, pool=pool_of("fibs"))
    return user


@pytest.fixture(autouse=True)
def _logged_in(client: Client, organiser: User) -> None:
    client.force_login(organiser)


@pytest.fixture
def played() -> tuple[list[Player], list[Match], list[Match]]:
    """The same season at FIBS and in TICS."""
    players = people(6)
    own = complete_matches(pool_of("fibs"), a_season(players, 20), now=NOW)
    others = complete_matches(pool_of("tics"), [won(*players[n % 5 : n % 5 + 2], at(n), length=None) for n in range(20)], now=NOW)
    return players, own, others


def url(model: str, view: str, *args: object) -> str:
    return reverse(f"admin:{model}_{view}", args=args)


def test_he_sees_his_pool_alone(client: Client, played: Any) -> None:
    _, own, others = played
    correct(pool_of("tics"), [Correction(others[0], void=True)], reason="other", now=NOW)
    correct(pool_of("fibs"), [Correction(own[0], void=True)], reason="own", now=NOW)
    for model, pool_of_row in (
        ("matches_match", lambda row: row.pool),
        ("matches_revision", lambda row: row.pool),
        ("players_rating", lambda row: row.pool),
        ("players_ratingchange", lambda row: row.rating.pool),
    ):
        rows = client.get(url(model, "changelist")).context["cl"].result_list
        assert {pool_of_row(row).slug for row in rows} == {"fibs"}, model
        assert client.get(url(model, "change", rows[0].pk)).status_code == 200
    assert client.get(url("matches_match", "changelist"), {"pool__id__exact": pool_of("tics").pk}).context["cl"].result_count == 0
    assert client.get(url("matches_revision", "changelist"), {"q": "other"}).context["cl"].result_count == 0
    index = client.get(reverse("admin:index")).text
    for model in ("matches_match", "matches_revision", "matches_correctionjob", "players_rating"):
        assert url(model, "changelist") in index
    for model in ("players_pool", "players_player", "auth_user", "matches_table"):
        assert url(model, "changelist") not in index
        assert client.get(url(model, "changelist")).status_code == 403


def test_he_enters_matches_there(client: Client, played: Any) -> None:
    players, _, _ = played
    pages = client.get(reverse("admin:matches_match_add")).text
    assert add_url(pool_of("fibs")) in pages and add_url(pool_of("tics")) not in pages
    data = {**opened_form(client, add_url(pool_of("fibs"))), **SOUND["fibs"], **ended(at(50)), **seated(players[:2])}
    assert client.post(add_url(pool_of("fibs")), data).status_code == 302
    assert verify(pool_of("fibs")) == (21, None)
    late = {**opened_form(client, add_url(pool_of("fibs"))), **SOUND["fibs"], **ended(at(3.5)), **seated(players[:2])}
    assert press(client, client.post(add_url(pool_of("fibs")), late)).status_code == 302
    opened = {
        **opened_form(client, add_url(pool_of("fibs"))),
        **SOUND["fibs"],
        "outcome": "",
        "status": "open",
        **seated(players[:2]),
    }
    assert client.post(add_url(pool_of("fibs")), opened).status_code == 302
    match = Match.objects.get(status="open")
    end = opened_form(client, change_url(match)) | {"status": "completed", "outcome": "1", **ended(at(60))}
    assert client.post(change_url(match), end).status_code == 302 and verify(pool_of("fibs")) == (23, None)


def test_he_finds_the_players_and_changes_none(client: Client, played: Any) -> None:
    players, _, _ = played
    find = {"app_label": "matches", "model_name": "participant", "field_name": "player", "term": "player 1"}
    found = client.get(reverse("admin:autocomplete"), find).json()["results"]
    assert [int(one["id"]) for one in found] == [players[0].pk]
    assert client.get(url("players_player", "change", players[0].pk)).status_code == 403
    assert client.get(url("players_player", "add")).status_code == 403


def test_he_corrects_voids_and_takes_back_there(client: Client, played: Any, organiser: User) -> None:
    _, own, _ = played
    before = everything(pool_of("fibs"))
    page = client.get(change_url(own[3]))
    assert correct_url(own[3]) in page.text and void_url(own[3]) in page.text
    assert press(client, corrected(client, own[3], length="17")).status_code == 302
    assert press(client, voided(client, *own[4:6])).status_code == 302
    assert press(client, voided(client, *map(fresh, own[4:6]), void=False)).status_code == 302
    assert press(client, corrected(client, fresh(own[3]), length=str(own[3].length))).status_code == 302
    assert everything(pool_of("fibs")) == before
    assert set(Revision.objects.values_list("made_by", flat=True)) == {organiser.pk}
    page = choose(client, "void_selected", own[7:9])
    assert len(page.context["matches"]) == 2


def test_he_may_nothing_in_another_pool(client: Client, played: Any) -> None:
    players, own, others = played
    opened = save_open(pool_of("tics"), players=players[:2], terms=Result())
    with untouched():
        for address in (change_url(others[3]), change_url(opened)):
            assert client.get(address).status_code == client.post(address, {"outcome": "1"}).status_code == 302
        assert client.get(add_url(pool_of("tics"))).status_code == 403
        sound = {**SOUND["tics"], **ended(at(50)), **seated(players[:2])}
        assert client.post(add_url(pool_of("tics")), sound).status_code == 403
        # The pool is that of the address, whatever the form says.
        own_form = {**opened_form(client, add_url(pool_of("fibs"))), "pool": str(pool_of("tics").pk)}
        client.post(add_url(pool_of("fibs")), own_form)
        sent = {"match": f"{others[3].pk}:1", "reason": "x", "_confirm": "1", "token": "x"}
        assert client.get(correct_url(others[3])).status_code == client.post(correct_url(others[3]), sent).status_code == 302
        for void in (True, False):
            address = void_url(others[3], void=void)
            assert client.get(address).status_code == client.post(address, sent).status_code == 302
        both = {"match": [f"{own[3].pk}:1", f"{others[3].pk}:1"], "reason": "x"}
        page = client.post(void_url(own[3]), both)
        assert [change.match for change in page.context["preview"].changes] == [own[3]]
        choose(client, "void_selected", others[:2])
        for match in (own[3], others[3], opened):
            assert client.post(reverse("admin:matches_match_delete", args=[match.pk]), {"post": "yes"}).status_code in (302, 403)
    assert Match.objects.count() == 41 and not Revision.objects.exists()


def test_he_decides_on_the_jobs_of_his_pool_alone(client: Client, played: Any) -> None:
    _, own, others = played
    mine = jobs.start(pool_of("fibs"), [Correction(own[3], void=True)], reason="own")
    other = jobs.start(pool_of("tics"), [Correction(others[3], void=True)], reason="other")
    for job in (mine, other):
        jobs.run(job.pk)
        job.refresh_from_db()
    listed = client.get(url("matches_correctionjob", "changelist")).context["cl"].result_list
    assert list(listed) == [mine]
    for job, status in ((mine, "applying"), (other, "previewed")):
        client.get(url("matches_correctionjob", "progress", job.pk))
        client.post(url("matches_correctionjob", "change", job.pk), {"_confirm": "1", "token": job.preview["token"]})
        assert CorrectionJob.objects.get(pk=job.pk).status == status
    client.post(url("matches_correctionjob", "change", other.pk), {"_withdraw": "1"})
    assert CorrectionJob.objects.get(pk=other.pk).status == "previewed"
    assert client.get(url("matches_correctionjob", "progress", other.pk)).status_code == 403


def test_who_organises_no_more_may_no_more(client: Client, played: Any) -> None:
    _, own, _ = played
    page = voided(client, own[3])
    Organiser.objects.all().delete()
    with untouched():
        assert press(client, page).status_code == 403
        for address in (url("matches_match", "changelist"), correct_url(own[3]), add_url(pool_of("fibs"))):
            assert client.get(address).status_code == 403


def test_an_organiser_without_staff_status_is_sent_to_the_login(client: Client, played: Any, organiser: User) -> None:
    _, own, _ = played
    User.objects.filter(pk=organiser.pk).update(is_staff=False)
    assert client.get(change_url(own[3])).status_code == client.post(void_url(own[3])).status_code == 302


def test_the_number_of_queries_does_not_grow(client: Client, played: Any, organiser: User) -> None:
    _, own, _ = played
    addresses = [
        url("matches_match", "changelist"),
        change_url(own[3]),
        correct_url(own[3]),
        url("matches_revision", "changelist"),
    ]
    few = [queries(lambda address=address: client.get(address)) for address in addresses]
    for slug in ("tics", "crowns-cup", "freewhist"):
        Organiser.objects.create(user=organiser, pool=pool_of(slug))
    assert [queries(lambda address=address: client.get(address)) for address in addresses] == few
    assert max(few) <= 22, few
