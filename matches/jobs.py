"""Corrections in the background, for those that rate too many matches anew for a web request.

A job is a row: made in the request, previewed and then applied by a Celery task, which the row survives. A worker that is killed
leaves the old ratings standing, and the sweep hands its job to another. Progress goes through the cache: nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from matches.corrections import Correction, Moved, Preview, affected, correct, preview
from matches.entries import BatchRefused, Conflict, Entry
from matches.models import CorrectionJob, Match
from players import wording
from players.models import Player, Pool
from players.systems.base import Result

SMALL = 2000
"""Corrections that rate at most as many matches anew are made in the request."""
LOST = timedelta(minutes=5)
"""A running job that has shown no sign of life for as long is handed out again."""
SHOWN_MOVES = 1000
"""Moves that a stored preview keeps; the rest is counted."""
Status = CorrectionJob.Status


def start(pool: Pool, corrections: Sequence[Correction], *, reason: str, made_by: User | None = None) -> CorrectionJob:
    """Make the job and send it to the workers for its preview. Raises BatchRefused, Conflict."""
    job = CorrectionJob.objects.create(
        pool=pool,
        corrections=[_to_json(correction) for correction in corrections],
        reason=reason,
        made_by=made_by,
        total=affected(pool, corrections),
    )
    _send(job)
    return job


def confirm(job: CorrectionJob) -> bool:
    """Apply what was previewed; False where the job is no longer waiting for it."""
    waiting = CorrectionJob.objects.filter(pk=job.pk, status=Status.PREVIEWED)
    if not waiting.update(status=Status.APPLYING, touched_at=timezone.now()):
        return False
    _send(job)
    return True


def sweep(now: datetime) -> int:
    """Send again the jobs that nobody works on; how many."""
    lost = CorrectionJob.objects.filter(status__in=(Status.PREVIEWING, Status.APPLYING), touched_at__lt=now - LOST)
    for job in lost:
        _send(job)
    return len(lost)


def _send(job: CorrectionJob) -> None:
    from matches.tasks import run_correction

    # Robust: a broker that is gone fails nothing, since the sweep finds the row.
    transaction.on_commit(lambda: run_correction.delay(job.pk), robust=True)


def run(job_id: int, report: Callable[[int, int], None] | None = None) -> CorrectionJob:
    """Do what the job waits for: preview it or apply it. A job that is done, or that another worker holds, is left alone.

    `report` is told (matches rated so far, matches to rate).
    """
    job = CorrectionJob.objects.select_related("pool", "made_by").get(pk=job_id)
    if job.status not in (Status.PREVIEWING, Status.APPLYING) or not cache.add(_lock_key(job), True, timeout=LOST.seconds):
        return job

    def progress(done: int) -> None:
        cache.set(_progress_key(job), done, timeout=3600)
        cache.set(_lock_key(job), True, timeout=LOST.seconds)
        if report is not None:
            report(done, job.total)

    try:
        corrections = _from_json(job)
        if job.status == Status.PREVIEWING:
            _store_preview(job, preview(job.pool, corrections, progress=progress))
        else:
            assert job.preview is not None
            try:
                job.revision = correct(
                    job.pool,
                    corrections,
                    reason=job.reason,
                    made_by=job.made_by,
                    token=job.preview["token"],
                    progress=progress,
                )
                job.status = Status.DONE
            except Moved as moved:
                _store_preview(job, moved.preview)
    except (BatchRefused, Conflict) as error:
        job.status = Status.FAILED
        job.error = wording.refusal(error.refused) if isinstance(error, BatchRefused) else str(error)
    finally:
        cache.delete(_lock_key(job))
    job.touched_at = timezone.now()
    job.save(update_fields=["status", "preview", "revision", "error", "touched_at"])
    return job


def progress_of(job: CorrectionJob) -> tuple[int, int]:
    """Matches rated so far in the present step, and matches to rate."""
    return cache.get(_progress_key(job), 0), job.total


def _progress_key(job: CorrectionJob) -> str:
    return f"correction-progress-{job.pk}-{job.status}"


def _lock_key(job: CorrectionJob) -> str:
    return f"correction-lock-{job.pk}"


def _store_preview(job: CorrectionJob, seen: Preview) -> None:
    moves = [
        {"player": move.player.pk, "name": move.player.name, "rating": move.rating, "rank": move.rank}
        for move in seen.moves[:SHOWN_MOVES]
    ]
    job.preview = {"moves": moves, "moved": len(seen.moves), "lines": seen.lines, "matches": seen.matches, "token": seen.token}
    job.status = Status.PREVIEWED


def _to_json(correction: Correction) -> dict[str, Any]:
    data: dict[str, Any] = {"match": correction.match.pk, "version": correction.match.version, "void": correction.void}
    if (entry := correction.entry) is not None:
        result = {name: getattr(entry.result, name) for name in Result.__slots__}
        data["entry"] = {
            "players": [player.pk for player in entry.players],
            "ended_at": entry.ended_at.isoformat(),
            "timed": entry.timed,
            "sequence": entry.sequence,
            "result": {**result, "stake": None if entry.result.stake is None else str(entry.result.stake)},
        }
    return data


def _from_json(job: CorrectionJob) -> list[Correction]:
    wanted = {pk for data in job.corrections for pk in data.get("entry", {}).get("players", ())}
    players = Player.objects.in_bulk(wanted)
    return [_correction(data, players) for data in job.corrections]


def _correction(data: dict[str, Any], players: dict[int, Player]) -> Correction:
    entry = None
    if sent := data.get("entry"):
        result = dict(sent["result"])
        for name in ("scores", "places"):
            result[name] = result[name] and tuple(result[name])
        result["stake"] = None if result["stake"] is None else Decimal(result["stake"])
        entry = Entry(
            players=[players[pk] for pk in sent["players"]],
            result=Result(**result),
            ended_at=datetime.fromisoformat(sent["ended_at"]),
            timed=sent["timed"],
            sequence=sent["sequence"],
        )
    return Correction(Match(pk=data["match"], version=data["version"]), entry=entry, void=data["void"])
