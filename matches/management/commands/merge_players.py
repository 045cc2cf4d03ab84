"""manage.py merge_players: two players who are one person become one, or two again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from matches.merging import MergePreview, Merging, Undoing, merge, preview_merge, preview_undo, undo_merge
from matches.models import Merge
from matches.revising import affected
from matches.terminal import counting, print_preview, saying_what_stops
from players.models import Player
from players.terminal import add_by, done, find_player, made_by, reason_of


class Command(BaseCommand):
    help = (
        "Make a duplicate's matches those of another player and rate them anew: manage.py merge_players 'Vera' 'Vera (2)' "
        "--reason 'the same person' --yes. Without --yes it only shows what would move. With --undo, which takes the duplicate "
        "alone, he gets his matches back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "players", nargs="+", metavar="PLAYER", help="who stays, and the duplicate: a name, an address, or # and a number"
        )
        parser.add_argument("--undo", action="store_true", help="undo the merge of this duplicate")
        parser.add_argument("--reason", default="", help="why; readers see it")
        add_by(parser)
        parser.add_argument("--yes", action="store_true", help="do it")

    def handle(self, *args: Any, **options: Any) -> None:
        players = [find_player(text) for text in options["players"]]
        if len(players) != (1 if options["undo"] else 2):
            raise CommandError(_("Name who stays and the duplicate; with --undo the duplicate alone."))
        why = {"reason": reason_of(options) if options["yes"] else "", "made_by": made_by(options)}
        with saying_what_stops():
            if options["undo"]:
                self._undo(players[0], why, options["yes"])
            else:
                self._merge(players[0], players[1], why, options["yes"])

    def _merge(self, keep: Player, duplicate: Player, why: dict[str, Any], yes: bool) -> None:
        total = affected(Merging(keep.pk, duplicate.pk), now=timezone.now())
        with counting(self, total) as progress:
            seen = preview_merge(keep, duplicate, progress=progress)
        if not self._go_on(seen, yes):
            return
        with counting(self, total) as progress:
            made = merge(keep, duplicate, **why, token=seen.token, progress=progress)
        done(self, _("%(duplicate)s is %(keep)s now.") % {"duplicate": duplicate.name, "keep": keep.name})
        keep.refresh_from_db()
        if made.login is not None and keep.user_id != made.login_id:
            self.stdout.write(_("The login %(login)s belongs to no player any more.") % {"login": made.login.get_username()})

    def _undo(self, duplicate: Player, why: dict[str, Any], yes: bool) -> None:
        made = Merge.objects.filter(duplicate=duplicate, undone_at=None).first()
        if made is None:
            raise CommandError(_("%(name)s is not merged into anybody.") % {"name": duplicate.name})
        total = affected(Undoing(made.pk), now=timezone.now())
        with counting(self, total) as progress:
            seen = preview_undo(made, progress=progress)
        if not self._go_on(seen, yes):
            return
        with counting(self, total) as progress:
            undo_merge(made, **why, token=seen.token, progress=progress)
        done(self, _("%(duplicate)s and %(keep)s are two players again.") % {"duplicate": duplicate.name, "keep": made.keep.name})

    def _go_on(self, seen: MergePreview, yes: bool) -> bool:
        for pool, preview in seen.pools:
            self.stdout.write(f"{pool.name}:")
            print_preview(self, pool, preview)
        if not seen.pools:
            self.stdout.write(_("No rating moves."))
        if not yes:
            self.stdout.write(_("Nothing is written yet. Add --yes to do it."))
        return yes
