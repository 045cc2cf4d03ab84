"""Pools full of ratings with many ties, written as they are, and what a plain sort makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from decimal import Decimal

from matches.models import Match
from players.models import Pool, Rating
from players.rankings import Place
from players.services import create_players
from players.standings import rank_points
from tests.building import at, complete, people, pool_of, won


def any_match() -> Match:
    """A match that ratings of any pool can call their last one. It does not count itself."""
    pool = pool_of("crowns-cup")
    entry = won(*people(2), at(0), stake=Decimal(5), real_money=False, kind="challenge")
    return Match.objects.filter(pool=pool).first() or complete(pool, entry)[0]


def fill(pool: Pool, standings: Iterable[tuple[float, float, int]]) -> list[Rating]:
    """Ratings of new players: (value, standing, counted matches) of each. They are stored as the first version."""
    match, rows = any_match(), list(standings)
    players = create_players(f"Listed {number}" for number in range(len(rows)))
    random.Random(len(rows)).shuffle(players)
    last = {"last_match": match, "last_ended_at": match.ended_at, "last_timed": True, "last_sequence": 0}
    ratings = [
        Rating(
            pool=pool,
            player=player,
            value=value,
            standing=standing,
            rank_points=rank_points(standing, pool.shown_decimals),
            peak=value,
            opening=value,
            matches=matches,
            version=1 if matches else 0,
            **(last if matches else {}),
        )
        for player, (value, standing, matches) in zip(players, rows, strict=True)
    ]
    return Rating.objects.bulk_create(ratings, batch_size=500)


def random_set(seed: int, size: int) -> list[tuple[float, float, int]]:
    """Values and standings with ties of every kind, negative ones, and players who are not listed."""
    dice = random.Random(seed)
    middle, spread = dice.choice(((1500, 3), (0, 4), (-40, 60), (1500, 400), (99_000, 1)))
    rows = []
    for _ in range(size):
        value = round(dice.gauss(middle, spread), dice.choice((0, 1, 2, 12)))
        standing = max(value, float(middle)) if dice.random() < 0.3 else value
        rows.append((value, standing, 0 if dice.random() < 0.1 else dice.randrange(1, 9)))
    return rows


def plain_order(ratings: Iterable[Rating]) -> list[Rating]:
    listed = [rating for rating in ratings if rating.matches]
    return sorted(listed, key=lambda rating: (-rating.rank_points, -rating.value, rating.player_id))


def plain_rank(ordered: list[Rating], rating: Rating) -> int:
    return 1 + sum(other.rank_points > rating.rank_points for other in ordered)


def plain_place(ordered: list[Rating], rating: Rating) -> Place:
    below = sum(other.rank_points < rating.rank_points for other in ordered)
    position = [other.pk for other in ordered].index(rating.pk)
    return Place(plain_rank(ordered, rating), len(ordered), below / len(ordered), position)
