"""How the work of a job is kept in its row, as JSON: corrections, a match that is entered late, other parameters, or a merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from matches.corrections import Correction, Corrections
from matches.entries import Entry
from matches.merging import Merging, Undoing
from matches.models import CorrectionJob, Match, Merge, Revision
from matches.parameters import NewParameters
from matches.revising import Change
from players.models import Player
from players.systems.base import Result

Row = dict[str, Any]


def rows_of(corrections: Sequence[Correction]) -> list[Row]:
    return [_row(correction) for correction in corrections]


def corrections_of(job: CorrectionJob) -> list[Correction]:
    players = _players(job)
    return [
        Correction(
            Match(pk=row["match"], version=row["version"]),
            entry=_entry(row["entry"], players) if row.get("entry") else None,
            void=row["void"],
        )
        for row in job.work
    ]


def late_row(entry: Entry) -> Row:
    """The row of an entry that is no correction. Its `match` is the open match that it completes, and the completed one in the
    end."""
    opened = {"match": entry.match.pk if entry.match else None, "version": entry.match.version if entry.match else None}
    return {**opened, "void": None, "entry": _entry_row(entry), "late": True}


def late_entry(job: CorrectionJob) -> Entry | None:
    """The entry of such a job; None for one that corrects."""
    [row, *_] = job.work
    if not row.get("late"):
        return None
    opened = None if row["version"] is None else Match(pk=row["match"], version=row["version"])
    return _entry(row["entry"], _players(job), match=opened, entered_by=job.made_by)


def parameters_row(changes: Mapping[str, Any], since: datetime | None) -> Row:
    return {"parameters": dict(changes), "since": since and since.isoformat()}


def merge_row(keep: Player, duplicate: Player) -> Row:
    return {"keep": keep.pk, "duplicate": duplicate.pk}


def undo_row(merge: Merge) -> Row:
    return {"undo": merge.pk, "keep": merge.keep_id, "duplicate": merge.duplicate_id}


def change_of(job: CorrectionJob) -> Change:
    """What the job is to revise, unless it enters a match late."""
    row, kind = job.work[0], kind_of(job)
    if kind == Revision.Kind.UNMERGE:
        return Undoing(row["undo"])
    if kind == Revision.Kind.MERGE:
        return Merging(row["keep"], row["duplicate"])
    assert job.pool_id is not None
    if kind == Revision.Kind.PARAMETERS:
        return NewParameters(job.pool_id, row["parameters"], row["since"] and datetime.fromisoformat(row["since"]))
    return Corrections(job.pool_id, corrections_of(job))


def people_of(job: CorrectionJob) -> tuple[int, int] | None:
    """The duplicate and whom he is merged into, by their ids; None where it is about something else."""
    row = job.work[0]
    return (row["duplicate"], row["keep"]) if "keep" in row else None


def kind_of(job: CorrectionJob) -> Revision.Kind:
    """Of which kind the revision will be."""
    row = job.work[0]
    if "undo" in row:
        return Revision.Kind.UNMERGE
    if "keep" in row:
        return Revision.Kind.MERGE
    if "parameters" in row:
        return Revision.Kind.PARAMETERS
    if row.get("late"):
        return Revision.Kind.LATE
    if row["void"] is None:
        return Revision.Kind.EDIT
    return Revision.Kind.VOID if row["void"] else Revision.Kind.UNVOID


def match_ids(job: CorrectionJob) -> list[int]:
    """The stored matches that it is about."""
    return [row["match"] for row in job.work if row.get("match") is not None]


def _row(correction: Correction) -> Row:
    row: Row = {"match": correction.match.pk, "version": correction.match.version, "void": correction.void}
    return row if correction.entry is None else row | {"entry": _entry_row(correction.entry)}


def _entry_row(entry: Entry) -> Row:
    result = {name: getattr(entry.result, name) for name in Result.__slots__}
    return {
        "players": [player.pk for player in entry.players],
        "ended_at": entry.ended_at.isoformat(),
        "timed": entry.timed,
        "sequence": entry.sequence,
        "result": {**result, "stake": None if entry.result.stake is None else str(entry.result.stake)},
        "entry_token": entry.entry_token and str(entry.entry_token),
    }


def _players(job: CorrectionJob) -> dict[int, Player]:
    return Player.objects.in_bulk({pk for row in job.work for pk in row.get("entry", {}).get("players", ())})


def _entry(row: Row, players: dict[int, Player], **more: Any) -> Entry:
    result = dict(row["result"])
    for name in ("scores", "places"):
        result[name] = result[name] and tuple(result[name])
    result["stake"] = None if result["stake"] is None else Decimal(result["stake"])
    return Entry(
        players=[players[pk] for pk in row["players"]],
        result=Result(**result),
        ended_at=datetime.fromisoformat(row["ended_at"]),
        timed=row["timed"],
        sequence=row["sequence"],
        entry_token=row["entry_token"] and UUID(row["entry_token"]),
        **more,
    )
