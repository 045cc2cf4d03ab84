"""manage.py anonymise_player: take from a player what tells who he is."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from players.anonymising import anonymise_player
from players.terminal import add_by, done, find_player, made_by, saying_why


class Command(BaseCommand):
    help = (
        "Take name, addresses, login, time zone and language from a player, for good: manage.py anonymise_player 'Vera' --yes. "
        "All ratings and the history of his opponents stay as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("player", help="his name, his address, or # and his number")
        parser.add_argument("--reason", default="")
        add_by(parser)
        parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")

    def handle(self, *args: Any, player: str, reason: str, yes: bool, **options: Any) -> None:
        found = find_player(player)
        if not yes:
            self.stdout.write(
                _("%(name)s (#%(number)d) would become anonymous, for good. Add --yes to do it.")
                % {"name": found.name, "number": found.pk}
            )
            return
        with saying_why():
            anonymous = anonymise_player(found, reason=reason.strip(), made_by=made_by(options))
        done(self, _("He is called %(name)s from now on.") % {"name": anonymous.name})
