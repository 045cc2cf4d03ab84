"""What the import and export commands share: reading the file, naming the refused rows."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from matches.imports.report import RefusedRow

MOST_SHOWN = 50
"""Refused rows that are printed; a file in the wrong shape has thousands."""


def file_name(path: str) -> str:
    """The file's name without its folder, as text also where it is not UTF-8."""
    return _as_text(Path(path).name)


def _as_text(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def read_file(path: str, most: int | None = None) -> bytes:
    """The file, or as many bytes of it. Raises CommandError."""
    try:
        with Path(path).open("rb") as file:
            return file.read(-1 if most is None else most)
    except OSError as error:
        values = {"file": _as_text(path), "error": error.strerror}
        raise CommandError(_("%(file)s cannot be read: %(error)s.") % values) from None
    except ValueError:
        raise CommandError(_("That is no name of a file.")) from None


def print_refused(command: BaseCommand, refused: list[RefusedRow]) -> None:
    """Name the refused rows on stderr, the first MOST_SHOWN of them."""
    for row in refused[:MOST_SHOWN]:
        command.stderr.write(str(row))
    if len(refused) > MOST_SHOWN:
        command.stderr.write(_("and %(count)d more") % {"count": len(refused) - MOST_SHOWN})
