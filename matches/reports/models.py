"""What players and organisers say of a match: reports of how it went, evaluations of one that was broken off, appeals.

Written by `matches.reports.reporting`, `matches.reports.adjudication` and `matches.reports.appeals`.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from players.models import Player
from players.systems.base import POINTS

NOTE_MAX = 1000
"""Characters of what a player or an organiser writes beside it."""


class Report(models.Model):
    """What the player of one seat says of a match that is not finished, until another confirms it or an organiser decides.

    There is at most one at a time that is not settled. One that is changed becomes another row, so that its id says which one
    somebody has seen. Seats and not players are kept: a seat stays when a duplicate is merged.
    """

    class Outcome(models.TextChoices):
        RESULT = "result", _("result")
        BROKEN_OFF = "broken_off", _("broken off")
        CALLED_OFF = "called_off", _("not played")

    class State(models.TextChoices):
        WAITING = "waiting", _("waits for a confirmation")
        AGREED = "agreed", _("agreed: waits for an evaluation")
        DISPUTED = "disputed", _("disputed: waits for an organiser")
        CONFIRMED = "confirmed", _("confirmed")
        DECIDED = "decided", _("decided by an organiser")
        REPLACED = "replaced", _("replaced by another report")
        WITHDRAWN = "withdrawn", _("withdrawn")

    PATIENCE = 5
    """Reports of one match by one seat of which the others are told, and which their silence confirms."""
    LIVE = (State.WAITING, State.AGREED, State.DISPUTED)

    match = models.ForeignKey("matches.Match", on_delete=models.CASCADE, related_name="reports", verbose_name=_("match"))
    match_version = models.PositiveIntegerField(_("version of the match"))
    seat = models.PositiveSmallIntegerField(_("reported by seat"))
    outcome = models.CharField(_("what happened"), max_length=12, choices=Outcome.choices)
    scores = models.JSONField(_("scores"), null=True, help_text="By seats.")
    places = models.JSONField(_("places"), null=True, help_text="By seats.")
    points = models.PositiveSmallIntegerField(_("points won"), null=True)
    played_at = models.DateTimeField(_("played"))
    note = models.TextField(_("note"), max_length=NOTE_MAX, blank=True)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.WAITING)
    made_at = models.DateTimeField(_("reported"), default=timezone.now)
    confirms_at = models.DateTimeField(_("silence confirms"), null=True, help_text=_("Empty: silence does not confirm it."))
    disputed_seat = models.PositiveSmallIntegerField(_("disputed by seat"), null=True)
    disputed_at = models.DateTimeField(_("disputed"), null=True)
    other = models.JSONField(_("the other version"), null=True, help_text="Outcome, scores, places and points.")
    dispute_note = models.TextField(_("note of the one who disputes it"), max_length=NOTE_MAX, blank=True)
    settled_at = models.DateTimeField(_("settled"), null=True)
    settled_seat = models.PositiveSmallIntegerField(
        _("confirmed by seat"), null=True, help_text=_("Empty: by silence, or by an organiser.")
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("decided by")
    )
    decision = models.TextField(_("reason of the decision"), max_length=NOTE_MAX, blank=True)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports of results")
        ordering = ("-made_at", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=("match",), condition=Q(state__in=("waiting", "agreed", "disputed")), name="report_one_at_a_time"
            ),
            models.CheckConstraint(condition=Q(seat__gte=1, seat__lte=4), name="report_seat"),
            models.CheckConstraint(
                condition=Q(points=None) | Q(points__gte=POINTS.start, points__lt=POINTS.stop), name="report_points"
            ),
            models.CheckConstraint(
                condition=Q(disputed_seat=None, disputed_at=None, other__isnull=True)
                | Q(disputed_seat__isnull=False, disputed_at__isnull=False, other__isnull=False) & ~Q(disputed_seat=F("seat")),
                name="report_disputed_by_another",
            ),
            models.CheckConstraint(
                condition=~Q(state="disputed") | Q(disputed_seat__isnull=False), name="report_disputed_by_somebody"
            ),
            models.CheckConstraint(
                condition=Q(settled_seat=None) | ~Q(settled_seat=F("seat")), name="report_confirmed_by_another"
            ),
        ]
        indexes = [
            models.Index(fields=("confirms_at",), condition=Q(state="waiting"), name="report_silent"),
        ]

    def __str__(self) -> str:
        return f"#{self.match_id} · {self.get_outcome_display()}"

    @property
    def is_live(self) -> bool:
        """Whether it still waits for somebody, as far as the report tells: the match may be finished by other ways."""
        return self.state in self.LIVE

    def is_one_too_many(self) -> bool:
        """Whether he who made it has reported, taken back and reported again so often that nobody has to listen any more."""
        return Report.objects.filter(match=self.match_id, seat=self.seat).exclude(pk=self.pk).count() >= self.PATIENCE


class Evaluation(models.Model):
    """How a match that was broken off stood: player 1's winning chance (0 to 1), the position and who or what evaluated it."""

    match = models.ForeignKey("matches.Match", on_delete=models.PROTECT, related_name="evaluations", verbose_name=_("match"))
    chance = models.FloatField(_("winning chance of player 1"))
    note = models.TextField(_("position and note"), max_length=NOTE_MAX)
    evaluator = models.CharField(_("evaluated by"), max_length=100, blank=True, help_text=_("A program or a person."))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("entered by")
    )
    made_at = models.DateTimeField(_("evaluated"), default=timezone.now)

    class Meta:
        verbose_name = _("evaluation")
        verbose_name_plural = _("evaluations")
        ordering = ("-made_at", "-id")
        constraints = [
            models.CheckConstraint(condition=Q(chance__gte=0, chance__lte=1), name="evaluation_chance"),
        ]

    def __str__(self) -> str:
        return f"#{self.match_id} · {self.chance:.3f}"


class Appeal(models.Model):
    """A player asks the organisers to look once more at how a match of his was settled."""

    class State(models.TextChoices):
        OPEN = "open", _("waits for an organiser")
        GRANTED = "granted", _("granted")
        REJECTED = "rejected", _("rejected")

    match = models.ForeignKey("matches.Match", on_delete=models.PROTECT, related_name="appeals", verbose_name=_("match"))
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="appeals", verbose_name=_("player"))
    text = models.TextField(_("what is wrong"), max_length=NOTE_MAX)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.OPEN)
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    answer = models.TextField(_("answer"), max_length=NOTE_MAX, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("answered by")
    )
    answered_at = models.DateTimeField(_("answered"), null=True)
    match_version = models.PositiveIntegerField(
        _("version of the match"), null=True, help_text="When it was granted: with another one the match is corrected."
    )

    class Meta:
        verbose_name = _("appeal")
        verbose_name_plural = _("appeals")
        ordering = ("-made_at", "-id")
        constraints = [
            models.UniqueConstraint(fields=("match", "player"), condition=Q(state="open"), name="appeal_one_at_a_time"),
            models.CheckConstraint(
                condition=Q(state="open", answered_at=None) | ~Q(state="open") & Q(answered_at__isnull=False),
                name="appeal_answered",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.match_id} · {self.player}"
