"""manage.py import_players: the ratings that a club's players bring along from elsewhere."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from matches.imports.csv_table import BadFile
from matches.imports.openings import import_openings
from matches.imports.terminal import file_name, print_refused, read_file
from players.terminal import find_pool


class Command(BaseCommand):
    help = (
        "Give players the ratings that they bring along, from a CSV file (UTF-8, commas): name, rating, experience, date "
        "(2026-03-31; from then on his matches here count). Experience and date may be empty: 0, and every match counts. Players "
        "who are missing are made. The pool is rated anew from there. All rows are taken or none; the same file again changes "
        "nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        try:
            report = import_openings(pool, read_file(options["file"]), source=file_name(options["file"]))
        except BadFile as error:
            raise CommandError(str(error)) from None
        if report.refused:
            print_refused(self, report.refused)
            raise CommandError(
                ngettext(
                    "Nothing was imported: %(count)d row is refused.",
                    "Nothing was imported: %(count)d rows are refused.",
                    len(report.refused),
                )
                % {"count": len(report.refused)}
            )
        opened = report.opened
        if not opened.added and not opened.updated:
            self.stdout.write(_("All of it is there already. Nothing has changed."))
            return
        self.stdout.write(_("%(count)d openings added") % {"count": opened.added})
        self.stdout.write(_("%(count)d openings changed") % {"count": opened.updated})
        self.stdout.write(_("%(count)d openings unchanged") % {"count": opened.unchanged})
        self.stdout.write(_("%(count)d players made") % {"count": len(report.new_players)})
        self.stdout.write(_("%(count)d rating changes moved") % {"count": opened.moved})
