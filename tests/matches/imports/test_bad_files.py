"""Bad input: a clear message that names the place and the rule, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from players.services import create_players
from tests.matches.imports.importing import club, csv_file, rows_of_all_tables, run

pytestmark = pytest.mark.django_db

HEADER = b"date,winner,loser,length\n"
ROW = b"2026-03-01,Vera,Didrik,5\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        (b"\n\n", "The file is empty"),
        (b"\xef\xbb\xbf", "The file is empty"),
        (HEADER, "a header but no rows"),
        (HEADER + b"\n ,,,\n", "a header but no rows"),
        (HEADER + ROW + "2026-03-01,Åse,Vera,5\n".encode("latin-1"), "Line 3 is not UTF-8 (byte 0xc5)"),
        ("date,winner,loser,length\n".encode("utf-16"), "NUL byte"),
        (HEADER + ROW + b"2026-03-01,Ve\0ra,Didrik,5\n", "Line 3 has a NUL byte"),
        (HEADER.replace(b"length", b"lenght") + ROW, "There is no column “lenght”. Known: date, ended_at, sequence, winner"),
        (b"date,winner,loser,length,\n" + ROW, "Column 5 has no name"),
        (b"date,winner,loser,length, Date\n" + ROW, "names the column “date” twice"),
        (b"winner,loser,length\nVera,Didrik,5\n", "The column “date” is missing (or “ended_at”"),
        (b"date,winner,length\n2026-03-01,Vera,5\n", "The column “loser” is missing"),
        (b"date,length\n2026-03-01,5\n", "The column “player1, player2, result” is missing"),
        (b"date,player1,player2,length\n2026-03-01,Vera,Didrik,5\n", "The column “result” is missing"),
        (b"date,winner,loser\n2026-03-01,Vera,Didrik\n", "The column “length” is missing"),
        (b"date,winner,loser,result,length\n2026-03-01,Vera,Didrik,1,5\n", "“result” does not go with"),
        (b"date,winner,loser,player1,length\n2026-03-01,Vera,Didrik,Vera,5\n", "“player1” does not go with"),
        (b"date,player1,player2,player3,result,length\n2026-03-01,Vera,Didrik,Aksel,1,5\n", "“player3” does not go with"),
        (HEADER + b'2026-03-01,"Vera,Didrik,5\n', "The record that begins on line 2 cannot be read"),
        (HEADER + ROW + b'2026-03-01,Vera,"Did"rik,5\n', "The record that begins on line 3 cannot be read"),
        (HEADER + b"2026-03-01," + b"V" * 200_000 + b",Didrik,5\n", "Line 2 has more than 100000 bytes"),
    ],
)
def test_a_file_that_cannot_be_taken(tmp_path: Path, content: bytes, message: str) -> None:
    club()
    before = rows_of_all_tables()
    path = tmp_path / "list.csv"
    path.write_bytes(content)
    # Rows that are refused may be skipped; a file that cannot be read may not.
    with pytest.raises(CommandError) as error:
        run("import_matches", path, "--pool", "club", "--create-players", "--skip-invalid")
    assert message in str(error.value)
    assert rows_of_all_tables() == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2026-03-01,Vera,Didrik", "row: the row has 3 cells, the header 4."),
        ("2026-03-01,Vera,Didrik,5,", "row: the row has 5 cells, the header 4."),
        (",Vera,Didrik,5", "date: it is missing"),
        ("01.03.2026,Vera,Didrik,5", "date: must be a date such as 2026-03-31."),
        ("20260301,Vera,Didrik,5", "date: must be a date"),
        ("2026-W10-1,Vera,Didrik,5", "date: must be a date"),
        ("2026-02-30,Vera,Didrik,5", "date: must be a date"),
        ("2026-03-01T20:00,Vera,Didrik,5", "date: must be a date"),
        ("٢٠٢٦-٠٣-٠١,Vera,Didrik,5", "date: must be a date"),
        ("2999-01-01,Vera,Didrik,5", "date: lies in the future"),
        ("1899-12-31,Vera,Didrik,5", "date: must not be before 1900-01-01"),
        ("2026-03-01,,Didrik,5", "winner: it is missing"),
        ("2026-03-01,Vera," + "D" * 81 + ",5", "loser: a name has at most 80 characters."),
        ("2026-03-01,Vera,VERA,5", "players: a player cannot play against himself"),
        ("2026-03-01,Vera,Didrik,0", "length: must be from 1 to 99."),
        ("2026-03-01,Vera,Didrik,100", "length: must be from 1 to 99."),
        ("2026-03-01,Vera,Didrik,-5", "length: must be from 1 to 99."),
        ("2026-03-01,Vera,Didrik,5.5", "length: must be a whole number from 1 to 99."),
        ("2026-03-01,Vera,Didrik,five", "length: must be a whole number"),
        ("2026-03-01,Vera,Didrik,1_0", "length: must be a whole number"),
        ("2026-03-01,Vera,Didrik,５", "length: must be a whole number"),
        ("2026-03-01,Vera,Didrik," + "9" * 5000, "length: must be a whole number"),
    ],
)
def test_a_row_that_is_refused(tmp_path: Path, row: str, message: str) -> None:
    club()
    before = rows_of_all_tables()
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5", row)
    with pytest.raises(CommandError, match="Nothing was imported: 1 row is refused") as error:
        run("import_matches", path, "--pool", "club", "--create-players")
    assert error.value.said.startswith(f"Line 3, {message}")
    assert rows_of_all_tables() == before


@pytest.mark.parametrize(
    ("columns", "cells", "message"),
    [
        ("date,ended_at", "2026-03-01,2026-03-01T20:00Z", "date: give exactly one of date and ended_at."),
        ("date,ended_at", ",", "date: give exactly one of date and ended_at."),
        ("ended_at", "", "ended_at: it is missing"),
        ("ended_at", "2026-03-01", "ended_at: must be a date with a time"),
        ("ended_at", "2026-03-01T25:00:00Z", "ended_at: must be a date with a time"),
        ("ended_at", "1740860400", "ended_at: must be a date with a time"),
        ("ended_at", "0001-01-01T00:00:00+14:00", "ended_at: must be a date with a time"),
        ("ended_at", "2999-01-01T00:00:00Z", "ended_at: lies in the future"),
        ("date,sequence", "2026-03-01,1.5", "sequence: must be a whole number"),
        ("date,sequence", "2026-03-01,99999999999999999", "sequence: must be from"),
        ("date,sequence", "2026-03-01,", "sequence: it is missing"),
        ("date,stake", "2026-03-01,5", "stake: this pool's rating system does not use it"),
        ("date,chance", "2026-03-01,0.5", "chance: this pool's rating system does not use it"),
        ("date,points", "2026-03-01,4", "points: this pool's rating system does not use it"),
        ("date,deals", "2026-03-01,8", "deals: this pool's rating system does not use it"),
        ("date,real_money", "2026-03-01,yes", "real_money: this pool's rating system does not use it"),
        ("date,real_money", "2026-03-01,maybe", "real_money: must be yes or no."),
        ("date,kind", "2026-03-01,friendly", "kind: is not known. Give one of: matchmade, table"),
        ("date,external_id", "2026-03-01," + "x" * 201, "external_id: must have at most 200 characters."),
    ],
)
def test_a_cell_that_is_refused(tmp_path: Path, columns: str, cells: str, message: str) -> None:
    club()
    create_players(["Vera", "Didrik"])
    before = rows_of_all_tables()
    path = csv_file(tmp_path, f"winner,loser,length,{columns}", f"Vera,Didrik,5,{cells}")
    with pytest.raises(CommandError) as error:
        run("import_matches", path, "--pool", "club")
    assert error.value.said.startswith(f"Line 2, {message}")
    assert rows_of_all_tables() == before


def test_a_player_who_is_not_there_is_named(tmp_path: Path) -> None:
    club()
    create_players(["Vera"])
    before = rows_of_all_tables()
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5")
    with pytest.raises(CommandError) as error:
        run("import_matches", path, "--pool", "club")
    assert "Line 2, loser: there is no player “Didrik”." in error.value.said
    assert "--create-players" in error.value.said
    assert rows_of_all_tables() == before


def test_the_line_is_the_physical_one(tmp_path: Path) -> None:
    club()
    path = tmp_path / "list.csv"
    path.write_bytes(b'date,winner,loser,length\r\n\r\n2026-03-01,"Vera\r\nthe First",Didrik,5\r\n2026-03-01,Vera,Didrik,0\r\n')
    with pytest.raises(CommandError) as error:
        run("import_matches", path, "--pool", "club", "--create-players")
    assert error.value.said.startswith("Line 5, length: ")


def test_not_every_refused_row_is_printed(tmp_path: Path) -> None:
    club()
    path = csv_file(tmp_path, "date,winner,loser,length", *["2026-03-01,Vera,Didrik,0"] * 75)
    with pytest.raises(CommandError, match="75 rows are refused") as error:
        run("import_matches", path, "--pool", "club", "--create-players")
    lines = error.value.said.splitlines()
    assert len(lines) == 51 and lines[-1] == "and 25 more"


@pytest.mark.parametrize("command", ["import_matches", "import_players"])
def test_a_file_that_is_not_there_or_is_none(command: str, tmp_path: Path) -> None:
    club()
    for path, message in ((tmp_path / "none.csv", "No such file"), (tmp_path, "Is a directory"), ("a\0b", "no name of a file")):
        with pytest.raises(CommandError, match=message):
            run(command, path, "--pool", "club")


@pytest.mark.parametrize("command", ["import_matches", "import_players"])
def test_a_pool_that_is_not_there(command: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5")
    with pytest.raises(CommandError, match=r"There is no pool “clubs”\. Known: club, crowns-cup"):
        club()
        run(command, path, "--pool", "clubs")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    club()
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5")
    for options, message in (
        (("--real-money",), "have no “real_money”"),
        (("--kind", "friendly"), "invalid choice"),
        (("--source", ""), "1 to 100 characters"),
        (("--source", "s" * 101), "1 to 100 characters"),
    ):
        with pytest.raises(CommandError, match=message):
            run("import_matches", path, "--pool", "club", *options)
