"""What the tests of match files share."""

from __future__ import annotations

from pathlib import Path

from matches.imports.transcripts.base import Transcript
from matches.imports.transcripts.reading import NamedFile, read_files

OWN = Path(__file__).parents[2] / "data" / "transcripts"
REAL = Path(__file__).parents[4] / "shared" / "data" / "mat"


def read(*paths: Path) -> list[Transcript]:
    """The transcripts of files, none of which is refused."""
    reading = read_files([NamedFile(path.name, path.read_bytes()) for path in paths])
    assert reading.troubles == []
    return reading.transcripts


def trouble(data: bytes, name: str = "match.mat") -> str:
    """Why a file is refused."""
    reading = read_files([NamedFile(name, data)])
    [told] = reading.troubles
    assert told.file.startswith(name)
    return told.message
