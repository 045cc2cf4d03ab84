"""What was played: matches with their participants, and who changed what of them afterwards. Packages have models of their own.

`matches.completion` is the one door through which a match becomes completed; nothing else sets `status` or what it decides.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import date

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.imports.models import Import as Import
from matches.imports.models import ImportFile as ImportFile
from matches.inbox.models import Message as Message
from matches.lobby.models import Lobby as Lobby
from matches.lobby.models import PairingRequest as PairingRequest
from matches.lobby.models import Table as Table
from matches.lobby.models import TableSeat as TableSeat
from matches.money.models import RakeBand as RakeBand
from matches.push.models import Delivery as Delivery
from matches.push.models import Event as Event
from matches.push.models import Webhook as Webhook
from matches.reports.models import Appeal as Appeal
from matches.reports.models import Evaluation as Evaluation
from matches.reports.models import Report as Report
from matches.terms import MatchTerms
from players.models import Player, Pool
from players.systems.base import POINTS, Result
from players.wording import KIND_LABELS

ORDER = ("ended_at", "timed", "sequence", "id")
"""The order of rating. A match known only by its date is stored at the midnight (UTC) that begins it and comes before the timed
matches of that date, also before one that ended at that very midnight."""


class Match(MatchTerms):
    """A match: not finished, or completed with its result, or voided."""

    class Status(models.TextChoices):
        OPEN = "open", _("not finished")
        COMPLETED = "completed", _("completed")
        VOIDED = "voided", _("voided")

    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.OPEN, editable=False)
    kind = models.CharField(
        _("kind"),
        max_length=12,
        choices=list(KIND_LABELS.items()),
        blank=True,
        default="",
        help_text=_("How the match came about."),
    )
    points = models.PositiveSmallIntegerField(
        _("points won"), null=True, blank=True, help_text=_("Money game: cube times 1, 2 (gammon) or 3 (backgammon).")
    )
    chance = models.FloatField(
        _("winning chance at the break"),
        null=True,
        blank=True,
        help_text=_("Broken off: player 1's chance to win, from 0 to 1, as evaluated."),
    )
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    timed = models.BooleanField(_("time known"), default=True, help_text=_("Off: only the date is known."))
    sequence = models.BigIntegerField(
        _("sequence"), default=0, help_text=_("Orders the matches of one date whose times are not known.")
    )
    not_counted = models.CharField(_("not counted because"), max_length=32, blank=True, default="", editable=False)
    source = models.CharField(_("source"), max_length=100, blank=True, default="", editable=False)
    external_id = models.CharField(_("id at the source"), max_length=200, blank=True, default="", editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    entry_token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("entered by"),
    )
    from_import = models.ForeignKey(
        "matches.Import",
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="matches",
        verbose_name=_("import"),
    )
    created_at = models.DateTimeField(_("entered"), default=timezone.now, editable=False)
    completed_at = models.DateTimeField(_("completed"), null=True, editable=False)
    played_at = models.DateTimeField(
        _("played"),
        null=True,
        editable=False,
        help_text=_("When it was played, of a match that ended for the ratings when its result was confirmed."),
    )
    players = models.ManyToManyField(Player, through="Participant", related_name="matches", verbose_name=_("players"))

    class Meta(MatchTerms.Meta):
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        constraints = [
            *MatchTerms.Meta.constraints,
            models.CheckConstraint(
                condition=Q(points=None) | Q(points__gte=POINTS.start, points__lt=POINTS.stop), name="match_points"
            ),
            models.CheckConstraint(condition=Q(chance=None) | Q(chance__gte=0, chance__lte=1), name="match_chance"),
            models.CheckConstraint(
                condition=Q(status="open", completed_at=None)
                | ~Q(status="open") & Q(ended_at__isnull=False, completed_at__isnull=False),
                name="match_completed_has_end",
            ),
            models.UniqueConstraint(fields=("source", "external_id"), condition=~Q(external_id=""), name="match_once_per_source"),
        ]
        indexes = [
            models.Index(
                F("pool"), *(F(name) for name in ORDER), condition=Q(status="completed", not_counted=""), name="match_rated_order"
            ),
            models.Index(fields=("pool", "-ended_at"), name="match_latest"),
            models.Index(fields=("created_at",), condition=Q(status="open"), name="match_open"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} · {self.pool}" if self.pk else str(_("new match"))

    def get_absolute_url(self) -> str:
        return reverse("match", args=[self.pk])

    @property
    def order(self) -> tuple[object, ...]:
        """The match's place in the order of rating."""
        return tuple(getattr(self, name) for name in ORDER)

    @property
    def ended_on(self) -> date | None:
        """The date of a match whose time is not known: the same for every reader."""
        return None if self.timed or self.ended_at is None else self.ended_at.date()

    def result(self, seats: Sequence[Participant] | None = None) -> Result:
        """The match as the rating systems see it, with its participants in the order of seats: those given, else its own."""
        at_table = list(self.participants.all()) if seats is None else seats
        scores = tuple(seat.score for seat in at_table if seat.score is not None)
        places = tuple(seat.place for seat in at_table if seat.place is not None)
        return Result(
            scores=scores or None,
            chance=self.chance,
            places=places or None,
            length=self.length,
            deals=self.deals,
            points=self.points,
            stake=self.stake,
            real_money=self.real_money,
            kind=self.kind,
        )


class Participant(models.Model):
    """A seat at a match and how it ended for it: a score (1, 0.5, 0) or a place (1 to 4); neither where it was broken off."""

    match = models.ForeignKey(
        Match, on_delete=models.CASCADE, related_name="participants", db_index=False, verbose_name=_("match")
    )
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="participations", verbose_name=_("player"))
    seat = models.PositiveSmallIntegerField(_("seat"))
    score = models.FloatField(_("score"), null=True, blank=True)
    place = models.PositiveSmallIntegerField(_("place"), null=True, blank=True)
    rake = models.DecimalField(
        _("rake"),
        max_digits=18,
        decimal_places=2,
        null=True,
        blank=True,
        editable=False,
        help_text=_("Euros, as of the day on which the match was completed. Empty: none was taken."),
    )

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ("match_id", "seat")
        constraints = [
            models.UniqueConstraint(fields=("match", "seat"), name="participant_once_per_seat"),
            models.UniqueConstraint(fields=("match", "player"), name="participant_once_per_player"),
            models.CheckConstraint(condition=Q(seat__gte=1, seat__lte=4), name="participant_seat"),
            models.CheckConstraint(condition=Q(score=None) | Q(score__in=(0, 0.5, 1)), name="participant_score"),
            models.CheckConstraint(condition=Q(place=None) | Q(place__gte=1, place__lte=4), name="participant_place"),
            models.CheckConstraint(condition=Q(rake=None) | Q(rake__gte=0), name="participant_rake"),
        ]

    def __str__(self) -> str:
        return f"{self.seat}: {self.player}"


class Merge(models.Model):
    """A duplicate that was found to be another player, and whose matches are that player's since. Written by `matches.merging`.

    Which matches those are is in its revisions of the kind `merge`, one for each pool. `login` is that of the duplicate.
    """

    duplicate = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="merges", verbose_name=_("duplicate"))
    keep = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", verbose_name=_("merged into"))
    login = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("login")
    )
    reason = models.TextField(_("reason"), blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    undone_reason = models.TextField(_("reason for undoing it"), blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("undone by")
    )
    undone_at = models.DateTimeField(_("undone"), null=True)

    class Meta:
        verbose_name = _("merge")
        verbose_name_plural = _("merges")
        ordering = ("-made_at", "-id")
        constraints = [
            models.UniqueConstraint(fields=("duplicate",), condition=Q(undone_at=None), name="merge_once_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"{self.duplicate} → {self.keep}"


class Revision(models.Model):
    """Who revised what was published, when and why. Written by `matches.revising` and by late completions."""

    class Kind(models.TextChoices):
        EDIT = "edit", _("result corrected")
        VOID = "void", _("voided")
        UNVOID = "unvoid", _("void taken back")
        LATE = "late", _("entered late")
        OPENING = "opening", _("opening ratings brought along")
        PARAMETERS = "parameters", _("rules changed")
        MERGE = "merge", _("players merged")
        UNMERGE = "unmerge", _("merge undone")

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="revisions", verbose_name=_("pool"))
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    matches = models.ManyToManyField(Match, related_name="revisions", blank=True, verbose_name=_("matches"))
    reason = models.TextField(_("reason"), blank=True)
    details = models.JSONField(_("details"), default=dict, help_text="By match id: {field: [from, to]}.")
    rules = models.JSONField(_("rules"), null=True, help_text="New parameters: see `matches.parameters`.")
    merge = models.ForeignKey(Merge, on_delete=models.PROTECT, null=True, related_name="revisions", verbose_name=_("merge"))
    changes = models.PositiveIntegerField(_("changes"), default=0, help_text=_("Lines of the history that were rewritten."))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now)

    class Meta:
        verbose_name = _("revision")
        verbose_name_plural = _("revisions")
        ordering = ("-made_at", "-id")

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.made_at:%Y-%m-%d}"


class CorrectionJob(models.Model):
    """A revision too large for a web request, previewed and on confirmation applied in the background: see `matches.jobs`."""

    class Status(models.TextChoices):
        PREVIEWING = "previewing", _("being previewed")
        PREVIEWED = "previewed", _("waits for confirmation")
        APPLYING = "applying", _("being applied")
        DONE = "done", _("done")
        WITHDRAWN = "withdrawn", _("withdrawn")
        FAILED = "failed", _("failed")

    pool = models.ForeignKey(
        Pool, on_delete=models.PROTECT, null=True, related_name="jobs", verbose_name=_("pool"), help_text="None for a merge."
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.PREVIEWING)
    work = models.JSONField(_("what is to be done"), help_text="See `matches.job_rows`.")
    reason = models.TextField(_("reason"), blank=True)
    preview = models.JSONField(_("preview"), null=True)
    error = models.TextField(_("error"), blank=True)
    total = models.PositiveIntegerField(_("matches to rate"), default=0)
    revision = models.OneToOneField(Revision, on_delete=models.PROTECT, null=True, related_name="job", verbose_name=_("revision"))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    touched_at = models.DateTimeField(_("last sign of life"), default=timezone.now)

    class Meta:
        verbose_name = _("revision in the background")
        verbose_name_plural = _("revisions in the background")
        ordering = ("-made_at", "-id")
        indexes = [
            models.Index(fields=("touched_at",), condition=Q(status__in=("previewing", "applying")), name="job_unfinished"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} · {self.get_status_display()}"
