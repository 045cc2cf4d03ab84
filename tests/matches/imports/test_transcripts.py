"""Match files are read for what they say: players, length, score, winner, date; whatever program wrote them."""

from __future__ import annotations

import csv
import io
import os
import random
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matches.imports.transcripts.base import LEFT, RIGHT, Transcript
from matches.imports.transcripts.gathering import gather, identity
from matches.imports.transcripts.reading import NamedFile, is_match_file, read_files
from tests.matches.imports.transcripts import OWN, REAL, read, trouble

REAL_FILES = list(csv.DictReader((REAL / "index.tsv").open(encoding="utf-8"), delimiter="\t")) if REAL.is_dir() else []


@pytest.mark.skipif(not REAL_FILES, reason=f"the real match files are not beside the checkout ({REAL})")
def test_real_files_are_there() -> None:
    assert len(REAL_FILES) == 16


@pytest.mark.parametrize("right", REAL_FILES, ids=lambda right: right["file"])
def test_a_real_file(right: dict[str, str]) -> None:
    [found] = read(REAL / right["file"])
    assert facts(found) == {name: right[name] for name in facts(found)}
    assert found.missing == ()


@pytest.mark.skipif(not REAL_FILES, reason=f"the real match files are not beside the checkout ({REAL})")
def test_real_files_that_go_on_in_another() -> None:
    resumed = {right["file"]: right["resumes"] for right in REAL_FILES if right["resumes"]}
    names = sorted((right["file"] for right in REAL_FILES), key=lambda name: random.Random(name).random())
    found = gather(read(*(REAL / name for name in names)))
    assert len(found) == 15
    assert {one.files[1]: one.files[0] for one in found if len(one.files) > 1} == resumed


def facts(read: Transcript) -> dict[str, str]:
    """What a transcript says, as the index of the real files writes it."""
    return {
        "kind": "match" if read.length else "money",
        "length": str(read.length or ""),
        "games": str(len(read.games)),
        "left_name": read.sides[LEFT].name,
        "left_rating": read.sides[LEFT].rating,
        "right_name": read.sides[RIGHT].name,
        "right_rating": read.sides[RIGHT].rating,
        "final_score_left_right": "{}-{}".format(*read.score),
        "winner": "" if read.winner is None else read.sides[read.winner].name,
        "complete": "yes" if read.is_complete else "no",
        "date": read.on.isoformat() if read.on else "",
    }


def test_a_match_with_accents_and_a_drop() -> None:
    [found] = read(OWN / "whole.mat")
    assert [side.name for side in found.sides] == ["Åse Holm", "Jørgen"]
    assert found.length == 3 and found.score == (4, 1) and found.winner == LEFT
    assert found.on == date(2026, 2, 14)
    assert [(game.winner, game.points, len(game.rolls)) for game in found.games] == [(RIGHT, 1, 6), (LEFT, 2, 7), (LEFT, 2, 4)]


def test_gnu_backgammons_sgf_says_the_same() -> None:
    [text], [sgf] = read(OWN / "whole.mat"), read(OWN / "whole.sgf")
    assert facts(text) == facts(sgf)
    assert [game.rolls for game in text.games] == [game.rolls for game in sgf.games]
    assert identity(text, text.games[-1]) == identity(sgf, sgf.games[-1])


@pytest.mark.parametrize("names", [("whole.mat", "whole.sgf"), ("whole.sgf", "whole.mat")])
def test_the_same_match_in_two_formats_is_one(names: tuple[str, str]) -> None:
    [found] = gather(read(*(OWN / name for name in names)))
    assert (found.files, found.also) == (names[:1], names[1:])
    assert found.transcript.winner == LEFT and found.transcript.on == date(2026, 2, 14)


def test_two_matches_between_the_same_players_are_two() -> None:
    text = (OWN / "whole.mat").read_text()
    again = text.replace("63: 24/15", "54: 24/15").replace("31: 8/5 6/5                 61", "21: 8/5 6/5                 61")
    other = text.replace("2026.02.14", "2026.02.21")
    files = [NamedFile(f"{n}.mat", each.encode()) for n, each in enumerate((text, again, other))]
    assert len(gather(read_files(files).transcripts)) == 3


def test_a_money_session_is_its_finished_games() -> None:
    [found] = read(OWN / "session.txt")
    assert found.length is None and found.winner is None and not found.is_complete
    assert [side.name for side in found.sides] == ["Günther", "Inger"]
    assert [(game.winner, game.points) for game in found.games] == [(RIGHT, 4), (LEFT, 1), (None, 0)]
    assert found.score == (1, 4)


def test_a_rating_glued_to_a_name_and_a_match_broken_off() -> None:
    [found] = read(OWN / "part_1.txt")
    assert [tuple(side) for side in found.sides] == [("Vera", "1612"), ("Didrik", "1548")]
    assert found.score == (2, 1) and not found.is_complete and len(found.games) == 3


@pytest.mark.parametrize("names", [("part_1.txt", "part_2.txt"), ("part_2.txt", "part_1.txt")])
def test_a_match_that_went_on_in_another_file(names: tuple[str, str]) -> None:
    [found] = gather(read(*(OWN / name for name in names)))
    assert found.files == ("part_1.txt", "part_2.txt")
    joined = found.transcript
    assert joined.winner is not None and joined.sides[joined.winner].name == "Vera"
    assert sorted(joined.score) == [1, 5] and len(joined.games) == 3
    # By the last part alone it is the same match.
    [last] = read(OWN / "part_2.txt")
    assert identity(last, last.games[-1]) == identity(joined, joined.games[-1])


def test_other_players_do_not_go_on_with_a_match() -> None:
    other = (OWN / "part_2.txt").read_text().replace("Vera", "Hanne")
    transcripts = [*read(OWN / "part_1.txt"), *read_files([NamedFile("other.txt", other.encode())]).transcripts]
    assert [one.files for one in gather(transcripts)] == [("part_1.txt",), ("other.txt",)]


def test_a_match_that_begins_late_in_latin_1() -> None:
    [found] = read(OWN / "late_start.txt")
    assert [side.name for side in found.sides] == ["Zoë", "Ömer"]
    assert found.score == (10, 8) and found.winner == LEFT and found.games[0].start == (6, 8)


def test_an_empty_name_and_a_match_that_is_not_finished() -> None:
    [found] = read(OWN / "no_names.txt")
    assert found.sides[LEFT].name == "" and found.score == (1, 0) and not found.is_complete


def test_the_last_row_holds_only_the_result() -> None:
    [found] = read(OWN / "points_alone.txt")
    assert found.winner == RIGHT and found.score == (0, 1)


def test_the_column_of_the_result_gives_way_to_what_follows_from_it() -> None:
    text = (OWN / "whole.mat").read_text()
    # The first result far to the left, the last one far to the right: the scores say who won.
    first = "  5)  Drops                       Wins 1 point"
    assert first in text
    moved = text.replace(first, "  5)  Drops\n Wins 1 point")
    [found] = read_files([NamedFile("a.mat", moved.encode())]).transcripts
    assert found.games[0].winner == RIGHT and found.score == (4, 1)
    moved = text.replace("      Wins 2 points and the match", " " * 60 + "Wins 2 points and the match")
    moved = moved.replace("Jørgen : 1\n  1)                             31", "Jørgen : 0\n  1)                             31")
    moved = moved.replace("Jørgen : 1\n  1) 52", "Jørgen : 0\n  1) 52").replace("Wins 1 point\n", "\n")
    [found] = read_files([NamedFile("a.mat", moved.encode())]).transcripts
    assert found.score == (4, 0) and found.winner == LEFT


def test_several_matches_in_one_file() -> None:
    text = (OWN / "points_alone.txt").read_text().replace("\r", "\n")
    reading = read_files([NamedFile("two.mat", (text + text.replace("62:", "64:").replace("Pia", "Ib")).encode())])
    assert [[side.name for side in one.sides] for one in reading.transcripts] == [["Pia", "Rune"], ["Ib", "Rune"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "It is empty"),
        ("hello\n", "There is no match in it"),
        ("3 point match\n\n", "has no games"),
        ("3 point match\nGame 1\nVera : x   Didrik : 0\n", "Line 3 should name both players"),
        ("3 point match\nGame 1\nVera : 0   Didrik : 99999\n", "more than 10000 points"),
        (
            "3 point match\nGame 1\nVera : 2   Didrik : 0\n Wins 1 point\nGame 2\nVera : 1   Didrik : 0\n",
            "Game 2 begins with fewer points",
        ),
        ("3 point match\nGame 1\nVera : 3   Didrik : 0\n", "begins when the match of 3 points is over"),
        ("3 point match\nGame 1\nVera : 0   Didrik : 0\n Wins 1 point and the match\n", "the score is 1–0"),
        ("3 point match\nGame 1\nVera : 0   Didrik : 0\nGame 2\nVera : 0   Pia : 0\n", "names other players"),
        ("3 point match\n" + "x" * 3000, "Line 2 has more than 2000 characters"),
        ("(;FF[4]GM[1]PB[a])", "not backgammon"),
        ("(;FF[4]GM[6]PB[a", "no SGF file that can be read"),
        ("(;FF[4]GM[6]MI[game:1]PB[a]PW[b])", "to how many points"),
        ("(;GM[6]" + ";" * 300_000 + ")", "too many nodes"),
    ],
)
def test_a_file_that_says_nothing_or_contradicts_itself(text: str, message: str) -> None:
    assert message in trouble(text.encode())


def test_a_match_longer_than_any_is_left_to_the_rating_system() -> None:
    [found] = read_files([NamedFile("a.mat", b"100 point match\nGame 1\nVera : 99   Didrik : 0\n Wins 1 point\n")]).transcripts
    assert found.length == 100 and found.is_complete


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as into:
        for name, data in files:
            into.writestr(name, data)
    return packed.getvalue()


def test_a_zip_holds_match_files_in_folders() -> None:
    data = zipped(
        ("night/whole.mat", (OWN / "whole.mat").read_bytes()),
        ("night/notes.pdf", b"%PDF"),
        ("__MACOSX/whole.mat", b"\0"),
        ("night/bad.txt", b"nothing"),
    )
    reading = read_files([NamedFile("night.zip", data)])
    assert [one.file for one in reading.transcripts] == ["night.zip: whole.mat"]
    assert [one.file for one in reading.troubles] == ["night.zip: bad.txt"]
    assert reading.passed_over == ["night.zip: notes.pdf"]


def test_a_zip_that_is_no_zip() -> None:
    whole = zipped(("a.mat", (OWN / "whole.mat").read_bytes()))
    assert "damaged" in trouble(whole[: len(whole) // 2], "a.zip")
    broken = bytearray(whole)
    broken[60:200] = bytes(140)
    assert "damaged" in trouble(bytes(broken), "a.zip")
    assert "unusual" in trouble(zipped(("a.mat", b"x" * 1000), method=zipfile.ZIP_LZMA), "a.zip")
    assert "more than 2000 files" in trouble(zipped(*((f"{n}.mat", b"") for n in range(2001))), "a.zip")
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[whole.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in trouble(bytes(encrypted), "a.zip")


@pytest.mark.parametrize(
    ("name", "data", "is_one"),
    [
        ("a.MAT", b"\x89PNG", True),
        ("a.sgf", b"", True),
        ("a.zip", b"", True),
        ("a.txt", b"\xef\xbb\xbf; [Site]\r\n\r\n 7 point match\r\n", True),
        ("a.txt", b"(;FF[4]GM[6])", True),
        ("a.csv", b"date,winner,loser,length\n", False),
        ("a.txt", b"date;winner;loser;length\n", False),
    ],
)
def test_what_is_taken_for_a_match_file(name: str, data: bytes, is_one: bool) -> None:
    assert is_match_file(name, data) is is_one


@given(st.binary(max_size=3000))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    reading = read_files([NamedFile("any.mat", data)])
    assert reading.transcripts or reading.troubles


LINES = st.sampled_from(
    [
        "3 point match",
        "0 point match",
        "Game 1",
        "Vera : 0   Didrik : 1",
        " : 2   : 2",
        "Wins 2 points",
        " 1) 31: 8/5   62:",
        '; [A "b"]',
    ]
)


@given(st.lists(st.one_of(LINES, st.text(max_size=40)), max_size=30))
def test_any_lines_are_read_or_refused(lines: list[str]) -> None:
    reading = read_files([NamedFile("any.mat", "\n".join(lines).encode())])
    for found in reading.transcripts:
        assert max(found.score) >= 0 and gather([found])


# --- Files that are meant to hurt ---

CHECK = """
import math, re, resource, sys, time
import django
django.setup()
from matches.imports.transcripts.reading import NamedFile, read_files
resource.setrlimit(resource.RLIMIT_DATA, (200_000_000, 200_000_000))
resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + 2,) * 2)
began = time.process_time()
reading = read_files([NamedFile("hurt.mat", open(sys.argv[1], "rb").read())])
used = time.process_time() - began
peak = re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(len(reading.transcripts), f"{used:.3f} s {int(peak) // 1024} MB", *(told.message for told in reading.troubles), sep="|")
"""
"""Beyond these limits the process ends: 200 MB with Python and Django, and two seconds of work."""


def bomb() -> bytes:
    """Eight gigabytes of nothing in some eight megabytes."""
    return zipped(*((f"{number}.mat", bytes(200_000_000)) for number in range(2)))


@pytest.mark.parametrize(
    ("what", "make", "message"),
    [
        ("random bytes", lambda: random.Random(1).randbytes(1_900_000), "not text"),
        ("a picture", lambda: b"\x89PNG\r\n\x1a\n" + random.Random(2).randbytes(500_000), "PNG"),
        ("a line of 50 MB", lambda: b"7 point match\n" + b"x" * 50_000_000, "more than 2 MB"),
        ("a line of nearly 2 MB", lambda: b"7 point match\n" + b"x" * 1_900_000, "more than 2000 characters"),
        ("a zip bomb", bomb, "unpacks to more"),
        ("colons", lambda: b"7 point match\nGame 1\n" + b" : 1 " * 390 + b"x\n", "should name both players"),
        ("brackets", lambda: b"(;GM[6]" + b"(;" * 99_000, "no SGF file that can be read"),
        ("tags", lambda: b"1 point match\n" + b'; [A "' * 330 + b"\n" * 1000 + b'; [ " ' * 330, "no games"),
    ],
)
def test_what_is_no_match_is_refused_at_once(tmp_path: Path, what: str, make, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "hurt.mat"
    path.write_bytes(make())
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "ratings_site.settings"}
    command = [sys.executable, "-c", CHECK, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert answer.returncode == 0, answer.stderr[-2000:]
    transcripts, used, told = answer.stdout.strip().split("|", 2)
    print(f"{what}: {used}")
    assert transcripts == "0" and message in told
