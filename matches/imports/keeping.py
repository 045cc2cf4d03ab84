"""The record of an import while it is made: held at its beginning, and told at its end what became of it. Both in the transaction
that stores the matches."""

from __future__ import annotations

from datetime import datetime

from matches.imports.report import Report
from matches.models import Import


class NotWaiting(Exception):
    """The import is not waiting to be made: it is made already, or was withdrawn."""


def begin(record: Import) -> None:
    """Hold the import, before anything else, so that two workers make it one after the other; a new one is stored, under its id
    where it has one. Raises NotWaiting."""
    if record._state.adding:
        record.save(force_insert=True)
        return
    held = Import.objects.select_for_update(no_key=True, of=("self",)).filter(pk=record.pk).first()
    if held is None or held.status != Import.Status.IMPORTING:
        raise NotWaiting


def end(record: Import, report: Report, now: datetime) -> None:
    if not report.added and not record.confirmed_at:
        # From the command line: nothing came in, and nothing was shown to anybody before.
        record.delete()
        return
    record.status, record.report = Import.Status.DONE, report.to_json()
    record.done_at = now
    record.save(update_fields=["status", "report", "done_at"])
