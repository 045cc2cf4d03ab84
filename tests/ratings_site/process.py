"""Runs the site's code in a process of its own: settings are read once, from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.servers import SITE_ENVIRONMENT

BASE_DIR = Path(__file__).resolve().parents[2]


def environment(**site: str) -> dict[str, str]:
    """This process's environment with nothing of the site in it but `site`."""
    kept = {name: value for name, value in os.environ.items() if name not in SITE_ENVIRONMENT}
    return {**kept, "DJANGO_SETTINGS_MODULE": "ratings_site.settings", "PYTHONPATH": str(BASE_DIR), **site}


def run(*arguments: str, **site: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=BASE_DIR,
        env=environment(**site),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def output(code: str, **site: str) -> str:
    """What `code` prints once Django is set up; it must not fail."""
    result = run("-c", f"import django; django.setup()\n{code}", **site)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
