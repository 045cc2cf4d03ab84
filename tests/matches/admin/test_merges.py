"""Merging a duplicate in the admin, and undoing it: what it would move in each pool first, done only as it was shown."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches import jobs, tasks
from matches.completion import complete_match, complete_matches
from matches.merging import merge
from matches.models import CorrectionJob, Merge, Revision
from matches.verify import verify
from players.models import Organiser, Player, Pool
from tests.building import NOW, at, everything, people, pool_of, won
from tests.matches.entering import Filled, press, queries, staff
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db
ADD = "admin:matches_merge_add"


@pytest.fixture(autouse=True)
def chief(client: Client) -> User:
    user = staff("change_player", "view_player", "view_revision", name="chief")
    client.force_login(user)
    return user


@pytest.fixture
def world() -> tuple[Pool, Pool, list[Player]]:
    """Two pools in which a duplicate and whom he really is have played, never each other."""
    fibs, tics, players = pool_of("fibs"), pool_of("tics"), people(5)
    keep, duplicate, *others = players
    games = [(keep, others[n % 3]) if n % 2 else (others[n % 3], duplicate) for n in range(20)]
    complete_matches(fibs, [won(*pair, at(n)) for n, pair in enumerate(games)], now=NOW)
    complete_matches(tics, [won(*pair, at(n), length=None) for n, pair in enumerate(games[:8])], now=NOW)
    return fibs, tics, players


def page_of(player: Player) -> str:
    return reverse("admin:players_player_change", args=[player.pk])


def asked(client: Client, duplicate: Player, keep: object, reason: str = "one person", **more: str) -> Any:
    page = client.get(f"{reverse(ADD)}?duplicate={duplicate.pk}")
    form = Filled(page.text, "step_form").data | {"keep": getattr(keep, "pk", keep), "reason": reason, **more}
    return client.post(reverse(ADD), form)


def undo_url(made: Merge) -> str:
    return reverse("admin:matches_merge_undo", args=[made.pk])


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200 and "form" in response.context
    return {name: list(texts) for name, texts in response.context["form"].errors.items()}


def test_a_merge_is_previewed_pool_by_pool_made_and_undone(client: Client, world: Any, chief: User) -> None:
    fibs, tics, (keep, duplicate, *_) = world
    before = everything(fibs), everything(tics)
    assert f'href="{reverse(ADD)}?duplicate={duplicate.pk}"' in client.get(page_of(duplicate)).text
    form = client.get(f"{reverse(ADD)}?duplicate={duplicate.pk}")
    assert Inline(form.text).found == [] and f'<option value="{duplicate.pk}" selected>' in form.text
    preview = asked(client, duplicate, keep)
    assert "<h2>FIBS</h2>" in preview.text and "<h2>TICS</h2>" in preview.text and Inline(preview.text).found == []
    assert f"{duplicate.name} → {keep.name}" in preview.text
    assert (everything(fibs), everything(tics)) == before and not Merge.objects.exists()
    done = press(client, preview)
    assert done["Location"] == page_of(keep)
    made = Merge.objects.get()
    assert (made.keep, made.duplicate, made.made_by, made.reason) == (keep, duplicate, chief, "one person")
    assert verify(fibs) == (20, None) and verify(tics) == (8, None)
    assert [line.change_message for line in LogEntry.objects.all()] == ["players merged: one person"] * 2
    # The button once more finds what the first click did.
    assert press(client, preview)["Location"] == page_of(keep)
    assert Merge.objects.count() == 1 and LogEntry.objects.count() == 2

    listed = client.get(f"{reverse('admin:matches_merge_changelist')}?duplicate__id__exact={duplicate.pk}")
    assert [one.pk for one in listed.context["cl"].result_list] == [made.pk]
    assert "duplicate__id__exact" in client.get(page_of(duplicate)).text
    assert f'href="{undo_url(made)}"' in client.get(reverse("admin:matches_merge_change", args=[made.pk])).text
    page = client.get(undo_url(made))
    form = Filled(page.text, "step_form").data
    assert errors(client.post(undo_url(made), form)) == {
        "reason": ["It is missing. The players will ask why their ratings moved."]
    }
    undo = client.post(undo_url(made), form | {"reason": "two people"})
    assert "<h2>FIBS</h2>" in undo.text and "<h2>TICS</h2>" in undo.text
    press(client, undo)
    made.refresh_from_db()
    assert (made.undone_by, made.undone_reason) == (chief, "two people")
    assert (everything(fibs), everything(tics)) == before
    press(client, undo)
    assert Revision.objects.filter(kind="unmerge").count() == 2
    assert client.get(undo_url(made)).status_code == 302


def test_what_cannot_be_one_is_refused_with_its_reason(client: Client, world: Any) -> None:
    _, _, (keep, duplicate, other, *_) = world
    assert "they met in match" in errors(asked(client, duplicate, other))["__all__"][0]
    assert "into himself" in errors(asked(client, keep, keep))["__all__"][0]
    for bad in ("", "999999", "x", "9" * 40, "1\x00"):
        assert list(errors(asked(client, duplicate, bad))) == ["keep"]
    assert list(errors(asked(client, duplicate, keep, reason=" "))) == ["reason"]
    for bad in ("x", "9" * 40, "\x00"):
        assert client.get(reverse(ADD), {"duplicate": bad}).status_code == 200
    merge(keep, duplicate, reason="one")
    assert "is merged into" in errors(asked(client, duplicate, keep))["__all__"][0]
    assert Merge.objects.count() == 1


def test_a_pool_that_moved_shows_the_new_preview_and_writes_nothing(client: Client, world: Any) -> None:
    fibs, _, (keep, duplicate, other, *_) = world
    preview = asked(client, duplicate, keep)
    complete_match(fibs, won(other, keep, at(60)), now=NOW)
    again = press(client, preview)
    assert "have moved since the preview, so nothing was written" in again.text and not Merge.objects.exists()
    assert press(client, again).status_code == 302 and verify(fibs) == (21, None)


def test_a_duplicate_who_never_played_moves_no_rating(client: Client) -> None:
    keep, duplicate = people(2)
    preview = asked(client, duplicate, keep)
    assert "No rating moves." in preview.text
    assert press(client, preview).status_code == 302 and Merge.objects.get().duplicate == duplicate


def test_large_merges_go_to_the_background_and_so_does_their_undoing(client: Client, world: Any) -> None:
    fibs, tics, (keep, duplicate, *_) = world
    before = everything(fibs), everything(tics)

    def through(response: Any) -> CorrectionJob:
        job = CorrectionJob.objects.latest("pk")
        page_url = reverse("admin:matches_correctionjob_change", args=[job.pk])
        assert response["Location"] == page_url and job.total == 28 and job.pool is None
        told: list[int] = []
        with mock.patch("matches.replay.FETCH", 8):
            jobs.run(job.pk, report=lambda done, total: told.append(done))
        assert told == sorted(told) and told[-1] == 28
        page = client.get(page_url)
        assert "<h2>TICS</h2>" in page.text and f"#{duplicate.pk} → #{keep.pk}" in page.text
        job.refresh_from_db()
        client.post(page_url, {"_confirm": "1", "token": job.preview["token"]})
        tasks.run_correction(job.pk)
        tasks.run_correction(job.pk)
        job.refresh_from_db()
        assert job.status == "done", job.error
        assert "It is done" in client.get(page_url).text
        return job

    with mock.patch.object(jobs, "SMALL", 10):
        through(asked(client, duplicate, keep))
        made = Merge.objects.get()
        assert verify(fibs) == (20, None) and verify(tics) == (8, None)
        through(client.post(undo_url(made), {"reason": "two people"}))
    assert (everything(fibs), everything(tics)) == before
    assert client.get(reverse("admin:matches_correctionjob_changelist")).status_code == 200


def test_who_may_not_change_players_cannot(client: Client, world: Any) -> None:
    fibs, _, (keep, duplicate, *_) = world
    job = jobs.start_merge(keep, duplicate, reason="x")
    jobs.run(job.pk)
    job.refresh_from_db()
    job_page = reverse("admin:matches_correctionjob_change", args=[job.pk])
    organiser = staff(name="organiser")
    Organiser.objects.create(pool=fibs, user=organiser)
    client.force_login(organiser)
    assert client.get(job_page).status_code == 302  # there is no such job in his reach
    merged = merge(keep, people(6)[5], reason="one")
    for user in (organiser, staff("view_player", "change_match", "change_pool", name="other")):
        client.force_login(user)
        assert client.get(reverse(ADD)).status_code == client.post(reverse(ADD), {"_confirm": "1"}).status_code == 403
        assert client.get(undo_url(merged)).status_code == client.post(undo_url(merged), {"reason": "x"}).status_code == 403
        assert client.post(job_page, {"_confirm": "1", "token": job.preview["token"]}).status_code in (302, 403)
    assert CorrectionJob.objects.get().status == "previewed" and Merge.objects.count() == 1


def test_the_pages_have_a_fixed_number_of_queries(client: Client, world: Any) -> None:
    fibs, _, (keep, duplicate, *others) = world
    made = merge(others[2], people(9)[8], reason="one")
    urls = [reverse("admin:matches_merge_changelist"), reverse("admin:matches_merge_change", args=[made.pk]), undo_url(made)]
    few = [queries(lambda url=url: client.get(url)) for url in urls]
    preview = queries(lambda: asked(client, duplicate, keep))
    complete_matches(fibs, [won(others[0], duplicate, at(100 + n)) for n in range(40)], now=NOW)
    for player in people(30)[20:]:
        merge(others[2], player, reason="one")
    assert [queries(lambda url=url: client.get(url)) for url in urls] == few and max(few) <= 13
    assert queries(lambda: asked(client, duplicate, keep)) == preview <= 100
