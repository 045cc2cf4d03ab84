"""What tests build their worlds from: players, entries and completed matches, by the site's own services."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from matches.completion import Entry, complete_match
from matches.models import Event, Match, Revision
from players.models import Player, Pool, PublishedChange, Rating, RatingChange
from players.services import create_players
from players.systems.base import Result

DAY_ONE = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def pool_of(slug: str) -> Pool:
    """A pool that exists after migration."""
    return Pool.objects.get(slug=slug)


def people(count: int) -> list[Player]:
    """New players, Player 1 and so on."""
    return create_players(f"Player {number}" for number in range(1, count + 1))


def at(hours: float) -> datetime:
    """An instant, in hours after the first evening."""
    return DAY_ONE + timedelta(hours=hours)


def won(winner: Player, loser: Player, ended_at: datetime, *, length: int | None = 5, **more: Any) -> Entry:
    """Player 1 wins a match. What is no field of a result goes to the entry."""
    result = {name: more.pop(name) for name in tuple(more) if name in Result.__slots__}
    return Entry(players=(winner, loser), result=Result(scores=(1.0, 0.0), length=length, **result), ended_at=ended_at, **more)


def complete(pool: Pool, *entries: Entry, now: datetime = NOW) -> list[Match]:
    """Complete entries one by one, in the order given."""
    return [complete_match(pool, entry, now=now) for entry in entries]


def values(pool: Pool) -> dict[str, tuple[float, int]]:
    """Rating and experience by the player's name."""
    return {
        rating.player.name: (rating.value, rating.experience)
        for rating in Rating.objects.filter(pool=pool).select_related("player")
    }


def history(player: Player, pool: Pool) -> Sequence[RatingChange]:
    """A player's changes in the order of rating."""
    return list(
        RatingChange.objects.filter(rating__pool=pool, player=player).order_by("ended_at", "timed", "sequence", "match_id")
    )


def forget() -> None:
    """Forget all that was played, for a second way to enter the same; players and pools stay."""
    for model in (PublishedChange, RatingChange):
        model.objects.all().delete()
    Rating.objects.all().delete()
    Event.objects.all().delete()
    Revision.objects.all().delete()
    Match.objects.all().delete()


def everything(pool: Pool) -> dict[str, Any]:
    """All that readers can see of a pool's ratings and history."""
    ratings = Rating.objects.filter(pool=pool, matches__gt=0)
    fields = ("value", "experience", "matches", "standing", "peak", "opening", "last_ended_at")
    lines = RatingChange.objects.filter(rating__pool=pool)
    return {
        "ratings": {rating.player_id: [getattr(rating, name) for name in fields] for rating in ratings},
        "lines": sorted(
            lines.values_list("player_id", "ended_at", "before", "change", "after", "experience_before", "score", "expected")
        ),
    }
