"""What a match would do to its players' ratings, as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players.simulation import simulate
from players.systems.base import Refused, Seat
from players.terminal import find_pool
from players.wording import refusal, refusal_rule

WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan)")


def read_whole(option: str, text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise CommandError(_("%(option)s: “%(text)s” is not a whole number.") % {"option": option, "text": text})
    return int(text)


def read_number(option: str, text: str) -> float:
    return float(_checked_number(option, text))


def read_amount(option: str, text: str) -> Decimal:
    return Decimal(_checked_number(option, text))


def _checked_number(option: str, text: str) -> str:
    if not NUMBER.fullmatch(text):
        raise CommandError(_("%(option)s: “%(text)s” is not a number.") % {"option": option, "text": text})
    return text


def read_player(option: str, text: str) -> Seat:
    rating, colon, experience = text.partition(":")
    if not rating or (colon and not experience):
        raise CommandError(_("%(option)s: give RATING or RATING:EXPERIENCE, such as 1500:400.") % {"option": option})
    return Seat(read_number(option, rating), read_whole(option, experience) if experience else 0)


OPTIONS = {"length": read_whole, "stake": read_amount, "points": read_whole, "deals": read_whole, "chance": read_number}


class Command(BaseCommand):
    help = "Print as JSON what a match that counts in POOL would do to its players' ratings, for every outcome."

    def add_arguments(self, parser: CommandParser) -> None:
        # "-50:3" is a player with a negative rating, not an option.
        parser._negative_number_matcher = NEGATIVE
        parser.add_argument("pool", metavar="POOL", help="the pool's address (slug), such as fibs")
        parser.add_argument(
            "--player",
            action="append",
            default=[],
            metavar="RATING[:EXPERIENCE]",
            help="rating (points) and experience before the match; once for each player",
        )
        parser.add_argument("--length", metavar="N", help="match length in points; without it, a money game")
        parser.add_argument("--stake", metavar="X", help="stake in euros per player, in a money game per point")
        parser.add_argument("--points", metavar="N", help="points won in a money game")
        parser.add_argument("--deals", metavar="N", help="number of deals")
        parser.add_argument("--chance", metavar="P", help="player 1's winning chance when the match was broken off, 0 to 1")

    def handle(self, *args: Any, **options: Any) -> None:
        pool = find_pool(options["pool"])
        seats = [read_player("--player", str(text)) for text in options["player"]]
        values: dict[str, Any] = {
            name: read(f"--{name}", str(options[name])) for name, read in OPTIONS.items() if options[name] is not None
        }
        try:
            simulation = simulate(pool.rating_system, seats, **values)
        except Refused as refused:
            raise CommandError(explain(refused)) from refused
        self.stdout.write(json.dumps(asdict(simulation), allow_nan=False, indent=2))


def explain(refused: Refused) -> str:
    """The refusal with the option at fault in front."""
    if refused.field in OPTIONS:
        return f"--{refused.field}: {refusal_rule(refused)}"
    return f"--player: {refusal(refused)}"
