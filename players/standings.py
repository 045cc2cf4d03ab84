"""Standing: what the rankings list by. Decay as a function of (rating, last counted match, now); the rule is in
docs/systems.md, Online Backgammon.

A rating never decays. The standing of a player who stays away falls, down to the threshold of the tier where decay begins, and
the next counted match restores it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from players.formatting import shown

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A pool's rule: `floor` is the lowest standing (points), `decays_from` the threshold from which time away costs (None:
    nowhere), `per_day` the points a day after `grace_days` whole days."""

    floor: float
    decays_from: float | None
    grace_days: int
    per_day: float


def elapsed_days(since: datetime | None, now: datetime) -> int:
    """Whole days of 24 hours since `since`, at least 0; 0 where there is no `since`."""
    return 0 if since is None else max(0, (now - since) // DAY)


def standing(rule: StandingRule | None, rating: float, last_counted: datetime | None, now: datetime) -> float:
    """The standing, in points: `max(floor, max(P, rating - per_day * days over the grace) if rating >= P else rating)`.

    Without a rule it is the rating. Whole elapsed days, so a change of the clocks neither adds nor skips one.
    """
    if rule is None:
        return rating
    shown = rating
    if rule.decays_from is not None and rating >= rule.decays_from:
        over = max(0, elapsed_days(last_counted, now) - rule.grace_days)
        shown = max(rule.decays_from, rating - rule.per_day * over)
    return max(rule.floor, shown)


def rank_points(standing: float, decimals: int) -> int:
    """The shown standing in units of its last digit (1500.25 with 2 decimals: 150025): equal ones share a rank."""
    return int(shown(standing, decimals).scaleb(decimals))
