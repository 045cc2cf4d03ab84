"""manage.py create_pool: a pool of its own under one of the rating systems."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players import systems
from players.models import Pool
from players.numbers import whole
from players.services import create_pool
from players.terminal import read_settings


class Command(BaseCommand):
    help = (
        "Make a pool: manage.py create_pool club --name 'The club' --system fibs --set start=1800 --set ramp=null. "
        'A value is JSON (1800, null, "after", {"highest": 3}); what is no JSON is taken as text. '
        "What is not set takes the system's default."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the pool's address: letters, digits, hyphens")
        parser.add_argument("--name", required=True)
        parser.add_argument("--system", required=True, help=f"one of {', '.join(systems.keys())}")
        parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], dest="parameters")
        parser.add_argument("--game", choices=Pool.Game.values)
        parser.add_argument("--shown-decimals", type=int)
        parser.add_argument(
            "--provisional-below", metavar="EXPERIENCE", help="experience from which a rating is settled; 'none': nobody is grey"
        )

    def handle(self, *args: Any, slug: str, name: str, system: str, parameters: list[str], **options: Any) -> None:
        values = read_settings(parameters)
        given: dict[str, Any] = {}
        if options["provisional_below"] is not None:
            text = options["provisional_below"]
            given["provisional_below"] = limit = None if text == "none" else whole(text)
            if limit is None and text != "none":
                raise CommandError(_("--provisional-below takes a whole number or “none”."))
        try:
            pool = create_pool(
                slug,
                name=name,
                system=system,
                parameters=values,
                game=options["game"],
                shown_decimals=options["shown_decimals"],
                **given,
            )
        except ValidationError as error:
            lines = [f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items()]
            raise CommandError("\n".join(lines)) from None
        self.stdout.write(
            _("Made the pool %(slug)s: %(parameters)s") % {"slug": pool.slug, "parameters": json.dumps(pool.parameters)}
        )
