"""Forms of the admin that are sent at the same moment, on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches.completion import save_open
from matches.models import Match
from players.models import Player
from players.systems.base import Result
from tests.building import DAY_ONE, at, complete, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once
from tests.matches.entering import SOUND, add_url, change_url, ended, errors, opened_form, seated

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
    jobs = []
    for number, client in enumerate(senders):
        data = {**opened_form(client, add_url(pool)), **SOUND["fibs"], **ended(at(number)), **seated([one, two])}
        jobs.append(lambda client=client, data=data: client.post(add_url(pool), data))
    assert [answer.status_code for answer in at_once(jobs)] == [302] * 4
    assert_whole(pool, 5)


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
