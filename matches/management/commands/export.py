"""manage.py export: a pool's ratings, history, matches, openings or records as a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from matches.exports.records import records
from matches.exports.tables import TABLES
from matches.exports.writing import FORMATS, lines
from players.terminal import find_pool

RECORDS = "records"


class Command(BaseCommand):
    help = (
        "Write what a pool holds to the standard output, in UTF-8, as it is read. Numbers are the shortest decimals that stand "
        "for the stored ones, instants in UTC. `matches` and `openings` have the columns that import_matches and import_players "
        "take. `records` are JSON lines that `python -m players.systems.check` checks. In a CSV a name that a spreadsheet would "
        "take for a formula has an apostrophe before it, which an import takes away."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=[*TABLES, RECORDS])
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")
        parser.add_argument("--format", choices=list(FORMATS), default="csv", help="of all but the records")

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        what = options["what"]
        self.print_lines(records(pool) if what == RECORDS else lines(TABLES[what], pool, options["format"]))

    def print_lines(self, text: Iterator[str]) -> None:
        try:
            for line in text:
                self.stdout.write(line, ending="")
            self.stdout.flush()
        except BrokenPipeError:
            # The reader has had enough, as `head` does; nothing may be written to it at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
