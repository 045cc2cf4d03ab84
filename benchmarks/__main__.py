"""Measure how fast the site is and print what came of it.

    python -m benchmarks [--keep] [compute] [pool] [completions] [rankings] [decay] [pages]

Without names, all of them; that takes an hour. `--keep` puts the tables into docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Table
from benchmarks.site import on_postgres

NAMES = ("compute", "completions", "decay", "pages", "pool", "rankings")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=(*NAMES, []))
    parser.add_argument("--keep", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args()
    with on_postgres():
        for name in options.names or NAMES:
            answer = import_module(f"benchmarks.{name}").run()
            table = answer if isinstance(answer, Table) else Table(answer[0], answer[1:])
            text = f"{table.markdown()}\n\nMeasured on {machine()}."
            print(f"\n{name}\n\n{text}", flush=True)
            if options.keep:
                keep(name, text)


if __name__ == "__main__":
    main()
