"""What the site keeps of a stake. Set in the administration, read by `matches.money.rake`."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from players.models import Pool
from players.systems.base import LENGTHS, RATING_LIMIT

MOST_DIFFERENCE = int(2 * RATING_LIMIT)
"""Points between the lowest and the highest rating that are accepted."""
ONE_LENGTH = [MinValueValidator(LENGTHS.start), MaxValueValidator(LENGTHS.stop - 1)]


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
