"""Whatever the bytes: a file is read, row by row taken or refused, or refused as a whole. Nothing else is raised."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matches.imports.csv_rows import COLUMNS, Defaults, read_rows
from matches.imports.csv_table import BadFile
from players import systems

HEADERS = (
    ("date", "winner", "loser", "length", "sequence", "kind", "external_id"),
    ("date", "ended_at", "player1", "player2", "result", "chance", "length", "points", "stake", "real_money", "kind"),
    ("date", "player1", "player2", "player3", "player4", "rank1", "rank2", "rank3", "rank4", "deals"),
    ("ended_at", "player1", "player2", "result"),
)
LIKELY = st.sampled_from(
    ["", "1", "0", "0.5", "-1", "1e400", "5", "99", "2026-03-01", "2026-03-01T20:00Z", "0000-00-00", "9999-12-31T23:59-23:59"]
    + ["Vera", "vera", "yes", "no", "table", "\u0130", "\ufdfa", "=1", '"', ",", "\n", "\r", "1" * 400, "NaN", "²", "１"]
)
CELL = LIKELY | st.text(max_size=12)


@given(st.binary(max_size=200), st.sampled_from(systems.keys()))
def test_any_bytes(data: bytes, key: str) -> None:
    with pytest.raises(BadFile):  # no header by chance
        read_rows(data, systems.get(key)(), Defaults())


@given(
    st.sampled_from(HEADERS) | st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=8).map(tuple),
    st.lists(st.lists(CELL, max_size=12), max_size=6),
    st.sampled_from(systems.keys()),
    st.booleans(),
)
def test_any_cells(header: tuple[str, ...], rows: list[list[str]], key: str, right_width: bool) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    if right_width:
        rows = [(row + [""] * len(header))[: len(header)] for row in rows]
    try:
        writer.writerows(rows)
        data = text.getvalue().encode()
    except (UnicodeEncodeError, csv.Error):
        return
    try:
        read = read_rows(data, systems.get(key)(), Defaults(kind="table"))
    except BadFile:
        return
    assert all(refused.line >= 2 and refused.field and refused.message for refused in read.refused)
    for row in read.taken:
        assert all(row.names) and len(row.names) == len(read.player_columns)
        assert row.ended_at.tzinfo is not None and row.content
