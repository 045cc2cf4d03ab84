"""manage.py whose reader has had enough, as `| head -1` has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.ratings_site.process import BASE_DIR, environment


@pytest.mark.parametrize("arguments", [["help"], ["sqlmigrate", "matches", "0001"]], ids=["short", "long"])
def test_it_ends_at_once_and_in_silence(arguments: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env=environment(DEBUG="1", VAR_DIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + 13, b"")
