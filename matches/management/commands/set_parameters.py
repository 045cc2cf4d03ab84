"""manage.py set_parameters: other parameters for a pool, for all its matches or from a date on; or those of exported records."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from matches.imports.terminal import file_name, read_file
from matches.models import Revision
from matches.parameters import NewParameters, preview_parameters, set_parameters
from matches.rating import MatchRefused
from matches.revising import NothingChanges, affected
from matches.terminal import counting, print_preview, saying_what_stops
from matches.words import refused_sentence, unchanged_sentence
from players import systems, wording
from players.models import Pool
from players.rules import Past, Rules
from players.systems.check import LONGEST_LINE, Wrong, pool_of
from players.systems.params import BadParameter
from players.terminal import add_by, done, find_pool, made_by, read_settings, reason_of


class Command(BaseCommand):
    help = (
        "Change parameters of a pool and rate it anew: manage.py set_parameters club --set factor=5 --set ramp=null. "
        'A value is JSON (1800, null, "after", {"highest": 3}); what is no JSON is taken as text. With --from, matches that '
        "ended before that date (UTC) or instant keep their ratings, and whoever first played before it the start of then. With "
        "--like FILE the pool gets the rules of exported records, with those of earlier times, so that `matches` and "
        "`openings` of the same pool give the same ratings where they are imported then."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the pool's address")
        parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], dest="parameters")
        parser.add_argument("--from", metavar="DATE", dest="since", help="2026-03-31, or an instant such as 2026-03-31T18:00Z")
        parser.add_argument("--like", metavar="FILE", help="exported records: take over their rules, with those of earlier times")
        parser.add_argument("--reason", default="", help="why; readers see it")
        add_by(parser)
        parser.add_argument("--preview", action="store_true", help="only show what would move")

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["slug"])
        changes, taken = read_settings(options["parameters"]), _rules(options["like"], pool)
        since = _instant(options["since"])
        if taken is None and not changes:
            raise CommandError(_("Say what changes: --set NAME=VALUE."))
        if taken is not None and (changes or since):
            raise CommandError(_("--like takes over all rules, and goes without --set and --from."))
        reason, by = "" if options["preview"] else reason_of(options), made_by(options)
        how: dict[str, Any] = {"changes": changes, "since": since, "taken": taken}
        try:
            change = NewParameters(pool.pk, **how)
            with saying_what_stops(), counting(self, affected(change, now=timezone.now())) as progress:
                if options["preview"]:
                    print_preview(self, pool, preview_parameters(pool, **how, progress=progress))
                    return
                revision = set_parameters(pool, **how, reason=reason, made_by=by, progress=progress)
        except BadParameter as bad:
            raise CommandError(wording.bad_parameter(bad)) from None
        except NothingChanges:
            raise CommandError(unchanged_sentence(Revision.Kind.PARAMETERS)) from None
        except MatchRefused as error:
            raise CommandError(refused_sentence(error)) from None
        done(self, _("Done: %(count)d lines of the history rewritten.") % {"count": revision.changes})
        self.stdout.write(json.dumps((revision.rules or {})["parameters"], ensure_ascii=False))


def _rules(path: str | None, pool: Pool) -> Rules | None:
    """The rules of the pool whose records are in a file. Raises CommandError."""
    if path is None:
        return None
    [first, *_rest] = read_file(path, LONGEST_LINE).split(b"\n", 1)
    try:
        line = pool_of(first.decode())
    except (Wrong, UnicodeDecodeError) as wrong:
        raise CommandError(_("%(file)s holds no records of a pool: %(why)s.") % {"file": file_name(path), "why": wrong}) from None
    if line["system"] != pool.system:
        raise CommandError(
            _("%(file)s is of the rating system %(system)s, and the pool is of %(own)s.")
            % {"file": file_name(path), "system": line["system"], "own": pool.system}
        )

    def whole(parameters: Any) -> Any:
        return systems.get(pool.system).from_json(parameters).params.to_json()

    past = [Past(datetime.fromisoformat(era["until"]), whole(era["parameters"])) for era in line["eras"]]
    return Rules(pool.system, past, whole(line["parameters"]))


def _instant(text: str | None) -> datetime | None:
    """The midnight (UTC) that begins a date, or the instant itself. Raises CommandError."""
    if text is None:
        return None
    try:
        day = parse_date(text)
        instant = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else parse_datetime(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise CommandError(
            _("--from takes a date such as 2026-03-31, or an instant with its offset, not “%(given)s”.") % {"given": text}
        )
    return instant
