"""The ranking as CSV: every digit, in the ranking's order."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from players.models import Rating
from tests.building import pool_of
from tests.matches.imports.importing import DATA, club, csv_file, run

pytestmark = pytest.mark.django_db


def exported(slug: str) -> list[list[str]]:
    out, err = run("export_ratings", "--pool", slug)
    assert err == "" and "\r" not in out
    return list(csv.reader(io.StringIO(out)))


def test_the_ranking_with_every_digit() -> None:
    pool = club()
    run("import_matches", DATA / "club_matches.csv", "--pool", "club", "--create-players", "--skip-invalid")
    header, *rows = exported("club")
    assert header == ["rank", "player", "rating", "standing", "experience", "matches"]
    ratings = Rating.objects.filter(pool=pool).order_by("-rank_points", "-value", "player_id").select_related("player")
    assert len(rows) == len(ratings) == 19
    for row, rating in zip(rows, ratings, strict=True):
        assert row[1] == rating.player.name
        assert row[2:4] == [repr(rating.value), repr(rating.standing)]
        assert row[4:] == [str(rating.experience), str(rating.matches)]
    ranks = [int(row[0]) for row in rows]
    points = [rating.rank_points for rating in ratings]
    assert ranks == [1 + sum(other > own for other in points) for own in points]


def test_equal_standings_share_a_rank(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,winner,loser,length", "2026-03-01,Vera,Didrik,5", "2026-03-01,Aksel,Pia,5")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    assert [row[:2] for row in exported("fibs")[1:]] == [["1", "Vera"], ["1", "Aksel"], ["3", "Didrik"], ["3", "Pia"]]


def test_the_standing_is_not_the_rating(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,winner,loser,length,kind", "2026-03-01,Vera,Didrik,5,matchmade")
    run("import_matches", path, "--pool", "online-backgammon", "--create-players")
    _, vera, didrik = exported("online-backgammon")
    assert didrik[:2] == ["2", "Didrik"] and float(didrik[2]) < 600 == float(didrik[3])
    assert vera[2] == vera[3]


def test_names_that_a_spreadsheet_takes_for_formulas_are_protected(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,winner,loser,length", '2026-03-01,"=1+1, ""so""",@Åse,5', "2026-03-01,-Pia,+Rune,5")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    assert {row[1] for row in exported("fibs")[1:]} == {'\'=1+1, "so"', "'@Åse", "'-Pia", "'+Rune"}


def test_players_without_a_counted_match_are_not_listed(tmp_path: Path) -> None:
    run("import_players", csv_file(tmp_path, "name,rating", "Vera,1700"), "--pool", "fibs")
    assert exported("fibs") == [["rank", "player", "rating", "standing", "experience", "matches"]]


def test_the_number_of_queries_is_fixed() -> None:
    club()
    run("import_matches", DATA / "club_matches.csv", "--pool", "club", "--create-players", "--skip-invalid")
    with CaptureQueriesContext(connection) as queries:
        exported("club")
    assert len(queries) == 2  # the pool and its ranking


def test_a_pool_that_is_not_there() -> None:
    assert pool_of("fibs")
    with pytest.raises(CommandError, match=r"There is no pool “none”\. Known: crowns-cup, fibs, freewhist, online"):
        run("export_ratings", "--pool", "none")
