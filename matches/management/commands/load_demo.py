"""manage.py load_demo: a site to look at, on the first run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from django.utils.translation import gettext as _

from matches import demo
from players.models import Player


class Command(BaseCommand):
    help = "Fill an empty site with demo data and print the demo's logins. A site that has players is left alone."

    def handle(self, *args: Any, **options: Any) -> None:
        if not Player.objects.exists():
            count = demo.load(timezone.now())
            self.stdout.write(_("Loaded the demo: %(count)d matches.") % {"count": count})
        for login in demo.demo_logins():
            role = _("organiser, may use /admin/") if login == demo.STAFF_LOGIN else _("player")
            self.stdout.write(
                _("Demo login: %(login)s / %(password)s (%(role)s)") % {"login": login, "password": demo.PASSWORD, "role": role}
            )
