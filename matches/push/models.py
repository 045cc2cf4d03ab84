"""Events and who is told of them. `matches.push.events` writes events, `matches.push.webhooks` deliveries."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core.validators import MinLengthValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


def new_secret() -> str:
    """256 random bits."""
    return secrets.token_hex(32)


class Event(models.Model):
    """Something that moved ratings, or changed an open table, written in the transaction that did.

    `position` is its place in the feed. The sweep gives it after the commit, so that nobody who has read up to a position ever
    misses an event that commits late. `ratings` are [player id, before, after] (points): of a revision the ratings, else the
    standings. `table` is an open table as the change left it; its row is kept for a shorter time than the event.
    """

    class Kind(models.TextChoices):
        RATED = "match.rated", _("match completed")
        REVISED = "rating.revised", _("ratings revised")
        STANDING = "standing.changed", _("standings changed")
        TABLE = "table.changed", _("table changed")

    kind = models.CharField(_("event"), max_length=20, choices=Kind.choices)
    pool = models.ForeignKey("players.Pool", on_delete=models.PROTECT, related_name="+", db_index=False, verbose_name=_("pool"))
    match = models.ForeignKey(
        "matches.Match", on_delete=models.PROTECT, null=True, related_name="+", db_index=False, verbose_name=_("match")
    )
    revision = models.ForeignKey(
        "matches.Revision", on_delete=models.PROTECT, null=True, related_name="+", db_index=False, verbose_name=_("revision")
    )
    ratings = models.JSONField(_("ratings"), null=True)
    table = models.JSONField(_("table"), null=True)
    made_at = models.DateTimeField(_("time"), default=timezone.now)
    position = models.PositiveBigIntegerField(_("position in the feed"), null=True, unique=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="match.rated", match__isnull=False, ratings__isnull=True, table__isnull=True)
                | Q(kind="table.changed", match=None, ratings__isnull=True, table__isnull=False)
                | Q(kind__in=("rating.revised", "standing.changed"), match=None, ratings__isnull=False, table__isnull=True),
                name="event_tells_of_something",
            ),
        ]
        indexes = [models.Index(fields=("id",), condition=Q(position=None), name="event_without_position")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.pool}"


class Webhook(models.Model):
    """An address that is told of events, by a signed POST. Without pools: of those in all pools."""

    name = models.CharField(_("name"), max_length=80, help_text=_("Whose it is: for you, not sent."))
    url = models.URLField(_("address"), max_length=500, help_text=_("https://… Events are posted to it as JSON."))
    secret = models.CharField(
        max_length=64, default=new_secret, editable=False, validators=[MinLengthValidator(64)], help_text="Signs what is sent."
    )
    kinds = models.JSONField(_("events"), default=list)
    source = models.CharField(
        _("source"),
        max_length=100,
        blank=True,
        help_text=_("The source of the receiver's own matches: their ids are sent along."),
    )
    pools = models.ManyToManyField("players.Pool", blank=True, related_name="+", verbose_name=_("pools"))
    active = models.BooleanField(_("active"), default=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, editable=False, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ("name", "id")

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """An event that a webhook is to be told of, and how that went."""

    class Status(models.TextChoices):
        PENDING = "pending", _("to be sent")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("given up")

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", verbose_name=_("webhook"))
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries", verbose_name=_("event"))
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    due_at = models.DateTimeField(_("due"), default=timezone.now)
    answer = models.PositiveSmallIntegerField(_("status of the answer"), null=True)
    error = models.CharField(_("what went wrong"), max_length=300, blank=True)
    delivered_at = models.DateTimeField(_("delivered"), null=True)

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("webhook", "event"), name="delivery_once_per_webhook_and_event")]
        indexes = [models.Index(F("webhook"), F("due_at"), condition=Q(status="pending"), name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.webhook} · {self.event_id}"
