"""Openings: the ratings that players bring along, and where a replay starts."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from matches.models import Match, Revision
from matches.openings import open_ratings
from matches.verify import verify
from players.ledger import Opening
from players.models import Rating
from players.services import create_players, create_pool
from players.systems.base import Refused
from tests.building import pool_of
from tests.matches.imports.importing import DATA, club, csv_file, names, numbers, rows_of_all_tables, run

pytestmark = pytest.mark.django_db

HEADER = "name,rating,experience,date"


def openings() -> dict[str, tuple[float, int, date | None]]:
    rows = Rating.objects.values_list("player__name", "opening", "opening_experience", "opened_on")
    return {name: (opening, experience, on) for name, opening, experience, on in rows}


def test_players_get_their_openings(tmp_path: Path) -> None:
    create_players(["Vera"])
    path = csv_file(tmp_path, HEADER, " VERA ,1712.25,1340,2026-03-01", "Didrik,1650,,", "Aksel,-1e2,0,")
    out, _ = run("import_players", path, "--pool", "fibs")
    assert "3 openings added" in out and "2 players made" in out and "0 rating changes moved" in out
    assert openings() == {
        "Vera": (1712.25, 1340, date(2026, 3, 1)),
        "Didrik": (1650.0, 0, None),
        "Aksel": (-100.0, 0, None),
    }
    vera = Rating.objects.get(player__name="Vera")
    assert (vera.value, vera.experience, vera.standing, vera.rank_points, vera.matches) == (1712.25, 1340, 1712.25, 171225, 0)


def test_matches_go_on_from_the_openings(tmp_path: Path) -> None:
    run("import_players", csv_file(tmp_path, HEADER, "Vera,1650,400,", "Didrik,1500,5000,"), "--pool", "fibs")
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5")
    run("import_matches", path, "--pool", "fibs")
    assert {name: (round(value, 2), experience) for name, (value, experience, _) in numbers(pool_of("fibs")).items()} == {
        "Vera": (1653.62, 405),
        "Didrik": (1496.38, 5005),
    }


def test_the_columns_experience_and_date_may_be_missing(tmp_path: Path) -> None:
    run("import_players", csv_file(tmp_path, "rating,Name", "1712,Vera"), "--pool", "fibs")
    assert openings() == {"Vera": (1712.0, 0, None)}


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    path = csv_file(tmp_path, HEADER, "Vera,1712,1340,2026-03-01", "Didrik,1500,0,")
    run("import_players", path, "--pool", "fibs")
    before, stored = rows_of_all_tables(), list(Rating.objects.order_by("id").values())
    out, _ = run("import_players", path, "--pool", "fibs")
    assert out == "All of it is there already. Nothing has changed.\n"
    assert rows_of_all_tables() == before and list(Rating.objects.order_by("id").values()) == stored


def test_another_opening_replays_the_pool(tmp_path: Path) -> None:
    late, fresh = club(), club("fresh")
    matches = ("import_matches", DATA / "club_matches.csv", "--create-players", "--skip-invalid", "--pool")
    opening = csv_file(tmp_path, HEADER, "Vera,1950,400,", "Inger,1700,,2025-10-25")
    run("import_players", csv_file(tmp_path, "name,rating", "Vera,1700", name="wrong.csv"), "--pool", "club")
    run(*matches, "club")
    out, _ = run("import_players", opening, "--pool", "club")
    assert "0 openings added" in out and "2 openings changed" in out
    moved = int(out.splitlines()[-1].split()[0])
    assert 0 < moved <= 2 * 166

    run("import_players", opening, "--pool", "fresh")
    run(*matches, "fresh")
    assert numbers(late) == numbers(fresh)
    [revision] = Revision.objects.filter(pool=late)
    assert (revision.kind, revision.reason, revision.changes) == (Revision.Kind.OPENING, "list.csv", moved)
    assert not Revision.objects.filter(pool=fresh).exists()
    assert verify(late) == verify(fresh) == (166, None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Vera,100000.5,0,", "rating: must be from −100000 to 100000."),
        ("Vera,-100001,0,", "rating: must be from"),
        ("Vera,nan,0,", "rating: must be a number."),
        ("Vera,inf,0,", "rating: must be a number."),
        ("Vera,1e999,0,", "rating: must be a number."),
        ("Vera,1_700,0,", "rating: must be a number."),
        ("Vera,,0,", "rating: it is missing"),
        ("Vera,1700,-1,", "experience: must be from 0 to 10000000."),
        ("Vera,1700,10000001,", "experience: must be from 0 to 10000000."),
        ("Vera,1700,1.5,", "experience: must be a whole number from 0 to 10000000."),
        ("Vera,1700,many,", "experience: must be a whole number"),
        ("Vera,1700,0,01.03.2026", "date: must be a date such as 2026-03-31."),
        ("Vera,1700,0,2026-13-01", "date: must be a date"),
        (f"Vera,1700,0,{timezone.now().date() + timedelta(days=2)}", "date: lies in the future."),
        (",1700,0,", "name: it is missing"),
        ("V" * 81 + ",1700,0,", "name: a name has at most 80 characters."),
        ("didrik,1700,0,", "name: line 2 names the same player."),
        ("Vera,1700,0", "row: the row has 3 cells, the header 4."),
        ("Vera,1700,0,,", "row: the row has 5 cells, the header 4."),
    ],
)
def test_a_row_that_is_refused(tmp_path: Path, row: str, message: str) -> None:
    before = rows_of_all_tables()
    with pytest.raises(CommandError, match="Nothing was imported: 1 row is refused") as error:
        run("import_players", csv_file(tmp_path, HEADER, "Didrik,1600,0,", row), "--pool", "fibs")
    assert error.value.said.startswith(f"Line 3, {message}")
    assert rows_of_all_tables() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        (b"name,rating\n", "a header but no rows"),
        (b"name,elo\nVera,1700\n", "There is no column “elo”. Known: name, rating, experience, date"),
        (b"name,experience\nVera,1700\n", "The column “rating” is missing"),
        (b"rating\n1700\n", "The column “name” is missing"),
        (b"name,rating,name\nVera,1700,Vera\n", "names the column “name” twice"),
        ("name,rating\nÅse,1700\n".encode("latin-1"), "Line 2 is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_taken(tmp_path: Path, content: bytes, message: str) -> None:
    before = rows_of_all_tables()
    path = tmp_path / "players.csv"
    path.write_bytes(content)
    with pytest.raises(CommandError) as error:
        run("import_players", path, "--pool", "fibs")
    assert message in str(error.value)
    assert rows_of_all_tables() == before


def test_an_opening_is_not_from_after_a_match_that_counts(tmp_path: Path) -> None:
    lines = [f"2026-03-0{day},Vera,Didrik,{length}" for day, length in ((1, ""), (2, 5), (3, 5))]
    path = csv_file(tmp_path, "date,winner,loser,length", *lines, name="matches.csv")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    first = Match.objects.get(ended_at__date="2026-03-02")
    before, ratings = rows_of_all_tables(), numbers(pool_of("fibs"))
    with pytest.raises(CommandError) as error:
        run("import_players", csv_file(tmp_path, HEADER, "Aksel,1700,0,", "Vera,1700,0,2026-03-03"), "--pool", "fibs")
    assert error.value.said.startswith(f"Line 3, date: match {first.pk} of 2026-03-02 counts already and is earlier.")
    assert rows_of_all_tables() == before and numbers(pool_of("fibs")) == ratings
    # The match of the first of March, which does not count, is no obstacle; nor is a match of that very day.
    run("import_players", csv_file(tmp_path, HEADER, "Vera,1700,0,2026-03-02"), "--pool", "fibs")
    assert verify(pool_of("fibs")) == (2, None)


def test_the_service_refuses_it_by_itself(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-02,Vera,Didrik,5")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    vera = Rating.objects.get(player__name="Vera")
    with pytest.raises(Refused) as refused:
        open_ratings(pool_of("fibs"), {vera.player_id: Opening(1700.0, 0, date(2026, 3, 3))})
    assert (refused.value.field, refused.value.code) == ("date", "after_match")
    vera.refresh_from_db()
    assert vera.opening == 1500.0


def test_openings_with_which_a_match_cannot_be_rated(tmp_path: Path) -> None:
    create_pool("steep", name="Steep", system="tics", parameters={"start": 0, "k": 100_000})
    path = csv_file(tmp_path, "date,player1,player2,result", "2026-03-01,Vera,Didrik,1", name="matches.csv")
    run("import_matches", path, "--pool", "steep", "--create-players")
    before, stored = rows_of_all_tables(), openings()
    with pytest.raises(CommandError, match=r"With these openings a match cannot be rated\. Rating: must be from"):
        run("import_players", csv_file(tmp_path, HEADER, "Aksel,5,,", "Vera,60000,,", "Didrik,60000,,"), "--pool", "steep")
    assert rows_of_all_tables() == before and openings() == stored
    assert names() == {"Vera", "Didrik"}
