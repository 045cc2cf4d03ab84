"""A player's messages. Written by `matches.inbox.telling`, sent by `matches.inbox.mail`."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Message(models.Model):
    """Something that a player is told. The words are made when he reads them, in his language: see `matches.inbox.words`.

    `key` says what it is about, so that he is told once however often that is tried.
    """

    class Kind(models.TextChoices):
        CONFIRM = "confirm", _("a result to confirm")
        DISPUTED = "disputed", _("a result is disputed")
        DECIDED = "decided", _("a result is decided")
        ANSWERED = "answered", _("an appeal is answered")
        REVISED = "revised", _("your rating was revised")
        DECAY = "decay", _("your standing is about to fall")
        ASKED = "asked", _("somebody wants to play with you")

    class Mail(models.TextChoices):
        WAITS = "waits", _("to be sent")
        SENDING = "sending", _("being sent")
        SENT = "sent", _("sent")
        UNWANTED = "unwanted", _("not wanted")
        FAILED = "failed", _("given up")

    player = models.ForeignKey("players.Player", on_delete=models.CASCADE, related_name="messages", verbose_name=_("player"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    key = models.CharField(max_length=100)
    pool = models.ForeignKey("players.Pool", on_delete=models.CASCADE, related_name="+", db_index=False, verbose_name=_("pool"))
    match = models.ForeignKey("matches.Match", on_delete=models.CASCADE, null=True, related_name="+", verbose_name=_("match"))
    revision = models.ForeignKey(
        "matches.Revision", on_delete=models.CASCADE, null=True, related_name="+", verbose_name=_("revision")
    )
    details = models.JSONField(_("details"), default=dict)
    made_at = models.DateTimeField(_("time"), default=timezone.now)
    read_at = models.DateTimeField(_("read"), null=True)
    mail = models.CharField(_("mail"), max_length=8, choices=Mail.choices, default=Mail.WAITS)
    mail_attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    mail_due_at = models.DateTimeField(_("mail due"), default=timezone.now)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ("-made_at", "-id")
        constraints = [models.UniqueConstraint(fields=("player", "key"), name="message_once_per_player_and_key")]
        indexes = [
            models.Index(fields=("player", "-made_at", "-id"), name="message_inbox"),
            models.Index(fields=("player",), condition=Q(read_at=None), name="message_unread"),
            models.Index(fields=("mail_due_at",), condition=Q(mail__in=("waits", "sending")), name="message_mail"),
        ]

    def __str__(self) -> str:
        return f"{self.player} · {self.get_kind_display()}"
