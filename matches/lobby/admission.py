"""Who may sit down at a table, by rating and experience, and in words why somebody may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from matches.models import Table
from players.formatting import format_number, format_rating, shown
from players.models import Pool, Rating
from players.systems.base import Seat


@dataclass(frozen=True, slots=True)
class Strength:
    """A player's rating (points) and experience in a pool; a new player has those that he would start with."""

    rating: float
    experience: int = 0

    @property
    def seat(self) -> Seat:
        """As the rating systems see him."""
        return Seat(self.rating, self.experience)


def strengths_of(pool: Pool, player_ids: Iterable[int]) -> dict[int, Strength]:
    """By player id. One query."""
    wanted = sorted(set(player_ids))
    rated = Rating.objects.filter(pool=pool, player__in=wanted).values_list("player_id", "value", "experience")
    known = {player_id: Strength(value, experience) for player_id, value, experience in rated}
    newcomer = Strength(pool.rating_system.start)
    return {player_id: known.get(player_id, newcomer) for player_id in wanted}


def difference(pool: Pool, other: Strength, own: Strength) -> Decimal:
    """How many points the other's rating is above the own one, of the ratings as they are shown: so that a reader who subtracts
    finds the same."""
    return shown(other.rating, pool.shown_decimals) - shown(own.rating, pool.shown_decimals)


def why_not(pool: Pool, table: Table, host: Strength, own: Strength) -> str:
    """Why somebody may not sit down at a table, by the host's strength and his own, as a sentence; "" where he may."""
    if table.max_difference is not None and abs(difference(pool, host, own)) > table.max_difference:
        return _("This table is for ratings from %(low)s to %(high)s, and yours is %(rating)s.") % {
            "low": format_rating(host.rating - table.max_difference, pool.shown_decimals),
            "high": format_rating(host.rating + table.max_difference, pool.shown_decimals),
            "rating": format_rating(own.rating, pool.shown_decimals),
        }
    low, high, has = table.min_experience, table.max_experience, own.experience
    if (low is None or has >= low) and (high is None or has <= high):
        return ""
    words = {"low": format_number(low or 0), "high": format_number(high or 0), "experience": format_number(has)}
    if low is None:
        return _("This table is for an experience up to %(high)s, and yours is %(experience)s.") % words
    if high is None:
        return _("This table is for an experience from %(low)s on, and yours is %(experience)s.") % words
    return _("This table is for an experience from %(low)s to %(high)s, and yours is %(experience)s.") % words
