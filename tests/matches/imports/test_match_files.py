"""Match files through the one door for results: what is finished is rated once, under whatever name and in whatever format."""

from __future__ import annotations

import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from matches.models import Import, Match
from tests.building import pool_of
from tests.matches.imports.importing import names, rows_of_all_tables, run
from tests.matches.imports.transcripts import OWN

pytestmark = pytest.mark.django_db

FIBS = ("--pool", "fibs", "--create-players")
CROWNS_CUP = ("--pool", "crowns-cup", "--create-players", "--kind", "table", "--real-money", "--stake", "5")


def only_match() -> Match:
    return Match.objects.get()


def test_a_match_is_rated_on_its_day() -> None:
    out, err = run("import_matches", OWN / "whole.mat", *FIBS)
    assert "1 added" in out and "2 players made" in out and err == ""
    match = only_match()
    assert (match.length, match.timed, str(match.ended_on), match.not_counted) == (3, False, "2026-02-14", "")
    assert [(seat.player.name, seat.score) for seat in match.participants.all()] == [("Åse Holm", 1.0), ("Jørgen", 0.0)]
    assert match.changes.count() == 2


@pytest.mark.parametrize("again", ["whole.mat", "whole.sgf"])
def test_the_same_match_again_is_there_already(again: str, tmp_path: Path) -> None:
    run("import_matches", OWN / "whole.mat", *FIBS)
    path = tmp_path / f"other{Path(again).suffix}"
    path.write_bytes((OWN / again).read_bytes())
    before = rows_of_all_tables()
    out, _ = run("import_matches", path, *FIBS)
    assert "0 added" in out and "1 already there" in out
    assert rows_of_all_tables() == before


def test_both_formats_at_once_are_one_match() -> None:
    out, _ = run("import_matches", OWN / "whole.sgf", OWN / "whole.mat", *FIBS)
    assert "1 added" in out and "whole.sgf holds the same match as whole.mat: taken once." in out


def test_a_match_that_went_on_is_one_and_needs_a_date() -> None:
    parts = (OWN / "part_1.txt", OWN / "part_2.txt")
    with pytest.raises(CommandError) as error:
        run("import_matches", *parts, *FIBS)
    assert "part_1.txt, part_2.txt: date: the file has none. Say on which day" in error.value.said  # type: ignore[attr-defined]
    out, _ = run("import_matches", *parts, *FIBS, "--date", "2026-01-05")
    assert "1 added" in out and "part_1.txt, part_2.txt: one match, which was broken off and went on." in out
    assert str(only_match().ended_on) == "2026-01-05"
    out, _ = run("import_matches", parts[1], *FIBS, "--date", "2026-01-05")
    assert "1 already there" in out


def test_what_is_not_finished_is_not_rated_and_says_so() -> None:
    out, err = run("import_matches", OWN / "part_1.txt", *FIBS, "--date", "2026-01-05")
    assert "part_1.txt: not finished, it breaks off at 2–1 in a match to 5. It is not rated." in out
    assert not Match.objects.exists() and not Import.objects.exists() and names() == set() and err == ""


def test_a_money_session_is_a_money_game_for_each_finished_game() -> None:
    out, _ = run("import_matches", OWN / "session.txt", *CROWNS_CUP)
    assert "2 added" in out and "the last game of the session is not finished" in out
    games = Match.objects.order_by("sequence")
    assert [(game.length, game.points, game.stake, game.sequence) for game in games] == [
        (None, 4, Decimal(5), 1),
        (None, 1, Decimal(5), 2),
    ]
    assert [game.participants.get(seat=1).player.name for game in games] == ["Inger", "Günther"]
    assert all(game.changes.count() == 2 for game in games)


def test_where_unlimited_play_is_not_rated_it_is_kept_with_the_reason() -> None:
    out, _ = run("import_matches", OWN / "session.txt", *FIBS)
    assert "2 of those added not counted" in out and "Unlimited play" in out


def test_who_is_meant_by_a_name() -> None:
    run("import_matches", OWN / "whole.mat", *FIBS)
    out, _ = run("import_matches", OWN / "points_alone.txt", *FIBS, "--date", "2026-03-01", "--player", "pia=Jørgen")
    assert "1 players made" in out and names() == {"Åse Holm", "Jørgen", "Rune"}
    # Under the name in the file or under the player's: it is the same match.
    out, _ = run("import_matches", OWN / "points_alone.txt", *FIBS, "--date", "2026-03-01", "--player", "pia=Jørgen")
    assert "1 already there" in out


def test_names_that_are_nearly_those_of_players_are_shown(tmp_path: Path) -> None:
    run("import_matches", OWN / "whole.mat", *FIBS)
    path = tmp_path / "list.txt"
    text = (OWN / "points_alone.txt").read_text().replace("Rune", "Jorgen").replace("Pia", "Holm, Ase")
    path.write_text(text)
    out, _ = run("import_matches", path, *FIBS, "--date", "2026-03-01", "--dry-run")
    assert "“Jorgen” is nearly the name of: Jørgen." in out
    assert "“Holm, Ase” is nearly the name of: Åse Holm." in out


def test_an_empty_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text((OWN / "no_names.txt").read_text().replace("7 point", "1 point"))
    with pytest.raises(CommandError) as error:
        run("import_matches", path, *FIBS, "--date", "2026-03-01")
    assert error.value.said.startswith("a.txt: winner: it is missing")  # type: ignore[attr-defined]


def test_match_files_are_of_backgammon() -> None:
    with pytest.raises(CommandError, match="Match files are of backgammon"):
        run("import_matches", OWN / "whole.mat", "--pool", "freewhist")


def test_a_zip_of_match_files(tmp_path: Path) -> None:
    path = tmp_path / "night.zip"
    with zipfile.ZipFile(path, "w") as into:
        for name in ("whole.mat", "whole.sgf", "late_start.txt"):
            into.write(OWN / name, f"night/{name}")
    out, _ = run("import_matches", path, *FIBS)
    assert "2 added" in out and "taken once" in out


def test_a_file_that_cannot_be_read_keeps_all_out_unless_it_may_be_skipped(tmp_path: Path) -> None:
    picture = tmp_path / "picture.mat"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    before = rows_of_all_tables()
    with pytest.raises(CommandError) as error:
        run("import_matches", OWN / "whole.mat", picture, *FIBS)
    assert error.value.said.startswith("picture.mat: This is a file of the kind PNG")  # type: ignore[attr-defined]
    assert rows_of_all_tables() == before
    out, _ = run("import_matches", OWN / "whole.mat", picture, *FIBS, "--skip-invalid")
    assert "1 added" in out and "1 refused" in out


def test_an_import_is_on_record_and_its_matches_know_it() -> None:
    run("import_matches", OWN / "whole.mat", OWN / "late_start.txt", *FIBS)
    record = Import.objects.get()
    assert (record.pool, record.kind, record.status) == (pool_of("fibs"), "match_files", "done")
    assert record.name == "2 match files" and len(record.digest) == 64 and record.done_at is not None
    assert record.report is not None and record.report["added"] == 2
    assert list(Match.objects.values_list("from_import", flat=True)) == [record.pk] * 2
    assert not record.files.exists()


@pytest.mark.parametrize("option", [("--stake", "1e3"), ("--date", "1.1.2026"), ("--player", "Pia"), ("--column", "a=b")])
def test_an_option_that_says_nothing(option: tuple[str, str]) -> None:
    with pytest.raises(CommandError):
        run("import_matches", OWN / "whole.mat", *FIBS, *option)
    assert not Match.objects.exists()
