"""Revisions and late matches in the background, where they rate too many matches anew for a web request.

A job is a row: made in the request, previewed and then applied by a Celery task, which the row survives. A worker that is killed
leaves the old ratings standing, and the sweep hands its job to another. Progress goes through the cache: nothing depends on it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from matches import late, revising
from matches.corrections import Correction, affected
from matches.entries import BatchRefused, Conflict, Entry
from matches.job_rows import change_of, kind_of, late_entry, late_row, merge_row, parameters_row, rows_of, undo_row
from matches.merging import MergePreview, Merging, Undoing
from matches.models import CorrectionJob, Match, Merge, Revision
from matches.parameters import NewParameters
from matches.rating import MatchRefused
from matches.replay import Overtaken, Progress
from matches.revising import Move, Moved, NothingChanges, Preview
from matches.words import conflict_sentence, overtaken_sentence, refused_sentence, unchanged_sentence
from players import wording
from players.models import Player, Pool
from players.pages.reader import zone_of
from players.systems.base import Refused
from players.systems.params import BadParameter

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
    total = affected(pool, corrections)
    return _start(pool=pool, work=rows_of(corrections), reason=reason, made_by=made_by, total=total)


def start_parameters(
    pool: Pool, changes: Mapping[str, Any], since: datetime | None, *, reason: str, made_by: User | None = None
) -> CorrectionJob:
    """The same for other parameters of a pool."""
    total = revising.affected(NewParameters(pool.pk, changes, since), now=timezone.now())
    return _start(pool=pool, work=[parameters_row(changes, since)], reason=reason, made_by=made_by, total=total)


def start_merge(keep: Player, duplicate: Player, *, reason: str, made_by: User | None = None) -> CorrectionJob:
    """The same for a merge."""
    total = revising.affected(Merging(keep.pk, duplicate.pk), now=timezone.now())
    return _start(work=[merge_row(keep, duplicate)], reason=reason, made_by=made_by, total=total)


def start_undo(merge: Merge, *, reason: str, made_by: User | None = None) -> CorrectionJob:
    """The same for a merge that is to be undone."""
    total = revising.affected(Undoing(merge.pk), now=timezone.now())
    return _start(work=[undo_row(merge)], reason=reason, made_by=made_by, total=total)


def start_late(pool: Pool, entry: Entry, *, made_by: User) -> CorrectionJob:
    """The same for a match that is entered late, and possible. A second click finds the job that the first one made."""
    known = CorrectionJob.objects.filter(work__0__entry__entry_token=str(entry.entry_token)).exclude(
        status__in=(Status.FAILED, Status.WITHDRAWN)
    )
    if entry.entry_token is not None and (job := known.first()):
        return job
    return _start(pool=pool, work=[late_row(entry)], made_by=made_by, total=late.affected(pool, entry))


def _start(**fields: Any) -> CorrectionJob:
    job = CorrectionJob.objects.create(**fields)
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
    return bool(waiting.update(status=Status.WITHDRAWN, error=why, touched_at=timezone.now()))


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


class _MadeAlready(Exception):
    """Another worker has applied the job meanwhile."""


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

    try:
        if job.status == Status.PREVIEWING:
            _store_preview(job, _preview(job, progress))
        else:
            _apply(job, progress)
            job.status = Status.DONE
    except Moved as moved:
        _store_preview(job, moved.preview, again=True)
    except _MadeAlready:
        pass
    except (OperationalError, InterfaceError, Overtaken):
        raise  # the sweep tries again
    except Exception as error:
        job.status, job.error = Status.FAILED, _error(job, error)
    finally:
        cache.delete(_lock_key(job))
    # Where it was withdrawn meanwhile, it stays so.
    CorrectionJob.objects.filter(pk=job.pk, status=status).update(
        status=job.status,
        work=job.work,
        preview=job.preview,
        total=job.total,
        revision=job.revision,
        error=job.error,
        touched_at=timezone.now(),
    )
    job.refresh_from_db()
    return job


def _preview(job: CorrectionJob, progress: Progress) -> Any:
    entry = late_entry(job)
    if entry is None:
        return revising.preview(change_of(job), now=timezone.now(), progress=progress)
    assert job.pool is not None
    return late.preview(job.pool, entry, now=timezone.now(), progress=progress)


def _apply(job: CorrectionJob, progress: Progress) -> None:
    """Make what was previewed, once: what is made is stored as done in the same transaction."""
    assert job.preview is not None
    entry = late_entry(job)

    def made(revisions: list[Revision]) -> None:
        job.revision = revisions[0] if revisions else None
        if entry is not None and entry.entry_token is not None:
            job.work[0]["match"] = Match.objects.values_list("pk", flat=True).get(entry_token=entry.entry_token)
        applying = CorrectionJob.objects.filter(pk=job.pk, status=Status.APPLYING)
        done = {"status": Status.DONE, "revision": job.revision, "work": job.work, "touched_at": timezone.now()}
        if not applying.update(**done):
            raise _MadeAlready

    how: dict[str, Any] = {"token": job.preview["basis"], "now": timezone.now(), "progress": progress, "made": made}
    if entry is None:
        revising.revise(change_of(job), reason=job.reason, made_by=job.made_by, **how)
    else:
        assert job.pool is not None
        late.complete(job.pool, entry, **how)


def _error(job: CorrectionJob, error: Exception) -> str:
    """Why a job failed, in the words of whoever started it."""
    reader: Player | None = getattr(job.made_by, "player", None)
    with translation.override(reader.speaks if reader else settings.LANGUAGE_CODE), timezone.override(zone_of(reader)):
        if isinstance(error, BatchRefused):
            return f"#{job.work[error.index]['match']} · {wording.refusal(error.refused)}"
        if isinstance(error, MatchRefused):
            return refused_sentence(error)
        if isinstance(error, NothingChanges):
            return unchanged_sentence(kind_of(job))
        if isinstance(error, ValidationError):
            return " ".join(error.messages)
        if isinstance(error, BadParameter):
            return wording.bad_parameter(error)
        if isinstance(error, Refused):
            return wording.refusal(error)
        if isinstance(error, Conflict):
            return conflict_sentence(error) if kind_of(job) == Revision.Kind.LATE else overtaken_sentence(error)
        logger.error("job %s failed", job.pk, exc_info=error)
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


@dataclass(frozen=True, slots=True)
class StoredPreview:
    """The stored preview of a job: of each pool the preview, with the first of its moves, and how many there are. The players of
    the moves have id and name only."""

    pools: Sequence[tuple[Pool, Preview, int]]
    token: str
    again: bool


def preview_of(job: CorrectionJob) -> StoredPreview | None:
    """What is stored, or None. One query for the pools."""
    if (stored := job.preview) is None:
        return None
    known = Pool.objects.in_bulk([one["pool"] for one in stored["pools"]])
    return StoredPreview(
        [(known[one["pool"]], _read_preview(one), one["moved"]) for one in stored["pools"]], stored["token"], stored["again"]
    )


def _read_preview(stored: dict[str, Any]) -> Preview:
    moves = [
        Move(Player(pk=move["player"], name=move["name"]), tuple(move["rating"]), tuple(move["rank"])) for move in stored["moves"]
    ]
    return Preview(moves, stored["lines"], stored["matches"], "", stored["details"], stored["rules"])


def _progress_key(job: CorrectionJob) -> str:
    return f"correction-progress-{job.pk}-{job.status}"


def _lock_key(job: CorrectionJob) -> str:
    return f"correction-lock-{job.pk}"


def _store_preview(job: CorrectionJob, seen: Any, *, again: bool = False) -> None:
    """`again`: the pool had moved on when an earlier preview was confirmed."""
    pools: Any = seen.pools if isinstance(seen, MergePreview) else [(job.pool, seen)]
    stored = [_preview_row(pool, preview) for pool, preview in pools]
    # While a large pool is previewed and looked at, results come in. They are caught up with: no new preview is asked for.
    basis = revising.joint(preview.basis for _pool, preview in pools)
    job.preview = {"pools": stored, "token": seen.token, "basis": basis, "again": again}
    job.total = sum(preview.matches for _pool, preview in pools)
    job.status = Status.PREVIEWED


def _preview_row(pool: Pool, seen: Preview) -> dict[str, Any]:
    moves = [
        {"player": move.player.pk, "name": move.player.name, "rating": move.rating, "rank": move.rank}
        for move in seen.moves[:SHOWN_MOVES]
    ]
    numbers = {"moved": len(seen.moves), "lines": seen.lines, "matches": seen.matches}
    return {"pool": pool.pk, "moves": moves, **numbers, "details": seen.details, "rules": seen.rules}
