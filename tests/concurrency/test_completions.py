"""Writers at the same time, on PostgreSQL: whatever the interleaving, the ratings are those of a clean replay."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from django.db import connection

from matches import rating as rating_module
from matches.completion import complete_match, complete_matches
from matches.entries import Conflict, Entry
from matches.models import Match
from matches.verify import verify
from players import ledger
from players.models import Pool, Rating
from players.systems.base import Result
from tests.building import NOW, at, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_sixteen_completions_among_four_new_players() -> None:
    pool, players = pool_of("fibs"), people(4)
    dice = random.Random(3)
    entries = []
    for number in range(16):
        one, two = dice.sample(players, 2)
        entries.append(won(one, two, at(number), length=dice.randrange(1, 12)))
    answers = at_once([lambda entry=entry: complete_match(pool, entry, now=NOW) for entry in entries])
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 16)


def test_32_writers_on_8_players_who_have_no_rating_yet() -> None:
    pool, players = pool_of("fibs"), people(8)
    dice = random.Random(8)
    entries = [won(*dice.sample(players, 2), at(number), length=dice.randrange(1, 12)) for number in range(32)]
    answers = at_once([lambda entry=entry: complete_match(pool, entry, now=NOW) for entry in entries])
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 32)


def test_at_the_same_instant_the_ids_decide() -> None:
    pool, players = pool_of("fibs"), people(3)
    entries = [won(*pair, at(0), length=n + 1) for n, pair in enumerate(((players[0], players[1]), (players[1], players[2])) * 4)]
    answers = at_once([lambda entry=entry: complete_match(pool, entry, now=NOW) for entry in entries])
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 8)


def test_broker_and_cache_gone(settings: Any) -> None:
    """A completion needs neither."""
    settings.REDIS_URL = settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    pool, players = pool_of("online-backgammon"), people(4)
    answers = at_once(
        [
            lambda n=n: complete_match(pool, won(players[n % 4], players[(n + 1) % 4], at(n), kind="matchmade"), now=NOW)
            for n in range(8)
        ]
    )
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 8)


def test_without_the_row_locks_an_update_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race that the locks are there for: with them off, two writers start from the same rating."""
    pool, players = pool_of("fibs"), people(3)
    complete_match(pool, won(players[0], players[1], at(0)), now=NOW)
    complete_match(pool, won(players[0], players[2], at(1)), now=NOW)
    both_have_read = threading.Barrier(2)
    locked = ledger.lock_ratings

    def unlocked(pool: Pool, player_ids: Any, now: Any) -> dict[int, Rating]:
        rows = {rating.player_id: rating for rating in Rating.objects.filter(pool=pool, player_id__in=player_ids)}
        both_have_read.wait(timeout=60)
        return rows

    jobs = [
        lambda: complete_match(pool, won(players[0], players[1], at(2)), now=NOW),
        lambda: complete_match(pool, won(players[0], players[2], at(3)), now=NOW),
    ]
    with mock.patch.object(ledger, "lock_ratings", unlocked):
        at_once(jobs)
    assert verify(pool)[1] is not None
    assert ledger.lock_ratings is locked and rating_module.ledger is ledger


def test_crossing_pairs_and_decay_do_not_deadlock() -> None:
    pool, players = pool_of("online-backgammon"), people(4)

    def pairs(one: int, two: int, start: int) -> Callable[[], Any]:
        return lambda: [
            complete_match(pool, won(players[one], players[two], at(start + number), length=25, kind="matchmade"), now=NOW)
            for number in range(0, 24, 4)
        ]

    def decay() -> None:
        for _ in range(12):
            ledger.update_standings(pool.pk, NOW)

    answers = at_once([pairs(0, 1, 0), pairs(1, 0, 1), pairs(2, 0, 2), pairs(1, 3, 3), decay, decay])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 24)


def test_four_player_tables_crossing() -> None:
    pool, players = pool_of("freewhist"), people(6)
    dice = random.Random(5)
    entries = [
        Entry(players=dice.sample(players, 4), result=Result(places=(1, 2, 3, 4), deals=16), ended_at=at(number))
        for number in range(12)
    ]
    answers = at_once([lambda entry=entry: complete_match(pool, entry, now=NOW) for entry in entries])
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 12)


def test_the_same_request_ten_times_at_once_makes_one_match_and_ten_equal_answers() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, at(0), source="server", external_id="7")
    answers = at_once([lambda: complete_match(pool, entry, now=NOW).pk for _ in range(10)])
    assert len(set(answers)) == 1
    assert_whole(pool, 1)


def test_two_batches_with_the_same_ids_in_opposite_order() -> None:
    pool, players = pool_of("fibs"), people(4)
    entries = [won(players[n % 4], players[(n + 1) % 4], at(n), source="server", external_id=str(n)) for n in range(40)]
    answers = at_once([lambda: complete_matches(pool, entries, now=NOW), lambda: complete_matches(pool, entries[::-1], now=NOW)])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 40)


def test_two_admins_complete_one_open_match() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    opened = Match.objects.create(pool=pool, length=5)
    answers = at_once(
        [
            lambda: complete_match(pool, won(one, two, at(0), match=Match(pk=opened.pk, version=1)), now=NOW),
            lambda: complete_match(pool, won(two, one, at(0), match=Match(pk=opened.pk, version=1)), now=NOW),
        ]
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Match"]
    conflict = next(answer for answer in answers if isinstance(answer, Conflict))
    assert conflict.fields == ("players",)
    assert_whole(pool, 1)


def test_an_earlier_match_that_commits_second_rerates_the_later_one() -> None:
    """Both have read the same ratings when the later match commits first; the earlier one then replays."""
    pool, (one, two) = pool_of("fibs"), people(2)
    answers = at_once(
        [
            lambda number=number: complete_match(pool, won(one, two, at(20 - number), length=number + 1), now=NOW)
            for number in range(12)
        ]
    )
    assert [answer for answer in answers if not isinstance(answer, Match)] == []
    assert_whole(pool, 12)


def test_the_tests_run_where_rows_are_locked() -> None:
    assert connection.vendor == "postgresql"
