"""Large corrections in the admin: started, previewed, confirmed and followed in the background; and the list of revisions."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from matches import corrections, jobs, revising, tasks
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.models import CorrectionJob, Match, Revision
from matches.replay import Overtaken
from matches.verify import verify
from players.models import Player, Pool, Rating
from tests.building import NOW, at, complete, people, pool_of, won
from tests.matches.admin.test_corrections import corrected, press, untouched, voided
from tests.matches.entering import (
    SOUND,
    add_url,
    change_url,
    correct_url,
    ended,
    errors,
    opened_form,
    queries,
    seated,
    staff,
    void_url,
)
from tests.matches.test_corrections import a_season, everything, fresh
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db
Status = CorrectionJob.Status
JOBS, REVISIONS = "admin:matches_correctionjob_changelist", "admin:matches_revision_changelist"


@pytest.fixture
def organiser() -> User:
    return staff("view_match", "change_match", "view_player")


@pytest.fixture(autouse=True)
def _logged_in(client: Client, organiser: User) -> None:
    client.force_login(organiser)


@pytest.fixture
def season() -> tuple[Pool, list[Player], list[Match]]:
    pool, players = pool_of("fibs"), people(6)
    return pool, players, complete_matches(pool, a_season(players, 30), now=NOW)


@pytest.fixture
def _small() -> Any:
    with mock.patch.object(jobs, "SMALL", 10):
        yield


def page_of(job: CorrectionJob) -> str:
    return reverse("admin:matches_correctionjob_change", args=[job.pk])


def progress_of(client: Client, job: CorrectionJob) -> dict[str, Any]:
    return client.get(reverse("admin:matches_correctionjob_progress", args=[job.pk])).json()


def started(client: Client, match: Match) -> CorrectionJob:
    response = voided(client, match)
    job = CorrectionJob.objects.latest("pk")
    assert response.status_code == 302 and response["Location"] == page_of(job)
    return job


def decide(client: Client, job: CorrectionJob, button: str = "_confirm", token: str | None = None) -> Any:
    job.refresh_from_db()
    return client.post(page_of(job), {button: "1", "token": (job.preview or {}).get("token", "") if token is None else token})


_apply = jobs._apply


def applied_and_lost(*arguments: Any) -> None:
    """A worker that is lost between the writing and the end."""
    _apply(*arguments)
    raise SystemExit


@pytest.mark.usefixtures("_small")
def test_a_large_correction_is_previewed_confirmed_and_done_in_the_background(
    client: Client, season: Any, organiser: User
) -> None:
    pool, _, matches = season
    before = everything(pool)
    job = started(client, matches[3])
    page = client.get(page_of(job))
    assert "done in the background" in page.text and "27 matches to rate" in page.text and "_confirm" not in page.text
    assert f'href="{page_of(job)}"' in page.text and "job.js" in page.text and Inline(page.text).found == []
    assert progress_of(client, job)["state"] == "previewing"

    tasks.run_correction(job.pk)
    page = client.get(page_of(job))
    assert everything(pool) == before and "_confirm" in page.text and "job.js" not in page.text
    assert f"{page.context['preview'].moved} players move" in page.text and "annulled by the jury" in page.text
    assert "Status: completed → <strong>voided</strong>" in page.text and Inline(page.text).found == []

    assert decide(client, job)["Location"] == page_of(job)
    assert [line.change_message for line in LogEntry.objects.order_by("pk")] == ["voided: annulled by the jury", "Confirmed"]
    job.refresh_from_db()
    assert job.status == Status.APPLYING and everything(pool) == before
    assert "The old ratings stand until all is written" in client.get(page_of(job)).text

    tasks.run_correction(job.pk)
    revision = Revision.objects.get()
    page = client.get(page_of(job))
    assert "It is done" in page.text and reverse("admin:matches_revision_change", args=[revision.pk]) in page.text
    assert (revision.reason, revision.made_by) == ("annulled by the jury", organiser)
    assert verify(pool) == (29, None) and "_confirm" not in page.text
    assert "done" in client.get(reverse(JOBS)).text


@pytest.mark.usefixtures("_small")
def test_an_edit_and_several_voids_become_jobs_too(client: Client, season: Any) -> None:
    pool, _, matches = season
    assert corrected(client, matches[3], length="17").status_code == 302
    assert voided(client, *matches[4:6]).status_code == 302
    for job in CorrectionJob.objects.order_by("pk"):
        jobs.run(job.pk)
        decide(client, job)
        assert jobs.run(job.pk).status == Status.DONE
    assert fresh(matches[3]).length == 17 and verify(pool) == (28, None)
    assert press(client, voided(client, matches[25])).status_code == 302  # a small one is done at once


@pytest.mark.usefixtures("_small")
def test_a_pool_that_moved_waits_for_another_confirmation(client: Client, season: Any) -> None:
    pool, _, matches = season
    job = started(client, matches[3])
    jobs.run(job.pk)
    seen = jobs.preview_of(CorrectionJob.objects.get())
    correct(pool, [Correction(matches[5], void=True)], reason="annulled as well")
    decide(client, job)
    before = everything(pool)
    assert jobs.run(job.pk).status == Status.PREVIEWED and everything(pool) == before
    page = client.get(page_of(job))
    assert "have moved since the preview, so nothing was written" in page.text
    # Who has the older preview open confirms nothing.
    assert seen is not None
    decide(client, job, token=seen.token)
    assert "Look at it again" in client.get(page_of(job)).text
    assert jobs.run(job.pk).status == Status.PREVIEWED
    decide(client, job)
    assert jobs.run(job.pk).status == Status.DONE and verify(pool) == (28, None)


@pytest.mark.usefixtures("_small")
def test_a_job_whose_match_was_changed_meanwhile_says_by_whom(client: Client, season: Any) -> None:
    pool, _, matches = season
    job = started(client, matches[3])
    jobs.run(job.pk)
    other = User.objects.create(username="colleague")
    corrections.correct(pool, [Correction(matches[3], void=True)], reason="the other jury", made_by=other, now=NOW)
    before = everything(pool)
    decide(client, job)
    jobs.run(job.pk)
    page = client.get(page_of(job))
    assert "colleague changed match" in page.text and "the other jury" in page.text and "failed" in page.text
    assert everything(pool) == before and Revision.objects.count() == 1


@pytest.mark.usefixtures("_small")
def test_an_impossible_job_is_refused_on_the_form_and_starts_nothing(client: Client, season: Any) -> None:
    _, _, matches = season
    assert corrected(client, matches[3], length="0").status_code == 200
    assert not CorrectionJob.objects.exists()


@pytest.mark.usefixtures("_small")
def test_a_worker_lost_after_the_writing_is_found_to_have_done_it(client: Client, season: Any) -> None:
    pool, _, matches = season
    job = started(client, matches[3])
    jobs.run(job.pk)
    decide(client, job)
    with mock.patch.object(jobs, "_apply", side_effect=applied_and_lost), pytest.raises(SystemExit):
        jobs.run(job.pk)
    assert CorrectionJob.objects.get().status == Status.DONE and Revision.objects.count() == 1
    job = jobs.run(job.pk)
    assert (job.status, job.revision, job.error) == (Status.DONE, Revision.objects.get(), "")
    assert verify(pool) == (29, None)


@pytest.mark.usefixtures("_small")
def test_an_error_of_the_site_ends_the_job_and_one_of_the_database_does_not(client: Client, season: Any) -> None:
    pool, _, matches = season
    before = everything(pool)
    job = started(client, matches[3])
    for passing in (OperationalError, Overtaken):
        with mock.patch.object(revising, "preview", side_effect=passing), pytest.raises(passing):
            jobs.run(job.pk)
    assert CorrectionJob.objects.get().status == Status.PREVIEWING
    with mock.patch.object(revising, "preview", side_effect=ZeroDivisionError):
        assert jobs.run(job.pk).status == Status.FAILED
    assert "The site made an error" in client.get(page_of(job)).text and everything(pool) == before


@pytest.mark.usefixtures("_small")
def test_a_job_is_withdrawn_before_it_is_confirmed_and_not_after(client: Client, season: Any) -> None:
    pool, _, matches = season
    before = everything(pool)
    job = started(client, matches[3])
    decide(client, job, "_withdraw")
    assert "organiser withdrew it" in client.get(page_of(job)).text
    page = client.get(page_of(job)).text
    assert "withdrawn" in page and "failed" not in page and "errornote" not in page
    assert jobs.run(job.pk).status == Status.WITHDRAWN  # a worker that comes late leaves it alone
    other = started(client, matches[4])

    def withdrawn(*args: Any, **more: Any) -> Any:
        decide(client, other, "_withdraw")
        return previewed(*args, **more)

    previewed = revising.preview
    with mock.patch.object(revising, "preview", withdrawn):
        jobs.run(other.pk)  # withdrawn while it is being previewed
    assert CorrectionJob.objects.get(pk=other.pk).status == Status.WITHDRAWN
    third = started(client, matches[5])
    jobs.run(third.pk)
    decide(client, third)
    decide(client, third, "_withdraw")
    assert "confirmed or over already" in client.get(page_of(third)).text
    assert everything(pool) == before
    assert jobs.run(third.pk).status == Status.DONE


@pytest.mark.usefixtures("_small")
def test_the_progress_says_rate_and_time_left(client: Client, season: Any) -> None:
    _, _, matches = season
    job = started(client, matches[3])
    told: list[dict[str, Any]] = []
    clock = mock.Mock(time=mock.Mock(side_effect=[100.0, 102.0, 110.0]))
    with mock.patch("matches.replay.FETCH", 40), mock.patch.object(jobs, "time", clock):
        jobs.run(job.pk, report=lambda done, total: told.append(progress_of(client, job)))
    assert [one["done"] for one in told] == [20, 26]
    assert told[0] == {
        "state": "previewing",
        "done": 20,
        "total": 27,
        "text": "20 of 27 matches rated, 10 a second, 1 s left.",
    }
    told.clear()
    decide(client, job)
    with mock.patch("matches.replay.FETCH", 40):
        jobs.run(job.pk, report=lambda done, total: told.append(progress_of(client, job)))
    assert (told[0]["state"], told[0]["total"]) == ("applying", 26)
    assert told[1]["text"] == "All matches are rated. The history is being written."


# --- Entered late ---


@pytest.fixture
def enters(client: Client) -> str:
    client.force_login(staff("add_match", "change_match", "view_match", "view_player", name="enters"))
    return add_url(pool_of("fibs"))


def late_form(client: Client, players: list[Player], **more: str) -> dict[str, str]:
    return {**opened_form(client, add_url(pool_of("fibs"))), **SOUND["fibs"], **ended(at(3.5)), **seated(players[:2]), **more}


@pytest.mark.usefixtures("_small")
def test_a_match_that_is_late_by_many_is_completed_in_the_background(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    before = everything(pool)
    form = late_form(client, players, length="9")
    response = client.post(enters, form)
    job = CorrectionJob.objects.get()
    assert response["Location"] == page_of(job) and job.total == 26
    assert client.post(enters, form)["Location"] == page_of(job)  # a second click
    jobs.run(job.pk)
    page = client.get(page_of(job))
    assert f"entered late: {players[0]} won against {players[1]}, match to 9" in page.text and "_confirm" in page.text
    assert everything(pool) == before and Match.objects.count() == 30
    moves = {move.player.pk: move.rating[1] for move in page.context["preview"].moves}
    decide(client, job)
    tasks.run_correction(job.pk)
    tasks.run_correction(job.pk)
    match = Match.objects.latest("pk")
    job.refresh_from_db()
    assert (job.status, job.revision, Match.objects.count()) == (Status.DONE, Revision.objects.get(), 31)
    assert (match.entered_by, list(job.revision.matches.all())) == (job.made_by, [match])
    assert moves == {player_id: Rating.objects.get(pool=pool, player=player_id).value for player_id in moves}
    assert verify(pool) == (31, None)
    page = client.get(page_of(job))
    assert "It is done" in page.text and reverse("admin:matches_match_change", args=[match.pk]) in page.text
    # The form once more finds what was stored.
    assert client.post(enters, form)["Location"] == reverse("admin:matches_match_changelist")
    assert Match.objects.count() == 31 and CorrectionJob.objects.count() == 1


@pytest.mark.usefixtures("_small")
def test_an_open_match_that_is_late_by_many_is_completed_in_the_background(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    client.post(enters, late_form(client, players, status="open", outcome=""))
    match = Match.objects.get(status="open")
    form = opened_form(client, change_url(match)) | {"status": "completed", "outcome": "2", **ended(at(3.5))}
    client.post(change_url(match), form)
    job = CorrectionJob.objects.get()
    jobs.run(job.pk)
    decide(client, job)
    with mock.patch.object(jobs.CorrectionJob.objects, "filter", side_effect=SystemExit), pytest.raises(SystemExit):
        jobs.run(job.pk)  # the worker is lost after the writing
    assert jobs.run(job.pk).status == Status.DONE
    assert fresh(match).status == "completed" and Match.objects.count() == 31 and verify(pool) == (31, None)


@pytest.mark.usefixtures("_small")
def test_a_late_job_that_has_moved_or_is_impossible_says_so(client: Client, enters: str, season: Any) -> None:
    pool, players, matches = season
    assert list(errors(client.post(enters, late_form(client, players, length="0")))) == ["length"]
    client.post(enters, late_form(client, players))
    job = CorrectionJob.objects.get()
    jobs.run(job.pk)
    correct(pool, [Correction(matches[5], void=True)], reason="annulled")
    before = everything(pool)
    decide(client, job)
    assert jobs.run(job.pk).status == Status.PREVIEWED and everything(pool) == before
    assert "have moved since the preview" in client.get(page_of(job)).text
    decide(client, job)
    with mock.patch("players.systems.backgammon.RATING_LIMIT", 1503.0):
        assert jobs.run(job.pk).status == Status.FAILED
    assert "Rating: must be from" in client.get(page_of(job)).text and everything(pool) == before
    # Given up, the form can be sent again.
    client.post(enters, late_form(client, players))
    assert CorrectionJob.objects.count() == 2


@pytest.mark.usefixtures("_small")
def test_a_late_job_whose_open_match_was_completed_meanwhile_says_by_whom(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    client.post(enters, late_form(client, players, status="open", outcome=""))
    match = Match.objects.get(status="open")
    form = opened_form(client, change_url(match)) | {"status": "completed", "outcome": "2", **ended(at(3.5))}
    client.post(change_url(match), form)
    job = CorrectionJob.objects.get()
    jobs.run(job.pk)
    other = User.objects.create(username="colleague")
    complete_match(pool, won(*players[:2], at(95), match=match, entered_by=other), now=NOW)
    before = everything(pool)
    decide(client, job)
    assert jobs.run(job.pk).status == Status.FAILED
    assert "colleague saved this match meanwhile" in client.get(page_of(job)).text and everything(pool) == before


# --- Who may ---


def test_who_may_not_correct_sees_no_job(client: Client, season: Any) -> None:
    pool, _, matches = season
    job = jobs.start(pool, [Correction(matches[3], void=True)], reason="x")
    jobs.run(job.pk)
    for rights in ((), ("view_match",)):
        client.force_login(staff(*rights, name=f"other{len(rights)}"))
        for url in (page_of(job), reverse(JOBS), reverse("admin:matches_correctionjob_progress", args=[job.pk])):
            assert client.get(url).status_code == 403
        with untouched():
            assert decide(client, job).status_code == decide(client, job, "_withdraw").status_code == 403
    client.force_login(staff("view_correctionjob", name="looker"))
    page = client.get(page_of(job))
    assert page.status_code == 200 and "_confirm" not in page.text and "_withdraw" not in page.text
    assert decide(client, job).status_code == 403
    assert CorrectionJob.objects.get().status == Status.PREVIEWED


def test_jobs_are_neither_added_nor_deleted_here(client: Client, season: Any) -> None:
    client.force_login(User.objects.create_superuser("chief"))
    pool, _, matches = season
    job = jobs.start(pool, [Correction(matches[3], void=True)], reason="x")
    assert client.get(reverse("admin:matches_correctionjob_add")).status_code == 403
    assert client.get(reverse("admin:matches_correctionjob_delete", args=[job.pk])).status_code == 403
    for missing in ("999999", "x"):
        assert client.get(reverse("admin:matches_correctionjob_change", args=[missing])).status_code == 302
        assert client.get(reverse("admin:matches_correctionjob_progress", args=[missing])).status_code == 403


def test_the_lists_and_pages_have_a_fixed_number_of_queries(client: Client, season: Any) -> None:
    pool, players, matches = season
    press(client, voided(client, matches[3]))
    job = jobs.start(pool, [Correction(matches[5], void=True)], reason="x")
    jobs.run(job.pk)
    revision = Revision.objects.get()
    urls = [reverse(JOBS), page_of(job), reverse(REVISIONS), reverse("admin:matches_revision_change", args=[revision.pk])]
    few = [queries(lambda url=url: client.get(url)) for url in urls]
    for number in range(6, 26):
        jobs.run(jobs.start(pool, [Correction(matches[number], void=True)], reason="x").pk)
        press(client, voided(client, matches[number]))
    complete(pool, won(*players[:2], at(0.5)))
    assert [queries(lambda url=url: client.get(url)) for url in urls] == few
    assert max(few) <= 15, few


# --- Revisions ---


def revision_page(client: Client, revision: Revision) -> Any:
    return client.get(reverse("admin:matches_revision_change", args=[revision.pk]))


def test_a_revision_says_who_when_why_and_what_in_words(client: Client, season: Any) -> None:
    _, players, matches = season
    length = matches[3].length
    press(client, corrected(client, matches[3], length="17", outcome="2", reason="as the card says"))
    seats = [seat.player.name for seat in matches[3].participants.select_related("player")]
    edit = Revision.objects.get()
    page = revision_page(client, edit)
    for words in (
        "organiser",
        "as the card says",
        f"Match length: {length} → <strong>17</strong>",
        f"Result: {seats[0]} won against {seats[1]} → <strong>{seats[1]} won against {seats[0]}</strong>",
        "result corrected",
        str(edit.changes),
        reverse("admin:matches_match_change", args=[matches[3].pk]),
    ):
        assert words in page.text, words
    assert 'name="_save"' not in page.text and "<input" not in page.context["adminform"].form.as_p()
    # Who played is told as it was then, whoever has the seats now.
    others = [player for player in players if player.name not in seats]
    row = {f"participants-{number}-player": str(player.pk) for number, player in enumerate(others[:2])}
    press(client, corrected(client, matches[3], reason="others", **row))
    assert f"{seats[0]} won against {seats[1]} →" in revision_page(client, edit).text


def test_a_late_match_is_named_in_its_revision(client: Client, season: Any) -> None:
    pool, players, _ = season
    [late] = complete(pool, won(*players[:2], at(2.5)))
    page = revision_page(client, Revision.objects.get(kind="late"))
    assert f">#{late.pk}</a>" in page.text


def test_revisions_are_filtered_and_found(client: Client, season: Any) -> None:
    pool, players, matches = season
    press(client, voided(client, matches[3], reason="the jury"))
    press(client, corrected(client, matches[4], length="17", reason="the card"))
    tics = pool_of("tics")
    [other] = complete(tics, won(*players[:2], at(1), length=None))
    press(client, voided(client, other, reason="other jury"))

    def found(**query: Any) -> list[str]:
        return [one.reason for one in client.get(reverse(REVISIONS), query).context["cl"].result_list]

    assert found() == ["other jury", "the card", "the jury"]
    assert found(pool__id__exact=pool.pk) == ["the card", "the jury"]
    assert found(kind__exact="void") == ["other jury", "the jury"]
    assert found(q=f"#{matches[4].pk}") == found(q="CARD") == ["the card"]
    assert found(q="9" * 30) == found(q="nothing") == []
    page = client.get(reverse("admin:matches_match_change", args=[matches[4].pk]))
    assert f"?q=%23{matches[4].pk}" in page.text


def test_revisions_are_only_looked_at(client: Client, season: Any) -> None:
    _, _, matches = season
    press(client, voided(client, matches[3]))
    revision = Revision.objects.get()
    client.force_login(User.objects.create_superuser("chief"))
    url = reverse("admin:matches_revision_change", args=[revision.pk])
    assert client.post(url, {"reason": "another"}).status_code == 403
    assert client.get(reverse("admin:matches_revision_add")).status_code == 403
    assert client.post(reverse("admin:matches_revision_delete", args=[revision.pk]), {"post": "yes"}).status_code == 403
    assert Revision.objects.get().reason == "annulled by the jury"
    client.force_login(staff("view_match", name="looker"))
    assert client.get(url).status_code == 403


def test_the_pages_of_a_correction_need_nothing_inline(client: Client, season: Any) -> None:
    _, _, matches = season
    for page in (
        client.get(correct_url(matches[3])),
        client.get(void_url(matches[3])),
        voided(client, matches[3]),
        corrected(client, matches[3], length="17"),
    ):
        assert page.status_code == 200 and Inline(page.text).found == []
    assert opened_form(client, correct_url(matches[3]))["version"] == "1"
