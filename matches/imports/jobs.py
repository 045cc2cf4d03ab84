"""Imports by upload: a file is kept, checked by a dry run, and imported once somebody has confirmed what that found.

An import is a row, which a worker takes up where it is large: it survives the worker, and the sweep hands it to another. Small
ones are worked in the request, by the same code. What is imported is written in one transaction with the row's being done.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from matches import replay
from matches.imports.csv_table import BadFile, first_records
from matches.imports.dialect import Dialect
from matches.imports.options import PLAIN, guessed_columns, read_options
from matches.imports.report import Report
from matches.imports.service import NotWaiting, import_match_files, import_matches
from matches.imports.transcripts.reading import NamedFile, is_match_file
from matches.models import Import, ImportFile
from players.models import Player, Pool
from players.names import clean_name

logger = logging.getLogger(__name__)

MOST_BYTES = 20_000_000
"""Of an upload."""
MOST_FILES = 500
SMALL_LIST, SMALL_FILES, SMALL_POOL = 64_000, 1_000_000, 20_000
"""Bytes of a list and of match files, and counted matches of a pool, up to which an upload is worked in the request: it
may replay the whole pool. A match takes 40 bytes of a list, and thousands of a match file."""
LOST = timedelta(minutes=5)
HEAD_ROWS = 3
MOST_REFUSED = 5000
"""Refused rows that a report keeps."""
Status = Import.Status


class TooMuch(ValueError):
    """The upload is too large. The message says by how much."""


def begin(pool: Pool, files: Sequence[NamedFile], *, made_by: User | None, on: str | None = None) -> Import:
    """Keep the files of an upload and check them; `on` (2026-03-31) is the date of match files that have none.

    Raises TooMuch, BadFile where lists and match files are mixed, or where a list is given a date.
    """
    size = sum(len(file.data) for file in files)
    if size > MOST_BYTES or len(files) > MOST_FILES:
        raise TooMuch(
            _("At most %(files)d files with %(most)d MB together. Larger lists are imported from the command line.")
            % {"files": MOST_FILES, "most": MOST_BYTES // 1_000_000}
        )
    of_matches = [is_match_file(file.name, file.data) for file in files]
    if not all(of_matches) and len(files) > 1:
        raise BadFile(_("Lists are imported one at a time; several files at once must be match files."))
    if on is not None and not of_matches[0]:
        raise BadFile(_("A list has a date in each row. The date is for match files alone."))
    name = files[0].name if len(files) == 1 else _("%(count)d match files") % {"count": len(files)}
    options = {**PLAIN, "on": on}
    if not of_matches[0]:
        options |= _guessed(files[0].data)
    with transaction.atomic():
        record = Import.objects.create(
            pool=pool,
            kind=Import.Kind.MATCH_FILES if of_matches[0] else Import.Kind.LIST,
            status=Status.CHECKING,
            name=name[:255],
            digest=hashlib.sha256(b"".join(file.data for file in files)).hexdigest(),
            size=size,
            source="" if of_matches[0] else (clean_name(name) or "list")[:100],
            options=options,
            made_by=made_by,
        )
        ImportFile.objects.bulk_create(
            ImportFile(imported=record, name=file.name[:255], content=zlib.compress(file.data)) for file in files
        )
    _work(record)
    return record


def _guessed(data: bytes) -> dict[str, Any]:
    """What a list's beginning tells of it. Nothing where it cannot be read: the check says why."""
    encoding = "utf-8"
    try:
        data.decode()
    except UnicodeDecodeError:
        encoding = "cp1252"
    try:
        head = first_records(data, Dialect(encoding=encoding), HEAD_ROWS)
    except (BadFile, UnicodeDecodeError):
        return {}
    if not head:
        return {}
    return {"head": [[cell[:80] for cell in row] for row in head], "columns": guessed_columns(head[0]), "encoding": encoding}


def configure(record: Import, options: Mapping[str, Any]) -> bool:
    """Check the import anew with other options; False where it is confirmed or over."""
    waiting = Import.objects.filter(pk=record.pk, status=Status.CHECKED)
    head = record.options.get("head", [])
    if not waiting.update(
        status=Status.CHECKING, options={**options, "head": head}, report=None, error="", touched_at=timezone.now()
    ):
        return False
    record.refresh_from_db()
    _work(record)
    return True


def confirm(record: Import, token: str) -> bool:
    """Make the import; False where it is not waiting for that, or is not as the page with this token showed it."""
    if not may_confirm(record) or token_of(record) != token:
        return False
    now = timezone.now()
    waiting = Import.objects.filter(pk=record.pk, status=Status.CHECKED, touched_at=record.touched_at)
    if not waiting.update(status=Status.IMPORTING, confirmed_at=now, touched_at=now):
        return False
    record.refresh_from_db()
    _work(record)
    return True


def may_confirm(record: Import) -> bool:
    """Whether there is something to import, and nothing that keeps it out."""
    if record.status != Status.CHECKED or record.report is None:
        return False
    report = Report.from_json(record.report)
    return report.added > 0 and (not report.refused or record.options["skip_invalid"])


def token_of(record: Import) -> str:
    """Stands for what was found with just these options."""
    return hashlib.sha256(json.dumps([record.options, record.report], sort_keys=True).encode()).hexdigest()[:32]


def withdraw(record: Import) -> bool:
    """Give up an import that is not confirmed; its files are forgotten. False where it is confirmed or over."""
    with transaction.atomic():
        waiting = Import.objects.filter(pk=record.pk, status__in=(Status.CHECKING, Status.CHECKED))
        withdrawn = bool(waiting.update(status=Status.WITHDRAWN, touched_at=timezone.now()))
        if withdrawn:
            ImportFile.objects.filter(imported=record.pk).delete()
    return withdrawn


def sweep(now: datetime) -> int:
    """Send again the imports that nobody works on; how many."""
    lost = Import.objects.filter(status__in=(Status.CHECKING, Status.IMPORTING), touched_at__lt=now - LOST)
    for record in lost:
        _send(record)
    return len(lost)


def _work(record: Import) -> None:
    """Work what is small at once, and send the rest to the workers."""
    small = SMALL_LIST if record.kind == Import.Kind.LIST else SMALL_FILES
    if record.size <= small and replay.count_matches(record.pool) <= SMALL_POOL:
        run(record.pk)
        record.refresh_from_db()
    else:
        _send(record)


def _send(record: Import) -> None:
    from matches.tasks import run_import

    # Robust: a broker that is gone fails nothing, since the sweep finds the row.
    transaction.on_commit(lambda: run_import.delay(record.pk), robust=True)


def run(import_id: int) -> None:
    """Do what the import waits for: check it, or make it. One that is done, or that another worker holds, is left alone."""
    record = Import.objects.select_related("pool", "made_by").get(pk=import_id)
    if record.status not in (Status.CHECKING, Status.IMPORTING) or not cache.add(_lock_key(record), True, timeout=LOST.seconds):
        return
    status, touched = record.status, time.monotonic()

    def progress(done: int, of: int) -> None:
        nonlocal touched
        cache.set(_progress_key(record), (done, of), timeout=3600)
        if time.monotonic() - touched > 10:
            cache.set(_lock_key(record), True, timeout=LOST.seconds)
            touched = time.monotonic()

    values: dict[str, Any] = {"status": Status.CHECKED}
    reader: Player | None = getattr(record.made_by, "player", None)
    try:
        with translation.override(reader.language if reader else translation.get_language()):
            try:
                report = _import(record, progress, dry_run=status == Status.CHECKING)
                if status == Status.IMPORTING and report.stored:
                    ImportFile.objects.filter(imported=record.pk).delete()
                    return
                values["report"] = _kept(report)
                if status == Status.IMPORTING:
                    values["error"] = _("Nothing was imported: what is there has changed since it was checked. Look at it again.")
            except BadFile as bad:
                values["error"] = str(bad)
    except NotWaiting:
        return
    except (OperationalError, InterfaceError):
        raise  # the sweep tries again
    except Exception as error:
        logger.error("import %s failed", record.pk, exc_info=error)
        values = {"status": Status.FAILED, "error": _("The site made an error, which stands in its log. Nothing was written.")}
    finally:
        cache.delete(_lock_key(record))
    # Where it was withdrawn meanwhile, it stays so.
    Import.objects.filter(pk=record.pk, status=status).update(**values, touched_at=timezone.now())


def _import(record: Import, progress: Any, *, dry_run: bool) -> Report:
    files = [NamedFile(file.name, zlib.decompress(file.content)) for file in record.files.all()]
    how = {
        "options": read_options(record.options, dry_run=dry_run),
        "entered_by": record.made_by,
        "progress": progress,
        "record": record,
    }
    if record.kind == Import.Kind.MATCH_FILES:
        return import_match_files(record.pool, files, **how)
    if not files:
        raise BadFile(_("The file is gone. Please upload it again."))
    return import_matches(record.pool, files[0].data, source=record.source, **how)


def _kept(report: Report) -> dict[str, Any]:
    """A report as it is kept: not with every row of a file in the wrong shape."""
    more = len(report.refused) - MOST_REFUSED
    if more > 0:
        report.refused = report.refused[:MOST_REFUSED]
        report.notes.append(_("%(count)d more rows are refused.") % {"count": more})
    return report.to_json()


def progress_of(record: Import) -> tuple[int, int]:
    """How many rows of a running import are done, and of how many. No query."""
    done, of = cache.get(_progress_key(record), (0, 0))
    return done, of


def _progress_key(record: Import) -> str:
    return f"import-progress-{record.pk}-{record.status}"


def _lock_key(record: Import) -> str:
    return f"import-lock-{record.pk}"
