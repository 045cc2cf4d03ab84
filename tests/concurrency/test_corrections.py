"""Corrections while results come in, on PostgreSQL: whatever the interleaving, the ratings are those of a clean replay."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from matches import replay
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import Conflict, Entry
from matches.models import Match, Revision
from matches.verify import verify
from players import ledger
from players.models import Player, Pool, Rating
from tests.building import NOW, at, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once, elsewhere

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def a_season(players: list[Player], count: int) -> list[Entry]:
    dice = random.Random(2)
    return [won(*dice.sample(players, 2), at(number), length=dice.randrange(1, 12)) for number in range(count)]


def between(job: Callable[[], Any]) -> Any:
    """Run the job after a correction has computed and before it writes."""
    write, runs = replay.write_history, []

    def overtaken(*arguments: Any) -> None:
        if not runs:
            runs.append(elsewhere(job))
        write(*arguments)

    return mock.patch.object(replay, "write_history", overtaken)


def test_what_is_completed_while_a_correction_computes_is_rated_on_the_corrected_ratings() -> None:
    pool, players = pool_of("fibs"), people(6)
    matches = complete_matches(pool, a_season(players[:5], 30), now=NOW)
    later = [
        won(players[0], players[5], at(40)),
        won(players[5], players[1], at(41), length=11),
        won(players[2], players[3], at(42)),
    ]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in later]):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert_whole(pool, 33, counted=32)


def test_without_catching_up_they_keep_the_old_ratings() -> None:
    """The race that the catching up is there for."""
    pool, players = pool_of("fibs"), people(5)
    matches = complete_matches(pool, a_season(players, 30), now=NOW)
    with (
        between(lambda: complete_match(pool, won(players[0], players[1], at(40)), now=NOW)),
        mock.patch.object(replay, "catch_up", return_value=None),
    ):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert verify(pool)[1] is not None


def test_a_late_match_that_overtakes_a_correction_makes_it_compute_again() -> None:
    pool, players = pool_of("fibs"), people(5)
    matches = complete_matches(pool, a_season(players, 30), now=NOW)
    compute, runs = replay.recalculate, []

    def counting(*arguments: Any, **more: Any) -> Any:
        answer = compute(*arguments, **more)
        runs.append(more.get("mark"))
        if len(runs) == 1:
            elsewhere(lambda: complete_match(pool, won(players[0], players[1], at(5.5)), now=NOW))
        return answer

    with mock.patch.object(replay, "recalculate", counting):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert len(runs) >= 3  # the correction, the late match's own replay, the correction again
    assert_whole(pool, 31, counted=30)


def test_two_admins_correct_one_match() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 10), now=NOW)
    answers = at_once([lambda: correct(pool, [Correction(matches[2], void=True)], reason="annulled", now=NOW) for _ in range(4)])
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Conflict", "Conflict", "Revision"]
    assert any(isinstance(answer, Conflict) for answer in answers) and Revision.objects.count() == 1
    assert_whole(pool, 10, counted=9)


def test_corrections_late_matches_results_and_decay_at_once() -> None:
    pool, players = pool_of("online-backgammon"), people(8)
    entries = [
        won(entry.players[0], entry.players[1], entry.ended_at, length=25, kind="matchmade") for entry in a_season(players, 40)
    ]
    matches = complete_matches(pool, entries, now=NOW)
    dice = random.Random(4)

    def results(start: float) -> Callable[[], Any]:
        picks = [(*dice.sample(players, 2), at(start + number)) for number in range(8)]
        return lambda: [complete_match(pool, won(one, two, end, length=9, kind="matchmade"), now=NOW) for one, two, end in picks]

    def voids(numbers: range) -> Callable[[], Any]:
        return lambda: [correct(pool, [Correction(matches[n], void=True)], reason="annulled", now=NOW) for n in numbers]

    def decay() -> None:
        for _ in range(10):
            ledger.update_standings(pool.pk, NOW)

    answers = at_once([results(100), results(200), results(3.5), voids(range(4)), voids(range(20, 24)), decay])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 64, counted=56)
    assert Match.objects.filter(pool=pool, status="voided").count() == 8


def test_two_late_matches_at_once() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    answers = at_once(
        [lambda hour=hour: complete_match(pool, won(players[0], players[1], at(hour)), now=NOW) for hour in (3.5, 4.5, 5.5)]
    )
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 23)


def test_completions_go_on_while_a_correction_writes_the_history() -> None:
    """Only late matches wait for it: a result in order is stored before the correction ends."""
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 10), now=NOW)
    order: list[str] = []
    write = replay.write_history

    def slow(*arguments: Any) -> None:
        write(*arguments)
        if not order:
            order.append("written")
            elsewhere(lambda: complete_match(pool, won(players[0], players[1], at(60)), now=NOW))
            order.append("completed")

    with mock.patch.object(replay, "write_history", slow):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert order == ["written", "completed"]
    assert_whole(pool, 11, counted=10)


def test_an_untouched_pool_is_no_ones_business() -> None:
    other = Pool.objects.get(slug="tics")
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 10), now=NOW)

    def meanwhile() -> Match:
        entry = won(players[0], players[1], at(60), length=None)
        return complete_match(other, entry, now=NOW)

    with between(meanwhile):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert_whole(pool, 10, counted=9)
    assert_whole(other, 1)


def test_what_is_written_after_ratings_were_settled_is_not_overwritten() -> None:
    pool, players = pool_of("online-backgammon"), people(8)
    entries = [won(*entry.players, entry.ended_at, length=25, kind="matchmade") for entry in a_season(players[:7], 30)]
    matches = complete_matches(pool, entries, now=NOW)
    tier = pool.tiers.get(decays=True)
    tier.threshold = 500
    tier.save()
    settle, versions = replay.settle_ratings, {}

    def overtaken(*arguments: Any) -> None:
        settle(*arguments)
        if not versions:
            elsewhere(lambda: complete_match(pool, won(players[0], players[7], at(70), length=25, kind="matchmade"), now=NOW))
            assert elsewhere(lambda: ledger.update_standings(pool.pk, NOW + timedelta(days=40)))
            versions.update(Rating.objects.filter(pool=pool).values_list("pk", "version"))

    with mock.patch.object(replay, "settle_ratings", overtaken):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert_whole(pool, 31, counted=30)
    written = Rating.objects.filter(pool=pool, standing_at=NOW)
    assert written.count() > 1 and all(rating.version > versions[rating.pk] for rating in written)


def test_what_is_completed_between_the_two_times_of_catching_up_is_rated_once() -> None:
    pool, players = pool_of("fibs"), people(6)
    matches = complete_matches(pool, a_season(players[:4], 20), now=NOW)
    catch_up, calls = replay.catch_up, []

    def overtaken(*arguments: Any, **more: Any) -> None:
        catch_up(*arguments, **more)
        calls.append(len(calls))
        if len(calls) == 1:
            # Two who were rated again already, one of them against somebody whom nothing has moved yet, and two of the latter.
            elsewhere(lambda: complete_match(pool, won(players[0], players[1], at(70)), now=NOW))
            elsewhere(lambda: complete_match(pool, won(players[4], players[0], at(71)), now=NOW))
            elsewhere(lambda: complete_match(pool, won(players[4], players[5], at(72)), now=NOW))

    def season() -> None:
        complete_match(pool, won(players[4], players[5], at(60)), now=NOW)
        complete_match(pool, won(players[0], players[5], at(61)), now=NOW)

    with between(season), mock.patch.object(replay, "catch_up", overtaken):
        correct(pool, [Correction(matches[0], void=True)], reason="annulled", now=NOW)
    assert len(calls) == 2
    assert_whole(pool, 25, counted=24)
