"""Exports: every digit, as they are read, and the same ratings where they are imported again."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches import demo
from matches.completion import complete_matches
from matches.corrections import Correction, correct
from matches.exports.records import records
from matches.exports.tables import TABLES
from matches.exports.writing import lines
from matches.merging import merge
from matches.models import Match
from matches.openings import open_ratings
from matches.parameters import set_parameters
from matches.verify import verify
from matches.words import rules_in_words
from players.ledger import Opening
from players.models import Pool, RatingChange
from players.permissions import StakeSight
from players.services import create_player, create_pool, rename_player
from players.systems.base import Result
from players.systems.check import check
from tests.building import NOW, Entry, at, everything, people, pool_of, won
from tests.matches.imports.importing import club, csv_file, numbers, run

pytestmark = pytest.mark.django_db

POOLS = ("fibs", "crowns-cup", "online-backgammon", "freewhist", "tics")


def exported(what: str, pool: Pool, form: str = "csv") -> str:
    out, err = run("export", what, "--pool", pool.slug, "--format", form)
    assert err == "" and "\r" not in out
    return out


def twin(pool: Pool) -> Pool:
    """An empty pool with the rules of another."""
    return create_pool("twin", name="Twin", system=pool.system, parameters=pool.parameters)


@pytest.fixture
def played() -> None:
    demo.load(timezone.now())


@pytest.fixture
def few() -> Pool:
    """Some matches for stakes, one of them broken off and one for play money."""
    pool, players = pool_of("crowns-cup"), people(4)
    more = {"stake": Decimal("2.50"), "real_money": True, "kind": "table"}
    entries = [won(players[n % 4], players[(n + 1) % 4], at(n), length=n % 3 * 2 + 1, **more) for n in range(20)]
    play = Result(chance=1 / 3, length=5, real_money=False, kind="table")
    money = Result(chance=0.7, points=4, stake=Decimal(3), real_money=True, kind="rematch")
    entries += [Entry(players=players[:2], result=result, ended_at=at(n)) for n, result in enumerate((play, money), 30)]
    complete_matches(pool, entries, now=NOW)
    return pool


@pytest.mark.parametrize("slug", POOLS)
def test_an_export_imported_into_an_empty_pool_gives_the_same_ratings(slug: str, played: None, tmp_path: Path) -> None:
    pool = pool_of(slug)
    player = pool.ratings.filter(matches__gt=0).earliest("player_id").player
    open_ratings(pool, {player.pk: Opening(1234.5678901234567, 17, None), create_player("Guest").pk: Opening(1 / 3, 0, None)})
    matches, openings = tmp_path / "matches.csv", tmp_path / "openings.csv"
    matches.write_text(exported("matches", pool), encoding="utf-8")
    openings.write_text(exported("openings", pool), encoding="utf-8")
    again = twin(pool)
    run("import_players", openings, "--pool", "twin")
    out, err = run("import_matches", matches, "--pool", "twin")
    assert err == "" and f"{pool.matches.count()} added" in out and "0 refused" in out
    assert numbers(again) == numbers(pool) and len(numbers(pool)) > 10
    first, second = everything(pool), everything(again)
    assert first["lines"] == second["lines"]
    assert {one: rating[:3] for one, rating in first["ratings"].items()} == {
        one: rating[:3] for one, rating in second["ratings"].items()
    }
    assert dict(pool.matches.values_list("ended_at", "not_counted")) == dict(again.matches.values_list("ended_at", "not_counted"))


def of_two_eras() -> Pool:
    """A pool whose rules have changed twice, with matches before, between and after."""
    pool, players = pool_of("fibs"), people(4)
    open_ratings(pool, {players[0].pk: Opening(1234.5678901234567, 17, None)})
    entries = [won(players[n % 4], players[(n + 1) % 4], at(n), length=n % 7 + 1) for n in range(30)]
    complete_matches(pool, entries, now=NOW)
    for hours, changes in ((10, {"factor": 3, "start": 1700}), (20, {"factor": 5, "ramp": None})):
        pool = Pool.objects.get(pk=pool.pk)
        set_parameters(pool, changes, since=at(hours), reason="A vote", now=NOW)
    return Pool.objects.get(pk=pool.pk)


def test_a_pool_of_several_eras_is_imported_with_the_rules_of_its_records(tmp_path: Path) -> None:
    pool = of_two_eras()
    assert len(pool.rules.past) == 2
    files = {what: tmp_path / what for what in ("matches", "openings", "records")}
    for what, path in files.items():
        run_out = exported(what, pool)
        path.write_text(run_out, encoding="utf-8")
    again = create_pool("twin", name="Twin", system=pool.system)
    for _ in range(2):
        preview, _err = run("set_parameters", "twin", "--like", files["records"], "--preview")
        assert "0 players move" in preview
    run("set_parameters", "twin", "--like", files["records"], "--reason", "Moved house")
    again = Pool.objects.get(pk=again.pk)
    assert again.rules.past == pool.rules.past and again.parameters == pool.parameters
    sentences = rules_in_words(again.revisions.get().rules).sentences
    assert sum("other rules hold" in sentence for sentence in sentences) == 2
    run("import_players", files["openings"], "--pool", "twin")
    run("import_matches", files["matches"], "--pool", "twin")
    assert numbers(again) == numbers(pool) and everything(again)["lines"] == everything(pool)["lines"]
    assert verify(again)[1] is None
    with pytest.raises(CommandError, match="has these parameters already"):
        run("set_parameters", "twin", "--like", files["records"], "--reason", "Once more")


def test_rules_that_come_after_the_matches_rate_them_anew(tmp_path: Path) -> None:
    pool = of_two_eras()
    for what in ("matches", "records"):
        (tmp_path / what).write_text(exported(what, pool), encoding="utf-8")
    again = create_pool("twin", name="Twin", system=pool.system)
    run("import_matches", tmp_path / "matches", "--pool", "twin")
    before = numbers(again)
    run("set_parameters", "twin", "--like", tmp_path / "records", "--reason", "As it was there")
    assert numbers(again) != before and verify(Pool.objects.get(pk=again.pk))[1] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "holds no records"),
        (lambda text: "date,winner", "holds no records"),
        (lambda text: "[1]", "holds no records"),
        (lambda text: text.replace('"factor": 5', '"factor": 6'), "digest does not fit"),
        (lambda text: text.replace('"fibs"', '"\0"'), "holds no records"),
        (lambda text: text[text.index("\n") + 1 :], "holds no records"),
        (lambda text: "[" * 100_000, "holds no records"),
    ],
)
def test_rules_are_taken_from_sound_records_alone(change: Any, message: str, tmp_path: Path) -> None:
    path, pool = tmp_path / "records", of_two_eras()
    path.write_text(change(exported("records", pool)), encoding="utf-8")
    with pytest.raises(CommandError, match=message):
        run("set_parameters", "fibs", "--like", path, "--reason", "x")


def test_rules_of_another_system_and_rules_with_settings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_text(exported("records", pool_of("fibs")), encoding="utf-8")
    for arguments, message in (
        (("tics", "--like", path), "rating system fibs"),
        (("fibs", "--like", path, "--set", "factor=5"), "without --set"),
        (("fibs", "--like", path, "--from", "2026-03-01"), "without --set"),
        (("fibs", "--like", tmp_path / "none"), "cannot be read"),
    ):
        with pytest.raises(CommandError, match=message):
            run("set_parameters", *arguments, "--reason", "x")


def test_matches_of_one_moment_keep_their_order(tmp_path: Path) -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    dated = {"timed": False, "length": 7}
    complete_matches(
        pool,
        [
            won(one, two, at(0)),
            won(two, three, at(0)),
            won(three, one, at(0), sequence=-4),
            won(one, two, at(1), sequence=3, **dated),
            won(three, two, at(1), sequence=2, **dated),
            won(one, two, at(1.5), length=7),
            won(one, two, at(0)),
        ],
        now=NOW,
    )
    path = tmp_path / "matches.csv"
    path.write_text(exported("matches", pool), encoding="utf-8")
    again = twin(pool)
    run("import_matches", path, "--pool", "twin")
    assert numbers(again) == numbers(pool)
    # A list that is imported again adds nothing, with the numbers of the matches or without.
    assert "0 added\n7 already there" in run("import_matches", path, "--pool", "twin")[0]


NAMES = ("=1+1", "@Åse", "+Rune", "-Pia", "'t Hooft", "''", "'=x", '=HYPERLINK("a";"b")', "Vera, Holm", "Ωmega")


def test_names_that_are_formulas_come_back_as_they_were(tmp_path: Path) -> None:
    pool = pool_of("fibs")
    players = [create_player(name) for name in NAMES if name != "''"]
    complete_matches(pool, [won(one, two, at(n)) for n, (one, two) in enumerate(pairwise(players))], now=NOW)
    text = exported("matches", pool)
    path = tmp_path / "matches.csv"
    path.write_text(text, encoding="utf-8")
    cells = {cell for row in csv.DictReader(io.StringIO(text)) for cell in (row["player1"], row["player2"])}
    assert all(cell[:1] not in tuple("=+-@\t\r") for cell in cells)
    assert {"'=1+1", "'@Åse", "''t Hooft", "''=x", "Vera, Holm"} <= cells
    again = twin(pool)
    run("import_matches", path, "--pool", "twin")
    assert numbers(again) == numbers(pool)
    openings = "".join(lines(TABLES["ratings"], pool, "csv"))
    assert "\n1,'" in openings
    # A program reads JSON, and needs no protection.
    assert {json.loads(line)["player"] for line in exported("ratings", pool, "jsonl").splitlines()} == set(numbers(pool))


@pytest.mark.parametrize("what", TABLES)
def test_json_lines_say_what_the_csv_says(what: str, few: Pool) -> None:
    pool = few
    open_ratings(pool, {create_player("Guest").pk: Opening(0.1 + 0.2, 3, NOW.date())})
    table = list(csv.DictReader(io.StringIO(exported(what, pool))))
    objects = [json.loads(line) for line in exported(what, pool, "jsonl").splitlines()]
    assert len(table) == len(objects) > 0
    for row, told in zip(table, objects, strict=True):
        assert list(row) == list(told)
        for column, cell in row.items():
            value = told[column]
            assert cell == as_in_csv(value)


def as_in_csv(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def test_the_history_has_every_digit(few: Pool) -> None:
    pool = few
    rows = list(csv.DictReader(io.StringIO(exported("history", pool))))
    stored = RatingChange.objects.filter(rating__pool=pool).order_by("ended_at", "timed", "sequence", "match_id", "player_id")
    assert [
        (int(row["match"]), row["player"], float(row["before"]), float(row["change"]), float(row["after"])) for row in rows
    ] == [(line.match_id, line.player.name, line.before, line.change, line.after) for line in stored.select_related("player")]


def test_a_match_known_by_its_date_has_that_date(tmp_path: Path) -> None:
    pool = club()
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5")
    run("import_matches", path, "--pool", "club", "--create-players")
    [row] = csv.DictReader(io.StringIO(exported("matches", pool)))
    assert (row["date"], row["ended_at"], row["sequence"], row["result"]) == ("2026-03-01", "", "1", "1")


def test_records_of_a_pool_with_eras_corrections_and_merges_follow() -> None:
    pool, (one, two, three, twin_of_one) = pool_of("online-backgammon"), people(4)
    pairs = [(one, two), (twin_of_one, three), (two, three), (three, one)]
    entries = [won(*pairs[n % 4], at(24 * n), length=n % 5 + 1, kind=("matchmade", "rematch")[n % 3 == 0]) for n in range(40)]
    matches = complete_matches(pool, entries, now=NOW)
    open_ratings(pool, {two.pk: Opening(777.7, 12, None)})
    merge(one, twin_of_one, reason="The same", now=NOW)
    set_parameters(pool, {"factor": 5, "cap": 9}, since=at(24 * 15), reason="Too lively", now=NOW)
    set_parameters(pool, {"ramp": None}, since=at(24 * 30), reason="Enough", now=NOW)
    correct(pool, [Correction(Match.objects.get(pk=matches[3].pk), void=True)], reason="Annulled", now=NOW)
    pool = pool_of("online-backgammon")
    checked = check(records(pool))
    assert checked.matches == 39 and 20 < checked.counted < 39
    assert verify(pool) == (checked.counted, None)
    # The same records have the same digests, whenever they are exported; a new name changes none of a match.
    first = [json.loads(line) for line in records(pool)]
    rename_player(three, "Somebody Else")
    second = [json.loads(line) for line in records(pool)]
    of_matches = [(line["match"], line["digest"]) for line in first if line["type"] == "match"]
    assert of_matches == [(line["match"], line["digest"]) for line in second if line["type"] == "match"]
    assert first[-1]["digest"] != second[-1]["digest"]


def test_voided_and_open_matches_are_no_part_of_it() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete_matches(pool, [won(one, two, at(n)) for n in range(2)], now=NOW)
    Match.objects.filter(pk=Match.objects.earliest("pk").pk).update(status="voided")
    assert len(exported("matches", pool).splitlines()) == 2


def test_a_match_that_was_broken_off_has_its_chance(tmp_path: Path) -> None:
    pool, (one, two) = pool_of("crowns-cup"), people(2)
    result = Result(chance=1 / 3, length=5, stake=None, real_money=False, kind="table")
    complete_matches(pool, [Entry(players=(one, two), result=result, ended_at=at(0))], now=NOW)
    [row] = csv.DictReader(io.StringIO(exported("matches", pool)))
    assert (row["result"], row["chance"], row["real_money"], row["stake"]) == ("", "0.3333333333333333", "no", "")


def test_stakes_are_left_out_for_those_who_do_not_see_them() -> None:
    pool, (one, two, three) = pool_of("crowns-cup"), people(3)
    one.user = get_user_model().objects.create_user("one")
    one.save()
    more = {"stake": Decimal("2.50"), "real_money": True, "kind": "table"}
    complete_matches(pool, [won(one, two, at(0), **more), won(two, three, at(1), **more)], now=NOW)
    for sight, stakes in (
        (StakeSight(all=True), ["2.50", "2.50"]),
        (StakeSight(all=False), ["", ""]),
        (StakeSight(all=False, user_id=one.user.pk), ["2.50", ""]),
    ):
        text = "".join(lines(TABLES["matches"], pool, "csv", sight))
        assert [row["stake"] for row in csv.DictReader(io.StringIO(text))] == stakes


@pytest.mark.parametrize("what", [*TABLES, "records"])
def test_the_number_of_queries_is_fixed(what: str) -> None:
    pool, players = pool_of("fibs"), people(6)

    def queries() -> int:
        with CaptureQueriesContext(connection) as taken:
            run("export", what, "--pool", "fibs")
        return len(taken)

    complete_matches(pool, [won(players[0], players[1], at(0))], now=NOW)
    few = queries()
    complete_matches(pool, [won(players[n % 6], players[(n + 1) % 6], at(n)) for n in range(1, 60)], now=NOW)
    assert queries() == few <= 7


@pytest.mark.parametrize("what", ["history", "matches"])
def test_more_rows_take_no_more_memory(what: str) -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, [won(players[n % 4], players[(n + 1) % 4], at(n / 60)) for n in range(2500)], now=NOW)

    def peak() -> int:
        for _line in lines(TABLES[what], pool, "csv"):
            pass
        tracemalloc.start()
        for _line in lines(TABLES[what], pool, "csv"):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    few = peak()
    complete_matches(pool, [won(players[n % 4], players[(n + 1) % 4], at(n / 60)) for n in range(2500, 10_000)], now=NOW)
    assert peak() < 1.3 * few


def test_a_reader_who_has_had_enough_leaves_nothing_open() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete_matches(pool, [won(one, two, at(n)) for n in range(5)], now=NOW)
    text = lines(TABLES["matches"], pool, "csv")
    next(text)
    next(text)
    text.close()  # type: ignore[attr-defined]
    assert pool.matches.count() == 5


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("what", [*TABLES, "records"])
def test_outside_of_a_transaction_it_is_of_one_moment_and_closes_what_it_opened(what: str) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete_matches(pool, [won(one, two, at(n)) for n in range(3)], now=NOW)

    def begun() -> Iterator[str]:
        return records(pool) if what == "records" else lines(TABLES[what], pool, "csv")

    whole = list(begun())
    stopped = begun()
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert not connection.in_atomic_block
    complete_matches(pool, [won(one, two, at(9))], now=NOW)
    assert len(list(begun())) == len(whole) + {"history": 2, "matches": 1, "records": 1}.get(what, 0)
