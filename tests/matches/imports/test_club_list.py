"""A real club's list: rated in the file's order it gives what the club publishes, and a second import adds nothing."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from matches.models import Match
from matches.verify import verify
from players.models import Player, RatingChange
from tests.matches.imports.importing import DATA, club, csv_file, names, numbers, rows_of_all_tables, run

pytestmark = pytest.mark.django_db

EXCERPT = DATA / "club_matches.csv"
"""Three weeks of the list: 166 matches, rows that repeat, and one row (line 40) of a player against himself."""
WHOLE = Path(__file__).parents[4] / "shared" / "data" / "bkk"
TAKEN = ("--pool", "club", "--create-players", "--skip-invalid")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_hand(rows: list[dict[str, str]]) -> tuple[dict[str, float], Counter[str]]:
    """The formula in a plain loop: ratings and experience by name."""
    ratings: dict[str, float] = {}
    experience: Counter[str] = Counter()
    for row in rows:
        winner, loser, length = row["winner"], row["loser"], int(row["length"])
        if winner == loser:
            continue
        higher, lower = ratings.get(winner, 1800.0), ratings.get(loser, 1800.0)
        upset = 1 / (10 ** ((higher - lower) * math.sqrt(length) / 2000) + 1)
        ratings[winner], ratings[loser] = higher + 4 * math.sqrt(length) * upset, lower - 4 * math.sqrt(length) * upset
        experience.update({winner: length, loser: length})
    return ratings, experience


def numbered_and_shuffled(source: Path, folder: Path) -> Path:
    """The list with a sequence column, its rows in another order."""
    places: Counter[str] = Counter()
    lines = []
    for row in rows_of(source):
        places[row["date"]] += 1
        lines.append([str(places[row["date"]]), *row.values()])
    random.Random(7).shuffle(lines)
    return csv_file(folder, "Sequence, DATE ,winner,loser,length", *lines, name=source.name)


def test_the_list_is_rated_in_the_order_of_the_file() -> None:
    pool = club()
    out, err = run("import_matches", EXCERPT, *TAKEN)
    assert "166 added" in out and "0 already there" in out and "1 refused" in out
    assert err.splitlines() == [
        "Line 40, players: a player cannot play against himself or sit twice at a table. Choose different players."
    ]
    ratings, experience = by_hand(rows_of(EXCERPT))
    assert {name: value for name, (value, _, _) in numbers(pool).items()} == pytest.approx(ratings, abs=1e-9)
    assert {name: played for name, (_, played, _) in numbers(pool).items()} == experience
    assert verify(pool) == (166, None)


def test_a_match_known_by_its_date_is_stored_so_with_its_place_in_the_file() -> None:
    club()
    run("import_matches", EXCERPT, *TAKEN)
    assert not Match.objects.filter(timed=True).exists()
    day = Match.objects.filter(ended_at__date="2025-10-31").order_by("id")
    # The refused row has the fifth place, and keeps it.
    refused = [row["winner"] == row["loser"] for row in rows_of(EXCERPT) if row["date"] == "2025-10-31"].index(True) + 1
    assert list(day.values_list("sequence", flat=True)) == [place for place in range(1, 10) if place != refused]
    assert {str(match.ended_on) for match in day} == {"2025-10-31"}
    assert set(Match.objects.values_list("source", flat=True)) == {"club_matches.csv"}


def test_all_or_nothing_unless_told_otherwise() -> None:
    club()
    before = rows_of_all_tables()
    with pytest.raises(CommandError, match="1 row is refused") as refused:
        run("import_matches", EXCERPT, "--pool", "club", "--create-players")
    assert refused.value.said.startswith("Line 40, players: ")
    assert rows_of_all_tables() == before


def test_a_second_import_adds_nothing() -> None:
    pool = club()
    run("import_matches", EXCERPT, *TAKEN)
    before, ratings = rows_of_all_tables(), numbers(pool)
    out, _ = run("import_matches", EXCERPT, *TAKEN)
    assert "0 added" in out and "166 already there" in out and "1 refused" in out
    assert rows_of_all_tables() == before and numbers(pool) == ratings


def test_shuffled_rows_with_a_sequence_give_the_same_to_the_last_bit(tmp_path: Path) -> None:
    in_order, shuffled = club(), club("shuffled")
    run("import_matches", EXCERPT, *TAKEN)
    out, _ = run("import_matches", numbered_and_shuffled(EXCERPT, tmp_path), "--pool", "shuffled", "--skip-invalid")
    assert "166 added" in out
    assert numbers(shuffled) == numbers(in_order)


def test_the_same_list_with_a_sequence_holds_the_same_matches(tmp_path: Path) -> None:
    pool = club()
    run("import_matches", EXCERPT, *TAKEN)
    before, ratings = rows_of_all_tables(), numbers(pool)
    out, _ = run("import_matches", numbered_and_shuffled(EXCERPT, tmp_path), *TAKEN)
    assert "0 added" in out and "166 already there" in out
    assert rows_of_all_tables() == before and numbers(pool) == ratings


def test_a_list_that_grows_gives_what_the_whole_list_gives(tmp_path: Path) -> None:
    grown, whole = club(), club("whole")
    lines = EXCERPT.read_text(encoding="utf-8").splitlines()
    # The second part begins in the middle of a day.
    for end in (30, 60, len(lines)):
        run("import_matches", csv_file(tmp_path, *lines[:end]), *TAKEN)
    run("import_matches", EXCERPT, "--pool", "whole", "--skip-invalid")
    assert Match.objects.filter(pool=grown).count() == 166
    assert numbers(grown) == numbers(whole)
    places = Match.objects.order_by("ended_at", "sequence").values_list("ended_at", "sequence")
    assert list(places.filter(pool=grown)) == list(places.filter(pool=whole))


def test_earlier_matches_that_come_later_are_rated_in_their_place(tmp_path: Path) -> None:
    late, whole = club(), club("whole")
    header, *lines = EXCERPT.read_text(encoding="utf-8").splitlines()
    run("import_matches", csv_file(tmp_path, header, *lines[100:], name="second.csv"), *TAKEN)
    run("import_matches", csv_file(tmp_path, header, *lines[:100], name="first.csv"), *TAKEN)
    run("import_matches", EXCERPT, "--pool", "whole", "--skip-invalid")
    assert verify(late) == (166, None)
    # Cut inside a day, the second file has its rows at other places, which still come after the first one's.
    assert lines[99][:10] != lines[100][:10]
    assert numbers(late) == numbers(whole)


def test_the_number_of_queries_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    lines = EXCERPT.read_text(encoding="utf-8").splitlines()
    counts = []
    club()
    run("import_matches", EXCERPT, *TAKEN)  # makes the players
    for slug, end in (("short", 42), ("long", len(lines))):
        club(slug)
        with CaptureQueriesContext(connection) as queries:
            run("import_matches", csv_file(tmp_path, *lines[:end]), "--pool", slug, "--skip-invalid")
        counts.append(len(queries))
    # 41 rows and 167. SQLite takes fewer rows of some tables in a statement, hence a few more there.
    assert counts[1] - counts[0] <= 10 and counts[1] < 60


@pytest.mark.skipif(not WHOLE.is_dir(), reason=f"the club's whole list is not beside the checkout ({WHOLE})")
class TestTheWholeList:
    """The list as the club has it, with the ratings that it publishes."""

    def test_every_published_rating_is_met(self) -> None:
        pool = club()
        out, err = run("import_matches", WHOLE / "matches.csv", *TAKEN)
        assert "2801 added" in out and "1 refused" in out and err.startswith("Line 1448, players: ")
        published = {row["player"]: (int(row["rating"]), int(row["experience"])) for row in rows_of(WHOLE / "published.csv")}
        assert len(published) == 71 == Player.objects.count()
        assert {
            name: (int(Decimal(repr(value)).quantize(Decimal(1), rounding=ROUND_HALF_UP)), experience)
            for name, (value, experience, _) in numbers(pool).items()
        } == published
        assert RatingChange.objects.count() == 2 * 2801

        before, ratings = rows_of_all_tables(), numbers(pool)
        out, _ = run("import_matches", WHOLE / "matches.csv", *TAKEN)
        assert "0 added" in out and "2801 already there" in out
        assert rows_of_all_tables() == before and numbers(pool) == ratings

    def test_shuffled_rows_with_a_sequence_give_the_same_to_the_last_bit(self, tmp_path: Path) -> None:
        in_order, shuffled = club(), club("shuffled")
        run("import_matches", WHOLE / "matches.csv", *TAKEN)
        run("import_matches", numbered_and_shuffled(WHOLE / "matches.csv", tmp_path), "--pool", "shuffled", "--skip-invalid")
        assert Match.objects.filter(pool=shuffled).count() == 2801
        assert numbers(shuffled) == numbers(in_order)
        assert len(names()) == 71
