"""manage.py import_matches: a club's list of matches from a CSV file, or match files and zips of them."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from tqdm import tqdm

from matches.imports import cells, csv_rows
from matches.imports.csv_rows import COLUMNS, Defaults
from matches.imports.csv_table import BadFile
from matches.imports.dialect import DATES, DECIMALS, ENCODINGS, Dialect
from matches.imports.report import Report, rule
from matches.imports.service import Options, Progress, import_match_files, import_matches
from matches.imports.terminal import file_name, print_refused, read_file
from matches.imports.transcripts.reading import MOST_ZIP_BYTES, STEP, NamedFile, is_match_file
from matches.models import Import
from players.models import Pool
from players.names import clean_name, name_key
from players.systems.base import ALL_KINDS, Refused
from players.terminal import find_pool

MOST_MATCH_FILES = 5000


class Command(BaseCommand):
    help = (
        "Import matches from a CSV file, or from match files: text files of Jellyfish, GNU Backgammon, eXtreme Gammon, "
        "Backgammon Galaxy, Backgammon Studio and GamesGrid (.mat, .txt), GNU Backgammon's .sgf, and zips of these. A CSV has a "
        "header; its columns, in any order: date (2026-03-31) or ended_at (ISO 8601; UTC where it has no offset); winner, loser, "
        "or player1 … player4 with result (1, 0.5, 0 for player1) or rank1 … rank4 (equal numbers share); length or deals; "
        "stake, real_money, points, kind, chance; sequence (orders the rows of a date; without it, their order in the file "
        "does); external_id. All rows are taken or none. A list that has grown can be imported again: under the same source, "
        "only what is new is added. Rows without an external_id are told by their content, and equal ones by their number. "
        "While it runs, other results of the same players wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", nargs="+")
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")
        parser.add_argument("--create-players", action="store_true", help="make the players who are not there yet")
        parser.add_argument("--skip-invalid", action="store_true", help="leave refused rows out and take the others")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and keep nothing")
        parser.add_argument("--kind", choices=ALL_KINDS, default="", help="the kind of the rows that do not say it")
        parser.add_argument(
            "--real-money", action="store_true", default=None, help="rows that do not say it were played for real money"
        )
        parser.add_argument("--stake", metavar="EUROS", help="the stake of the rows that do not say it; per point in money games")
        parser.add_argument("--date", metavar="DATE", help="the date (2026-03-31) of match files that have none")
        parser.add_argument(
            "--player",
            metavar="NAME=PLAYER",
            action="append",
            default=[],
            help="who is meant by a name in the files; may be given many times",
        )
        parser.add_argument(
            "--source", metavar="NAME", help="where a list comes from, the same each time; the file's name unless given"
        )
        parser.add_argument("--dates", choices=list(DATES), default="iso", help="how a CSV writes dates")
        parser.add_argument("--decimal", choices=list(DECIMALS), default="", help="the decimal mark of a CSV; else as it has it")
        parser.add_argument("--encoding", choices=list(ENCODINGS), default="utf-8")
        parser.add_argument(
            "--column",
            metavar="HEADING=COLUMN",
            action="append",
            default=[],
            help="which column stands under a heading of another name (none: it is passed over); may be given many times",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        paths: list[str] = options["file"]
        how = _options(options)
        is_list = not is_match_file(file_name(paths[0]), read_file(paths[0], STEP))
        if is_list and len(paths) > 1:
            raise CommandError(_("Lists are imported one at a time; several files at once must be match files."))
        if len(paths) > MOST_MATCH_FILES:
            raise CommandError(_("At most %(most)d files at once.") % {"most": MOST_MATCH_FILES})
        with tqdm(desc=_("Matches"), unit="", leave=False, disable=not sys.stderr.isatty() or not options["verbosity"]) as bar:

            def progress(done: int, of: int) -> None:
                bar.total = of
                bar.update(done - bar.n)

            try:
                report = (_import_list if is_list else _import_files)(pool, paths, how, options["source"], progress)
            except BadFile as error:
                raise CommandError(str(error)) from None
        print_refused(self, report.refused)
        if report.refused and not how.skip_invalid:
            if any(row.field in csv_rows.PLAYERS + csv_rows.DUEL for row in report.refused) and not how.create_players:
                self.stderr.write(_("--create-players makes the players who are not there yet."))
                for unknown in report.unknown:
                    if unknown.like:
                        values = {"name": unknown.name, "like": ", ".join(unknown.like)}
                        self.stderr.write(_("“%(name)s” is nearly the name of: %(like)s.") % values)
            for line in report.unfinished:
                self.stderr.write(line)
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
            self._looked_ahead(report)
        self.stdout.write(_("%(count)d added") % {"count": report.added})
        self.stdout.write(_("%(count)d already there") % {"count": report.known})
        self.stdout.write(_("%(count)d refused") % {"count": len(report.refused)})
        self.stdout.write(_("%(count)d of those added not counted") % {"count": report.not_counted.total()})
        for reason, count in report.not_counted.most_common():
            self.stdout.write(f"  {count}: {reason}")
        if report.new_players:
            self.stdout.write(_("%(count)d players made") % {"count": len(report.new_players)})
        for line in (*report.unfinished, *report.notes):
            self.stdout.write(line)
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

    def _looked_ahead(self, report: Report) -> None:
        for example in report.examples:
            self.stdout.write(f"  {example}")
        if report.repeats:
            self.stdout.write(_("%(count)d rows say the same as another one: each is a match.") % {"count": len(report.repeats)})
        if report.disordered:
            self.stdout.write(_("%(count)d rows end before the row above them.") % {"count": len(report.disordered)})
        if report.late:
            self.stdout.write(
                _("%(count)d end before matches that are rated already: these are rated anew.") % {"count": report.late}
            )
        for unknown in report.unknown:
            if unknown.like:
                values = {"name": unknown.name, "like": ", ".join(unknown.like)}
                self.stdout.write(_("“%(name)s” is nearly the name of: %(like)s.") % values)


def _options(given: dict[str, Any]) -> Options:
    """Raises CommandError."""
    try:
        stake = cells.amount("stake", given["stake"]) if given["stake"] is not None else None
        on = cells.day("date", given["date"]) if given["date"] is not None else None
    except Refused as refused:
        raise CommandError(f"--{refused.field}: {rule(refused)}") from None
    columns = dict(_pair("--column", text) for text in given["column"])
    for column in columns.values():
        if column and column not in COLUMNS:
            raise CommandError(
                _("There is no column “%(column)s”. Known: %(known)s.") % {"column": column, "known": ", ".join(COLUMNS)}
            )
    return Options(
        create_players=given["create_players"],
        skip_invalid=given["skip_invalid"],
        dry_run=given["dry_run"],
        defaults=Defaults(kind=given["kind"], real_money=given["real_money"], stake=stake, on=on),
        dialect=Dialect(given["dates"], given["decimal"], given["encoding"], columns),
        names={name_key(clean_name(name)): player for name, player in (_pair("--player", text) for text in given["player"])},
    )


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(_("%(option)s takes a pair, as in NAME=VALUE.") % {"option": option})
    return name, value.strip()


def _import_list(pool: Pool, paths: list[str], how: Options, source: str | None, progress: Progress) -> Report:
    data = read_file(paths[0])
    source = clean_name(file_name(paths[0]) if source is None else source)
    if not source or len(source) > 100:
        raise CommandError(_("--source takes 1 to 100 characters. Unless it is given, the file's name is used."))
    record = _record(pool, Import.Kind.LIST, file_name(paths[0]), [data], source)
    return import_matches(pool, data, source=source, options=how, progress=progress, record=record)


def _import_files(pool: Pool, paths: list[str], how: Options, source: str | None, progress: Progress) -> Report:
    if source is not None:
        raise CommandError(_("Match files have no --source: a match is told by its rolls, whatever its file is called."))
    files = [NamedFile(file_name(path), read_file(path, MOST_ZIP_BYTES + 1)) for path in paths]
    name = files[0].name if len(files) == 1 else _("%(count)d match files") % {"count": len(files)}
    record = _record(pool, Import.Kind.MATCH_FILES, name, [file.data for file in files], "")
    return import_match_files(pool, files, options=how, progress=progress, record=record)


def _record(pool: Pool, kind: Import.Kind, name: str, contents: list[bytes], source: str) -> Import:
    return Import(
        pool=pool,
        kind=kind,
        status=Import.Status.IMPORTING,
        name=name[:255],
        digest=hashlib.sha256(b"".join(contents)).hexdigest(),
        size=sum(map(len, contents)),
        source=source,
    )
