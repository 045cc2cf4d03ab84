"""Who the players are and how strong: players, pools with their tiers, ratings and the history of ratings.

`players.ledger` is the only code that writes Rating and RatingChange; `players.services` makes players and pools.
`matches.parameters` changes a pool's parameters, `matches.merging` whom a duplicate belongs to.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from players import systems
from players.accounts.models import Claim as Claim
from players.addresses import RESERVED
from players.names import NAME_MAX, clean_name, name_key
from players.rules import Past, Rules
from players.standings import StandingRule
from players.systems.base import RATING_LIMIT, RatingSystem
from players.systems.params import BadParameter
from players.timezones import validate_time_zone


def in_rating_range(*fields: str) -> Q:
    """Every one of the fields is a rating (points) that the systems accept. NaN is in no range."""
    condition = Q()
    for field in fields:
        condition &= Q(**{f"{field}__gte": -RATING_LIMIT, f"{field}__lte": RATING_LIMIT})
    return condition


HIM_AND_DUPLICATES = """
WITH RECURSIVE known (id) AS (
    SELECT id FROM players_player WHERE id = %s
    UNION
    SELECT duplicate.id FROM players_player duplicate JOIN known ON duplicate.merged_into_id = known.id
)
SELECT id FROM known
"""


class Player(models.Model):
    """A player is his row, not his name: names can change and are unique by `name_key`."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="player",
        verbose_name=_("login"),
        help_text=_("The account that may see this player's cashier window. Optional."),
    )
    name = models.CharField(_("name"), max_length=NAME_MAX)
    name_key = models.CharField(max_length=NAME_MAX * 4, unique=True, editable=False)
    slug = models.SlugField(_("address"), max_length=NAME_MAX * 2, unique=True, allow_unicode=True, editable=False)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC", validators=[validate_time_zone])
    language = models.CharField(
        _("language"), max_length=8, choices=settings.LANGUAGES, blank=True, default="", help_text=_("Empty: not chosen yet.")
    )
    country = models.CharField(_("country"), max_length=2, blank=True, default="")
    mail_wanted = models.BooleanField(
        _("messages by mail"), default=True, help_text=_("Off: they are in the inbox on the site alone.")
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    merged_into = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="duplicates",
        verbose_name=_("merged into"),
    )
    anonymised_at = models.DateTimeField(_("anonymised"), null=True, editable=False)

    class Meta:
        verbose_name = _("player")
        verbose_name_plural = _("players")
        ordering = ("name_key",)
        constraints = [
            models.CheckConstraint(condition=~Q(merged_into=F("id")), name="player_not_merged_into_himself"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("player", args=[self.slug])

    def clean(self) -> None:
        self.name = clean_name(self.name)
        if not self.name:
            raise ValidationError({"name": _("A player needs a name.")})
        self.name_key = name_key(self.name)
        if Player.objects.filter(name_key=self.name_key).exclude(pk=self.pk).exists():
            raise ValidationError({"name": _("There is a player with this name. Add a number to tell the two apart.")})

    @property
    def speaks(self) -> str:
        """The language in which the site writes to him."""
        return self.language or settings.LANGUAGE_CODE

    @property
    def any_of_him(self) -> RawSQL:
        """The ids of him and of the duplicates that were merged into him, as what a column is to be in: what was told to them is
        for him."""
        return RawSQL(HIM_AND_DUPLICATES, [self.pk])

    @cached_property
    def ids(self) -> list[int]:
        """The same, his own first. One query."""
        duplicates = Player.objects.filter(pk__in=self.any_of_him).exclude(pk=self.pk)
        return [self.pk, *duplicates.order_by("pk").values_list("pk", flat=True)]


class OldAddress(models.Model):
    """An address that a player had once. It leads to him, and nobody else gets it."""

    slug = models.SlugField(_("address"), max_length=NAME_MAX * 2, unique=True, allow_unicode=True)
    player = models.ForeignKey(Player, on_delete=models.CASCADE, related_name="old_addresses", verbose_name=_("player"))
    left_at = models.DateTimeField(_("left"), default=timezone.now)

    class Meta:
        verbose_name = _("old address")
        verbose_name_plural = _("old addresses")
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class PlayerRecord(models.Model):
    """What staff did to a player that moved no rating: who, when and why. Written by `players.services` and
    `players.anonymising`."""

    class Kind(models.TextChoices):
        RENAMED = "renamed", _("renamed")
        ANONYMISED = "anonymised", _("anonymised")

    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="records", verbose_name=_("player"))
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    details = models.JSONField(_("details"), default=dict, help_text="{field: [from, to]}; empty once he is anonymised.")
    reason = models.TextField(_("reason"), blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now)

    class Meta:
        verbose_name = _("record of a player")
        verbose_name_plural = _("records of players")
        ordering = ("-made_at", "-id")

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.made_at:%Y-%m-%d}"


class Pool(models.Model):
    """One list of ratings under one rating system with parameters of its own.

    `parameters` are the present ones; what was in force before is in the pool's eras.
    """

    class Game(models.TextChoices):
        BACKGAMMON = "backgammon", _("Backgammon")
        WHIST = "whist", _("Whist")
        BOARD = "board", _("Board game")

    class Stakes(models.TextChoices):
        EVERYBODY = "everybody", _("everybody")
        PLAYERS = "players", _("the players of the match and the organisers")

    slug = models.SlugField(_("address"), max_length=50, unique=True)
    name = models.CharField(_("name"), max_length=80, unique=True)
    game = models.CharField(_("game"), max_length=16, choices=Game.choices)
    system = models.CharField(_("rating system"), max_length=32)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True)
    shown_decimals = models.PositiveSmallIntegerField(_("shown decimals"), default=0, validators=[MaxValueValidator(6)])
    provisional_below = models.PositiveIntegerField(
        _("provisional below"),
        null=True,
        blank=True,
        help_text=_("Experience from which a rating is settled. Below it the rating is grey. Empty: nobody is grey."),
    )
    stakes_shown_to = models.CharField(
        _("stakes are shown to"),
        max_length=12,
        choices=Stakes.choices,
        default=Stakes.EVERYBODY,
        help_text=_(
            "The stake of a waiting table is shown to every player who is logged in: he could sit down. The changes stay public, "
            "and a change tells a patient reader what the stake was."
        ),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    version = models.PositiveBigIntegerField(
        default=0, editable=False, help_text="Rises when lines of the history are rewritten; a match in order only adds some."
    )

    class Meta:
        verbose_name = _("pool")
        verbose_name_plural = _("pools")
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(condition=Q(shown_decimals__lte=6), name="pool_shown_decimals"),
            models.CheckConstraint(condition=Q(stakes_shown_to__in=("everybody", "players")), name="pool_stakes_shown_to"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("rankings", args=[self.slug])

    def clean(self) -> None:
        from players.wording import bad_parameter  # the words import the models' choices

        if self.slug in RESERVED:
            raise ValidationError({"slug": _("“%(slug)s” is a page's own address. Choose another.") % {"slug": self.slug}})

        try:
            self.parameters = systems.get(self.system).from_json(self.parameters).params.to_json()
        except systems.UnknownSystem:
            raise ValidationError({"system": _("There is no such rating system.")}) from None
        except BadParameter as bad:
            raise ValidationError({"parameters": bad_parameter(bad)}) from None
        except (TypeError, AttributeError):
            raise ValidationError({"parameters": _("The parameters are a JSON object: names and values.")}) from None

    has_eras: bool | None = None
    """None where whoever read the pool did not look."""
    organised_by: tuple[int | None, bool] | None = None
    """A user's id and whether he organises the pool, where whoever read the pool has looked."""

    @cached_property
    def rating_system(self) -> RatingSystem:
        """The pool's system with the pool's present parameters. Raises UnknownSystem, BadParameter."""
        return systems.of(self.system, self.parameters)

    @cached_property
    def rules(self) -> Rules:
        """The pool's parameters over time. One query, unless whoever read the pool has seen that it has no eras."""
        past = [] if self.has_eras is False else [Past(era.until, era.parameters) for era in self.eras.all()]
        return Rules(self.system, past, self.parameters)

    def system_at(self, instant: datetime | None) -> RatingSystem:
        """The pool's system with the parameters that rate a match which ended at the instant (None: one that is still played).

        One query the first time.
        """
        return self.rules.at(instant)

    @cached_property
    def standing_rule(self) -> StandingRule | None:
        """What time away costs here, or None where the standing is the rating. One query where the system has decay."""
        params = self.rating_system.standing_params
        if params is None:
            return None
        decays_from = min((tier.threshold for tier in self.tiers.all() if tier.decays), default=None)
        return StandingRule(params.floor, decays_from, params.grace_days, params.per_day)


class Era(models.Model):
    """Parameters that a pool had once: they rate its matches that ended before `until`, back to the `until` of the era before.

    Written by `matches.parameters`.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="eras", verbose_name=_("pool"))
    until = models.DateTimeField(_("until"))
    parameters = models.JSONField(_("parameters"))

    class Meta:
        verbose_name = _("era")
        verbose_name_plural = _("eras")
        ordering = ("pool", "until")
        constraints = [
            models.UniqueConstraint(fields=("pool", "until"), name="era_once_per_pool_and_end"),
        ]

    def __str__(self) -> str:
        return f"{self.pool} · {self.until:%Y-%m-%d}"


class Organiser(models.Model):
    """Somebody who sees and corrects the matches of one pool. What that allows is in `players.permissions`."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="organisers", verbose_name=_("pool"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="organises", verbose_name=_("login")
    )

    class Meta:
        verbose_name = _("organiser")
        verbose_name_plural = _("organisers")
        ordering = ("pool", "user")
        constraints = [
            models.UniqueConstraint(fields=("pool", "user"), name="organiser_once_per_pool"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.pool}"


class Tier(models.Model):
    """A named step of a pool's ranking, from `threshold` (points of standing) up to the next tier's."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="tiers", verbose_name=_("pool"))
    name = models.CharField(_("name"), max_length=40)
    threshold = models.FloatField(_("from standing"))
    decays = models.BooleanField(
        _("decays"),
        default=False,
        help_text=_("Time away costs standing from the lowest tier marked here, never below its threshold."),
    )

    class Meta:
        verbose_name = _("tier")
        verbose_name_plural = _("tiers")
        ordering = ("pool", "threshold")
        constraints = [
            models.UniqueConstraint(fields=("pool", "name"), name="tier_name_once_per_pool"),
            models.UniqueConstraint(fields=("pool", "threshold"), name="tier_threshold_once_per_pool"),
            models.CheckConstraint(condition=in_rating_range("threshold"), name="tier_threshold_range"),
        ]

    def __str__(self) -> str:
        return self.name


LAST = ("last_ended_at", "last_timed", "last_sequence", "last_match")
"""The key of the last counted match in a rating's row: all of it or none."""


class Rating(models.Model):
    """A player's rating in a pool, now. Written by `players.ledger` alone.

    The opening is where his first counted match starts from: what he `brought` along from elsewhere, else the start of the rules
    that rate this match (without one: the pool's present start). The key of the last counted match tells whether another match
    comes after it.
    """

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="ratings", db_index=False, verbose_name=_("pool"))
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="ratings", verbose_name=_("player"))
    value = models.FloatField(_("rating"))
    experience = models.PositiveIntegerField(_("experience"), default=0)
    matches = models.PositiveIntegerField(_("counted matches"), default=0)
    standing = models.FloatField(_("standing"))
    standing_at = models.DateTimeField(_("standing as of"), default=timezone.now)
    rank_points = models.BigIntegerField(editable=False, help_text="The standing in units of its last shown digit.")
    peak = models.FloatField(_("peak"))
    peak_match = models.ForeignKey(
        "matches.Match", on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("peak reached in")
    )
    opening = models.FloatField(_("opening rating"))
    opening_experience = models.PositiveIntegerField(_("opening experience"), default=0)
    opened_on = models.DateField(_("opened on"), null=True, blank=True)
    brought = models.BooleanField(_("brought along"), default=False)
    last_ended_at = models.DateTimeField(_("last counted match"), null=True, blank=True)
    last_timed = models.BooleanField(null=True)
    last_sequence = models.BigIntegerField(null=True)
    last_match = models.ForeignKey("matches.Match", on_delete=models.PROTECT, null=True, related_name="+")
    version = models.PositiveBigIntegerField(
        default=0, help_text="Rises with every write, so that a cache knows which of two is newer."
    )

    class Meta:
        verbose_name = _("rating")
        verbose_name_plural = _("ratings")
        constraints = [
            models.UniqueConstraint(fields=("pool", "player"), name="rating_once_per_pool_and_player"),
            models.CheckConstraint(condition=in_rating_range("value", "standing", "peak", "opening"), name="rating_range"),
            models.CheckConstraint(
                condition=Q(matches=0, **dict.fromkeys(LAST, None))
                | Q(matches__gt=0, **{f"{name}__isnull": False for name in LAST}),
                name="rating_last_match",
            ),
            models.CheckConstraint(
                condition=Q(brought=True) | Q(opening_experience=0, opened_on=None), name="rating_brought_nothing"
            ),
        ]
        indexes = [
            models.Index(
                F("pool"),
                F("rank_points").desc(),
                F("value").desc(),
                F("player"),
                # Not a condition: SQLite would use such an index only for a query with the number written into it.
                F("matches"),
                name="rating_ranking",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.player} · {self.pool}"


class RatingChange(models.Model):
    """What one match did to one player's rating: the history. Written by `players.ledger` alone.

    The match's place in the order (`ended_at`, `timed`, `sequence`) is kept here too, so that a page of a long history needs
    no join. Of its references only the player has an index of its own: the others begin one of those below, and each index is
    written with every line.
    """

    rating = models.ForeignKey(Rating, on_delete=models.PROTECT, related_name="changes", db_index=False, verbose_name=_("rating"))
    match = models.ForeignKey(
        "matches.Match", on_delete=models.PROTECT, related_name="changes", db_index=False, verbose_name=_("match")
    )
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", verbose_name=_("player"))
    before = models.FloatField(_("before"))
    change = models.FloatField(_("change"))
    after = models.FloatField(_("after"))
    experience_before = models.PositiveIntegerField(_("experience before"))
    experience_after = models.PositiveIntegerField(_("experience after"))
    score = models.FloatField(_("score"))
    expected = models.FloatField(_("expected"))
    ended_at = models.DateTimeField(_("ended"))
    timed = models.BooleanField(default=True)
    sequence = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("rating change")
        verbose_name_plural = _("rating history")
        constraints = [
            models.UniqueConstraint(fields=("match", "player"), name="change_once_per_match_and_player"),
            models.CheckConstraint(condition=in_rating_range("before", "after"), name="change_rating_range"),
            models.CheckConstraint(
                condition=Q(score__gte=0, score__lte=1, expected__gte=0, expected__lte=1), name="change_score_range"
            ),
            models.CheckConstraint(
                condition=Q(experience_after__gte=F("experience_before")), name="change_experience_never_falls"
            ),
        ]
        indexes = [
            models.Index(fields=("rating", "ended_at", "timed", "sequence", "match"), name="change_history"),
        ]

    def __str__(self) -> str:
        return f"{self.player_id} · {self.match_id}"


class PublishedChange(models.Model):
    """What a line of the history said before a revision changed it or took it away. Written by `players.ledger` alone.

    It goes when a later revision makes the line what it was. Between its first and its last revision there may be others.
    """

    rating = models.ForeignKey(Rating, on_delete=models.PROTECT, related_name="published", verbose_name=_("rating"))
    match = models.ForeignKey(
        "matches.Match", on_delete=models.PROTECT, related_name="published", db_index=False, verbose_name=_("match")
    )
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", verbose_name=_("player"))
    before = models.FloatField(_("before, as published"))
    change = models.FloatField(_("change, as published"))
    after = models.FloatField(_("after, as published"))
    experience_before = models.PositiveIntegerField(_("experience before, as published"))
    experience_after = models.PositiveIntegerField(_("experience after, as published"))
    revision = models.ForeignKey(
        "matches.Revision", on_delete=models.PROTECT, related_name="published", verbose_name=_("last revised by")
    )
    first_revision = models.ForeignKey(
        "matches.Revision", on_delete=models.PROTECT, related_name="+", db_index=False, verbose_name=_("first revised by")
    )

    class Meta:
        verbose_name = _("published change")
        verbose_name_plural = _("published changes")
        constraints = [
            models.UniqueConstraint(fields=("match", "player"), name="published_once_per_match_and_player"),
        ]

    def __str__(self) -> str:
        return f"{self.player_id} · {self.match_id}"


from players.api.models import ApiKey, ExternalPlayer  # noqa: E402 - models of this app that have a file of their own

__all__ = [
    "ApiKey",
    "Era",
    "ExternalPlayer",
    "OldAddress",
    "Organiser",
    "Player",
    "PlayerRecord",
    "Pool",
    "PublishedChange",
    "Rating",
    "RatingChange",
    "Tier",
]
