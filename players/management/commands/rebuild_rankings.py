"""manage.py rebuild_rankings: fill the rankings in Redis from the database."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players import rankings
from players.models import Pool, Rating
from players.terminal import find_pool

PROGRESS_SECONDS = 2.0


class Command(BaseCommand):
    help = (
        "Fill the rankings in Redis from the database. The site answers all the while; what is written meanwhile is not lost. "
        "Needed by hand only where waiting for the nightly task is too long."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", metavar="SLUG", help="this pool alone; by default all")

    def handle(self, *args: Any, pool: str | None, **options: Any) -> None:
        if not settings.REDIS_URL:
            self.stdout.write(_("There is no Redis (REDIS_URL): the database answers for the rankings, and needs nothing."))
            return
        for each in Pool.objects.order_by("id") if pool is None else [find_pool(pool)]:
            self.rebuild(each)

    def rebuild(self, pool: Pool) -> None:
        total = Rating.objects.filter(pool=pool).count()
        told = time.monotonic()

        def progress(done: int) -> None:
            nonlocal told
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                self.stdout.write(
                    _("%(pool)s: %(done)d of %(total)d ratings") % {"pool": pool.slug, "done": done, "total": total}
                )
                self.stdout.flush()

        try:
            listed = rankings.rebuild(pool, progress)
        except rankings.Busy:
            raise CommandError(_("The ranking of %(pool)s is being rebuilt already.") % {"pool": pool.slug}) from None
        except rankings.Unavailable as gone:
            raise CommandError(_("Redis does not answer: %(error)s") % {"error": gone.__cause__ or gone}) from None
        self.stdout.write(_("%(pool)s: %(listed)d players listed.") % {"pool": pool.slug, "listed": listed})
