"""Corrections in the background, for those that rate too many matches anew for a web request.

A job is a row: made in the request, previewed and then applied by a Celery task, which the row survives. A worker that is killed
leaves the old ratings standing, and the sweep hands its job to another. Progress goes through the cache: nothing depends on it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from matches.corrections import Correction, Move, Moved, Preview, affected, correct, made_before, preview
from matches.entries import BatchRefused, Conflict, Entry
from matches.models import CorrectionJob, Match
from matches.replay import Overtaken
from matches.words import overtaken_sentence
from players import wording
from players.models import Player, Pool
from players.pages.reader import zone_of
from players.systems.base import Result

logger = logging.getLogger(__name__)

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


def confirm(job: CorrectionJob, token: str | None = None) -> bool:
    """Apply what was previewed; False where the job is no longer waiting for it, or not with the preview of this token."""
    waiting = CorrectionJob.objects.filter(pk=job.pk, status=Status.PREVIEWED)
    if token is not None:
        waiting = waiting.filter(preview__token=token)
    if not waiting.update(status=Status.APPLYING, touched_at=timezone.now()):
        return False
    _send(job)
    return True


def withdraw(job: CorrectionJob, why: str) -> bool:
    """Give up a job that is not confirmed: it writes nothing. False where it is confirmed or over."""
    waiting = CorrectionJob.objects.filter(pk=job.pk, status__in=(Status.PREVIEWING, Status.PREVIEWED))
    return bool(waiting.update(status=Status.FAILED, error=why, touched_at=timezone.now()))


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

    status, began = job.status, time.time()

    def progress(done: int) -> None:
        cache.set(_progress_key(job), (done, time.time() - began), timeout=3600)
        cache.set(_lock_key(job), True, timeout=LOST.seconds)
        if report is not None:
            report(done, job.total)

    corrections: list[Correction] = []
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
                _store_preview(job, moved.preview, again=True)
    except (OperationalError, InterfaceError, Overtaken):
        raise  # the sweep tries again
    except Exception as error:
        # A worker that was lost between the writing and the last lines here had done it.
        if corrections and status == Status.APPLYING:
            job.revision = made_before(corrections, reason=job.reason, made_by=job.made_by)
        job.status = Status.DONE if job.revision else Status.FAILED
        job.error = "" if job.revision else _error(job, error)
    finally:
        cache.delete(_lock_key(job))
    # Where it was withdrawn meanwhile, it stays so.
    CorrectionJob.objects.filter(pk=job.pk, status=status).update(
        status=job.status,
        preview=job.preview,
        total=job.total,
        revision=job.revision,
        error=job.error,
        touched_at=timezone.now(),
    )
    job.refresh_from_db()
    return job


def _error(job: CorrectionJob, error: Exception) -> str:
    """Why a job failed, in the words of whoever started it."""
    reader: Player | None = getattr(job.made_by, "player", None)
    with translation.override(reader.language if reader else settings.LANGUAGE_CODE), timezone.override(zone_of(reader)):
        if isinstance(error, BatchRefused):
            return f"#{job.corrections[error.index]['match']} · {wording.refusal(error.refused)}"
        if isinstance(error, Conflict):
            return overtaken_sentence(error)
        logger.error("correction %s failed", job.pk, exc_info=error)
        return _("The site made an error, which stands in its log. Nothing was written.")


@dataclass(frozen=True, slots=True)
class Advance:
    """How far a running job is: matches rated so far in its present step, of how many, and for how long it has done so (seconds).

    `rate` (matches a second) and `left` (seconds) are None until there is something to tell them by.
    """

    done: int
    total: int
    seconds: float

    @property
    def rate(self) -> float | None:
        return self.done / self.seconds if self.done and self.seconds > 0 else None

    @property
    def left(self) -> float | None:
        return None if self.rate is None else max(0, self.total - self.done) / self.rate

    @property
    def writing(self) -> bool:
        """Whether everything is rated, and only to be written where it is applied."""
        return self.done >= self.total > 0


def progress_of(job: CorrectionJob) -> Advance:
    """How far the present step of a job is. No query."""
    done, seconds = cache.get(_progress_key(job), (0, 0.0))
    return Advance(min(done, job.total), job.total, seconds)


def preview_of(job: CorrectionJob) -> Preview | None:
    """The stored preview, with the first of its moves; how many there are is in `job.preview`. Players have id and name only."""
    if (stored := job.preview) is None:
        return None
    moves = [
        Move(Player(pk=move["player"], name=move["name"]), tuple(move["rating"]), tuple(move["rank"])) for move in stored["moves"]
    ]
    return Preview(moves, stored["lines"], stored["matches"], stored["token"], stored.get("details", {}))


def match_ids(job: CorrectionJob) -> list[int]:
    """The matches that the job corrects."""
    return [data["match"] for data in job.corrections]


def _progress_key(job: CorrectionJob) -> str:
    return f"correction-progress-{job.pk}-{job.status}"


def _lock_key(job: CorrectionJob) -> str:
    return f"correction-lock-{job.pk}"


def _store_preview(job: CorrectionJob, seen: Preview, *, again: bool = False) -> None:
    """`again`: the pool had moved on when an earlier preview was confirmed."""
    moves = [
        {"player": move.player.pk, "name": move.player.name, "rating": move.rating, "rank": move.rank}
        for move in seen.moves[:SHOWN_MOVES]
    ]
    numbers = {"moved": len(seen.moves), "lines": seen.lines, "matches": seen.matches}
    job.preview = {"moves": moves, **numbers, "token": seen.token, "details": seen.details, "again": again}
    job.total = seen.matches
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
