"""manage.py verify_ratings: is every stored rating what a clean replay gives?"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from matches.verify import stale_standings, verify
from players.models import Pool
from players.terminal import find_pool


class Command(BaseCommand):
    help = "Replay pools by a plain loop and compare every stored number bit for bit. Exit status 1 at the first difference."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", metavar="SLUG", help="only this pool; all pools without it")

    def handle(self, *args: Any, pool: str | None, **options: Any) -> None:
        pools = list(Pool.objects.all()) if pool is None else [find_pool(pool)]
        wrong = False
        for each in pools:
            agreed, difference = verify(each)
            if difference is not None:
                wrong = True
                self.stderr.write(self.style.ERROR(f"{each.slug}: {difference}"))
                continue
            self.stdout.write(_("%(slug)s: %(count)d counted matches agree.") % {"slug": each.slug, "count": agreed})
            if stale := stale_standings(each):
                self.stdout.write(
                    _("%(slug)s: %(count)d standings wait for update_standings.") % {"slug": each.slug, "count": stale}
                )
        if wrong:
            sys.exit(1)
