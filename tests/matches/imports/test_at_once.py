"""Imports at the same time as other writers, on PostgreSQL."""

from __future__ import annotations

from unittest import mock

import pytest

from matches.completion import complete_match
from matches.entries import Entry
from matches.imports import jobs, sifting
from matches.imports.openings import import_openings
from matches.imports.report import Report
from matches.imports.service import Options, import_matches
from matches.imports.transcripts.reading import NamedFile
from matches.models import Import
from players.models import Player
from players.services import create_players, players_by_name
from tests.building import NOW, at, people, pool_of, won
from tests.concurrency.running import assert_whole, at_once
from tests.matches.imports.importing import DATA, club, names

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

LIST = (DATA / "club_matches.csv").read_bytes()
TAKEN = Options(create_players=True, skip_invalid=True)


def test_the_same_list_four_times_at_once_is_added_once() -> None:
    pool = club()
    reports = at_once([lambda: import_matches(pool, LIST, source="list", options=TAKEN) for _ in range(4)])
    assert sorted((report.added, report.known) for report in reports) == [(0, 166)] * 3 + [(166, 0)]
    assert_whole(pool, 166)
    assert Player.objects.count() == 19


def test_two_pools_at_once_make_each_player_once() -> None:
    pools = [club("one"), club("two")]
    reports = at_once([lambda pool=pool: import_matches(pool, LIST, source="list", options=TAKEN) for pool in pools])
    # The ids of rows name their pool, so that both have the list.
    assert [report.added for report in reports] == [166, 166]
    assert Player.objects.count() == 19 and not any("(2)" in name for name in names())
    for pool in pools:
        assert_whole(pool, 166)


def test_a_player_made_between_the_look_and_the_making_is_the_same_player() -> None:
    pool = pool_of("fibs")
    data = b"date,winner,loser,length\n2026-03-01,Vera,Didrik,5\n"
    looked = players_by_name

    def look_and_be_overtaken(wanted: object) -> dict[str, Player]:
        found = looked(wanted)
        if not Player.objects.exists():
            at_once([lambda: create_players(["Vera"])])
        return found

    with mock.patch.object(sifting, "players_by_name", look_and_be_overtaken):
        assert import_matches(pool, data, source="list", options=TAKEN).added == 1
    assert names() == {"Vera", "Didrik"}
    assert_whole(pool, 1)


def test_an_import_among_results_that_come_in() -> None:
    pool, players = pool_of("fibs"), people(4)
    rows = "".join(f"2026-03-{day:02},Player {1 + day % 4},Player {1 + (day + 1) % 4},5\n" for day in range(1, 29))
    data = f"date,winner,loser,length\n{rows}".encode()
    entries = [won(players[n % 4], players[(n + 1) % 4], at(24 * n)) for n in range(12)]

    def results(mine: list[Entry]) -> None:
        for entry in mine:
            complete_match(pool, entry, now=NOW)

    openings = b"name,rating\nPlayer 1,1700\nPlayer 9,1600\n"
    answers = at_once(
        [
            lambda: results(entries[::2]),
            lambda: import_matches(pool, data, source="list", options=TAKEN),
            lambda: import_openings(pool, openings, source="openings.csv"),
            lambda: results(entries[1::2]),
        ]
    )
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert isinstance(answers[1], Report) and answers[1].added == 28
    assert_whole(pool, 40)


def test_an_import_that_is_confirmed_and_worked_many_times_at_once_is_made_once() -> None:
    pool = club()
    record = jobs.begin(pool, [NamedFile("list.csv", LIST)], made_by=None)
    record.options["skip_invalid"] = True
    jobs.configure(record, record.options)
    record.refresh_from_db()
    token = jobs.token_of(record)
    with mock.patch.object(jobs, "_work"):
        answers = at_once([lambda: jobs.confirm(Import.objects.get(pk=record.pk), token) for _ in range(5)])
    assert sorted(answers) == [False] * 4 + [True]
    # Even where the lock in the cache is lost, the row lets one of them write.
    with mock.patch.object(jobs.cache, "add", return_value=True):
        assert at_once([lambda: jobs.run(record.pk) for _ in range(4)]) == [None] * 4
    record.refresh_from_db()
    assert record.status == Import.Status.DONE and record.matches.count() == 166
    assert_whole(pool, 166)
