"""manage.py correct_match: correct, void or take back, from the terminal."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from matches.corrections import Correction, NothingChanges, affected, correct, preview
from matches.entries import BatchRefused, Conflict, Entry, entry_of
from matches.models import Match, Revision
from matches.terminal import counting, print_preview, saying_what_stops
from matches.words import unchanged_sentence
from players import wording
from players.models import Player
from players.services import players_by_name
from players.terminal import add_by, made_by, reason_of


class Command(BaseCommand):
    help = (
        "Correct completed matches. Without --yes it only shows what would move. "
        "Examples: correct_match 12 --void --reason 'annulled' --yes; correct_match 12 --set length=5 --set winner=Vera"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "match", type=int, nargs="+", metavar="MATCH", help="the number of a match; several of one pool with --void"
        )
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--void", action="store_true", help="it does not count any more")
        what.add_argument("--unvoid", action="store_true", help="take the void back")
        what.add_argument(
            "--set",
            action="append",
            metavar="FIELD=VALUE",
            dest="changes",
            help="winner, result (1, 0.5, 0 for player 1), rank1 … rank4, player1 … player4, length, deals, points, stake, "
            "real_money, kind, chance, ended_at, date, sequence",
        )
        parser.add_argument("--reason", default="", help="why; readers see it")
        add_by(parser)
        parser.add_argument("--yes", action="store_true", help="do it")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = set(options["match"])
        rows = Match.objects.filter(pk__in=[pk for pk in wanted if abs(pk) < 2**63])
        matches = list(rows.select_related("pool").prefetch_related("participants__player"))
        if missing := wanted - {match.pk for match in matches}:
            raise CommandError(_("There is no match %(ids)s.") % {"ids": ", ".join(map(str, sorted(missing)))})
        pools = {match.pool for match in matches}
        if len(pools) > 1:
            raise CommandError(_("The matches must be of one pool."))
        reason = reason_of(options) if options["yes"] else ""
        by = made_by(options)
        [pool] = pools
        if options["changes"]:
            if len(matches) > 1:
                raise CommandError(_("--set takes one match."))
            corrections = [Correction(matches[0], entry=edited(matches[0], options["changes"]))]
        else:
            corrections = [Correction(match, void=bool(options["void"])) for match in matches]
        try:
            total = affected(pool, corrections)
            with counting(self, total) as progress:
                seen = preview(pool, corrections, progress=progress)
            print_preview(self, pool, seen)
            if not options["yes"]:
                self.stdout.write(_("Nothing is written yet. Add --yes to do it."))
                return
            with saying_what_stops(), counting(self, total) as progress:
                revision = correct(pool, corrections, reason=reason, made_by=by, token=seen.token, progress=progress)
        except NothingChanges:
            raise CommandError(unchanged_sentence(Revision.Kind.EDIT)) from None
        except BatchRefused as error:
            raise CommandError(wording.refusal(error.refused)) from None
        except Conflict as conflict:
            raise CommandError(
                _("Match %(id)d has changed meanwhile, or is not completed.") % {"id": conflict.match.pk}
            ) from None
        self.stdout.write(self.style.SUCCESS(_("Done: %(count)d lines of the history rewritten.") % {"count": revision.changes}))


def edited(match: Match, changes: list[str]) -> Entry:
    """The entry that the match would be with the changes. Raises CommandError."""
    entry = entry_of(match, list(match.participants.all()))
    names = set()
    for change in changes:
        name, equals, text = change.partition("=")
        if name in names:
            raise CommandError(_("--set names “%(name)s” twice.") % {"name": name})
        names.add(name)
        if not equals:
            raise CommandError(_("--set takes FIELD=VALUE, not “%(given)s”.") % {"given": change})
        try:
            entry = _changed(entry, name.strip(), text.strip())
        except (ValueError, InvalidOperation):
            raise CommandError(_("--set %(name)s: “%(given)s” is no value for it.") % {"name": name, "given": text}) from None
    return entry


def _changed(entry: Entry, name: str, text: str) -> Entry:
    if name in ("length", "deals", "points"):
        number: dict[str, Any] = {name: int(text) if text else None}
        return replace(entry, result=replace(entry.result, **number))
    if name == "stake":
        return replace(entry, result=replace(entry.result, stake=Decimal(text) if text else None))
    if name == "chance":
        return replace(entry, result=replace(entry.result, scores=None, chance=float(text)))
    if name == "kind":
        return replace(entry, result=replace(entry.result, kind=text))
    if name == "real_money":
        if text not in ("yes", "no"):
            raise ValueError(text)
        return replace(entry, result=replace(entry.result, real_money=text == "yes"))
    if name == "sequence":
        return replace(entry, sequence=int(text))
    if name in ("ended_at", "date"):
        moment = parse_datetime(text if name == "ended_at" else f"{text}T00:00:00Z")
        if moment is None or moment.tzinfo is None or (name == "date" and parse_date(text) is None):
            raise ValueError(text)
        return replace(entry, ended_at=moment, timed=name == "ended_at")
    if name == "winner" and entry.result.places:
        raise CommandError(_("--set: a match has no field “%(name)s”.") % {"name": name})
    if name == "winner":
        seat = [player.pk for player in entry.players].index(_player(text).pk)
        return replace(entry, result=replace(entry.result, chance=None, scores=(1.0, 0.0) if seat == 0 else (0.0, 1.0)))
    if name == "result":
        return replace(entry, result=replace(entry.result, chance=None, scores=(float(text), 1 - float(text))))
    if name in ("rank1", "rank2", "rank3", "rank4") and entry.result.places:
        places = list(entry.result.places)
        places[int(name[-1]) - 1] = int(text)
        return replace(entry, result=replace(entry.result, places=tuple(places)))
    if name in ("player1", "player2", "player3", "player4") and int(name[-1]) <= len(entry.players):
        players = list(entry.players)
        players[int(name[-1]) - 1] = _player(text)
        return replace(entry, players=players)
    raise CommandError(_("--set: a match has no field “%(name)s”.") % {"name": name})


def _player(name: str) -> Player:
    found = list(players_by_name([name]).values())
    if not found:
        raise CommandError(_("There is no player “%(name)s”.") % {"name": name})
    return found[0]
