"""Measure how fast the site is and print what came of it.

    python -m benchmarks [--quick | --keep] [compute] [completions] [api] [decay] [lobby] [pages] [rankings] [pool]

Without names, all of them. Each is a process of its own with servers of its own: where one fails, the others go on, and the last
line names it. `--keep` puts the tables into docs/performance.md, each as soon as it is there. `--quick` measures less, to see
that all of it runs and whether something has become slow.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Table
from benchmarks.site import on_postgres, set_up

NAMES = ("compute", "completions", "api", "decay", "lobby", "pages", "rankings", "pool")
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"


def machine() -> str:
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text()) if os.path.exists("/proc/cpuinfo") else None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} × {cpu[1].strip() if cpu else platform.machine()}, "
        f"{memory:.0f} GiB, Python {platform.python_version()}"
    )


def keep(name: str, text: str) -> None:
    """Put a table into its place in the page."""
    page = PAGE.read_text()
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = page.split(marks[0])
    _, after = rest.split(marks[1])
    PAGE.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}")


def measure(name: str, *, quick: bool, kept: bool) -> None:
    """Measure one of them here."""
    part = import_module(f"benchmarks.{name}")
    with on_postgres() if part.NEEDS_POSTGRES else nullcontext():
        set_up()
        table: Table = part.run(**(part.QUICK if quick else {}))
    text = f"{table.markdown()}\n\nMeasured on {machine()}."
    print(f"\n{name}\n\n{text}", flush=True)
    if kept:
        keep(name, text)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=(*NAMES, []))
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="measure less")
    how.add_argument("--keep", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        for name in options.names:
            measure(name, quick=options.quick, kept=options.keep)
        return 0
    flags = [flag for flag, on in (("--quick", options.quick), ("--keep", options.keep)) if on]
    failed = []
    for name in options.names or NAMES:
        began = time.monotonic()
        if subprocess.run([sys.executable, "-m", "benchmarks", "--here", *flags, name], cwd=ROOT).returncode:
            failed.append(name)
        print(f"\n-- {name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"make bench FAILED: {', '.join(failed)}" if failed else "make bench: all measured")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
