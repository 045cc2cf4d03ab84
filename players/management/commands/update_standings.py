"""manage.py update_standings: the hourly task, by hand."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _

from players.tasks import update_standings


class Command(BaseCommand):
    help = "Bring the standings of all pools with decay up to date. A second run changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(_("%(count)d standings moved.") % {"count": update_standings()})
