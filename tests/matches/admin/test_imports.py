"""Imports in the admin: uploaded, looked at, confirmed once, and undone as a whole; in the pools of whoever does it."""

from __future__ import annotations

import csv
import io
import random
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matches import tasks
from matches.completion import complete_matches
from matches.imports import jobs
from matches.imports.options import guessed_columns
from matches.imports.transcripts.reading import NamedFile
from matches.models import Import, ImportFile, Match, Revision
from matches.verify import verify
from players.anonymising import anonymise_player
from players.models import Organiser, Player, Pool
from players.services import create_player
from tests.building import NOW, at, complete, everything, people, pool_of, won
from tests.matches.entering import press, queries, staff
from tests.matches.imports.importing import names, numbers, rows_of_all_tables
from tests.matches.imports.transcripts import OWN
from tests.pages import text_of
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db
Status = Import.Status
ADD, LIST = "admin:matches_import_add", "admin:matches_import_changelist"
ROWS = b"date,winner,loser,length\n2026-03-01,Vera,Didrik,5\n2026-03-02,Didrik,Vera,7\n2026-03-02,Didrik,Vera,7\n"


@pytest.fixture
def organiser() -> User:
    return staff("view_match", "add_match", "change_match")


@pytest.fixture(autouse=True)
def _logged_in(client: Client, organiser: User) -> None:
    client.force_login(organiser)


def upload(client: Client, *files: tuple[str, bytes], pool: str = "fibs", **more: str) -> Any:
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(reverse(ADD), {"pool": pool_of(pool).pk, "upload": sent, **more})


def uploaded(client: Client, *files: tuple[str, bytes], pool: str = "fibs", **more: str) -> Import:
    response = upload(client, *files, pool=pool, **more)
    assert response.status_code == 302, text_of(response)
    record = Import.objects.latest("pk")
    assert response.url == page_of(record)
    return record


def page_of(record: Import, view: str = "change") -> str:
    return reverse(f"admin:matches_import_{view}", args=[record.pk])


def fields(client: Client, record: Import) -> dict[str, Any]:
    """What the form of an import holds."""
    form = client.get(page_of(record)).context["form"]
    held = {name: form[name].value() for name in form.fields}
    return {name: "on" if value is True else value for name, value in held.items() if value not in (False, None)}


def confirm(client: Client, record: Import) -> Any:
    return client.post(page_of(record), {"token": client.get(page_of(record)).context["token"], "_confirm": "1"})


def checked_again(client: Client, record: Import, **changed: str) -> Any:
    response = client.post(page_of(record), fields(client, record) | changed | {"_check": "1"})
    record.refresh_from_db()
    return response


def fresh(record: Import) -> Import:
    record.refresh_from_db()
    return record


def test_from_upload_to_done(client: Client, organiser: User) -> None:
    before = rows_of_all_tables()
    record = uploaded(client, ("list.csv", ROWS))
    assert record.status == Status.CHECKED and record.report["added"] == 3
    changed = {table for table, count in rows_of_all_tables().items() if count != before[table]}
    assert changed == {"matches_import", "matches_importfile"}
    page = client.get(page_of(record))
    text = text_of(page)
    assert "3 would be added" not in text and "Import 3 matches" in page.text
    assert "2026-03-01 · Vera – Didrik · 1 : 0 · Match length 5" in text
    assert "line 4 as line 3" in text and Inline(page.text).found == []
    assert confirm(client, record).status_code == 302
    assert fresh(record).status == Status.DONE and record.made_by == organiser and record.done_at
    matches = Match.objects.filter(from_import=record)
    assert matches.count() == 3 and {match.entered_by for match in matches} == {organiser}
    assert verify(pool_of("fibs")) == (3, None) and names() == {"Vera", "Didrik"}
    assert not ImportFile.objects.exists()
    assert "What was imported" in text_of(client.get(page_of(record)))
    listed = client.get(f"{reverse('admin:matches_match_changelist')}?from_import__id__exact={record.pk}")
    assert listed.context["cl"].result_count == 3


def test_two_confirmations_import_once(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    token = client.get(page_of(record)).context["token"]
    answers = [client.post(page_of(record), {"token": token, "_confirm": "1"}, follow=True) for _ in range(2)]
    assert Match.objects.count() == 3
    assert "Nothing was confirmed" in text_of(answers[1]) and "Nothing was confirmed" not in text_of(answers[0])


def test_what_was_looked_at_is_what_is_confirmed(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    token = client.get(page_of(record)).context["token"]
    checked_again(client, record, kind="tournament")
    answer = client.post(page_of(record), {"token": token, "_confirm": "1"}, follow=True)
    assert "this is a newer report" in text_of(answer) and not Match.objects.exists()
    confirm(client, record)
    assert set(Match.objects.values_list("kind", flat=True)) == {"tournament"}


def test_what_has_changed_since_is_not_imported_unseen(client: Client) -> None:
    record = uploaded(client, ("list.csv", b"date,winner,loser,length,external_id\n2026-03-01,Vera,Didrik,5,a\n"))
    again = uploaded(client, ("list.csv", b"date,winner,loser,length,external_id\n2026-03-01,Didrik,Vera,5,a\n"))
    confirm(client, record)
    confirm(client, again)
    assert fresh(again).status == Status.CHECKED
    text = text_of(client.get(page_of(again)))
    assert "Nothing was imported: what is there has changed since it was checked." in text and "Line 2, external_id" in text
    assert Match.objects.count() == 1


def test_refused_rows_keep_all_out_until_they_may_be_left_out(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS + b"2026-03-03,Vera,Vera,5\n2026-03-03,Vera,Didrik,x\n"))
    page = client.get(page_of(record))
    assert not page.context["may_confirm"] and "_confirm" not in page.text
    assert "1 where a player meets himself" in text_of(page) and "Line 6, length: must be a whole number" in text_of(page)
    client.post(page_of(record), {"token": page.context["token"], "_confirm": "1"})
    assert not Match.objects.exists()
    checked_again(client, record, skip_invalid="on")
    confirm(client, record)
    assert Match.objects.count() == 3 and len(fresh(record).report["refused"]) == 2


def test_the_report_downloads(client: Client) -> None:
    create_player("Günther")
    rows = "2026-03-03,=Vera,=Vera,5\n2026-03-01,Gunther,Vera,5\n"
    record = uploaded(client, ("list.csv", ROWS + rows.encode()))
    answer = client.get(page_of(record, "report"))
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == ["line", "file", "what", "column", "why"]
    assert [
        "5",
        "",
        "refused",
        "players",
        "a player cannot play against himself or sit twice at a table. Choose different players.",
    ] in lines
    assert ["4", "", "repeats", "", "says the same as line 3"] in lines
    assert ["6", "", "out of order", "", "ends before the row above it"] in lines
    assert ["", "", "unknown name", "Gunther", "Günther"] in lines
    assert "attachment" in answer["Content-Disposition"]


HEADINGS = "Datum;Gewinner;Verlierer;Länge;Notiz\n1.2.2026;Günther;Ömer;7;x\n"


def test_columns_are_guessed_shown_and_put_right(client: Client) -> None:
    record = uploaded(client, ("liste.csv", HEADINGS.encode("cp1252")))
    assert record.options["columns"] == {
        "Datum": "date",
        "Gewinner": "winner",
        "Verlierer": "loser",
        "Länge": "length",
        "Notiz": "",
    }
    assert record.options["encoding"] == "cp1252"
    assert "Line 2, date: must be a date such as" in text_of(client.get(page_of(record)))
    checked_again(client, record, dates="d.m.y")
    assert record.report["added"] == 1
    checked_again(client, record, column_1="loser", column_2="winner")
    confirm(client, record)
    [match] = Match.objects.all()
    assert match.participants.get(score=1).player.name == "Ömer"


def test_a_column_is_named_once(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    answer = checked_again(client, record, column_2="winner")
    assert "Another heading is this column already." in text_of(answer)
    assert record.options["columns"]["loser"] == "loser"
    checked_again(client, record, column_2="")
    assert (
        record.error
        == "The column “loser” is missing. This pool's matches are given by: winner, loser; or player1, player2, result."
    )
    assert record.report is None and not client.get(page_of(record)).context["may_confirm"]


def test_who_is_meant_by_a_name(client: Client) -> None:
    vera = create_player("Véra")
    record = uploaded(client, ("list.csv", ROWS))
    page = client.get(page_of(record))
    assert [(name["name"], name["like"]) for name in page.context["names"]] == [("Vera", ["Véra"]), ("Didrik", [])]
    checked_again(client, record, name_0="véra")
    assert record.options["names"] == {"Vera": "véra"} and record.report["new_players"] == ["Didrik"]
    confirm(client, record)
    assert vera.matches.count() == 3 and names() == {"Véra", "Didrik"}
    # The list again: it is there, whoever was meant.
    again = uploaded(client, ("list.csv", ROWS))
    assert again.report["known"] == 3 and again.report["added"] == 0


def test_match_files_and_a_zip(client: Client) -> None:
    files = [(name, (OWN / name).read_bytes()) for name in ("whole.mat", "whole.sgf", "part_1.txt", "part_2.txt", "no_names.txt")]
    record = uploaded(client, *files)
    assert record.kind == Import.Kind.MATCH_FILES and record.name == "5 match files"
    text = text_of(client.get(page_of(record)))
    assert "no_names.txt: not finished, it breaks off at 1–0 in a match to 7. It is not rated." in text
    assert "part_1.txt, part_2.txt: date: the file has none." in text and "taken once" in text
    checked_again(client, record, on="2026-01-05")
    confirm(client, record)
    assert Match.objects.count() == 2


def test_match_files_without_a_date_are_given_one_with_the_upload(client: Client) -> None:
    undated = [(name, (OWN / name).read_bytes()) for name in ("part_1.txt", "part_2.txt")]
    dated = ("whole.mat", (OWN / "whole.mat").read_bytes())
    without = uploaded(client, *undated, dated)
    assert [row["file"] for row in without.report["refused"]] == ["part_1.txt, part_2.txt"]
    assert "Say on which day" in without.report["refused"][0]["message"] and not jobs.may_confirm(without)
    record = uploaded(client, *undated, dated, on="2026-01-05")
    assert record.options["on"] == "2026-01-05" and record.report["refused"] == []
    page = text_of(client.get(page_of(record)))
    assert "part_1.txt, part_2.txt has no date: taken as of 5 Jan 2026." in page and "whole.mat has no date" not in page
    confirm(client, record)
    assert sorted(f"{match.ended_at:%F} {match.timed}" for match in Match.objects.all()) == [
        "2026-01-05 False",
        "2026-02-14 False",
    ]


@pytest.mark.parametrize("on", ["1.1.2026", "2026-02-30", "\0", "x" * 30, "2026-1-1", "99999-01-01"])
def test_a_date_that_is_none_is_refused_beside_its_field(client: Client, on: str) -> None:
    response = upload(client, ("part_1.txt", (OWN / "part_1.txt").read_bytes()), on=on)
    assert response.status_code == 200 and response.context["form"].errors.keys() == {"on"} and not Import.objects.exists()


def test_a_list_is_given_no_date(client: Client) -> None:
    response = upload(client, ("list.csv", ROWS), on="2026-01-05")
    assert "A list has a date in each row" in str(response.context["form"].errors["upload"]) and not Import.objects.exists()


def test_crowns_cup_needs_to_know_what_was_staked(client: Client) -> None:
    record = uploaded(client, ("session.txt", (OWN / "session.txt").read_bytes()), pool="crowns-cup")
    assert record.report["added"] == 0 and len(record.report["refused"]) == 2
    checked_again(client, record, kind="table", real_money="yes", stake="2.50")
    confirm(client, record)
    assert [(match.points, str(match.stake)) for match in Match.objects.order_by("sequence")] == [(4, "2.50"), (1, "2.50")]
    for wrong in ({"stake": "1e5"}, {"stake": "x" * 30}, {"on": "1.1.2026"}, {"kind": "none"}, {"real_money": "perhaps"}):
        other = uploaded(client, ("session.txt", (OWN / "session.txt").read_bytes()), pool="crowns-cup")
        assert client.post(page_of(other), fields(client, other) | wrong | {"_check": "1"}).status_code == 200


def test_it_is_undone_as_a_whole_with_one_revision(client: Client) -> None:
    pool, players = pool_of("fibs"), people(2)
    complete(pool, won(players[0], players[1], at(0)), won(players[1], players[0], at(2000)))
    before = everything(pool)
    data = "".join(f"2026-03-{day:02},Player 1,Player 2,{day % 7 + 1}\n" for day in range(2, 20))
    record = uploaded(client, ("list.csv", b"date,winner,loser,length\n" + data.encode()))
    confirm(client, record)
    assert everything(pool) != before
    undo = page_of(record, "undo")
    assert "void 18 matches" in text_of(client.get(undo))
    assert client.post(undo, {"reason": "", "_preview": "1"}).context["form"].errors
    seen = client.post(undo, {"reason": "The wrong list", "_preview": "1"})
    assert everything(pool) != before
    assert press(client, seen).status_code == 302
    assert everything(pool) == before and verify(pool)[1] is None
    [revision] = Revision.objects.filter(kind="void")
    assert revision.matches.count() == 18 and revision.reason == "The wrong list"
    page = client.get(page_of(record))
    assert "18 voided" in text_of(page) and not page.context["may_undo"]
    assert client.get(undo).status_code == 302
    # What was undone is not added again by the same list: its rows are known.
    again = uploaded(client, ("list.csv", b"date,winner,loser,length\n" + data.encode()))
    assert again.report["known"] == 18


def test_a_large_undo_is_a_job(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    confirm(client, record)
    with mock.patch("matches.jobs.SMALL", 1):
        answer = client.post(page_of(record, "undo"), {"reason": "Too many", "_preview": "1"})
    assert answer.status_code == 302 and "correctionjob" in answer.url


# --- In the background ---


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> list[int]:
    """Everything is large: the imports that were sent to the workers."""
    ids: list[int] = []
    monkeypatch.setattr(jobs, "SMALL_LIST", 0)
    monkeypatch.setattr(tasks.run_import, "delay", ids.append)
    return ids


def test_a_large_upload_is_worked_in_the_background(
    client: Client, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        record = uploaded(client, ("list.csv", ROWS))
    assert record.status == Status.CHECKING and sent == [record.pk]
    page = client.get(page_of(record))
    assert "It is being checked" in text_of(page) and 'data-state="checking"' in page.text
    assert client.get(page_of(record, "progress")).json()["state"] == "checking"
    tasks.run_import(record.pk)
    tasks.run_import(record.pk)
    assert fresh(record).status == Status.CHECKED
    with django_capture_on_commit_callbacks(execute=True):
        confirm(client, record)
    assert fresh(record).status == Status.IMPORTING and not Match.objects.exists()
    for _ in range(3):
        tasks.run_import(record.pk)
    assert fresh(record).status == Status.DONE and Match.objects.count() == 3


def test_a_lost_import_is_handed_out_again(client: Client, sent: list[int]) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    sent.clear()
    assert jobs.sweep(timezone.now()) == 0
    assert jobs.sweep(timezone.now() + 2 * jobs.LOST) == 1
    with mock.patch.object(jobs, "_send") as send:
        jobs.sweep(timezone.now() + 2 * jobs.LOST)
    assert send.call_args.args == (record,)


def test_an_error_of_the_site_leaves_nothing_behind(client: Client, sent: list[int], caplog: pytest.LogCaptureFixture) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    tasks.run_import(record.pk)
    confirm(client, record)
    with mock.patch("matches.imports.service.complete_in_order", side_effect=ZeroDivisionError):
        tasks.run_import(record.pk)
    assert fresh(record).status == Status.FAILED and "The site made an error" in record.error
    assert not Match.objects.exists() and not Player.objects.exists()
    assert "The site made an error" in text_of(client.get(page_of(record)))


def test_it_is_withdrawn_and_forgotten(client: Client, sent: list[int]) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    client.post(page_of(record), {"_withdraw": "1"})
    tasks.run_import(record.pk)
    assert fresh(record).status == Status.WITHDRAWN and not ImportFile.objects.exists()
    answer = client.post(page_of(record), {"_withdraw": "1"}, follow=True)
    assert "It is confirmed or over already." in text_of(answer)
    cache.clear()


# --- Who may ---


def test_an_organiser_imports_into_his_pools_only(client: Client) -> None:
    user = User.objects.create_user("of-fibs", is_staff=True)
    Organiser.objects.create(user=user, pool=pool_of("fibs"))
    others = uploaded(client, ("list.csv", b"date,player1,player2,result\n2026-03-01,Vera,Didrik,1\n"), pool="tics")
    client.force_login(user)
    form = client.get(reverse(ADD)).context["form"]
    assert list(form.fields["pool"].queryset) == [pool_of("fibs")]
    assert "not one of the available choices" in text_of(upload(client, ("list.csv", ROWS), pool="tics"))
    own = uploaded(client, ("list.csv", ROWS))
    assert confirm(client, own).status_code == 302 and Match.objects.count() == 3
    assert list(client.get(reverse(LIST)).context["cl"].result_list) == [own]
    for view in ("change", "report", "progress", "undo"):
        assert client.get(page_of(others, view)).status_code in (302, 403)
        assert client.post(page_of(others, view), {"_confirm": "1", "_withdraw": "1"}).status_code in (302, 403)
    assert fresh(others).status == Status.CHECKED


def test_who_may_only_look_decides_nothing(client: Client) -> None:
    record = uploaded(client, ("list.csv", ROWS))
    client.force_login(staff("change_match", name="corrects"))
    page = client.get(page_of(record))
    assert page.status_code == 200 and "_confirm" not in page.text
    assert client.post(page_of(record), {"token": page.context["token"], "_confirm": "1"}).status_code == 403
    assert client.get(reverse(ADD)).status_code == 403
    client.force_login(staff("view_player", name="none"))
    assert client.get(page_of(record)).status_code == 403
    client.logout()
    assert client.get(page_of(record)).status_code == 302


# --- What is no import ---


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), "This field is required"),
        ((("a.csv", b""),), "The submitted file is empty"),
        ((("a.csv", ROWS), ("b.csv", ROWS)), "Lists are imported one at a time"),
        ((("a.csv", ROWS), ("b.mat", b"1 point match")), "Lists are imported one at a time"),
    ],
)
def test_an_upload_that_cannot_be_taken(client: Client, files: Any, message: str) -> None:
    answer = upload(client, *files)
    assert answer.status_code == 200 and message in text_of(answer)
    assert not Import.objects.exists()


def test_as_many_files_as_the_form_names_reach_it(client: Client) -> None:
    answer = upload(client, *((f"{number}.csv", ROWS) for number in range(jobs.MOST_FILES + 1)))
    assert answer.status_code == 200 and "At most 500 files with" in text_of(answer)


def test_an_upload_that_is_too_large(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matches.admin.import_forms.MOST_BYTES", 10)
    assert "At most 500 files with" in text_of(upload(client, ("a.csv", ROWS)))
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "MOST_FILES", 0)
    with pytest.raises(jobs.TooMuch):
        jobs.begin(pool_of("fibs"), [NamedFile("a.csv", ROWS)], made_by=None)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("picture.mat", b"\x89PNG\r\n\x1a\n" + random.Random(3).randbytes(3000), "This is a file of the kind PNG"),
        ("random.csv", random.Random(4).randbytes(3000), "NUL byte"),
        ("list.csv", b"x" * 200_000, "more than 100000 bytes"),
        ("list.csv", b"date,winner,loser,length\n", "a header but no rows"),
        ("a.zip", b"PK\x03\x04 nothing", "The zip is damaged"),
        ("nul\x00name.csv", ROWS, "Import 3 matches"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    client: Client, name: str, data: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SMALL_LIST", 1_000_000)
    record = uploaded(client, (name, data))
    page = client.get(page_of(record))
    assert message in page.text, text_of(page)
    assert not Match.objects.exists()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=400), st.sampled_from(["a.csv", "a.mat", "a.zip", "a.sgf", "a"]))
def test_any_upload_has_a_page(client: Client, data: bytes, name: str) -> None:
    record = uploaded(client, (name, data))
    assert client.get(page_of(record)).status_code == 200
    assert checked_again(client, record, skip_invalid="on").status_code == 302


def test_the_number_of_queries_is_fixed(client: Client) -> None:
    def page(rows: int) -> int:
        data = "".join(f"2026-03-01,Vera{n},Didrik{n},5\n" for n in range(rows))
        record = uploaded(client, (f"{rows}.csv", b"date,winner,loser,length\n" + data.encode()))
        return queries(lambda: client.get(page_of(record)))

    assert page(2) == page(60) <= 12
    few = queries(lambda: client.get(reverse(LIST)))
    page(3)
    assert queries(lambda: client.get(reverse(LIST))) == few


@pytest.mark.parametrize(
    ("header", "guessed"),
    [
        (["Date", "WINNER", "loser"], {"Date": "date", "WINNER": "winner", "loser": "loser"}),
        (["Datum", "Dato"], {"Datum": "date", "Dato": ""}),
        (["Datum", "date"], {"Datum": "", "date": "date"}),
        (["Spieler 1", "x", ""], {"Spieler 1": "player1", "x": "", "": ""}),
    ],
)
def test_what_headings_seem_to_be(header: list[str], guessed: dict[str, str]) -> None:
    assert guessed_columns(header) == guessed


def test_who_becomes_anonymous_is_in_no_report(client: Client) -> None:
    create_player("Véra")
    done, waiting = uploaded(client, ("Vera.csv", ROWS)), uploaded(client, ("list.csv", ROWS))
    checked_again(client, done, name_0="Vera Holm")
    confirm(client, done)
    anonymise_player(Player.objects.get(name="Vera Holm"))
    for record in (done, waiting):
        told = repr([fresh(record).name, record.options, record.report])
        assert "Vera Holm" not in told and "Didrik" in told
    assert client.get(page_of(done)).status_code == client.get(page_of(waiting)).status_code == 200


def test_importing_the_rest_of_a_pool_keeps_its_numbers(client: Client) -> None:
    pool: Pool = pool_of("fibs")
    one, two = people(2)
    complete_matches(pool, [won(one, two, at(n)) for n in range(3)], now=NOW)
    kept = numbers(pool)
    record = uploaded(client, ("list.csv", ROWS))
    confirm(client, record)
    assert {name: numbers(pool)[name] for name in kept} == kept
