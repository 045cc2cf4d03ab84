"""Which rows of a file are matches that are there already.

A row with an `external_id` is the match of that id at its source. Any other is told by its content and by how many equal rows
there are: its id is `row:` and the first 40 hex digits of the SHA-256 of the JSON list `[slug of the pool, content, ordinal]`,
with the content as `matches.imports.csv_rows` writes it and the ordinal 1 for the first of equal rows, 2 for the second. So rows
that repeat are matches of their own, and a list that has grown adds what is new.

The sequence is no part of the content: it says where a match stands, not which one it is. Were it part, a list that gains the
column, or whose numbers move up because a row was inserted, would add every match a second time.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matches.entries import Entry, differences
from matches.imports.csv_rows import Row, Rows
from matches.models import Match
from players.ledger import chunks
from players.models import Player, Pool
from players.services import players_by_name
from players.systems.base import Refused


class Stored(NamedTuple):
    """What is known of a stored match that came from a row without an id of its own."""

    match: int
    pool: int
    sequence: int


def row_id(pool: Pool, content: str, ordinal: int) -> str:
    """The id of a row that brings none."""
    text = json.dumps([pool.slug, content, ordinal], ensure_ascii=False)
    return f"row:{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def split_known(pool: Pool, rows: Rows, source: str) -> tuple[list[Row], int, int]:
    """The rows that are new, how many are there already, and how many of these stand at another place within their date.

    Sets the id of each row. Rows that say something else than the stored match of their id are refused. A row without an id of
    its own is the match that it once became, also where that was corrected, voided or its player renamed since.
    """
    stored = _give_ids(pool, rows.taken, source)
    new, known, moved = [], 0, 0
    own = [row for row in rows.taken if row.has_own_id]
    differing = dict(_differing(pool, own, rows.has_sequence, source))
    seen: dict[str, Row] = {}
    for row in rows.taken:
        first = seen.setdefault(row.external_id, row)
        if first is not row:
            if first.content != row.content or (rows.has_sequence and first.sequence != row.sequence):
                rows.refuse(row.line, Refused("external_id", "id_again", line=first.line))
            else:
                known += 1
        elif row.has_own_id and row.line in differing:
            match, fields = differing[row.line]
            if fields:
                rows.refuse(row.line, Refused("external_id", "stored_differs", match=match, fields=", ".join(fields)))
            else:
                known += 1
        elif (there := stored.get(row.external_id)) is not None:
            if rows.has_sequence and there.sequence != row.sequence:
                rows.refuse(row.line, Refused("sequence", "stored_sequence", match=there.match, stored=there.sequence))
                continue
            known += 1
            moved += there.sequence != row.sequence
        else:
            new.append(row)
    return new, known, moved


def also_from(rows: Sequence[Row], source: str) -> str:
    """Another source from which the first new rows were imported already, or "": most likely the same list under another name."""
    ids = [row.external_id for row in rows if not row.has_own_id]
    others = Match.objects.exclude(source__in=("", source)).order_by("source").values_list("source", flat=True).distinct()
    for chunk in chunks(ids):
        found = Match.objects.filter(source__in=list(others), external_id__in=chunk).values_list("source", flat=True).first()
        return found or ""
    return ""


def _give_ids(pool: Pool, rows: Sequence[Row], source: str) -> dict[str, Stored]:
    """Set the ids of rows that bring none, and return what is stored under them."""
    equal: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.has_own_id:
            equal[row.content].append(row)
    for content, group in equal.items():
        # In the order of rating, so that shuffled rows that carry their sequence keep their ids.
        group.sort(key=lambda row: (row.sequence, row.line))
        for ordinal, row in enumerate(group, start=1):
            row.external_id = row_id(pool, content, ordinal)
    stored = {}
    for chunk in chunks([row.external_id for group in equal.values() for row in group]):
        matches = Match.objects.filter(source=source, external_id__in=chunk)
        for external_id, *values in matches.values_list("external_id", "pk", "pool_id", "sequence"):
            stored[external_id] = Stored(*values)
    for group in equal.values():
        _match_up(group, stored)
    return stored


def _match_up(equal: Sequence[Row], stored: dict[str, Stored]) -> None:
    """Among equal rows, give a row the id of the stored match with its sequence: a row inserted before it took its ordinal."""
    ids = [row.external_id for row in equal]
    by_sequence = defaultdict(list)
    for external_id in reversed(ids):
        if external_id in stored:
            by_sequence[stored[external_id].sequence].append(external_id)
    if len(equal) == 1 or not by_sequence:
        return
    chosen = {row.line: by_sequence[row.sequence].pop() for row in equal if by_sequence.get(row.sequence)}
    used = set(chosen.values())
    left = iter([external_id for external_id in ids if external_id not in used])
    for row in equal:
        row.external_id = chosen.get(row.line) or next(left)


def _differing(pool: Pool, rows: Sequence[Row], has_sequence: bool, source: str) -> Iterator[tuple[int, tuple[int, list[str]]]]:
    """For rows whose own id is stored: the line, the stored match, and the fields in which the two differ."""
    for chunk in chunks(rows):
        matches = Match.objects.filter(source=source, external_id__in=[row.external_id for row in chunk])
        stored = {match.external_id: match for match in matches.prefetch_related("participants")}
        if not stored:
            continue
        players = players_by_name(name for row in chunk for name in row.names)
        for row in chunk:
            if (match := stored.get(row.external_id)) is not None:
                seated = [players.get(key, Player(name=name)) for key, name in zip(row.keys, row.names, strict=True)]
                fields = differences(match, list(match.participants.all()), pool, entry_of(row, seated))
                yield row.line, (match.pk, [name for name in fields if name != "sequence" or has_sequence])


def entry_of(row: Row, players: Sequence[Player], source: str = "") -> Entry:
    """The row as it enters by the one door for results."""
    return Entry(
        players=players,
        result=row.result,
        ended_at=row.ended_at,
        timed=row.timed,
        sequence=row.sequence,
        source=source,
        external_id=row.external_id,
    )
