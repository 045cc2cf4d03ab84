"""manage.py import_matches: a club's list of matches from a CSV file."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from tqdm import tqdm

from matches.imports import csv_rows
from matches.imports.csv_rows import Defaults
from matches.imports.csv_table import BadFile
from matches.imports.report import Report
from matches.imports.service import Options, import_matches
from matches.imports.terminal import file_name, find_pool, print_refused, read_file
from players.names import clean_name
from players.systems.base import ALL_KINDS


class Command(BaseCommand):
    help = (
        "Import matches from a CSV file (UTF-8, commas). Columns, in any order: date (2026-03-31) or ended_at (ISO 8601; UTC "
        "where it has no offset); winner, loser, or player1 … player4 with result (1, 0.5, 0 for player1) or rank1 … rank4 "
        "(equal numbers share); length or deals; stake, real_money, points, kind, chance; sequence (orders the rows of a date; "
        "without it, their order in the file does); external_id. All rows are taken or none. A list that has grown can be "
        "imported again: under the same source, only what is new is added. Rows without an external_id are told by their "
        "content, and equal ones by their number. While it runs, other results of the pool wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")
        parser.add_argument("--create-players", action="store_true", help="make the players who are not there yet")
        parser.add_argument("--skip-invalid", action="store_true", help="leave refused rows out and take the others")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and keep nothing")
        parser.add_argument("--kind", choices=ALL_KINDS, default="", help="the kind of the rows that do not say it")
        parser.add_argument(
            "--real-money", action="store_true", default=None, help="rows that do not say it were played for real money"
        )
        parser.add_argument(
            "--source", metavar="NAME", help="where the rows come from, the same each time; the file's name unless given"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        data = read_file(options["file"])
        source = clean_name(file_name(options["file"]) if options["source"] is None else options["source"])
        if not source or len(source) > 100:
            raise CommandError(_("--source takes 1 to 100 characters. Unless it is given, the file's name is used."))
        how = Options(
            create_players=options["create_players"],
            skip_invalid=options["skip_invalid"],
            dry_run=options["dry_run"],
            defaults=Defaults(kind=options["kind"], real_money=options["real_money"]),
        )
        with tqdm(desc=_("Matches"), unit="", leave=False, disable=not sys.stderr.isatty() or not options["verbosity"]) as bar:

            def progress(done: int, of: int) -> None:
                bar.total = of
                bar.update(done - bar.n)

            try:
                report = import_matches(pool, data, source=source, options=how, progress=progress)
            except BadFile as error:
                raise CommandError(str(error)) from None
        print_refused(self, report.refused)
        if report.refused and not how.skip_invalid:
            if any(row.field in csv_rows.PLAYERS + csv_rows.DUEL for row in report.refused) and not how.create_players:
                self.stderr.write(_("--create-players makes the players who are not there yet."))
            raise CommandError(
                ngettext(
                    "Nothing was imported: %(count)d row is refused. --skip-invalid takes the others.",
                    "Nothing was imported: %(count)d rows are refused. --skip-invalid takes the others.",
                    len(report.refused),
                )
                % {"count": len(report.refused)}
            )
        self._summary(report, how)

    def _summary(self, report: Report, how: Options) -> None:
        if how.dry_run:
            self.stdout.write(_("A dry run: nothing was stored. It would be:"))
        self.stdout.write(_("%(count)d added") % {"count": report.added})
        self.stdout.write(_("%(count)d already there") % {"count": report.known})
        self.stdout.write(_("%(count)d refused") % {"count": len(report.refused)})
        self.stdout.write(_("%(count)d of those added not counted") % {"count": report.not_counted.total()})
        for reason, count in report.not_counted.most_common():
            self.stdout.write(f"  {count}: {reason}")
        if report.new_players:
            self.stdout.write(_("%(count)d players made") % {"count": len(report.new_players)})
        if report.moved:
            self.stdout.write(
                _(
                    "%(count)d of those already there stand at another place within their date than when they were imported. "
                    "Their place was not changed."
                )
                % {"count": report.moved}
            )
        if report.also_from:
            self.stderr.write(
                _(
                    "Rows like those added were imported from “%(source)s” before. "
                    "If this is the same list, import it with --source “%(source)s”."
                )
                % {"source": report.also_from}
            )
