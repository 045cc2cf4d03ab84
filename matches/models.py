"""What was played: matches with their participants and what they cost, and the lobby's waiting tables.

`matches.completion` is the one door through which a match becomes completed; nothing else sets `status` or what it decides.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.imports.models import Import as Import
from matches.imports.models import ImportFile as ImportFile
from matches.inbox.models import Message as Message
from matches.push.models import Delivery as Delivery
from matches.push.models import Event as Event
from matches.push.models import Webhook as Webhook
from matches.reports.models import Appeal as Appeal
from matches.reports.models import Evaluation as Evaluation
from matches.reports.models import Report as Report
from players.models import Player, Pool
from players.systems.base import DEALS, LENGTHS, POINTS, RATING_LIMIT, Kind, Result
from players.wording import KIND_LABELS

ORDER = ("ended_at", "timed", "sequence", "id")
"""The order of rating. A match known only by its date is stored at the midnight (UTC) that begins it and comes before the timed
matches of that date, also before one that ended at that very midnight."""

TABLE_KINDS = (Kind.TABLE.value, Kind.CHALLENGE.value, Kind.INVITATION.value, Kind.REMATCH.value)
MOST_MINUTES, MOST_HOURS = 7 * 24 * 60, 365 * 24
"""The longest that the settings of a lobby can be, in minutes and in hours."""
MOST_DIFFERENCE = int(2 * RATING_LIMIT)
"""Points between the lowest and the highest rating that are accepted."""
ONE_LENGTH = [MinValueValidator(LENGTHS.start), MaxValueValidator(LENGTHS.stop - 1)]


class MatchTerms(models.Model):
    """What is agreed before the first roll or deal; shared by tables and matches."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="%(class)ses", verbose_name=_("pool"))
    length = models.PositiveSmallIntegerField(
        _("match length"), null=True, blank=True, help_text=_("Points, 1 to 99. Empty for unlimited play (a money game).")
    )
    deals = models.PositiveSmallIntegerField(_("deals"), null=True, blank=True)
    stake = models.DecimalField(
        _("stake"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        help_text=_("Euros per player; in a money game per point."),
    )
    real_money = models.BooleanField(_("real money"), null=True, blank=True)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(length=None) | Q(length__gte=LENGTHS.start, length__lt=LENGTHS.stop), name="%(class)s_length"
            ),
            models.CheckConstraint(
                condition=Q(deals=None) | Q(deals__gte=DEALS.start, deals__lt=DEALS.stop), name="%(class)s_deals"
            ),
            models.CheckConstraint(condition=Q(stake=None) | Q(stake__gt=0), name="%(class)s_stake"),
        ]


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


class RakeBand(models.Model):
    """What the site keeps of a stake from a rating difference on, up to that of the next band. See `matches.money.rake`.

    A band with lengths is for matches of these lengths alone, one without for all that have no bands of their own.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="rake_bands", verbose_name=_("pool"))
    difference = models.PositiveIntegerField(
        _("from difference"),
        validators=[MaxValueValidator(MOST_DIFFERENCE)],
        help_text=_("Points between the ratings before the match."),
    )
    percent = models.DecimalField(
        _("per cent"),
        max_digits=5,
        decimal_places=2,
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text=_("Of the stake, 0 to 100."),
    )
    minimum = models.DecimalField(
        _("minimum"), max_digits=12, decimal_places=2, default=0, validators=[MinValueValidator(0)], help_text=_("Euros.")
    )
    cap = models.DecimalField(
        _("cap"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("Euros. Empty: without one."),
    )
    length_from = models.PositiveSmallIntegerField(
        _("lengths from"),
        null=True,
        blank=True,
        validators=ONE_LENGTH,
        help_text=_("Empty: for money games, and for all lengths without bands of their own."),
    )
    length_to = models.PositiveSmallIntegerField(_("lengths to"), null=True, blank=True, validators=ONE_LENGTH)
    example = models.BooleanField(
        _("example"), default=False, help_text=_("Said with the rules of the pool. Switch it off for figures of your own.")
    )

    class Meta:
        verbose_name = _("rake band")
        verbose_name_plural = _("rake bands")
        ordering = ("pool", F("length_from").asc(nulls_first=True), "difference")
        constraints = [
            models.CheckConstraint(condition=Q(difference__lte=MOST_DIFFERENCE), name="rakeband_difference"),
            models.CheckConstraint(condition=Q(percent__gte=0, percent__lte=100), name="rakeband_percent"),
            models.CheckConstraint(condition=Q(minimum__gte=0), name="rakeband_minimum"),
            models.CheckConstraint(condition=Q(cap=None) | Q(cap__gte=F("minimum")), name="rakeband_cap_from_minimum"),
            models.CheckConstraint(
                condition=Q(length_from=None, length_to=None)
                | Q(length_from__isnull=False, length_to__isnull=False)
                & Q(length_from__gte=LENGTHS.start, length_to__gte=F("length_from"), length_to__lt=LENGTHS.stop),
                name="rakeband_lengths",
            ),
            models.UniqueConstraint(fields=("pool", "length_from", "difference"), name="rakeband_once_per_length"),
            models.UniqueConstraint(fields=("pool", "difference"), condition=Q(length_from=None), name="rakeband_once"),
        ]

    def __str__(self) -> str:
        return f"{self.pool} · {self.difference}"

    @property
    def lengths(self) -> tuple[int, int] | None:
        """The match lengths that it is for, both included; None for all that have no bands of their own."""
        return None if self.length_from is None or self.length_to is None else (self.length_from, self.length_to)

    @property
    def is_general(self) -> bool:
        return self.lengths is None

    def covers(self, length: int | None) -> bool:
        """Whether it is for matches of just this length; a money game has none."""
        return length is not None and self.lengths is not None and self.lengths[0] <= length <= self.lengths[1]


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


class Lobby(models.Model):
    """What a pool's lobby goes by. A pool without such a row goes by the defaults.

    `version` rises with whatever its page shows of tables and seats, so that a browser learns cheaply that nothing has changed.
    """

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="lobby", verbose_name=_("pool"))
    table_minutes = models.PositiveIntegerField(
        _("minutes a table waits"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text=_("A table where nobody has come or gone for so long closes itself."),
    )
    invitation_hours = models.PositiveIntegerField(
        _("hours an invitation is open"),
        default=72,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_HOURS)],
        help_text=_("Challenges, invitation links and rematches that nobody takes up close after so long."),
    )
    pairing_difference = models.PositiveIntegerField(
        _("difference paired at once"),
        default=100,
        validators=[MaxValueValidator(int(RATING_LIMIT))],
        help_text=_("Matchmaking: points of rating by which two may differ who have just begun to wait."),
    )
    pairing_widening = models.PositiveIntegerField(
        _("points more a minute"),
        default=50,
        validators=[MaxValueValidator(int(RATING_LIMIT))],
        help_text=_("Matchmaking: how much further a player's opponents may be from him with each minute that he waits."),
    )
    pairing_again_hours = models.PositiveIntegerField(
        _("hours before the same two again"),
        default=24,
        validators=[MaxValueValidator(MOST_HOURS)],
        help_text=_("Matchmaking: two whom it has paired are not paired again before so many hours are over. 0: at once."),
    )
    pairing_minutes = models.PositiveIntegerField(
        _("minutes of matchmaking"),
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text=_("Matchmaking: who has not been paired after so long waits no more."),
    )
    version = models.PositiveBigIntegerField(default=0, editable=False)

    class Meta:
        verbose_name = _("lobby")
        verbose_name_plural = _("lobbies")
        ordering = ("pool",)
        constraints = [
            models.CheckConstraint(
                condition=Q(table_minutes__gte=1, table_minutes__lte=MOST_MINUTES)
                & Q(pairing_minutes__gte=1, pairing_minutes__lte=MOST_MINUTES)
                & Q(invitation_hours__gte=1, invitation_hours__lte=MOST_HOURS)
                & Q(pairing_again_hours__lte=MOST_HOURS),
                name="lobby_times",
            ),
            models.CheckConstraint(
                condition=Q(pairing_difference__lte=RATING_LIMIT, pairing_widening__lte=RATING_LIMIT), name="lobby_points"
            ),
        ]

    def __str__(self) -> str:
        return str(self.pool)


class Table(MatchTerms):
    """A table where somebody waits for opponents. Written by `matches.lobby.tables`.

    `kind` says how its players come together, and is the kind of the match that starts when the last seat is taken: an open table
    stands in the lobby; a challenge is for `invited`; an invitation for whoever has the link; a rematch for those who played
    `rematch_of`. A game server's open table has its `source` and its id there; the site's own have none.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        STARTED = "started", _("match started")
        CLOSED = "closed", _("closed")

    taken: list[Any]
    """Its seats with their players' ratings, where `matches.lobby.reads` has read it."""

    class Closed(models.TextChoices):
        LEFT = "left", _("everybody left")
        DECLINED = "declined", _("declined")
        STALE = "stale", _("nobody came")
        PLAYING = "playing", _("its players play elsewhere")
        STAFF = "staff", _("closed by an organiser")
        SERVER = "server", _("closed by the game server")

    host = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="tables", verbose_name=_("host"))
    kind = models.CharField(
        _("kind"), max_length=12, choices=[(kind, KIND_LABELS[kind]) for kind in TABLE_KINDS], default=Kind.TABLE.value
    )
    status = models.CharField(_("status"), max_length=8, choices=Status.choices, default=Status.WAITING)
    max_difference = models.PositiveIntegerField(
        _("difference at most"),
        null=True,
        blank=True,
        help_text=_("Points of rating by which others may be above or below the host. Empty: any."),
    )
    min_experience = models.PositiveIntegerField(_("experience from"), null=True, blank=True)
    max_experience = models.PositiveIntegerField(_("experience up to"), null=True, blank=True)
    invited = models.ForeignKey(
        Player, on_delete=models.PROTECT, null=True, blank=True, related_name="challenges", verbose_name=_("challenged player")
    )
    token = models.CharField(max_length=64, null=True, unique=True, editable=False)  # noqa: DJ001 - none is not the same as another's none
    rematch_of = models.ForeignKey(
        Match, on_delete=models.CASCADE, null=True, blank=True, related_name="rematches", verbose_name=_("rematch of")
    )
    match = models.OneToOneField(
        Match, on_delete=models.SET_NULL, null=True, editable=False, related_name="table", verbose_name=_("match")
    )
    source = models.CharField(_("source"), max_length=100, blank=True, default="", editable=False)
    external_id = models.CharField(_("id at the source"), max_length=200, blank=True, default="", editable=False)
    opened_at = models.DateTimeField(_("opened"), default=timezone.now)
    changed_at = models.DateTimeField(_("last come or gone"), default=timezone.now)
    closed_because = models.CharField(_("closed because"), max_length=8, choices=Closed.choices, blank=True, default="")

    class Meta(MatchTerms.Meta):
        verbose_name = _("table")
        verbose_name_plural = _("tables")
        ordering = ("opened_at", "id")
        constraints = [
            *MatchTerms.Meta.constraints,
            models.CheckConstraint(
                condition=Q(status="waiting", match=None, closed_because="")
                | Q(status="started", closed_because="")
                | Q(status="closed", match=None) & ~Q(closed_because=""),
                name="table_status",
            ),
            models.CheckConstraint(
                condition=Q(kind="table", invited=None, token=None, rematch_of=None)
                | Q(kind="challenge", invited__isnull=False, token=None, rematch_of=None)
                | Q(kind="invitation", invited=None, token__isnull=False, rematch_of=None)
                | Q(kind="rematch", invited=None, token=None, rematch_of__isnull=False),
                name="table_for_whom",
            ),
            models.CheckConstraint(condition=~Q(invited=F("host")), name="table_not_against_oneself"),
            models.CheckConstraint(
                condition=Q(max_difference=None) | Q(max_difference__lte=RATING_LIMIT), name="table_max_difference"
            ),
            models.CheckConstraint(
                condition=Q(min_experience=None) | Q(max_experience=None) | Q(min_experience__lte=F("max_experience")),
                name="table_experience",
            ),
            models.UniqueConstraint(
                fields=("pool", "host", "invited"), condition=Q(kind="challenge", status="waiting"), name="table_challenge_once"
            ),
            models.UniqueConstraint(
                fields=("pool", "host"), condition=Q(kind="invitation", status="waiting"), name="table_invitation_once"
            ),
            models.UniqueConstraint(fields=("source", "external_id"), condition=~Q(external_id=""), name="table_once_per_source"),
            models.UniqueConstraint(
                fields=("rematch_of",), condition=Q(kind="rematch") & ~Q(status="closed"), name="table_rematch_once"
            ),
        ]
        indexes = [
            models.Index(fields=("pool", "kind", "opened_at"), condition=Q(status="waiting"), name="table_waiting"),
        ]

    def __str__(self) -> str:
        return f"{self.host} · {self.pool}"

    def get_absolute_url(self) -> str:
        return reverse("table", args=[self.pk])

    @property
    def terms(self) -> Result:
        """What is agreed, as the rating systems take it, with the kind that the match will have."""
        return terms_of(self, self.kind)


class TableSeat(models.Model):
    """A taken seat of a waiting table; whoever sat at one that has started is at its match.

    `lobby` is the table's pool where it is an open table: a player has one such seat in a pool.
    """

    table = models.ForeignKey(Table, on_delete=models.CASCADE, related_name="seats", verbose_name=_("table"))
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="table_seats", verbose_name=_("player"))
    number = models.PositiveSmallIntegerField(_("seat"))
    lobby = models.ForeignKey(Pool, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("lobby"))
    taken_at = models.DateTimeField(_("taken"), default=timezone.now)

    class Meta:
        verbose_name = _("seat at a table")
        verbose_name_plural = _("seats at tables")
        ordering = ("table_id", "number")
        constraints = [
            models.UniqueConstraint(fields=("table", "player"), name="seat_once_per_player"),
            models.UniqueConstraint(fields=("table", "number"), name="seat_once_per_number"),
            models.UniqueConstraint(fields=("lobby", "player"), name="seat_once_per_lobby"),
            models.CheckConstraint(condition=Q(number__gte=1, number__lte=4), name="seat_number"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.player}"


class PairingRequest(MatchTerms):
    """A player who waits to be paired, on these terms. Gone once he is, or waits no more. See `matches.lobby`."""

    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="pairing_requests", verbose_name=_("player"))
    since = models.DateTimeField(_("waits since"), default=timezone.now)

    class Meta(MatchTerms.Meta):
        verbose_name = _("player to be paired")
        verbose_name_plural = _("players to be paired")
        ordering = ("since", "id")
        constraints = [
            *MatchTerms.Meta.constraints,
            models.UniqueConstraint(fields=("pool", "player"), name="pairing_once_per_player"),
        ]

    def __str__(self) -> str:
        return f"{self.player} · {self.pool}"

    @property
    def terms(self) -> Result:
        return terms_of(self, Kind.MATCHMADE.value)


def terms_of(agreed: MatchTerms, kind: str) -> Result:
    """Length, deals, stake and real money of a table or a match, with a kind."""
    return Result(length=agreed.length, deals=agreed.deals, stake=agreed.stake, real_money=agreed.real_money, kind=kind)
