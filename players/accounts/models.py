"""Claims. Written by `players.accounts.claims`."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

NOTE_MAX = 1000


class Claim(models.Model):
    """Somebody with a login says that he is a player who has none, such as one of an imported list."""

    class State(models.TextChoices):
        OPEN = "open", _("waits for an organiser")
        GRANTED = "granted", _("granted")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="claims", verbose_name=_("login"))
    player = models.ForeignKey("players.Player", on_delete=models.PROTECT, related_name="claims", verbose_name=_("player"))
    note = models.TextField(_("note"), max_length=NOTE_MAX, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    answer = models.TextField(_("answer"), max_length=NOTE_MAX, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("answered by")
    )
    answered_at = models.DateTimeField(_("answered"), null=True)

    class Meta:
        verbose_name = _("claim")
        verbose_name_plural = _("claims")
        ordering = ("-made_at", "-id")
        constraints = [
            models.UniqueConstraint(fields=("user",), condition=Q(state="open"), name="claim_one_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"{self.user} → {self.player}"
