"""New parameters and merged players while results come in, on PostgreSQL: the ratings are those of a clean replay."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from django.core.exceptions import ValidationError
from django.db import connections, transaction

from matches import completion, merging, parameters, rating, replay, revising, storing
from matches.completion import complete_match, complete_matches, save_open
from matches.corrections import Correction, correct
from matches.entries import Entry
from matches.merging import merge, undo_merge
from matches.models import Match, Merge, Participant, Revision
from matches.parameters import set_parameters
from matches.replay import Overtaken
from matches.verify import verify
from players import ledger, locks
from players.ledger import Opening
from players.models import Player, Pool, Rating
from players.services import rename_player
from players.systems.base import Result
from tests.building import NOW, at, everything, history, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once, elsewhere

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]
KINDS = ("matchmade", "rematch")


def a_season(players: list[Player], count: int, seed: int = 2) -> list[Entry]:
    """The last two players never meet."""
    dice = random.Random(seed)
    entries: list[Entry] = []
    while len(entries) < count:
        one, two = dice.sample(players, 2)
        if {one, two} != set(players[-2:]):
            entries.append(won(one, two, at(len(entries)), length=dice.randrange(1, 12), kind=dice.choice(KINDS)))
    return entries


@contextmanager
def between(job: Callable[[], Any]) -> Iterator[list[Any]]:
    """Run the job once, after a revision has computed and before it writes; the revisions' attempts are counted."""
    write, compute, runs, attempts = replay.write_history, replay.recalculate, [], []

    def overtaken(*arguments: Any) -> None:
        if not runs:
            runs.append(True)
            elsewhere(job)
        write(*arguments)

    def counted(*arguments: Any, **more: Any) -> Any:
        attempts.append(more.get("mark"))
        return compute(*arguments, **more)

    with mock.patch.object(replay, "write_history", overtaken), mock.patch.object(replay, "recalculate", counted):
        yield attempts


@contextmanager
def around_the_snapshot(*, before: Callable[[], Any] | None = None, after: Callable[[], Any] | None = None) -> Iterator[None]:
    """Run jobs once: before a revision reads, when it has set its mark already, and after it has read."""
    snapshot, runs = revising.snapshot, []

    @contextmanager
    def surrounded() -> Iterator[None]:
        first = not runs
        runs.append(True)
        if first and before:
            elsewhere(before)
        with snapshot():
            yield
        if first and after:
            elsewhere(after)

    with mock.patch.object(revising, "snapshot", surrounded):
        yield


def test_what_is_completed_while_new_parameters_compute_is_judged_and_rated_by_them() -> None:
    """Under the old rules only matchmade games count, under the new ones only rematches, and everybody starts higher."""
    pool, players = pool_of("online-backgammon"), people(8)
    set_parameters(pool, {"counted_kinds": ["matchmade"]}, reason="at first", now=NOW)
    complete_matches(pool, a_season(players[:6], 40), now=NOW)
    later = [
        won(players[0], players[6], at(50), kind="rematch"),
        won(players[6], players[1], at(51), length=11, kind="matchmade"),
        won(players[2], players[3], at(52), kind="rematch"),
        won(players[7], players[6], at(53), kind="matchmade"),
        won(players[0], players[2], at(54), kind="matchmade"),
        won(players[7], players[2], at(55), kind="rematch"),
    ]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in later]) as attempts:
        set_parameters(pool, {"counted_kinds": ["rematch"], "start": 700}, reason="vote", now=NOW)
    assert len(attempts) == 1  # it caught up and did not compute again
    counted = Match.objects.filter(pool=pool, not_counted="").count()
    assert Match.objects.filter(kind="rematch").count() == counted
    assert_whole(Pool.objects.get(pk=pool.pk), 46, counted=counted)
    assert history(players[6], pool)[0].before == history(players[7], pool)[0].before == 700.0
    assert Rating.objects.get(player=players[7]).matches == 1


def test_the_same_from_an_instant_on() -> None:
    pool, players = pool_of("online-backgammon"), people(10)
    complete_matches(pool, a_season(players[:6], 40), now=NOW)
    later = [won(players[n % 6], players[6 + n % 2], at(50 + n), length=n + 1, kind=KINDS[n % 2]) for n in range(8)]
    later += [won(players[8], players[9], at(60), kind=kind) for kind in KINDS]  # nobody else's matches move these two
    early = [won(players[6], players[7], at(10), kind="matchmade"), won(players[7], players[6], at(11), kind="rematch")]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in (*early, *later)]):
        set_parameters(
            pool, {"counted_kinds": ["rematch", "tournament"], "start": 700, "factor": 6}, since=at(20), reason="vote", now=NOW
        )
    verified = Pool.objects.get(pk=pool.pk)
    counted = Match.objects.filter(pool=pool, not_counted="").count()
    assert_whole(verified, 52, counted=counted)
    assert history(players[6], pool)[0].before == 600.0  # his first match is of before


@pytest.mark.parametrize("off", ["completed_since", "catch_up"])
def test_without_catching_up_they_keep_the_old_rules(off: str) -> None:
    """The race that it is there for."""
    pool, players = pool_of("online-backgammon"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    target: Any = parameters.NewParameters if off == "completed_since" else replay
    with (
        between(lambda: complete_match(pool, won(players[0], players[1], at(50), kind="rematch"), now=NOW)),
        mock.patch.object(target, off, return_value=()),
    ):
        set_parameters(pool, {"counted_kinds": ["rematch"]}, reason="vote", now=NOW)
    assert verify(pool)[1] is not None


def test_a_result_before_a_match_that_counts_only_now_makes_it_compute_again() -> None:
    pool, players = pool_of("online-backgammon"), people(4)
    complete_matches(
        pool, [won(players[0], players[1], at(1), kind="matchmade"), won(players[0], players[1], at(20), kind="rematch")], now=NOW
    )
    with between(lambda: complete_match(pool, won(players[0], players[2], at(10), kind="matchmade"), now=NOW)) as attempts:
        set_parameters(pool, {"counted_kinds": list(KINDS)}, reason="vote", now=NOW)
    assert len(attempts) == 2
    assert_whole(Pool.objects.get(pk=pool.pk), 3)


def test_a_result_before_a_match_whose_void_is_taken_back_makes_it_compute_again() -> None:
    pool, players = pool_of("fibs"), people(4)
    _, match = complete_matches(pool, [won(players[0], players[1], at(1)), won(players[0], players[1], at(20))], now=NOW)
    correct(pool, [Correction(match, void=True)], reason="annulled", now=NOW)
    match.refresh_from_db()
    with between(lambda: complete_match(pool, won(players[0], players[2], at(10)), now=NOW)) as attempts:
        correct(pool, [Correction(match, void=False)], reason="played", now=NOW)
    assert len(attempts) == 2
    assert_whole(pool, 3)


def test_what_comes_between_the_mark_and_the_snapshot_is_rated_once() -> None:
    pool, players = pool_of("online-backgammon"), people(6)
    keep, duplicate = players[-2:]
    complete_matches(pool, a_season(players, 30), now=NOW)
    later = [won(players[n % 4], (keep, duplicate)[n % 2], at(50 + n), kind=KINDS[n // 2 % 2]) for n in range(4)]
    with around_the_snapshot(before=lambda: [complete_match(pool, entry, now=NOW) for entry in later]):
        set_parameters(pool, {"counted_kinds": ["rematch"], "start": 700}, reason="vote", now=NOW)
    assert_whole(Pool.objects.get(pk=pool.pk), 34, counted=Match.objects.filter(not_counted="").count())
    with around_the_snapshot(before=lambda: complete_match(pool, won(players[0], duplicate, at(60), kind="rematch"), now=NOW)):
        merge(keep, duplicate, reason="one", now=NOW)
    assert_whole(Pool.objects.get(pk=pool.pk), 35, counted=Match.objects.filter(not_counted="").count())


def test_a_correction_that_moves_nothing_overtakes_new_parameters_all_the_same() -> None:
    pool, players = pool_of("online-backgammon"), people(4)
    match, *_ = complete_matches(
        pool, [won(players[0], players[1], at(1), kind="rematch"), won(players[0], players[1], at(2), kind="matchmade")], now=NOW
    )
    challenge = Correction(match, entry=won(players[0], players[1], at(1), kind="challenge"))
    with around_the_snapshot(after=lambda: correct(pool, [challenge], reason="a challenge", now=NOW)):
        set_parameters(pool, {"counted_kinds": ["matchmade", "challenge"]}, reason="vote", now=NOW)
    assert_whole(Pool.objects.get(pk=pool.pk), 2)


def test_whose_only_match_is_voided_starts_by_the_rules_of_the_match_that_comes_in() -> None:
    pool, players = pool_of("fibs"), people(3)
    match = complete_match(pool, won(players[0], players[1], at(1)), now=NOW)
    set_parameters(pool, {"start": 1800}, since=at(5), reason="higher", now=NOW)
    with between(lambda: complete_match(pool, won(players[0], players[2], at(2)), now=NOW)):
        correct(pool, [Correction(match, void=True)], reason="annulled", now=NOW)
    assert history(players[0], pool)[0].before == 1500.0
    assert_whole(Pool.objects.get(pk=pool.pk), 2, counted=1)


def test_parameters_corrections_results_and_late_matches_at_once() -> None:
    pool, players = pool_of("online-backgammon"), people(8)
    matches = complete_matches(pool, a_season(players, 40), now=NOW)
    dice = random.Random(4)

    def results(start: float) -> Callable[[], Any]:
        picks = [won(*dice.sample(players, 2), at(start + n), length=9, kind=dice.choice(KINDS)) for n in range(8)]
        return lambda: [complete_match(pool, entry, now=NOW) for entry in picks]

    def voids(numbers: range) -> Callable[[], Any]:
        return lambda: [correct(pool, [Correction(matches[n], void=True)], reason="annulled", now=NOW) for n in numbers]

    def rules() -> None:
        set_parameters(pool, {"counted_kinds": list(KINDS)}, reason="vote", now=NOW)
        set_parameters(pool, {"factor": 7, "decay_per_day": 2}, since=at(15), reason="vote", now=NOW)
        set_parameters(pool, {"counted_kinds": ["rematch"]}, since=at(25), reason="vote", now=NOW)

    def decay() -> None:
        for _ in range(10):
            ledger.update_standings(pool.pk, NOW)

    answers = at_once([results(100), results(200), results(3.5), voids(range(4)), voids(range(20, 24)), rules, decay])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    counted = Match.objects.filter(pool=pool, status="completed", not_counted="").count()
    assert_whole(Pool.objects.get(pk=pool.pk), 64, counted=counted)
    assert Revision.objects.filter(kind="parameters").count() == 3


def test_two_admins_set_parameters_at_once() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    answers = at_once([lambda: set_parameters(pool, {"factor": 6}, reason="vote", now=NOW) for _ in range(3)])
    assert sorted(type(answer).__name__ for answer in answers) == ["NothingChanges", "NothingChanges", "Revision"]
    assert_whole(Pool.objects.get(pk=pool.pk), 20)


def test_what_is_completed_while_a_merge_computes() -> None:
    pool, other, players = pool_of("fibs"), pool_of("tics"), people(7)
    keep, duplicate = players[-2:]
    complete_matches(pool, a_season(players, 30), now=NOW)
    later = [won(players[0], players[1], at(40)), won(players[2], keep, at(41)), won(players[0], keep, at(42))]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in later]) as attempts:
        merged = merge(keep, duplicate, reason="one", now=NOW)
    assert len(attempts) == 1
    assert_whole(pool, 33)
    undo_merge(merged, reason="two", now=NOW)
    assert_whole(pool, 33)

    # Those of the duplicate himself: in this pool, in one where he never played, and one that is not finished.
    def jobs() -> None:
        complete_match(pool, won(duplicate, players[0], at(50)), now=NOW)
        complete_match(other, won(duplicate, players[1], at(50), length=None), now=NOW)
        save_open(pool, players=(players[2], duplicate), terms=Result(length=5))

    with between(jobs):
        merged = merge(keep, duplicate, reason="one", now=NOW)
    assert not Participant.objects.filter(player=duplicate).exists()
    assert verify(pool) == (34, None) and verify(other) == (1, None)
    assert sorted(merged.revisions.values_list("pool__slug", flat=True)) == ["fibs", "tics"]


def test_an_opening_that_a_merge_brings_meets_a_first_match() -> None:
    pool, (keep, duplicate, third) = pool_of("fibs"), people(3)
    with transaction.atomic():
        ledger.set_openings(pool, {duplicate.pk: Opening(1700.0, 120, None)}, NOW)
    with between(lambda: complete_match(pool, won(keep, third, at(50)), now=NOW)):
        merge(keep, duplicate, reason="one", now=NOW)
    assert history(keep, pool)[0].before == 1700.0
    assert_whole(pool, 1)


def test_a_correction_that_seats_the_duplicate_elsewhere_seats_the_player_whom_he_is() -> None:
    pool, other, (keep, duplicate, third, fourth) = pool_of("fibs"), pool_of("tics"), people(4)
    complete_match(other, won(duplicate, third, at(1), length=None), now=NOW)
    match = complete_match(pool, won(third, fourth, at(1)), now=NOW)
    with around_the_snapshot(after=lambda: merge(keep, duplicate, reason="one", now=NOW)):
        correct(pool, [Correction(match, entry=won(third, duplicate, at(1)))], reason="it was he", now=NOW)
    assert not Participant.objects.filter(player=duplicate).exists()
    assert_whole(pool, 1)
    assert_whole(other, 1)


def test_a_meeting_that_comes_first_stops_the_merge() -> None:
    pool, players = pool_of("fibs"), people(5)
    keep, duplicate = players[-2:]
    complete_matches(pool, a_season(players, 20), now=NOW)
    with (
        between(lambda: complete_match(pool, won(keep, duplicate, at(50)), now=NOW)),
        pytest.raises(ValidationError, match="met"),
    ):
        merge(keep, duplicate, reason="one", now=NOW)
    assert not Merge.objects.exists()
    assert_whole(pool, 21)


@contextmanager
def seating(pool: Pool, entry: Entry) -> Iterator[threading.Event]:
    """A completion that has seated its players and does not commit before the event is set."""
    seated, go_on = threading.Event(), threading.Event()
    rate = rating.rate_matches

    def slow(*arguments: Any, **more: Any) -> None:
        rate(*arguments, **more)
        if threading.current_thread() is thread:
            seated.set()
            go_on.wait(timeout=60)

    thread = threading.Thread(target=_complete_and_close, args=(pool, entry))
    with mock.patch.object(rating, "rate_matches", slow):
        thread.start()
        assert seated.wait(timeout=60)
        try:
            yield go_on
        finally:
            go_on.set()
            thread.join(timeout=60)


def _complete_and_close(pool: Pool, entry: Entry) -> None:
    try:
        complete_match(pool, entry, now=NOW)
    finally:
        connections.close_all()


@pytest.mark.parametrize("held", [True, False])
def test_who_is_being_seated_elsewhere_is_waited_for(held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the hold off, the duplicate keeps a seat: the race that it is there for."""
    pool, other, players = pool_of("fibs"), pool_of("tics"), people(5)
    keep, duplicate = players[-2:]
    complete_matches(pool, a_season(players, 20), now=NOW)
    if not held:
        monkeypatch.setattr(storing, "holding_players", lambda ids, hold=True: ("SELECT 1, NULL", []))
    with seating(other, won(duplicate, players[0], at(50), length=None)) as go_on:
        finish = merging.hold_merging

        def released(*ids: int) -> Any:
            threading.Timer(0.5, go_on.set).start()
            return finish(*ids)

        with mock.patch.object(merging, "hold_merging", released):
            merge(keep, duplicate, reason="one", now=NOW)
    assert Participant.objects.filter(player=duplicate).exists() is not held
    if held:
        assert_whole(pool, 20)
        assert_whole(other, 1)


def test_an_import_that_seats_him_for_long_makes_the_merge_give_up() -> None:
    pool, other, players = pool_of("fibs"), pool_of("tics"), people(5)
    keep, duplicate = players[-2:]
    complete_matches(pool, a_season(players, 20), now=NOW)
    before = everything(pool)
    with (
        mock.patch.object(locks, "PATIENCE", 0.2),
        mock.patch.object(revising, "HELD_ATTEMPTS", 1),
        seating(other, won(duplicate, players[0], at(50), length=None)),
        pytest.raises(Overtaken),
    ):
        merge(keep, duplicate, reason="one", now=NOW)
    assert everything(pool) == before and not Merge.objects.exists()


def test_merges_results_and_corrections_at_once() -> None:
    pool, other, players = pool_of("fibs"), pool_of("tics"), people(8)
    matches = complete_matches(pool, a_season(players, 40), now=NOW)
    keep, duplicate = players[-2:]
    dice = random.Random(5)

    def results(target: Pool, start: float, length: int | None) -> Callable[[], Any]:
        picks = []
        for number in range(10):
            one, two = dice.choice(players[-2:]), dice.choice(players[:-2])
            picks.append(won(one, two, at(start + number), length=length))
        return lambda: [complete_match(target, entry, now=NOW) for entry in picks]

    def voids() -> None:
        for match in matches[:4]:
            try:
                correct(pool, [Correction(Match.objects.get(pk=match.pk), void=True)], reason="annulled", now=NOW)
            except completion.Conflict:
                correct(pool, [Correction(Match.objects.get(pk=match.pk), void=True)], reason="annulled", now=NOW)

    answers = at_once(
        [
            results(pool, 100, 9),
            results(pool, 3.5, 5),
            results(other, 1, None),
            voids,
            lambda: merge(keep, duplicate, reason="one", now=NOW),
            lambda: merge(duplicate, keep, reason="one", now=NOW),
            lambda: rename_player(keep, "Vera", now=NOW),
        ]
    )
    failed = [answer for answer in answers if isinstance(answer, Exception)]
    assert [type(error) for error in failed] == [ValidationError]  # the other merge came first
    assert_whole(pool, 60, counted=56)
    assert_whole(other, 10)
    merged = Merge.objects.get()
    assert not Participant.objects.filter(player=merged.duplicate).exists()
    undo_merge(merged, reason="two", now=NOW)
    assert_whole(pool, 60, counted=56)
    assert_whole(other, 10)
