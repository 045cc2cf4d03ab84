"""Corrections in the background, and from the terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from matches import corrections, jobs, replay, tasks
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import Entry
from matches.job_rows import corrections_of
from matches.models import CorrectionJob, Match, Revision
from matches.verify import verify
from players.models import Player, Pool
from players.systems.base import Result
from tests.building import NOW, at, people, pool_of, values, won

pytestmark = pytest.mark.django_db
Status = CorrectionJob.Status


@pytest.fixture
def season() -> tuple[Pool, list[Player], list[Match]]:
    pool, players = pool_of("fibs"), people(4)
    entries = [won(players[n % 4], players[(n + 1 + n % 2) % 4], at(n), length=n % 9 + 1) for n in range(20)]
    return pool, players, complete_matches(pool, entries, now=NOW)


def edit(match: Match, length: int) -> Correction:
    seats = list(match.participants.select_related("player"))
    assert match.ended_at is not None
    entry = Entry(players=[seat.player for seat in seats], result=match.result(seats), ended_at=match.ended_at)
    return Correction(match, entry=replace(entry, result=replace(entry.result, length=length)))


def test_a_job_is_previewed_then_confirmed_then_done_and_a_second_run_changes_nothing(season: tuple) -> None:
    pool, _, matches = season
    before = values(pool)
    job = jobs.start(pool, [edit(matches[2], 11)], reason="it was to 11")
    assert (job.status, job.total) == (Status.PREVIEWING, 18)
    tasks.run_correction(job.pk)
    job.refresh_from_db()
    assert job.status == Status.PREVIEWED and job.preview["pools"][0]["matches"] == 18 and values(pool) == before
    assert {move["name"] for move in job.preview["pools"][0]["moves"]} <= set(before)
    tasks.run_correction(job.pk)  # nobody has confirmed
    assert values(pool) == before
    assert jobs.confirm(job) and not jobs.confirm(job)
    tasks.run_correction(job.pk)
    tasks.run_correction(job.pk)
    job.refresh_from_db()
    assert job.status == Status.DONE and job.revision == Revision.objects.get() and job.revision.reason == "it was to 11"
    assert values(pool) != before and verify(pool) == (20, None)


def test_a_job_whose_pool_has_moved_on_shows_the_new_preview(season: tuple) -> None:
    pool, _, matches = season
    job = jobs.start(pool, [Correction(matches[2], void=True)], reason="annulled")
    jobs.run(job.pk)
    correct(pool, [Correction(matches[5], void=True)], reason="annulled as well")
    job.refresh_from_db()
    seen = job.preview["token"]
    jobs.confirm(job)
    job = jobs.run(job.pk)
    assert job.status == Status.PREVIEWED and job.preview["token"] != seen and Revision.objects.count() == 1


def test_results_that_come_in_order_meanwhile_ask_for_no_new_preview(season: tuple) -> None:
    """Else the job of a busy pool would never be done."""
    pool, players, matches = season
    job = jobs.start(pool, [Correction(matches[2], void=True)], reason="annulled")
    jobs.run(job.pk)
    complete_match(pool, won(players[0], players[1], at(300)), now=at(301))
    jobs.confirm(job)
    assert jobs.run(job.pk).status == Status.DONE
    assert verify(pool) == (len(matches), None)


def test_a_worker_that_is_lost_leaves_the_ratings_and_the_sweep_finds_the_job(season: tuple) -> None:
    pool, _, matches = season
    before = values(pool)
    job = jobs.start(pool, [Correction(matches[2], void=True)], reason="annulled")
    jobs.run(job.pk)
    job.refresh_from_db()
    jobs.confirm(job)
    with mock.patch.object(replay, "write_ratings", side_effect=SystemExit), pytest.raises(SystemExit):
        jobs.run(job.pk)
    assert values(pool) == before and not Revision.objects.exists()
    now = timezone.now()
    with mock.patch.object(jobs, "_send") as sent:
        assert jobs.sweep(now) == 0
        assert jobs.sweep(now + jobs.LOST + timedelta(seconds=1)) == 1
    assert sent.call_args.args == (job,)
    assert jobs.run(job.pk).status == Status.DONE
    assert jobs.sweep(now + timedelta(days=1)) == 0


def test_a_job_that_cannot_be_done_says_why(season: tuple) -> None:
    pool, _, matches = season
    job = jobs.start(pool, [Correction(matches[2], void=True)], reason="annulled")
    jobs.run(job.pk)
    job.refresh_from_db()
    corrections.correct(pool, [edit(matches[2], 4)], reason="first", now=NOW)
    jobs.confirm(job)
    job = jobs.run(job.pk)
    assert job.status == Status.FAILED and job.error


def test_entries_survive_the_journey_through_the_row() -> None:
    pool, players = pool_of("freewhist"), people(4)
    match = complete_match(pool, Entry(players=players, result=Result(places=(1, 1, 3, 4), deals=16), ended_at=at(0)), now=NOW)
    seats = list(match.participants.all())
    entry = Entry(players=players[::-1], result=match.result(seats), ended_at=at(1), timed=False, sequence=3)
    job = jobs.start(pool, [Correction(match, entry=entry)], reason="")
    [read] = corrections_of(CorrectionJob.objects.get(pk=job.pk))
    assert read.entry == entry


def run(*words: object) -> str:
    out = StringIO()
    call_command("correct_match", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_shows_first_and_corrects_on_yes(season: tuple) -> None:
    pool, _, matches = season
    before = values(pool)
    said = run(matches[5].pk, "--void")
    assert "Nothing is written yet" in said and values(pool) == before
    assert "→" in said and "players move" in said
    run(matches[5].pk, matches[6].pk, "--void", "--reason", "annulled", "--yes")
    assert verify(pool) == (18, None)
    run(matches[5].pk, matches[6].pk, "--unvoid", "--reason", "played after all", "--yes")
    assert values(pool) == before
    loser = matches[7].participants.get(seat=2).player
    run(matches[7].pk, "--set", f"winner={loser.name}", "--set", "length=7", "--reason", "swapped", "--yes")
    seats = list(Match.objects.get(pk=matches[7].pk).participants.all())
    assert [seat.score for seat in seats] == [0.0, 1.0] and verify(pool) == (20, None)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("999999", "--void"), "999999"),
        (("{0}", "--set", "length=0"), "length"),
        (("{0}", "--set", "length=five"), "length"),
        (("{0}", "--set", "length"), "FIELD=VALUE"),
        (("{0}", "--set", "colour=red"), "colour"),
        (("{0}", "--set", "winner=Nobody"), "Nobody"),
        (("{0}", "--set", "player1=Player 2"), "players|Players"),
        (("{0}", "--set", "ended_at=2026-03-01T20:00"), "ended_at"),
        (("{0}", "--void", "--yes"), "--reason"),
        (("{0}", "{1}", "--set", "length=5"), "one match"),
    ],
)
def test_the_command_names_what_is_wrong(season: tuple, words: tuple[str, ...], named: str) -> None:
    pool, _, matches = season
    before = values(pool)
    with pytest.raises(CommandError, match=named):
        run(*(word.format(*(match.pk for match in matches)) for word in words))
    assert values(pool) == before and not Revision.objects.exists()


def test_the_command_says_whose_change_it_is_and_corrects_draws_and_places() -> None:
    User.objects.create_user("jury")
    pool, players = pool_of("tics"), people(4)
    drawn = complete_match(pool, won(players[0], players[1], at(0), length=None), now=NOW)
    run(drawn.pk, "--set", "result=0.5", "--reason", "a draw", "--by", "jury", "--yes")
    assert [seat.score for seat in drawn.participants.all()] == [0.5, 0.5]
    revision = Revision.objects.get()
    assert revision.made_by is not None and revision.made_by.username == "jury"
    whist = Entry(players=players, result=Result(places=(1, 2, 3, 4), deals=16), ended_at=at(1))
    table = complete_match(pool_of("freewhist"), whist, now=NOW)
    run(table.pk, "--set", "rank1=2", "--set", "rank2=1", "--reason", "swapped", "--yes")
    assert [seat.place for seat in table.participants.all()] == [2, 1, 3, 4]
    for words, named in (
        (("--set", "winner=Player 1"), "winner"),
        (("--set", "rank1=1", "--set", "rank1=2"), "twice"),
        (("--void", "--by", "nobody"), "nobody"),
    ):
        with pytest.raises(CommandError, match=named):
            run(table.pk, *words, "--reason", "wrong", "--yes")
    with pytest.raises(CommandError, match="9" * 23):
        run("9" * 23, "--void")
