"""What the API says of players, pools and ratings, as JSON values. `players.api.shapes` describes them.

Numbers are the stored doubles, each beside the digits that the pages show in the reader's language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from players import rankings
from players.formatting import format_change, format_euros, format_rating, is_provisional, shown
from players.models import Player, Pool, Rating, RatingChange, Tier
from players.simulation import FourPlayers, TwoPlayers
from players.systems.base import RatingSystem
from players.wording import system_label

Json = dict[str, Any]


def points(value: float, pool: Pool) -> Json:
    """A rating or standing in points."""
    return {"value": value + 0.0, "shown": format_rating(value, pool.shown_decimals)}


def change(value: float, pool: Pool) -> Json:
    return {"value": value + 0.0, "shown": format_change(value, pool.shown_decimals)}


def euros(value: Decimal | None) -> Json | None:
    return None if value is None else {"value": float(value), "shown": format_euros(value)}


def instant(value: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def end(ended_at: datetime | None, timed: bool | None) -> Json:
    """When a match ended: the time, or the date alone where no more is known."""
    if ended_at is None or not timed:
        return {"ended_at": None, "date": ended_at and ended_at.date().isoformat()}
    return {"ended_at": instant(ended_at), "date": None}


def player(found: Player) -> Json:
    return {"id": found.pk, "name": found.name, "page": found.get_absolute_url()}


def pool_line(pool: Pool, listed: int) -> Json:
    return {
        "slug": pool.slug,
        "name": pool.name,
        "game": pool.game,
        "system": pool.system,
        "system_name": system_label(pool.system),
        "page": pool.get_absolute_url(),
        "players": listed,
    }


def pool_page(pool: Pool, listed: int) -> Json:
    system: RatingSystem = pool.rating_system
    return {
        **pool_line(pool, listed),
        "seats": system.seats,
        "draws": system.draws,
        "start": points(system.start, pool),
        "shown_decimals": pool.shown_decimals,
        "provisional_below": pool.provisional_below,
        "result_fields": sorted(system.uses),
        "needed_fields": sorted(system.needs),
        "parameters": system.params.to_json(),
        "tiers": [{"name": tier.name, "from": points(tier.threshold, pool), "decays": tier.decays} for tier in pool.tiers.all()],
    }


def tier_name(tiers: Iterable[Tier], standing: float, pool: Pool) -> str | None:
    reached, _ahead = rankings.tier_of(list(tiers), float(shown(standing, pool.shown_decimals)))
    return reached.name if reached else None


def rating(found: Rating, pool: Pool) -> Json:
    """`pool` comes with its tiers."""
    return {
        "pool": pool.slug,
        "rating": points(found.value, pool),
        "standing": points(found.standing, pool),
        "tier": tier_name(pool.tiers.all(), found.standing, pool),
        "experience": found.experience,
        "provisional": is_provisional(found.experience, pool.provisional_below),
        "matches": found.matches,
        "peak": points(found.peak, pool),
        "opening": points(found.opening, pool),
        "last_match": found.last_match_id,
        "last": end(found.last_ended_at, found.last_timed),
    }


def ranked(line: rankings.Ranked, pool: Pool) -> Json:
    found = line.rating
    return {
        "rank": line.rank,
        "player": player(found.player),
        "standing": points(found.standing, pool),
        "rating": points(found.value, pool),
        "tier": tier_name(pool.tiers.all(), found.standing, pool),
        "experience": found.experience,
        "provisional": is_provisional(found.experience, pool.provisional_below),
        "matches": found.matches,
    }


def history_line(line: RatingChange, pool: Pool) -> Json:
    return {
        "match": line.match_id,
        **end(line.ended_at, line.timed),
        "before": points(line.before, pool),
        "change": change(line.change, pool),
        "after": points(line.after, pool),
        "experience_before": line.experience_before,
        "experience_after": line.experience_after,
        "score": line.score,
        "expected": line.expected,
    }


def simulation(found: TwoPlayers | FourPlayers, pool: Pool, players: Sequence[Json]) -> Json:
    """`players` by seat: who sits there, with his rating and experience before the match."""
    four = isinstance(found, FourPlayers)
    return {
        "pool": pool.slug,
        "players": [
            {**one, "expected": found.expected[seat], "k": None if isinstance(found, FourPlayers) else found.k[seat]}
            for seat, one in enumerate(players)
        ],
        "outcomes": []
        if four
        else [
            {"scores": list(outcome.scores), "changes": [change(value, pool) for value in outcome.changes]}
            for outcome in found.outcomes  # type: ignore[union-attr]
        ],
        "places": []
        if not four
        else [
            [
                {"place": place + 1, "chance": found.chances[seat][place], "change": change(found.changes[seat][place], pool)}  # type: ignore[union-attr]
                for place in range(4)
            ]
            for seat in range(4)
        ],
    }


def seat(value: float, experience: int, pool: Pool, who: Player | None = None) -> Json:
    return {
        "player": None if who is None else player(who),
        "rating": points(value, pool),
        "experience": experience,
        "provisional": is_provisional(experience, pool.provisional_below),
    }


def day(value: date | None) -> str | None:
    return None if value is None else value.isoformat()
