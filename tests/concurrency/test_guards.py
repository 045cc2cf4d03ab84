"""What the guards are there for, on PostgreSQL: each is taken away once, and the race that it prevents happens."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from django.db import connection, transaction

from matches import corrections, replay, revising, storing
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.models import Match, Participant, Revision
from matches.verify import verify
from players import ledger, rows
from players.models import Pool, Rating
from tests.building import NOW, at, people, pool_of, won
from tests.concurrency.running import at_once, elsewhere
from tests.concurrency.test_people import a_season

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def meeting(count: int = 2) -> Any:
    """A place where the first threads that come by wait for each other, once."""
    barrier, left = threading.Barrier(count), threading.Semaphore(count)

    def meet() -> None:
        if left.acquire(blocking=False):
            barrier.wait(timeout=60)

    return meet


def errors(answers: Collection[Any]) -> list[str]:
    return [str(answer) for answer in answers if isinstance(answer, Exception)]


# --- The order of the rows' locks ---


def one_by_one(pool: Pool, player_ids: Any, now: Any) -> dict[int, Rating]:
    """The locks of `ledger.lock_ratings`, taken in the order in which the players sit."""
    meet, locked = one_by_one.meet, {}  # type: ignore[attr-defined]
    for player_id in player_ids:
        found = Rating.objects.select_for_update(no_key=True, of=("self",)).get(pool=pool, player_id=player_id)
        locked[player_id] = found
        meet()
    return locked


@pytest.mark.parametrize(("slug", "seats"), [("fibs", 2), ("freewhist", 4)])
def test_without_an_order_of_locks_crossing_tables_deadlock(slug: str, seats: int) -> None:
    pool, players = pool_of(slug), people(seats)
    with transaction.atomic():
        ledger.make_ratings(pool, [player.pk for player in players], NOW)
    one_by_one.meet = meeting()  # type: ignore[attr-defined]

    def job(order: list[Any]) -> None:
        with transaction.atomic():
            one_by_one(pool, [player.pk for player in order], NOW)

    answers = at_once([lambda: job(players), lambda: job(players[::-1])])
    assert any("deadlock detected" in said for said in errors(answers))


def test_decay_leaves_out_what_a_writer_holds() -> None:
    """Why it cannot deadlock with one."""
    pool, players = pool_of("online-backgammon"), people(2)
    complete_match(pool, won(*players, at(0), kind="matchmade"), now=at(1))
    with transaction.atomic():
        ledger.lock_ratings(pool, [players[0].pk], NOW)

        def decay() -> int:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '2s'")
            return ledger.update_standings(pool.pk, NOW)

        [answer] = at_once([decay])
    assert not isinstance(answer, Exception)


# --- The order of rating ---


def forgetting_the_last(whole: Any) -> Any:
    """Players as the ledger has them, who do not know when they played last: nothing seems to be late."""

    def running(rating: Rating, start: float) -> Any:
        state = whole(rating, start)
        state.last = None
        return state

    return mock.patch.object(ledger, "running", running)


def test_without_a_look_at_the_last_match_an_earlier_one_that_commits_second_is_rated_on_top() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    with forgetting_the_last(ledger.running):
        for hour in (5, 3):
            complete_match(pool, won(one, two, at(hour), length=hour), now=NOW)
    assert verify(pool)[1] is not None


def test_without_the_ids_two_matches_at_one_instant_are_rated_as_they_come() -> None:
    """The lower id commits second."""
    pool, players = pool_of("fibs"), people(3)
    first_id = Match.objects.create(pool=pool, length=3).pk
    first = won(players[1], players[2], at(0), match=Match(pk=first_id, version=1))
    with forgetting_the_last(ledger.running):
        for entry in (won(players[1], players[0], at(0), length=9), first):
            complete_match(pool, entry, now=NOW)
    assert verify(pool)[1] is not None


# --- The history ---


@contextmanager
def both_have_computed() -> Iterator[None]:
    """Two revisions that wait for each other between computing and writing, and do not look whether the pool is as it was."""
    meet, recalculate = meeting(), replay.recalculate

    def waiting(*arguments: Any, **how: Any) -> Any:
        answer = recalculate(*arguments, **how)
        meet()
        return answer

    with mock.patch.object(replay, "recalculate", waiting), mock.patch.object(revising, "_check_version"):
        yield


def test_without_a_look_at_the_version_of_the_pool_two_late_matches_are_rated_on_the_same_history() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    jobs = [lambda hour=hour: complete_match(pool, won(players[0], players[1], at(hour)), now=NOW) for hour in (3.5, 5.5)]
    with both_have_computed(), mock.patch.object(replay, "catch_up"):
        at_once(jobs)
    assert verify(pool)[1] is not None


def test_without_a_look_at_the_locked_match_both_admins_correct_it() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 10), now=NOW)
    with both_have_computed(), mock.patch.object(corrections.Corrections, "lock"):
        at_once([lambda: correct(pool, [Correction(matches[2], void=True)], reason="annulled", now=NOW) for _ in range(2)])
    assert Revision.objects.count() == 2


# --- Once ---


def test_without_the_unique_id_the_same_result_is_stored_twice() -> None:
    """The constraint, and not the look before it, is what ten at once cannot get past."""
    pool, (one, two) = pool_of("online-backgammon"), people(2)
    # One that does not count: the second of two at one instant that do would be late, and look again.
    entry = won(one, two, at(0), kind="table", source="server", external_id="7")
    [constraint] = [each for each in Match._meta.constraints if "external_id" in getattr(each, "fields", ())]
    meet, prepare = meeting(), storing.prepare

    def looked(*arguments: Any, **more: Any) -> Any:
        batch = prepare(*arguments, **more)
        meet()
        return batch

    with connection.schema_editor() as editor:
        editor.remove_constraint(Match, constraint)
    try:
        with mock.patch.object(storing, "prepare", looked):
            at_once([lambda: complete_match(pool, entry, now=NOW) for _ in range(2)])
        assert Match.objects.filter(external_id="7").count() == 2
    finally:
        Match.objects.all().update(external_id="")
        with connection.schema_editor() as editor:
            editor.add_constraint(Match, constraint)
    answers = at_once([lambda: complete_match(pool, entry, now=NOW) for _ in range(2)])
    assert errors(answers) == [] and Match.objects.filter(external_id="7").count() == 1


# --- Tables that PostgreSQL takes for empty ---


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def plan_of_the_history(pool: Pool) -> str:
    return str(Participant.objects.filter(match__pool=pool, match__status="completed").values_list("player").explain())


@pytest.mark.parametrize("guarded", [True, False])
def test_a_history_that_postgresql_takes_for_empty_is_looked_at_again(guarded: bool) -> None:
    """Else two thousand participants are joined to a thousand matches by going through all of those for each."""
    pool, players = pool_of("fibs"), people(2)
    with transaction.atomic():
        complete_matches(pool, [won(*players, at(number)) for number in range(1000)])
        transaction.set_rollback(True)
    with transaction.atomic():
        complete_matches(pool, [won(*players, at(number)) for number in range(1000)])
        elsewhere(analyze)  # as the server does by itself, at any time
        assert "rows=1 " in plan_of_the_history(pool)
        with mock.patch.object(rows, "_see_rows", rows._see_rows if guarded else lambda found: None):
            replay.recalculate(pool)
        assert ("rows=1 " not in plan_of_the_history(pool)) is guarded
