"""Who may use the API beyond reading, and whom a game server means by its own ids."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

SCOPES = ("read", "results", "corrections", "lobby")
RATES = range(1, 100_001)
"""Requests a minute that a key can be given."""


class ApiKey(models.Model):
    """A game server's key, of which only the hash of the secret is kept. Written by `players.api.keys`.

    What it does is recorded under a `login` of its own, with which nobody can log in. After a rotation the old secret is good
    until `old_until`.
    """

    name = models.CharField(_("name"), max_length=80, unique=True, help_text=_("Whose key it is."))
    source = models.CharField(
        _("source"),
        max_length=100,
        help_text=_("Where its matches come from. The server's ids are its own within the source; several keys can share one."),
    )
    prefix = models.CharField(_("begins with"), max_length=12, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    old_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    old_until = models.DateTimeField(_("old secret good until"), null=True, editable=False)
    read = models.BooleanField(_("read"), default=True, help_text=_("Read at the key's own rate, with its ids."))
    results = models.BooleanField(_("results"), default=False, help_text=_("Post results."))
    corrections = models.BooleanField(_("corrections"), default=False, help_text=_("Correct and void what came from its source."))
    lobby = models.BooleanField(_("lobby"), default=False, help_text=_("Open, fill and close tables."))
    may_create_players = models.BooleanField(
        _("may create players"),
        default=False,
        help_text=_("Whoever is not known becomes a player with the first result or table."),
    )
    pools = models.ManyToManyField(
        "players.Pool", related_name="api_keys", verbose_name=_("pools"), help_text=_("It writes in no others.")
    )
    rate = models.PositiveIntegerField(
        _("requests a minute"),
        default=600,
        validators=[MinValueValidator(RATES.start), MaxValueValidator(RATES.stop - 1)],
    )
    login = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_key", editable=False, verbose_name=_("recorded as")
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, editable=False, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now, editable=False)
    rotated_at = models.DateTimeField(_("rotated"), null=True, editable=False)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("revoked by"),
    )
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(condition=~Q(source=""), name="api_key_has_source"),
            models.CheckConstraint(condition=Q(rate__gte=RATES.start, rate__lt=RATES.stop), name="api_key_rate"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class ExternalPlayer(models.Model):
    """Whom a source means by an id of its own. Where he is merged into another, that other."""

    source = models.CharField(_("source"), max_length=100)
    external_id = models.CharField(_("id at the source"), max_length=200)
    player = models.ForeignKey("players.Player", on_delete=models.PROTECT, related_name="external_ids", verbose_name=_("player"))
    made_at = models.DateTimeField(_("made"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("player's id at a source")
        verbose_name_plural = _("players' ids at sources")
        ordering = ("source", "external_id")
        constraints = [
            models.UniqueConstraint(fields=("source", "external_id"), name="external_player_once_per_source"),
            models.CheckConstraint(condition=~Q(source="") & ~Q(external_id=""), name="external_player_has_id"),
        ]

    def __str__(self) -> str:
        return f"{self.source} · {self.external_id}"
