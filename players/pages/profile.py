"""A player in a pool: the facts above the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count

from players import rankings
from players.formatting import is_provisional, shown
from players.ledger import new_rating
from players.models import Player, Pool, Rating, Tier
from players.pages.pools import counts_in_games
from players.pages.reader import day_of, match_day
from players.standings import elapsed_days
from players.systems.backgammon import AFTER, Backgammon
from players.systems.freewhist import FreeWhist
from players.systems.tics import Tics


@dataclass(frozen=True, slots=True)
class Factor:
    """What experience does to the changes. `value` is the factor of the next match, `lowest` where it ends.

    `moves`: it falls with experience. `reached`: it has come to its lowest. `own_match`: the match being rated counts already.
    """

    value: float
    lowest: float
    moves: bool = True
    reached: bool = False
    own_match: bool = False
    symbol: str = "K"


@dataclass(frozen=True, slots=True)
class Decay:
    """What time away does to a standing that can decay.

    `days_left` whole days until it starts; `lost` points so far, since the day `since`; `held` where it has come to the
    threshold below which it does not fall.
    """

    days_left: int
    grace_days: int
    per_day: float
    lost: float
    since: date
    held: bool
    lowest: float


@dataclass(frozen=True, slots=True)
class Record:
    """How a player's counted matches ended. `places` are the numbers of first to fourth places, in games for four."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    broken_off: int = 0
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A player's rating in a pool and all that is said of it. Points, and experience in the pool's unit."""

    player: Player
    pool: Pool
    rating: Rating
    provisional: bool
    to_go: int
    in_games: bool
    factor: Factor | None
    has_standing: bool
    place: rankings.Place | None
    tier: Tier | None
    next_tier: Tier | None
    to_next_tier: float
    decay: Decay | None
    peak_day: date | None

    @property
    def played(self) -> bool:
        return self.rating.matches > 0

    @property
    def brought_along(self) -> bool:
        """Whether the player came with a rating of his own."""
        return self.rating.opened_on is not None or self.rating.opening_experience > 0


def profile(player: Player, pool: Pool, rating: Rating | None, now: datetime) -> Profile:
    """The facts of a player in a pool; one who has not played there has the rating that he would start with. At most one query
    for who has a rating, and three for who has none.

    `rating` comes with its `peak_match`, `pool` with its tiers.
    """
    if rating is None:
        rating = new_rating(pool, player.pk, now)
    provisional = is_provisional(rating.experience, pool.provisional_below)
    tiers = list(pool.tiers.all())
    standing = float(shown(rating.standing, pool.shown_decimals))
    tier, next_tier = rankings.tier_of(tiers, standing)
    peak = rating.peak_match
    return Profile(
        player=player,
        pool=pool,
        rating=rating,
        provisional=provisional,
        to_go=(pool.provisional_below or 0) - rating.experience if provisional else 0,
        in_games=counts_in_games(pool),
        factor=factor_of(pool, rating.experience),
        has_standing=pool.standing_rule is not None,
        place=rankings.place(rating),
        tier=tier,
        next_tier=next_tier,
        to_next_tier=next_tier.threshold - standing if next_tier else 0.0,
        decay=decay_of(pool, rating, now),
        peak_day=match_day(peak) if peak else None,
    )


def factor_of(pool: Pool, experience: int) -> Factor | None:
    """What experience does to the changes in the pool, or None for a system that says nothing about it."""
    system = pool.rating_system
    params = system.params
    if isinstance(system, FreeWhist):
        return Factor(system.k(experience), params.kc_lowest, moves=params.kc_span > 0, symbol="Kc")
    if isinstance(system, Tics):
        return Factor(params.k, params.k, moves=False)
    if not isinstance(system, Backgammon):
        return None
    value = system.k(experience, 0)
    if params.ramp is None or params.ramp.highest == params.ramp.lowest:
        return Factor(value, value, moves=False)
    lowest = params.ramp.lowest
    return Factor(value, lowest, reached=value <= lowest, own_match=params.experience_counts == AFTER)


def decay_of(pool: Pool, rating: Rating, now: datetime) -> Decay | None:
    """What time away does to the rating's stored standing, or None where it does nothing."""
    rule = pool.standing_rule
    last = rating.last_ended_at
    if rule is None or rule.decays_from is None or not rule.per_day or last is None or rating.value < rule.decays_from:
        return None
    # Whole elapsed days, as the standing counts them; the day on which they began to cost is a date of the reader.
    return Decay(
        days_left=max(0, rule.grace_days - elapsed_days(last, now)),
        grace_days=rule.grace_days,
        per_day=rule.per_day,
        lost=max(0.0, rating.value - rating.standing),
        since=day_of(last, bool(rating.last_timed)) + timedelta(days=rule.grace_days),
        held=rating.standing <= rule.decays_from,
        lowest=rule.decays_from,
    )


def record_of(player: Player, pool: Pool) -> Record:
    """How the player's counted matches in the pool ended. One query."""
    seats = player.participations.filter(match__pool=pool, match__status="completed", match__not_counted="")
    counts = {(score, place): count for score, place, count in seats.values_list("score", "place").annotate(Count("pk"))}
    places: Sequence[int] = ()
    if any(place is not None for _, place in counts):
        places = [counts.get((None, place), 0) for place in range(1, 5)]
    return Record(
        won=counts.get((1.0, None), 0),
        drawn=counts.get((0.5, None), 0),
        lost=counts.get((0.0, None), 0),
        broken_off=counts.get((None, None), 0),
        places=tuple(places),
    )
