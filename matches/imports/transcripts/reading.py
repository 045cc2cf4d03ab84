"""Files to transcripts: what a file is, its encoding, and zips of files. Whatever is no match file is refused before it is read
at length."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from django.utils.translation import gettext as _

from matches.imports.transcripts.base import BadTranscript, Transcript
from matches.imports.transcripts.sgf import looks_like_sgf, read_sgf
from matches.imports.transcripts.text import BEGINS, read_text

MOST_BYTES = 2_000_000
"""Of one match file; a long match with its analysis has a quarter of that."""
MOST_ZIP_BYTES = 10_000_000
MOST_UNPACKED = 50_000_000
"""Of all files in a zip together."""
MOST_FILES = 2000
ENDINGS = (".mat", ".txt", ".sgf")
NO_TEXT = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"%PDF": "PDF",
    b"RGMH": "XG",
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf": "7-Zip",
    b"\xd0\xcf\x11\xe0": "Office",
}
"""How files begin that are taken for match files by mistake."""
ZIP, ZIP_ENTRY = (b"PK\x03\x04", b"PK\x05\x06"), b"PK\x01\x02"
STEP = 65_536


class NamedFile(NamedTuple):
    """A file with its name, without a folder; from a zip with that of the zip before it."""

    name: str
    data: bytes


class Trouble(NamedTuple):
    """A file that cannot be read, and why."""

    file: str
    message: str


@dataclass(slots=True)
class Reading:
    """What files hold: `passed_over` are those of a zip that are no match files by their names."""

    transcripts: list[Transcript] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def is_match_file(name: str, data: bytes) -> bool:
    """Whether a file is to be read as a match file, by its name or by what it begins with."""
    if name.lower().endswith((".mat", ".sgf", ".zip")) or data[:4] in ZIP or looks_like_sgf(data):
        return True
    head = data[:STEP].replace(b"\0", b"").decode("latin-1")
    return any(BEGINS.match(line) for line in head.splitlines())


def read_files(files: Sequence[NamedFile]) -> Reading:
    """Read match files and zips of them."""
    reading = Reading()
    for file in files:
        try:
            if file.data[:4] in ZIP:
                for packed in _unpacked(file, reading):
                    _read(packed, reading)
            else:
                _read(file, reading)
        except BadTranscript as error:
            reading.troubles.append(Trouble(file.name, str(error)))
    return reading


def _read(file: NamedFile, reading: Reading) -> None:
    try:
        if len(file.data) > MOST_BYTES:
            raise BadTranscript(_("It has more than %(most)d MB: this is no match file.") % {"most": MOST_BYTES // 1_000_000})
        if looks_like_sgf(file.data):
            reading.transcripts += read_sgf(file.data, file.name)
        else:
            reading.transcripts += read_text(_decoded(file.data), file.name)
    except BadTranscript as error:
        reading.troubles.append(Trouble(file.name, str(error)))


def _decoded(data: bytes) -> str:
    """The text of a file: UTF-8 or UTF-16 by its mark, else UTF-8, else what the programs of western Europe write."""
    if not data.strip():
        raise BadTranscript(_("It is empty."))
    for begins, kind in NO_TEXT.items():
        if data.startswith(begins):
            raise BadTranscript(_("This is a file of the kind %(kind)s, not the text of a match.") % {"kind": kind})
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise BadTranscript(_("It is not text.")) from None
    if len(data.translate(None, bytes([*range(9), 11, *range(14, 32), 127]))) != len(data):
        raise BadTranscript(_("It is not text: it holds bytes that no text has."))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _unpacked(file: NamedFile, reading: Reading) -> Iterator[NamedFile]:
    """The match files of a zip. What its directory says of sizes is not believed: each is read up to the limit."""
    if len(file.data) > MOST_ZIP_BYTES:
        raise BadTranscript(_("The zip has more than %(most)d MB.") % {"most": MOST_ZIP_BYTES // 1_000_000})
    if file.data.count(ZIP_ENTRY) > MOST_FILES:
        raise BadTranscript(_("The zip has more than %(most)d files.") % {"most": MOST_FILES})
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as packed:
            unpacked = 0
            for entry in packed.infolist():
                name = PurePosixPath(entry.filename.replace("\\", "/")).name or "?"
                if entry.is_dir() or "__MACOSX" in entry.filename:
                    continue
                if not name.lower().endswith(ENDINGS):
                    reading.passed_over.append(f"{file.name}: {name}")
                    continue
                if entry.flag_bits & 1:
                    raise BadTranscript(_("The zip is encrypted. Unpack it first."))
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise BadTranscript(_("The zip is packed in an unusual way. Pack it again as an ordinary zip."))
                with packed.open(entry) as source:
                    data = source.read(MOST_BYTES + 1)
                unpacked += len(data)
                if len(data) > MOST_BYTES or unpacked > MOST_UNPACKED:
                    raise BadTranscript(_("“%(name)s” in the zip unpacks to more than a match can have.") % {"name": name})
                yield NamedFile(f"{file.name}: {name}", data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, BadTranscript):
            raise
        raise BadTranscript(_("The zip is damaged.")) from None
