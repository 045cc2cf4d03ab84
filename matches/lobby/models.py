"""What waits in the lobby: tables with their seats, players to be paired, and what a pool's lobby goes by.

Written by `matches.lobby.tables` and `matches.lobby.matchmaking`.
"""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.terms import MatchTerms, terms_of
from players.models import Player, Pool
from players.systems.base import RATING_LIMIT, Kind, Result
from players.wording import KIND_LABELS

TABLE_KINDS = (Kind.TABLE.value, Kind.CHALLENGE.value, Kind.INVITATION.value, Kind.REMATCH.value)
LIMITS = ("max_difference", "min_experience", "max_experience")
"""Who may join a table: by the difference to its host's rating (points) and by experience."""
MOST_MINUTES, MOST_HOURS = 7 * 24 * 60, 365 * 24
"""The longest that the settings of a lobby can be, in minutes and in hours."""


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
        "matches.Match", on_delete=models.CASCADE, null=True, blank=True, related_name="rematches", verbose_name=_("rematch of")
    )
    match = models.OneToOneField(
        "matches.Match", on_delete=models.SET_NULL, null=True, editable=False, related_name="table", verbose_name=_("match")
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
