"""manage.py rename_player: another name for a player."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from players.services import rename_player
from players.terminal import add_by, done, find_player, made_by, saying_why


class Command(BaseCommand):
    help = (
        "Give a player another name: manage.py rename_player 'Vera' 'Vera K.'. What he played stays as it is; his page gets the "
        "address of the new name, and the old address leads there."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("player", help="his name, his address, or # and his number")
        parser.add_argument("name", help="the new name")
        parser.add_argument("--reason", default="")
        add_by(parser)

    def handle(self, *args: Any, player: str, name: str, reason: str, **options: Any) -> None:
        found = find_player(player)
        with saying_why():
            renamed = rename_player(found, name, reason=reason.strip(), made_by=made_by(options))
        done(
            self,
            _("%(old)s is %(new)s now: %(address)s")
            % {"old": found.name, "new": renamed.name, "address": renamed.get_absolute_url()},
        )
