"""What is agreed before a match begins: the columns that tables, those who wait to be paired, and matches have in common."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from players.models import Pool
from players.systems.base import DEALS, LENGTHS, Result

AGREED = ("length", "deals", "stake", "real_money")


class MatchTerms(models.Model):
    """What is agreed before the first roll or deal: the pool, and AGREED."""

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


def terms_of(agreed: MatchTerms, kind: str) -> Result:
    """Length, deals, stake and real money of a table or a match, with a kind."""
    return Result(length=agreed.length, deals=agreed.deals, stake=agreed.stake, real_money=agreed.real_money, kind=kind)
