"""manage.py export_ratings: a pool's ranking as CSV, with every digit."""

from __future__ import annotations

import csv
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from matches.imports.terminal import find_pool
from players.rankings import ranked

COLUMNS = ("rank", "player", "rating", "standing", "experience", "matches")
FIELDS = ("rank", "player__name", "value", "standing", "experience", "matches")
FETCH = 2000


class Command(BaseCommand):
    help = (
        "Write a pool's ranking to the standard output as CSV (UTF-8, commas): rank, player, rating, standing, experience, "
        "matches. Ratings are the shortest decimals that stand for the stored numbers. Names are written as they are, also those "
        "that begin with = or @: this is data for programs, and a spreadsheet should read the column as text."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        writer = csv.writer(self.stdout, lineterminator="\n")
        try:
            writer.writerow(COLUMNS)
            # csv writes a float as repr does.
            writer.writerows(ranked(pool).values_list(*FIELDS).iterator(chunk_size=FETCH))
            self.stdout.flush()
        except BrokenPipeError:
            # The reader has had enough, as `head` does; nothing may be written to it at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
