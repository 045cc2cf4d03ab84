"""The checker finds whatever does not follow from the records, and names the first record that does not."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players import systems
from players.systems.base import Result, Seat
from players.systems.check import FORMAT, Chain, Wrong, check

ROOT = Path(__file__).parents[3]
Line = dict[str, Any]


def records() -> list[Line]:
    """A small pool of FIBS with two eras, an opening, and a match that does not count; lines without digests."""
    old, new = systems.get("fibs").from_json({"ramp": None}), systems.get("fibs").from_json({"factor": 8})
    ratings: dict[int, tuple[float, int, int]] = {1: (1600.25, 30, 0)}
    lines: list[Line] = [
        {
            "type": "pool",
            "format": FORMAT,
            "pool": "club",
            "name": "Club",
            "system": "fibs",
            "eras": [{"until": "2026-02-01T00:00:00+00:00", "parameters": old.params.to_json()}],
            "parameters": new.params.to_json(),
        },
        {"type": "opening", "player": 1, "rating": 1600.25, "experience": 30, "date": "2026-01-01"},
    ]
    for number, (month, day, length) in enumerate([(1, 3, 5), (1, 9, None), (1, 31, 7), (2, 1, 3), (2, 2, 11)], start=101):
        players = (1 + number % 3, 1 + (number + 1) % 3)
        result = {"scores": [1.0, 0.0], "kind": "tournament"} | ({"length": length} if length else {})
        line: Line = {
            "type": "match",
            "match": number,
            "ended_at": f"2026-{month:02}-{day:02}T20:00:00+00:00" if day > 1 else "2026-02-01T00:00:00+00:00",
            "timed": day > 1,
            "sequence": 0,
            "players": list(players),
            "result": result,
            "not_counted": "" if length else "unlimited",
        }
        if length:
            system = old if month == 1 else new
            before = [ratings.get(player, (1500.0, 0, 0)) for player in players]
            rated = system.rate(
                [Seat(value, experience) for value, experience, _ in before], Result(scores=(1.0, 0.0), length=length)
            )
            line["published"] = []
            for player, (value, experience, played), change in zip(players, before, rated.changes, strict=True):
                ratings[player] = (value + change, experience + rated.gained, played + 1)
                line["published"].append([value, change, value + change, experience, experience + rated.gained])
        lines.append(line)
    lines += [
        {"type": "rating", "player": player, "name": f"P{player}", "rating": value, "experience": experience, "matches": played}
        for player, (value, experience, played) in sorted(ratings.items())
    ]
    return [*lines, {"type": "end", "matches": 5, "ratings": len(ratings)}]


def sealed(lines: list[Line]) -> list[str]:
    chain = Chain()
    return [chain.sealed({name: value for name, value in line.items() if name != "digest"}) for line in lines]


def test_records_that_follow() -> None:
    checked = check(sealed(records()))
    assert (checked.pool, checked.system, checked.matches, checked.counted, checked.ratings) == ("Club", "fibs", 5, 4, 3)
    assert checked.digest == json.loads(sealed(records())[-1])["digest"]


def changed(place: int, *path: Any) -> Callable[[list[Line]], None]:
    *where, value = path

    def change(lines: list[Line]) -> None:
        inside: Any = lines[place]
        for name in where[:-1]:
            inside = inside[name]
        assert inside[where[-1]] != value
        inside[where[-1]] = value

    return change


def dropped(place: int) -> Callable[[list[Line]], None]:
    return lambda lines: lines.pop(place) and None


def swapped(one: int, two: int) -> Callable[[list[Line]], None]:
    def swap(lines: list[Line]) -> None:
        lines[one], lines[two] = lines[two], lines[one]

    return swap


TAMPERED: list[tuple[str, Callable[[list[Line]], None], str, str]] = [
    # What was done, how, the record that a broken digest names, the one that is named when all digests are made anew.
    ("a length", changed(2, "result", "length", 7), "match 101 (line 3)", "match 101 (line 3): change of player 3"),
    ("a later length", changed(6, "result", "length", 9), "match 105 (line 7)", "match 105 (line 7): change of player"),
    ("a winner", changed(4, "result", "scores", [0.0, 1.0]), "match 103 (line 5)", "match 103 (line 5): change of player"),
    ("a player", changed(2, "players", 0, 2), "match 101 (line 3)", "match 103 (line 5): before of player 2"),
    ("a published rating", changed(4, "published", 0, 2, 1500.0), "match 103 (line 5)", "match 103 (line 5): after of player"),
    ("its last bit", changed(9, "rating", None), "rating of player 3", "rating of player 3"),
    ("a date", changed(2, "ended_at", "2026-02-20T00:00:00+00:00"), "match 101", "match 101 (line 3): change of player"),
    ("a parameter", changed(0, "parameters", "factor", 4.0), "the pool's parameters", "match 104 (line 6): change of player"),
    ("an old one", changed(0, "eras", 0, "parameters", "spread", 2001.0), "the pool's parameters", "match 101"),
    ("where an era ends", changed(0, "eras", 0, "until", "2026-01-31T00:00:00+00:00"), "the pool's parameters", "match 103"),
    ("the ramp", changed(0, "parameters", "ramp", None), "the pool's parameters", "match 104"),
    ("an opening", changed(1, "rating", 1600.0), "opening of player 1", "match 102|match 103|match 101"),
    (
        "a rating now",
        changed(8, "rating", 1500.0),
        "rating of player 2 of 'P2' (line 9)",
        "rating of player 2 of 'P2' (line 9): its rating",
    ),
    ("an experience now", changed(7, "experience", 1), "rating of player 1", "rating of player 1"),
    ("a reason", changed(3, "not_counted", ""), "match 102", "match 102 (line 4): is said not to count because of ''"),
    ("a name", changed(8, "name", "Nobody"), "rating of player 2", ""),
    ("a record left out", dropped(4), "match 104 (line 5)", "match 104 (line 5): before of player"),
    ("one that did not count left out", dropped(3), "match 103 (line 4)", "line 10: says that there are 5 matches; there are 4"),
    ("records in another order", swapped(4, 6), "match 105 (line 5)", "match 105 (line 5): "),
    ("one that did not count moved", swapped(2, 3), "match 102 (line 3)", "match 101 (line 4): is not in the order of rating"),
    ("a rating left out", dropped(8), "rating of player 3", "says that there are 3 ratings; there are 2"),
    ("the end left out", dropped(10), "the file: is cut off", "the file: is cut off"),
]


@pytest.mark.parametrize(("what", "tamper", "named", "named_anew"), TAMPERED, ids=[what for what, *_ in TAMPERED])
def test_what_was_changed_is_found(what: str, tamper: Callable[[list[Line]], None], named: str, named_anew: str) -> None:
    lines = [json.loads(line) for line in sealed(records())]
    tamper(lines)
    if what == "its last bit":
        original = records()[9]["rating"]
        lines[9]["rating"] = math.nextafter(original, 0)
    with pytest.raises(Wrong) as wrong:
        check([json.dumps(line) for line in lines])
    assert str(wrong.value).startswith(named), wrong.value
    if not named_anew:
        # A name follows from nothing: only the digest tells that it was changed.
        check(sealed(lines))
        return
    with pytest.raises(Wrong) as wrong:
        check(sealed(lines))
    assert any(part in str(wrong.value) for part in named_anew.split("|")), wrong.value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("[]", "not a JSON object"),
        ("nonsense", "is not JSON"),
        ('{"type": "pool", "rating": NaN}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("x" * 1_000_001, "longer than any"),
        ("{}", "digest does not fit"),
        (Chain().sealed({"type": "match"}), "the first line, and no other"),
        (Chain().sealed({"type": "pool"}), "cannot be read"),
        (Chain().sealed({"type": "pool", "format": "x"}), "of the format"),
        (Chain().sealed({"type": "pool", "format": FORMAT, "system": "x", "eras": [], "parameters": {}}), "not known"),
        (
            Chain().sealed({"type": "pool", "format": FORMAT, "system": "fibs", "eras": [], "parameters": {"k": 1}}),
            "does not accept",
        ),
        (Chain().sealed({"type": "pool", "format": FORMAT, "system": "fibs", "eras": 5, "parameters": {}}), "cannot be read"),
    ],
)
def test_a_file_that_is_none(text: str, why: str) -> None:
    with pytest.raises(Wrong, match=why):
        check([text])


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(0, 3), max_size=3),
    st.just({}),
)


@given(st.integers(0, 10), st.data(), VALUES)
def test_any_value_anywhere_is_an_answer(place: int, data: st.DataObject, value: Any) -> None:
    lines = records()
    inside: Any = lines[place]
    while True:
        key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
        if isinstance(inside[key], (dict, list)) and inside[key] and data.draw(st.booleans()):
            inside = inside[key]
            continue
        inside[key] = value
        break
    with contextlib.suppress(Wrong):
        assert check(sealed(lines)).matches == 5


def run(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """The checker without any package but Python's own: -S leaves out what is installed."""
    command = [sys.executable, "-S", "-m", "players.systems.check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, input=given, timeout=60, encoding="utf-8")


def test_the_program_needs_no_package(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(sealed(records())) + "\n", encoding="utf-8")
    done = run(str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All of it follows: 5 matches of Club (fibs), 4 of them counted,\nand 3 ratings.")
    assert run("-", given=path.read_text(encoding="utf-8")).returncode == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"length": 7', '"length": 5'), encoding="utf-8")
    done = run(str(path))
    assert done.returncode == 1 and done.stdout.startswith("It does not follow. match 103 (line 5): its digest does not fit")


def test_what_the_program_cannot_read(tmp_path: Path) -> None:
    assert run().returncode == 2
    assert run(str(tmp_path / "none")).returncode == 2
    path = tmp_path / "picture"
    path.write_bytes(b"\x89PNG\xff")
    assert run(str(path)).returncode == 1
