"""Matches that are entered late while others come in, on PostgreSQL: computed with no lock held, caught up with, rated once."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError, connection, transaction

from matches import completion, latecomers, replay, storing
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import BatchRefused
from matches.imports import service, sifting
from matches.imports.service import Options, import_matches
from matches.merging import merge
from matches.models import Match, Participant, Revision
from matches.revising import Moved
from matches.verify import verify
from players.locks import hold_pool
from players.models import Player
from players.services import create_players
from tests.building import NOW, at, everything, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once, elsewhere
from tests.concurrency.test_people import a_season, around_the_snapshot, between

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_results_go_on_while_a_late_match_computes_and_writes() -> None:
    pool, players = pool_of("fibs"), people(6)
    complete_matches(pool, a_season(players, 20), now=NOW)
    later = [won(players[0], players[1], at(50)), won(players[2], players[0], at(51)), won(players[4], players[5], at(52))]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in later]) as attempts:
        late = complete_match(pool, won(players[0], players[3], at(3.5)), now=NOW)
    assert len(attempts) == 1  # it caught up and did not compute again
    assert_whole(pool, 24)
    revision = Revision.objects.get()
    assert (revision.kind, list(revision.matches.all())) == ("late", [late])


def test_without_catching_up_what_came_in_keeps_its_numbers() -> None:
    """The race that it is there for."""
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    with (
        between(lambda: complete_match(pool, won(players[0], players[1], at(50)), now=NOW)),
        mock.patch.object(replay, "catch_up"),
    ):
        complete_match(pool, won(players[0], players[1], at(3.5)), now=NOW)
    assert verify(pool)[1] is not None


def test_a_late_batch_is_one_revision_and_one_replay() -> None:
    pool, players = pool_of("fibs"), people(6)
    complete_matches(pool, a_season(players, 20), now=NOW)
    entries = [won(players[n % 6], players[(n + 1) % 6], at(n + 0.25), external_id=str(n), source="server") for n in range(12)]
    with between(lambda: complete_match(pool, won(players[0], players[1], at(60)), now=NOW)) as attempts:
        made = complete_matches(pool, entries[::-1], now=NOW)
    assert len(attempts) == 1 and [match.external_id for match in made] == [str(n) for n in range(12)][::-1]
    assert_whole(pool, 33)
    assert Revision.objects.get().matches.count() == 12
    assert [match.pk for match in complete_matches(pool, entries[::-1], now=NOW)] == [match.pk for match in made]
    assert_whole(pool, 33)


def test_the_same_late_request_ten_times_at_once_makes_one_match() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    entry = won(players[0], players[1], at(3.5), source="server", external_id="7")
    answers = at_once([lambda: complete_match(pool, entry, now=NOW).pk for _ in range(10)])
    assert len(set(answers)) == 1 and isinstance(answers[0], int), answers
    assert_whole(pool, 21)
    assert Revision.objects.count() == 1


def test_an_open_match_that_two_complete_late_is_completed_once() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    opened = Match.objects.create(pool=pool, length=5)
    answers = at_once(
        [
            lambda pair=pair: complete_match(pool, won(*pair, at(3.5), match=Match(pk=opened.pk, version=1)), now=NOW)
            for pair in (players[:2], players[1::-1])
        ]
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "Match"]
    assert_whole(pool, 21)


def test_a_player_who_is_merged_while_his_late_match_computes_is_seated_as_who_he_is() -> None:
    pool, players = pool_of("fibs"), people(6)
    complete_matches(pool, a_season(players, 20), now=NOW)
    keep, duplicate = players[-2:]
    with around_the_snapshot(after=lambda: merge(keep, duplicate, reason="one", now=NOW)):
        complete_match(pool, won(players[0], duplicate, at(3.5)), now=NOW)
    assert not Participant.objects.filter(player=duplicate).exists()
    assert_whole(pool, 21)


def test_a_correction_while_it_computes_makes_it_compute_again() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    with around_the_snapshot(after=lambda: correct(pool, [Correction(matches[8], void=True)], reason="annulled", now=NOW)):
        complete_match(pool, won(players[0], players[1], at(3.5)), now=NOW)
    assert_whole(pool, 21, counted=20)


def test_a_preview_that_holds_no_more_stores_nothing() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    with pytest.raises(Moved):
        complete_match(pool, won(players[0], players[1], at(3.5)), now=NOW, token="another")
    assert_whole(pool, 20)


def test_who_is_overtaken_each_time_is_rated_while_everybody_waits() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    with mock.patch.object(latecomers.Latecomers, "lock", side_effect=replay.Overtaken):
        complete_match(pool, won(players[0], players[1], at(3.5)), now=NOW)
    assert_whole(pool, 21)


def test_late_matches_by_many_at_once_and_results_in_order() -> None:
    pool, players = pool_of("fibs"), people(8)
    complete_matches(pool, a_season(players, 40), now=NOW)
    late = [
        lambda n=n: complete_match(pool, won(players[n % 8], players[(n + 3) % 8], at(n * 3 + 0.5)), now=NOW) for n in range(6)
    ]
    fresh = [
        lambda n=n: [complete_match(pool, won(players[n], players[n + 4], at(100 + 10 * n + k)), now=NOW) for k in range(5)]
        for n in range(4)
    ]
    answers = at_once([*late, *fresh])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 66)


def test_the_row_of_a_late_batch_that_leaves_the_range_is_named() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, [won(players[0], players[1], at(10)), won(players[2], players[3], at(10))], now=NOW)
    entries = [won(players[0], players[1], at(1)), won(players[2], players[3], at(2), length=99), won(*players[1:3], at(3))]
    with mock.patch("players.systems.backgammon.RATING_LIMIT", 1560.0), pytest.raises(BatchRefused) as refused:
        complete_matches(pool, entries, now=NOW)
    assert refused.value.index == 1
    assert_whole(pool, 2)


# --- Imports ---


def csv(*rows: tuple[str, str, str]) -> bytes:
    return "\n".join(["ended_at,winner,loser,length", *(f"{end},{winner},{loser},5" for end, winner, loser in rows)]).encode()


def in_order(count: int) -> bytes:
    return csv(*((f"2026-04-01T{n // 60:02}:{n % 60:02}:00Z", f"Vera {n % 5}", f"Didrik {n % 7}") for n in range(count)))


def imported_while(data: bytes, job: Any) -> Any:
    """Import the file, and run the job elsewhere before its last step; what it answers."""
    store, answers = storing.store, []

    def slow(*arguments: Any) -> None:
        store(*arguments)
        if not answers:
            answers.append(None)
            answers.append(elsewhere(job))

    with mock.patch.object(storing, "store", slow):
        report = import_matches(
            pool_of("fibs"), data, source="club.csv", options=Options(create_players=True), now=NOW, progress=None
        )
    assert report.stored, report.refused
    return answers[-1]


def test_an_import_in_order_holds_up_nobody_elses_results() -> None:
    pool, players = pool_of("fibs"), people(3)
    complete_match(pool, won(players[0], players[1], at(1)), now=NOW)
    stored = imported_while(in_order(50), lambda: complete_match(pool, won(players[0], players[1], at(2)), now=NOW))
    assert isinstance(stored, Match)
    assert_whole(pool, 52)


def test_a_pool_that_is_held_alone_would_hold_them_up() -> None:
    """What an import did before it held its pool shared."""
    pool, players = pool_of("fibs"), people(2)

    def impatient() -> Any:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '300ms'")
            return completion.complete_in_order(pool, [won(*players, at(2))], now=NOW)

    with transaction.atomic():
        hold_pool(pool.pk, exclusive=True)
        with pytest.raises(Exception, match="lock timeout"):
            elsewhere(impatient)


def behind_an_import() -> Any:
    """An import holds the pool, a correction begins, and a result of others comes in: what becomes of that."""
    pool, players = pool_of("fibs"), people(4)
    [first, *_] = complete_matches(pool, a_season(players, 10), now=NOW)
    corrections: list[threading.Thread] = []

    def result() -> Any:
        correcting = lambda: correct(pool, [Correction(first, void=True)], reason="annulled", now=NOW)  # noqa: E731
        corrections.append(threading.Thread(target=elsewhere, args=[correcting]))
        corrections[0].start()
        until_somebody_waits()
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    # The import waits for this result, so it must not wait for the import.
                    cursor.execute("SET LOCAL lock_timeout = '1s'")
                return completion.complete_in_order(pool, [won(players[0], players[1], at(50))], now=NOW)
        except OperationalError as error:
            return str(error)

    answer = imported_while(in_order(30), result)
    corrections[0].join(timeout=60)
    assert Revision.objects.count() == 1
    stored = isinstance(answer, list)
    assert_whole(pool, 40 + stored, counted=39 + stored)
    return answer


def until_somebody_waits() -> None:
    # Other tests race in other databases of this server.
    here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND {here}")
            if cursor.fetchone() != (0,):
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def test_a_correction_behind_an_import_holds_up_nobody_elses_results() -> None:
    assert isinstance(behind_an_import(), list)


def test_without_the_imports_hold_on_the_history_they_queue_behind_the_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race that it is there for: who waits for the pool alone keeps those out who come after him."""
    monkeypatch.setattr(service, "hold_history", lambda pool_id: None)
    assert "lock timeout" in behind_an_import()


def test_two_imports_and_results_of_the_same_players_at_once() -> None:
    pool = pool_of("fibs")
    players = create_players(f"{name} {n}" for name in ("Vera", "Didrik") for n in range(7))
    other = csv(*((f"2026-04-02T{n // 60:02}:{n % 60:02}:00Z", f"Didrik {n % 7}", f"Vera {n % 5}") for n in range(60)))

    def importing(data: bytes, source: str) -> Any:
        return lambda: import_matches(pool, data, source=source, options=Options(), now=NOW)

    def results() -> None:
        for n in range(10):
            complete_match(pool, won(players[n % 7], players[7 + n % 7], at(1000 + n)), now=NOW)

    answers = at_once([importing(in_order(60), "one.csv"), importing(other, "two.csv"), results])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 130)


def test_an_import_that_turns_out_to_be_late_is_rated_in_its_place() -> None:
    """Its rows were in order when they were looked at: it starts again."""
    pool = pool_of("fibs")
    complete_match(pool, won(*create_players(["Vera 0", "Didrik 0"]), at(2000)), now=at(2001))
    with mock.patch.object(sifting.Sifting, "late", return_value=iter(())):
        report = import_matches(pool, in_order(20), source="a.csv", options=Options(create_players=True), now=at(2001))
    assert report.stored
    assert_whole(pool, 21)


def late_rows(count: int) -> bytes:
    """From the first evening on, one an hour, by those who play in `a_season` and two who are new."""
    names = [f"Player {n}" for n in range(1, 5)] + ["Vera", "Didrik"]
    return csv(*((at(n / 8 + 0.05).isoformat(), names[n % 6], names[(n + 1 + n // 6 % 4) % 6]) for n in range(count)))


def import_late(data: bytes, **more: Any) -> Any:
    return import_matches(pool_of("fibs"), data, source="late.csv", options=Options(create_players=True, **more), now=NOW)


def test_results_go_on_while_a_late_import_computes_and_stores() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    later = [won(players[0], players[1], at(50)), won(players[2], players[0], at(51))]
    with between(lambda: [complete_match(pool, entry, now=NOW) for entry in later]) as attempts:
        report = import_late(late_rows(60))
    assert report.stored and report.added == 60 and report.new_players == ["Vera", "Didrik"]
    assert len(attempts) == 1  # all its rows at once, and caught up
    assert_whole(pool, 82)
    revision = Revision.objects.get()
    assert (revision.kind, revision.matches.count()) == ("late", 60)


def test_without_catching_up_what_came_in_during_an_import_keeps_its_numbers() -> None:
    """The race that it is there for."""
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    with (
        between(lambda: complete_match(pool, won(players[0], players[1], at(50)), now=NOW)),
        mock.patch.object(replay, "catch_up"),
    ):
        import_late(late_rows(10))
    assert verify(pool)[1] is not None


def test_the_same_late_list_four_times_at_once_is_added_once() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    reports = at_once([lambda: import_late(late_rows(30)) for _ in range(4)])
    assert sorted((report.added, report.known) for report in reports) == [(0, 30)] * 3 + [(30, 0)], reports
    assert_whole(pool, 50)
    assert Player.objects.count() == 6 and Revision.objects.count() == 1


def test_a_late_import_that_fails_at_its_end_leaves_nothing() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    before = everything(pool)
    with mock.patch.object(replay, "write_ratings", side_effect=RuntimeError), pytest.raises(RuntimeError):
        import_late(late_rows(30))
    assert everything(pool) == before and Player.objects.count() == 4 and not Revision.objects.exists()
    assert_whole(pool, 20)
    assert import_late(late_rows(30)).added == 30
    assert_whole(pool, 50)


def test_two_late_lists_corrections_and_results_at_once() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 20), now=NOW)
    other = b"ended_at,winner,loser,length\n" + b"".join(
        f"{at(n / 4 + 0.1).isoformat()},Player {n % 4 + 1},Rune {n % 3},3\n".encode() for n in range(24)
    )
    fresh = [won(players[n % 4], players[(n + 1) % 4], at(100 + n)) for n in range(8)]
    answers = at_once(
        [
            lambda: import_late(late_rows(30)),
            lambda: import_late(other),
            lambda: correct(pool, [Correction(matches[3], void=True)], reason="annulled", now=NOW),
            lambda: [complete_match(pool, entry, now=NOW) for entry in fresh],
        ]
    )
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert_whole(pool, 82, counted=81)


def test_a_late_dry_run_holds_nobody_up_and_keeps_nothing() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    compute, stored = replay.recalculate, []

    def meanwhile(*arguments: Any, **more: Any) -> Any:
        stored.append(elsewhere(lambda: complete_match(pool, won(players[0], players[1], at(50)), now=NOW)))
        return compute(*arguments, **more)

    with mock.patch.object(replay, "recalculate", meanwhile):
        report = import_late(late_rows(30), dry_run=True)
    assert (report.stored, report.added, report.new_players) == (False, 30, ["Vera", "Didrik"]) and len(stored) == 1
    assert_whole(pool, 21)
    assert Player.objects.count() == 4
