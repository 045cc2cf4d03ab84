"""manage.py export_ratings: a pool's ranking as CSV, with every digit."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from matches.management.commands import export


class Command(export.Command):
    help = "The same as `export ratings`: a pool's ranking as rank, player, rating, standing, experience, matches."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", required=True, metavar="SLUG", help="the pool's address")
        parser.add_argument("--format", choices=list(export.FORMATS), default="csv")

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options, what="ratings")
