"""Lists as spreadsheets write them: semicolons, decimal commas, dates in another form, headings in another language."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from matches.imports.likeness import suggestions
from matches.models import Match
from tests.matches.imports.importing import rows_of_all_tables, run

pytestmark = pytest.mark.django_db

FIBS = ("--pool", "fibs", "--create-players")
CROWNS_CUP = ("--pool", "crowns-cup", "--create-players", "--kind", "table", "--real-money")


def stored() -> list[tuple[str, str, str, int | None, Decimal | None]]:
    """The matches, in the order of rating: date, winner, loser, length, stake."""
    return [
        (
            str(match.ended_on or match.ended_at),
            *(seat.player.name for seat in sorted(match.participants.all(), key=lambda seat: -(seat.score or 0))),
            match.length,
            match.stake,
        )
        for match in Match.objects.order_by("ended_at", "sequence")
    ]


def bytes_file(folder: Path, data: bytes) -> Path:
    path = folder / "list.csv"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"date;winner;loser;length;stake\r\n2026-03-01;Vera;Didrik;5;2,50\r\n",
        b"\xef\xbb\xbfsep=;\r\ndate;winner;loser;length;stake\r\n2026-03-01;Vera;Didrik;5;2,5\r\n",
        b'"date";"winner";"loser";"length";"stake"\n"2026-03-01";"Vera";"Didrik";"5";"2.50"\n',
        b"date\twinner\tloser\tlength\tstake\n2026-03-01\tVera\tDidrik\t5\t2,50\n",
        b'date,winner,loser,length,stake\n2026-03-01,Vera,Didrik,5,"2,50"\n',
        b'date,"winner",loser,length,stake\n2026-03-01,Vera,Didrik,5,2.50\n',
    ],
)
def test_what_excel_makes_of_a_list(tmp_path: Path, data: bytes) -> None:
    run("import_matches", bytes_file(tmp_path, data), *CROWNS_CUP)
    assert stored() == [("2026-03-01", "Vera", "Didrik", 5, Decimal("2.50"))]


def test_the_decimal_mark_is_one_for_the_whole_file(tmp_path: Path) -> None:
    data = b"date;winner;loser;length;stake\n2026-03-01;Vera;Didrik;5;2,50\n2026-03-02;Vera;Didrik;5;2.50\n"
    for option, line in ((), "2"), (("--decimal", ","), "3"), (("--decimal", "."), "2"):
        with pytest.raises(CommandError) as error:
            run("import_matches", bytes_file(tmp_path, data), *CROWNS_CUP, *option)
        assert error.value.said == f"Line {line}, stake: must be an amount in euros, such as 5 or 2.50.\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("form", "written"), [("d.m.y", "3.12.2025"), ("d/m/y", "03/12/2025"), ("m/d/y", "12/3/2025"), ("d-m-y", "3-12-2025")]
)
def test_dates_in_the_form_that_is_said(tmp_path: Path, form: str, written: str) -> None:
    path = bytes_file(tmp_path, f"date,winner,loser,length\n{written},Vera,Didrik,5\n".encode())
    with pytest.raises(CommandError) as error:
        run("import_matches", path, *FIBS)
    assert "date: must be a date such as 2026-03-31" in error.value.said  # type: ignore[attr-defined]
    run("import_matches", path, *FIBS, "--dates", form)
    assert stored() == [("2025-12-03", "Vera", "Didrik", 5, None)]


def test_no_row_is_read_in_another_form_than_was_said(tmp_path: Path) -> None:
    rows = b"3/12/2025,Vera,Didrik,5\n13/1/2026,Vera,Didrik,5\n2026-01-13,Vera,Didrik,5\n1/13/2026,Vera,Didrik,5\n"
    path = bytes_file(tmp_path, b"date,winner,loser,length\n" + rows)
    with pytest.raises(CommandError) as error:
        run("import_matches", path, *FIBS, "--dates", "d/m/y")
    first, second = error.value.said.splitlines()  # type: ignore[attr-defined]
    assert first == "Line 4, date: must be a date as in 31/3/2026, as was said of this file."
    assert second.startswith("Line 5, date: must be a date")


def test_a_time_behind_such_a_date(tmp_path: Path) -> None:
    path = bytes_file(tmp_path, b"ended_at;winner;loser;length\n31.12.2025 20:15;Vera;Didrik;5\n")
    run("import_matches", path, *FIBS, "--dates", "d.m.y")
    assert stored()[0][0] == "2025-12-31 20:15:00+00:00"


def test_headings_of_another_language(tmp_path: Path) -> None:
    path = bytes_file(tmp_path, "Datum;Gewinner;Verlierer;Länge;Notiz\n1.2.2026;Günther;Ömer;7;gut\n".encode())
    columns = ("Datum=date", "gewinner=winner", "Verlierer=loser", "LÄNGE=length", "Notiz=")
    options = [part for column in columns for part in ("--column", column)]
    run("import_matches", path, *FIBS, "--dates", "d.m.y", *options)
    assert stored() == [("2026-02-01", "Günther", "Ömer", 7, None)]
    with pytest.raises(CommandError, match="There is no column “Notiz”"):
        run("import_matches", path, *FIBS, "--dates", "d.m.y", *options[:-2])
    with pytest.raises(CommandError, match="names the column “winner” twice"):
        run("import_matches", path, *FIBS, "--dates", "d.m.y", *options[:-2], "--column", "Notiz=winner")


def test_the_encoding_of_excels_plain_csv(tmp_path: Path) -> None:
    path = bytes_file(tmp_path, "date;winner;loser;length\n2026-03-01;Åse;Günther;5\n".encode("cp1252"))
    with pytest.raises(CommandError, match="Line 2 is not UTF-8"):
        run("import_matches", path, *FIBS)
    run("import_matches", path, *FIBS, "--encoding", "cp1252")
    assert stored() == [("2026-03-01", "Åse", "Günther", 5, None)]


def test_a_line_of_fifty_megabytes(tmp_path: Path) -> None:
    path = bytes_file(tmp_path, b"date,winner,loser,length\n" + b"x" * 50_000_000)
    before = rows_of_all_tables()
    with pytest.raises(CommandError, match="Line 2 has more than 100000 bytes"):
        run("import_matches", path, *FIBS)
    assert rows_of_all_tables() == before


def test_a_dry_run_tells_of_rows_that_repeat_and_rows_out_of_order(tmp_path: Path) -> None:
    rows = "2026-03-02,Vera,Didrik,5\n2026-03-01,Vera,Didrik,5\n2026-03-01,Vera,Didrik,5\n2026-03-03,Ver,Didrik,5\n"
    path = bytes_file(tmp_path, f"date,winner,loser,length\n{rows}".encode())
    out, _ = run("import_matches", path, *FIBS, "--dry-run")
    assert "1 rows say the same as another one: each is a match." in out
    assert "1 rows end before the row above them." in out
    assert "“Ver” is nearly the name of: Vera." in out


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("Jorgen", ["Jørgen", "Morten"], ["Jørgen"]),
        ("Holm, Vera", ["Vera Holm"], ["Vera Holm"]),
        ("Vera Hulm", ["Vera Holm", "Vera Helms"], ["Vera Holm"]),
        ("Guest 1", ["Guest 2"], []),
        ("Ib", ["Bo", "Pia"], []),
        ("Straße", ["Strasse"], ["Strasse"]),
    ],
)
def test_names_that_are_nearly_the_same(name: str, known: list[str], near: list[str]) -> None:
    assert suggestions([name], known) == {name: near}
