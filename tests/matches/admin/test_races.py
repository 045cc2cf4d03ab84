"""Forms of the admin that are sent at the same moment, on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches import jobs
from matches.completion import complete_matches, save_open
from matches.corrections import Correction
from matches.models import CorrectionJob, Match, Revision
from players.models import Player
from players.systems.base import Result
from tests.building import DAY_ONE, NOW, at, complete, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once
from tests.matches.admin.test_corrections import corrected, voided
from tests.matches.entering import SOUND, add_url, change_url, ended, errors, opened_form, press, seated
from tests.matches.test_corrections import a_season

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def clients(count: int) -> list[Client]:
    """Logged in as so many different people."""
    made = []
    for number in range(count):
        client = Client()
        client.force_login(User.objects.create_superuser(f"chief{number}"))
        made.append(client)
    return made


def sent_at_once(senders: list[Client], url: str, data: dict[str, Any]) -> list[int]:
    answers = at_once([lambda client=client: client.post(url, data) for client in senders])
    assert not [answer for answer in answers if isinstance(answer, Exception)], answers
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("status", ["completed", "open"])
def test_a_button_clicked_eight_times_at_once_makes_one_match(status: str) -> None:
    pool, senders = pool_of("fibs"), clients(8)
    end = {"status": status, "outcome": SOUND["fibs"]["outcome"] if status == "completed" else ""}
    data = {**opened_form(senders[0], add_url(pool)), **SOUND["fibs"], **ended(DAY_ONE), **seated(people(2)), **end}
    assert sent_at_once(senders, add_url(pool), data) == [302] * 8
    assert Match.objects.count() == 1
    if status == "completed":
        assert_whole(pool, 1)
        assert LogEntry.objects.count() == 1


def test_an_open_match_completed_by_two_at_once_is_completed_once() -> None:
    pool, (first, second) = pool_of("fibs"), clients(2)
    match = save_open(pool, players=people(2), terms=Result(length=5))
    end = {"status": "completed", **ended(DAY_ONE)}
    forms = [
        {**opened_form(client, change_url(match)), **end, "outcome": outcome} for client, outcome in ((first, "1"), (second, "2"))
    ]
    answers = at_once(
        [lambda c=c, data=data: c.post(change_url(match), data) for c, data in zip((first, second), forms, strict=True)]
    )
    assert sorted(answer.status_code for answer in answers) == [200, 302]
    [refused] = [answer for answer in answers if answer.status_code == 200]
    assert list(errors(refused)) == ["form"]
    assert_whole(pool, 1)


def test_late_matches_of_the_same_players_entered_at_once_are_all_rated() -> None:
    pool, senders, (one, two) = pool_of("fibs"), clients(4), people(2)
    complete(pool, won(one, two, at(100)))
    pages = []
    for number, client in enumerate(senders):
        data = {**opened_form(client, add_url(pool)), **SOUND["fibs"], **ended(at(number)), **seated([one, two])}
        pages.append((client, client.post(add_url(pool), data)))
    rounds = 0
    while pages:  # each time at least one was as it was previewed; the others see the new preview
        answers = at_once([lambda client=client, page=page: press(client, page) for client, page in pages])
        assert {answer.status_code for answer in answers} <= {200, 302} and 302 in {answer.status_code for answer in answers}
        pages = [(client, answer) for (client, _), answer in zip(pages, answers, strict=True) if answer.status_code == 200]
        rounds += 1
    assert 1 < rounds <= 4
    assert_whole(pool, 5)
    assert Revision.objects.filter(kind="late").count() == 4


def test_a_late_match_that_is_confirmed_eight_times_at_once_is_one_match() -> None:
    pool, senders, (one, two) = pool_of("fibs"), clients(8), people(2)
    complete(pool, won(one, two, at(100)))
    data = {**opened_form(senders[0], add_url(pool)), **SOUND["fibs"], **ended(DAY_ONE), **seated([one, two])}
    page = senders[0].post(add_url(pool), data)
    answers = at_once([lambda client=client: press(client, page) for client in senders])
    assert [answer.status_code for answer in answers] == [302] * 8
    assert_whole(pool, 2)
    assert LogEntry.objects.count() == 1


def test_two_who_correct_the_same_match_at_once_make_one_revision() -> None:
    pool, senders, players = pool_of("fibs"), clients(2), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    pages = [corrected(client, matches[3], length=str(length)) for client, length in zip(senders, (15, 17), strict=True)]
    answers = at_once([lambda c=c, page=page: press(c, page) for c, page in zip(senders, pages, strict=True)])
    assert sorted(answer.status_code for answer in answers) == [200, 302]
    [(second, refused)] = [both for both in zip(senders, answers, strict=True) if both[1].status_code == 200]
    assert_whole(pool, 20)
    assert Revision.objects.count() == LogEntry.objects.count() == 1
    # Who came second reads it on the form, or sees how the pool has moved; sent again it is a conflict in any case.
    if "preview_form" in refused.text:
        refused = press(second, refused)
    assert "changed match" in refused.text and "Nothing of yours was written" in refused.text


def test_two_who_void_different_matches_at_once_are_both_shown_what_they_do() -> None:
    pool, senders, players = pool_of("fibs"), clients(2), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    pages = [voided(client, match) for client, match in zip(senders, matches[3:5], strict=True)]
    answers = at_once([lambda c=c, page=page: press(c, page) for c, page in zip(senders, pages, strict=True)])
    assert sorted(answer.status_code for answer in answers) == [200, 302]
    assert_whole(pool, 20, counted=19)
    [(client, moved)] = [both for both in zip(senders, answers, strict=True) if both[1].status_code == 200]
    assert "nothing was written" in moved.text
    assert press(client, moved).status_code == 302
    assert_whole(pool, 20, counted=18)


def test_one_correction_confirmed_six_times_at_once_is_made_once() -> None:
    pool, [client], players = pool_of("fibs"), clients(1), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    page = voided(client, *matches[3:6])
    answers = at_once([lambda: press(client, page) for _ in range(6)])
    assert [answer.status_code for answer in answers] == [302] * 6
    assert_whole(pool, 20, counted=17)
    assert Revision.objects.count() == 1 and LogEntry.objects.count() == 3


def test_a_job_confirmed_six_times_at_once_is_confirmed_once() -> None:
    pool, senders, players = pool_of("fibs"), clients(6), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    job = jobs.start(pool, [Correction(matches[3], void=True)], reason="annulled")
    jobs.run(job.pk)
    url = reverse("admin:matches_correctionjob_change", args=[job.pk])
    token = CorrectionJob.objects.get().preview["token"]
    answers = at_once([lambda c=c: c.post(url, {"_confirm": "1", "token": token}) for c in senders])
    assert [answer.status_code for answer in answers] == [302] * 6
    assert LogEntry.objects.count() == 2  # of the match, and of the job
    done = at_once([lambda: jobs.run(job.pk) for _ in range(4)])
    assert not [answer for answer in done if isinstance(answer, Exception)], done
    assert CorrectionJob.objects.get().status == "done" and Revision.objects.count() == 1
    assert_whole(pool, 20, counted=19)


def test_one_name_sent_twice_at_once_is_one_player_and_an_error_on_the_name() -> None:
    senders = clients(4)
    data = {"name": "Vera", "user": "", "time_zone": "UTC", "language": "en"}
    answers = sent_at_once(senders, reverse("admin:players_player_add"), data)
    assert set(answers) <= {200, 302} and 302 in answers
    assert Player.objects.filter(name="Vera").count() == 1


def test_one_pool_sent_twice_at_once_is_one_pool() -> None:
    data = {"name": "Club", "slug": "club", "system": "tics", "parameters": ""}
    answers = sent_at_once(clients(4), reverse("admin:players_pool_add"), data)
    assert sorted(answers) == [200, 200, 200, 302]
