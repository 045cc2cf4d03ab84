"""Imports: what the columns mean in each system, which rows are the same match, and what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from matches import replay
from matches.imports.identity import row_id
from matches.imports.service import Options, import_matches
from matches.models import Match
from matches.verify import verify
from players.models import Player, Rating, RatingChange
from players.services import create_players, create_pool
from tests.building import pool_of
from tests.matches.imports.importing import club, csv_file, names, numbers, rows_of_all_tables, run

pytestmark = pytest.mark.django_db

HEADER = "date,winner,loser,length"


def seats(match: Match) -> list[tuple[str, float | None, int | None]]:
    return [(seat.player.name, seat.score, seat.place) for seat in match.participants.select_related("player")]


# --- The columns, system by system ---


def test_fibs(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        " ENDED_AT ,Player1,Player2,result,length,kind",
        "2026-03-01T21:00:00+02:00, Vera ,Didrik,0,5,challenge",
        "2026-03-01 19:30,Vera,Didrik,1.0,,",
        "2026-03-01t20:00:00.250000z,vera,DIDRIK,1,7,",
    )
    out, _ = run("import_matches", path, "--pool", "fibs", "--create-players")
    assert "3 added" in out and "1 of those added not counted" in out
    assert "1: Unlimited play, which has no match length, is not rated in this pool." in out
    first, unlimited, last = Match.objects.order_by("ended_at")
    assert first.ended_at == datetime(2026, 3, 1, 19, 0, tzinfo=UTC) and first.timed and first.kind == "challenge"
    assert seats(first) == [("Vera", 0.0, None), ("Didrik", 1.0, None)]
    assert unlimited.ended_at == datetime(2026, 3, 1, 19, 30, tzinfo=UTC) and unlimited.length is None
    assert last.ended_at == datetime(2026, 3, 1, 20, 0, 0, 250_000, tzinfo=UTC) and last.length == 7
    assert names() == {"Vera", "Didrik"}
    assert verify(pool_of("fibs")) == (2, None)


def test_crowns_cup(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        "date,player1,player2,result,chance,length,points,stake,real_money,kind",
        "2026-03-01,Vera,Didrik,1,,5,,10,yes,table",
        "2026-03-01,Vera,Didrik,0,,,4,2.50,TRUE,matchmade",
        "2026-03-01,Vera,Didrik,,0.625,7,,100,1,",
        "2026-03-01,Vera,Didrik,1,,5,,,no,table",
        "2026-03-01,Vera,Didrik,1,,5,,20.00,yes,tournament",
    )
    out, _ = run("import_matches", path, "--pool", "crowns-cup", "--create-players", "--kind", "invitation")
    assert "5 added" in out and "2 of those added not counted" in out
    assert "1: Only matches for real money count in this pool." in out
    assert "1: Tournament matches do not count in this pool." in out
    match, game, broken_off, play_money, tournament = Match.objects.order_by("sequence")
    assert (match.stake, match.real_money, match.kind) == (Decimal(10), True, "table")
    assert (game.length, game.points, game.stake, game.kind) == (None, 4, Decimal("2.50"), "matchmade")
    assert (broken_off.chance, broken_off.length, broken_off.kind) == (0.625, 7, "invitation")
    assert seats(broken_off) == [("Vera", None, None), ("Didrik", None, None)]
    assert (play_money.not_counted, tournament.not_counted) == ("play_money", "kind_not_counted")
    assert numbers(pool_of("crowns-cup"))["Vera"][1:] == (5 + 1 + 7, 3)
    assert verify(pool_of("crowns-cup")) == (3, None)


def test_what_the_pool_needs_comes_from_the_row_or_from_an_option(tmp_path: Path) -> None:
    create_players(["Vera", "Didrik"])
    bare = csv_file(tmp_path, f"{HEADER},stake", "2026-03-01,Vera,Didrik,5,10", name="bare.csv")
    with pytest.raises(CommandError, match="“kind” is missing"):
        run("import_matches", bare, "--pool", "crowns-cup", "--real-money")
    with pytest.raises(CommandError, match="“real_money” is missing"):
        run("import_matches", bare, "--pool", "crowns-cup", "--kind", "table")
    assert "1 added" in run("import_matches", bare, "--pool", "crowns-cup", "--kind", "table", "--real-money")[0]
    empty = csv_file(tmp_path, f"{HEADER},stake,kind,real_money", "2026-03-01,Vera,Didrik,5,10,,no", name="empty.csv")
    with pytest.raises(CommandError) as error:
        run("import_matches", empty, "--pool", "crowns-cup")
    assert error.value.said.startswith("Line 2, kind: it is missing, and not every kind counts in this pool.")
    # The row's own word is above the option's.
    assert "1 added" in run("import_matches", empty, "--pool", "crowns-cup", "--kind", "table", "--real-money")[0]
    assert list(Match.objects.order_by("id").values_list("real_money", flat=True)) == [True, False]


def test_online_backgammon(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        f"{HEADER},kind",
        *(
            f"2026-03-01,Vera,Didrik,5,{kind}"
            for kind in ("matchmade", "Tournament", "table", "challenge", "invitation", "rematch")
        ),
    )
    out, _ = run("import_matches", path, "--pool", "online-backgammon", "--create-players")
    assert "6 added" in out and "4 of those added not counted" in out and "1: Rematches do not count in this pool." in out
    [first, _] = RatingChange.objects.filter(player__name="Vera").order_by("sequence")
    assert (first.before, round(first.after)) == (600.0, 644)
    assert verify(pool_of("online-backgammon")) == (2, None)


def test_freewhist(tmp_path: Path) -> None:
    create_players(["Vera", "Didrik", "Aksel", "Pia"])
    ranks = "player1,player2,player3,player4,rank1,rank2,rank3,rank4"
    path = csv_file(
        tmp_path,
        f"date,{ranks},deals",
        "2026-03-01,Vera,Didrik,Aksel,Pia,1,2,3,4,24",
        "2026-03-01,Vera,Didrik,Aksel,Pia,1,1,3,4,16",
        "2026-03-01,Vera,Didrik,Aksel,Pia,3,1,2,1,16",
        "2026-03-01,Vera,Didrik,Aksel,Pia,1,2,3,4,7",
    )
    out, _ = run("import_matches", path, "--pool", "freewhist")
    assert "4 added" in out and "1: It had too few deals: this pool rates games of 8 deals or more." in out
    first = RatingChange.objects.filter(sequence=1).order_by("match__participants__seat")
    assert {line.player.name: round(line.change, 9) for line in first} == {"Vera": 100, "Didrik": 50, "Aksel": -50, "Pia": -100}
    shared, dense, _ = Match.objects.filter(sequence__gt=1).order_by("sequence")
    assert [place for _, _, place in seats(shared)] == [1, 1, 3, 4]
    assert [place for _, _, place in seats(dense)] == [4, 1, 3, 1]  # who shares a place has the best of them
    assert verify(pool_of("freewhist")) == (3, None)

    for line, message in (
        ("2026-03-01,Vera,Didrik,Aksel,Pia,1,2,2,5,24", "rank4: must be from 1 to 4."),
        ("2026-03-01,Vera,Didrik,Aksel,Pia,1,2,,4,24", "rank3: it is missing"),
        ("2026-03-01,Vera,Didrik,Aksel,Pia,2,2,3,4,24", "rank1: must be 1 to 4, each once or shared"),
        ("2026-03-01,Vera,Didrik,Aksel,Vera,1,2,3,4,24", "players: a player cannot play against himself or sit twice"),
        ("2026-03-01,Vera,Didrik,Aksel,Pia,1,2,3,4,", "deals: it is missing"),
    ):
        with pytest.raises(CommandError) as error:
            run("import_matches", csv_file(tmp_path, f"date,{ranks},deals", line), "--pool", "freewhist")
        assert error.value.said.startswith(f"Line 2, {message}")
    for header, message in (
        (f"date,{ranks}", "“deals” is missing"),
        ("date,player1,player2,player3,player4,rank1,rank2,deals", "“rank3, rank4” is missing"),
        ("date,winner,loser,deals", "“winner” does not go with this pool's matches"),
    ):
        with pytest.raises(CommandError, match=message):
            run("import_matches", csv_file(tmp_path, header, "2026-03-01"), "--pool", "freewhist")


def test_tics(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        "date,player1,player2,result",
        "2026-03-01,Vera,Didrik,1",
        "2026-03-02,Vera,Didrik,0.5",
        "2026-03-03,Vera,Didrik,0",
    )
    run("import_matches", path, "--pool", "tics", "--create-players")
    assert [line.score for line in RatingChange.objects.filter(player__name="Vera").order_by("ended_at")] == [1.0, 0.5, 0.0]
    assert verify(pool_of("tics")) == (3, None)
    for result, message in (("2", "must be 1, 0.5 or 0"), ("", "it is missing. Say how the match ended."), ("won", "must be 1")):
        line = f"2026-03-04,Vera,Didrik,{result}"
        with pytest.raises(CommandError) as error:
            run("import_matches", csv_file(tmp_path, "date,player1,player2,result", line), "--pool", "tics")
        assert error.value.said.startswith(f"Line 2, result: {message}")


def test_a_draw_where_there_is_none(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "date,player1,player2,result,length", "2026-03-01,Vera,Didrik,0.5,5")
    with pytest.raises(CommandError) as error:
        run("import_matches", path, "--pool", "fibs", "--create-players")
    assert error.value.said.startswith("Line 2, result: must be 1 for the winner and 0 for the loser.")


def test_a_byte_order_mark_and_windows_line_ends_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes("\ufeffdate,winner,loser,length\r\n2026-03-01,Åse,Ærø,5\r\n".encode())
    assert "1 added" in run("import_matches", path, "--pool", "fibs", "--create-players")[0]
    assert names() == {"Åse", "Ærø"}


@pytest.mark.parametrize("letter", ["\ufdfa", "\u0390", "\u0130", "ß", "😀", "-"])
def test_any_name_of_the_right_length_will_do(tmp_path: Path, letter: str) -> None:
    path = csv_file(tmp_path, HEADER, f"2026-03-01,{letter * 80},Vera,5", f"2026-03-01,Vera,{letter * 79},5")
    assert "2 added" in run("import_matches", path, "--pool", "fibs", "--create-players")[0]
    assert "2 already there" in run("import_matches", path, "--pool", "fibs")[0]
    assert names() == {letter * 80, letter * 79, "Vera"}


# --- Which rows are the same match ---


def test_equal_rows_are_matches_of_their_own(tmp_path: Path) -> None:
    row = "2026-03-01,Vera,Didrik,5"
    run("import_matches", csv_file(tmp_path, HEADER, row, row), "--pool", "fibs", "--create-players")
    out, _ = run("import_matches", csv_file(tmp_path, HEADER, row, row, row), "--pool", "fibs")
    assert "1 added" in out and "2 already there" in out
    assert list(Match.objects.order_by("id").values_list("sequence", flat=True)) == [1, 2, 3]


def test_the_id_of_a_row_is_documented(tmp_path: Path) -> None:
    run("import_matches", csv_file(tmp_path, HEADER, "2026-03-01,VERA,Didrik,5"), "--pool", "fibs", "--create-players")
    # sha256 of ["fibs", "[\"2026-03-01\", [[\"didrik\", 0.0], [\"vera\", 1.0]], null, 5, null, null, null, null, \"\"]", 1]
    assert Match.objects.get().external_id == "row:fc340bb94488b292234ac25319373964c2d8fbb3"


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (HEADER, "2026-03-01, VERA ,didrik,5"),
        ("date,player1,player2,result,length", "2026-03-01,Vera,Didrik,1,5"),
        ("date,player1,player2,result,length", "2026-03-01,Didrik,Vera,0,5"),
        ("length,loser,winner,date,sequence,external_id", "5,Didrik,Vera,2026-03-01,1,"),
    ],
)
def test_the_same_row_written_otherwise(tmp_path: Path, header: str, row: str) -> None:
    run("import_matches", csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5"), "--pool", "fibs", "--create-players")
    out, _ = run("import_matches", csv_file(tmp_path, header, row), "--pool", "fibs")
    assert "0 added" in out and "1 already there" in out


def test_the_option_is_no_part_of_the_row(tmp_path: Path) -> None:
    path = csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    assert "1 already there" in run("import_matches", path, "--pool", "fibs", "--kind", "table")[0]


def test_another_source_or_pool_has_matches_of_its_own(tmp_path: Path) -> None:
    path = csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5")
    run("import_matches", path, "--pool", "fibs", "--create-players", "--source", "club list")
    club()
    assert "1 added" in run("import_matches", path, "--pool", "club", "--source", "club list")[0]
    out, err = run("import_matches", path, "--pool", "fibs")
    assert "1 added" in out
    assert "imported from “club list” before" in err
    assert Match.objects.count() == 3


def test_a_row_stays_known_when_its_match_or_its_player_changed_on_the_site(tmp_path: Path) -> None:
    lines = ["2026-03-01,Vera,Didrik,5", "2026-03-02,Vera,Didrik,7"]
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "fibs", "--create-players")
    Player.objects.filter(name="Didrik").update(name="Dirk", name_key="dirk")
    Match.objects.filter(length=5).update(length=3)
    out, _ = run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "fibs", "--create-players")
    assert "0 added" in out and "2 already there" in out
    assert names() == {"Vera", "Dirk"}


def test_a_row_put_in_between_keeps_the_others_where_they_are(tmp_path: Path) -> None:
    lines = ["2026-03-01,Vera,Didrik,5", "2026-03-01,Didrik,Vera,5"]
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "fibs", "--create-players")
    out, _ = run("import_matches", csv_file(tmp_path, HEADER, lines[0], "2026-03-01,Vera,Didrik,1", lines[1]), "--pool", "fibs")
    assert "1 added" in out and "2 already there" in out
    assert "1 of those already there stand at another place within their date" in out


def test_ids_of_the_source(tmp_path: Path) -> None:
    header = f"{HEADER},external_id"
    one, two = "2026-03-01,Vera,Didrik,5,A1", "2026-03-01,Vera,Didrik,5,A2"
    run("import_matches", csv_file(tmp_path, header, one), "--pool", "fibs", "--create-players")
    # In another order, and an equal row under the same id is the same match.
    out, _ = run("import_matches", csv_file(tmp_path, header, two, one, two), "--pool", "fibs")
    assert "1 added" in out and "2 already there" in out
    assert list(Match.objects.order_by("id").values_list("external_id", flat=True)) == ["A1", "A2"]


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ("2026-03-01,Vera,Didrik,7,A1", "length"),
        ("2026-03-02,Vera,Didrik,5,A1", "ended_at"),
        ("2026-03-01,Didrik,Vera,5,A1", "players"),
        ("2026-03-01,Vera,Nobody,1,A1", "length, players"),
    ],
)
def test_a_known_id_that_says_something_else_is_refused(tmp_path: Path, row: str, fields: str) -> None:
    header = f"{HEADER},external_id"
    run("import_matches", csv_file(tmp_path, header, "2026-03-01,Vera,Didrik,5,A1"), "--pool", "fibs", "--create-players")
    match, before = Match.objects.get(), rows_of_all_tables()
    with pytest.raises(CommandError) as error:
        run(
            "import_matches", csv_file(tmp_path, header, "2026-03-03,Vera,Didrik,5,A2", row), "--pool", "fibs", "--create-players"
        )
    assert error.value.said.startswith(
        f"Line 3, external_id: match {match.pk} was entered from this source under the same id, and differs in: {fields}."
    )
    assert rows_of_all_tables() == before


def test_an_id_twice_in_a_file(tmp_path: Path) -> None:
    lines = ["2026-03-01,Vera,Didrik,5,A1", "2026-03-01,Vera,Didrik,7,A1"]
    with pytest.raises(CommandError) as error:
        run("import_matches", csv_file(tmp_path, f"{HEADER},external_id", *lines), "--pool", "fibs", "--create-players")
    assert error.value.said.startswith("Line 3, external_id: line 2 has the same id and says something else.")


def test_a_sequence_that_changed_is_refused_and_adds_no_second_match(tmp_path: Path) -> None:
    header = f"{HEADER},sequence"
    run("import_matches", csv_file(tmp_path, header, "2026-03-01,Vera,Didrik,5,10"), "--pool", "fibs", "--create-players")
    with pytest.raises(CommandError) as error:
        run("import_matches", csv_file(tmp_path, header, "2026-03-01,Vera,Didrik,5,11"), "--pool", "fibs")
    assert error.value.said.startswith("Line 2, sequence: the same row was imported as match ")
    assert "with the sequence 10" in error.value.said


def test_an_equal_row_with_an_earlier_sequence_is_the_new_one(tmp_path: Path) -> None:
    header, row = f"{HEADER},sequence", "2026-03-01,Vera,Didrik,5"
    run("import_matches", csv_file(tmp_path, header, f"{row},10", f"{row},20"), "--pool", "fibs", "--create-players")
    out, _ = run("import_matches", csv_file(tmp_path, header, f"{row},20", f"{row},15", f"{row},10"), "--pool", "fibs")
    assert "1 added" in out and "2 already there" in out
    assert list(Match.objects.order_by("sequence").values_list("sequence", flat=True)) == [10, 15, 20]
    assert verify(pool_of("fibs")) == (3, None)


def test_a_voided_match_is_not_entered_again(tmp_path: Path) -> None:
    path = csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5")
    run("import_matches", path, "--pool", "fibs", "--create-players")
    Match.objects.update(status=Match.Status.VOIDED)
    assert "1 already there" in run("import_matches", path, "--pool", "fibs")[0]


# --- What is left out ---


def test_only_the_players_of_rows_that_are_taken_are_made(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        HEADER,
        "2026-03-01,Vera,Didrik,5",
        "2026-03-01,Aksel,Pia,0",
        "2026-03-01,Rune,Rune,5",
        "2026-03-01,VERA,Åse,5",
        "2999-03-01,Else,Nis,5",
    )
    out, err = run("import_matches", path, "--pool", "fibs", "--create-players", "--skip-invalid")
    assert "2 added" in out and "3 refused" in out and "3 players made" in out
    assert [line.split(",")[0] for line in err.splitlines()] == ["Line 3", "Line 4", "Line 6"]
    assert names() == {"Vera", "Didrik", "Åse"}


def test_what_is_refused_only_when_it_is_rated_is_left_out(tmp_path: Path) -> None:
    pool = create_pool("steep", name="Steep", system="tics", parameters={"start": 1, "k": 100_000})
    header = "date,player1,player2,result"
    lines = [
        "2026-03-01,Vera,Didrik,1",  # 50,001 and -49,999
        "2026-03-02,Aksel,Vera,1",  # Aksel would have 100,001
        "2026-03-03,Pia,Aksel,1",
        "2026-03-04,Else,Pia,1",  # so would Else
        "2026-03-05,Aksel,Else,0",
        "2026-03-06,Rune,Vera,1",  # and Rune, who plays nowhere else
    ]
    with pytest.raises(CommandError, match="1 row is refused") as error:
        before = rows_of_all_tables()
        run("import_matches", csv_file(tmp_path, header, *lines), "--pool", "steep", "--create-players")
    assert "rating: must be from" in error.value.said
    assert rows_of_all_tables() == before
    out, err = run("import_matches", csv_file(tmp_path, header, *lines), "--pool", "steep", "--create-players", "--skip-invalid")
    assert [line.split(",")[0] for line in err.splitlines()] == ["Line 3", "Line 5", "Line 7"]
    assert "3 added" in out and "3 refused" in out and "5 players made" in out
    assert names() == {"Vera", "Didrik", "Pia", "Aksel", "Else"}
    assert verify(pool) == (3, None)


def test_a_dry_run_says_what_would_happen_and_keeps_nothing(tmp_path: Path) -> None:
    club()
    path = csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5", "2026-03-01,Vera,Vera,5", "2026-03-01,Vera,Didrik,")
    options = ("--pool", "club", "--create-players", "--skip-invalid")
    before = rows_of_all_tables()
    out, err = run("import_matches", path, *options, "--dry-run")
    assert rows_of_all_tables() == before
    assert out.startswith("A dry run: nothing was stored. It would be:")
    assert "2 added" in out and "1 refused" in out and "1 of those added not counted" in out and err.startswith("Line 3, ")
    assert "\n  2026-03-01 · Vera – Didrik · 1 : 0 · Match length 5\n" in out
    assert out.endswith(run("import_matches", path, *options)[0])
    with pytest.raises(CommandError, match="1 row is refused"):
        run("import_matches", path, "--pool", "club", "--dry-run")


def test_matches_from_before_an_opening_are_refused(tmp_path: Path) -> None:
    run("import_players", csv_file(tmp_path, "name,rating,date", "Vera,1700,2026-03-02"), "--pool", "fibs")
    path = csv_file(tmp_path, HEADER, "2026-03-01,Vera,Didrik,5", "2026-03-02,Vera,Didrik,5")
    out, err = run("import_matches", path, "--pool", "fibs", "--create-players", "--skip-invalid")
    assert "1 added" in out
    assert err.startswith("Line 2, date: the rating that Vera brought along is from 2026-03-02")


def test_the_service_tells_a_page_what_the_command_prints() -> None:
    pool, told = pool_of("fibs"), []
    data = b"date,winner,loser,length\n2026-03-01,Vera,Didrik,5\n2026-03-01,Vera,Vera,5\n2026-03-01,Vera,Didrik,\n"
    report = import_matches(
        pool,
        data,
        source="upload.csv",
        options=Options(create_players=True, skip_invalid=True),
        progress=lambda done, of: told.append((done, of)),
    )
    assert (report.rows, report.added, report.known, report.stored) == (3, 2, 0, True)
    assert [(row.line, row.field) for row in report.refused] == [(3, "players")]
    assert report.not_counted == {"Unlimited play, which has no match length, is not rated in this pool.": 1}
    assert report.new_players == ["Vera", "Didrik"]
    assert told == [(0, 2), (2, 2)]

    report = import_matches(pool, data, source="upload.csv", options=Options())
    assert (report.rows, report.added, report.known, report.stored) == (3, 0, 2, False)
    assert Rating.objects.count() == 2


def test_steps_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"2026-03-{day:02},{one},{two},5" for day in range(1, 29) for one, two in (("Vera", "Didrik"), ("Aksel", "Vera"))]
    in_one, in_steps = club("one"), club("steps")
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "one", "--create-players")
    monkeypatch.setattr("matches.imports.service.BATCH", 5)
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "steps")
    assert numbers(in_one) == numbers(in_steps)
    assert verify(in_steps) == (56, None)


def test_rows_in_any_order_need_no_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"2026-03-{day:02},Vera,Didrik,5" for day in range(28, 0, -1)]
    monkeypatch.setattr("matches.imports.service.BATCH", 5)
    monkeypatch.delattr("matches.replay.recalculate")
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "fibs", "--create-players")
    assert verify(pool_of("fibs")) == (28, None)


def test_a_late_list_needs_one_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"2026-03-{day:02},Vera,Didrik,5" for day in range(1, 29)]
    run("import_matches", csv_file(tmp_path, HEADER, "2026-03-30,Vera,Didrik,5"), "--pool", "fibs", "--create-players")
    replays = []
    recalculate = replay.recalculate
    monkeypatch.setattr(replay, "recalculate", lambda *args, **more: replays.append(args) or recalculate(*args, **more))
    monkeypatch.setattr("matches.imports.service.BATCH", 5)
    run("import_matches", csv_file(tmp_path, HEADER, *lines), "--pool", "fibs")
    assert len(replays) == 1
    assert verify(pool_of("fibs")) == (29, None)


def test_row_ids_differ_by_pool_content_and_ordinal() -> None:
    one, two = pool_of("fibs"), pool_of("tics")
    assert len({row_id(one, "a", 1), row_id(one, "a", 2), row_id(one, "b", 1), row_id(two, "a", 1)}) == 4
