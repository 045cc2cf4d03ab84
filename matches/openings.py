"""Openings: what players bring along from elsewhere, and where a replay of the pool starts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from matches import replay
from matches.models import Revision
from players import ledger
from players.ledger import Opening, chunks
from players.locks import hold_pool
from players.models import Pool, Rating, RatingChange
from players.systems.base import Refused


@dataclass(frozen=True, slots=True)
class Opened:
    """How many openings are new, replace another one, or were so already, and how many changes of the history moved."""

    added: int
    updated: int
    unchanged: int
    moved: int


@transaction.atomic
def open_ratings(
    pool: Pool,
    openings: Mapping[int, Opening],
    *,
    reason: str = "",
    made_by: User | None = None,
    now: datetime | None = None,
) -> Opened:
    """Give players (by id) their openings and rate the pool anew where that moves anything, which makes a revision.

    Holds the pool exclusively. Raises Refused where an opening is from after a counted match of its player, or where a rating
    would leave its range.
    """
    now = now or timezone.now()
    pool = hold_pool(pool.pk, exclusive=True)
    for refused in after_counted_matches(pool, openings).values():
        raise refused
    stored = _ratings(pool, openings.keys())
    changed = {player_id: opening for player_id, opening in openings.items() if opening != _opening(stored.get(player_id))}
    if not changed:
        return Opened(0, 0, len(openings), 0)
    ledger.set_openings(pool, changed, now)
    moved = 0
    # Whoever has not played yet moves nobody else.
    if any(player_id in stored and stored[player_id].matches for player_id in changed):
        moved = _replay(pool, reason, made_by, now)
    if not moved:
        ledger.next_version(pool)
    added = sum(player_id not in stored for player_id in changed)
    return Opened(added, len(changed) - added, len(openings) - len(changed), moved)


def _replay(pool: Pool, reason: str, made_by: User | None, now: datetime) -> int:
    """Rate the pool anew from its openings; the number of lines of its history that this moved."""
    answer = replay.recalculate(pool)
    if answer.writes:
        revision = Revision.objects.create(
            pool=pool, kind=Revision.Kind.OPENING, reason=reason, changes=answer.writes, made_by=made_by, made_at=now
        )
        replay.apply(pool, answer, now, revision.pk)
    return answer.writes


def after_counted_matches(pool: Pool, openings: Mapping[int, Opening]) -> dict[int, Refused]:
    """By player id, why an opening cannot be: a match of his from before its date counts already."""
    dated = [player_id for player_id, opening in openings.items() if opening.on is not None]
    first = RatingChange.objects.filter(rating=OuterRef("pk")).order_by("ended_at", "timed", "sequence", "match_id")
    ratings = Rating.objects.filter(pool=pool, matches__gt=0).annotate(
        first_match=Subquery(first.values("match_id")[:1]), first_ended_at=Subquery(first.values("ended_at")[:1])
    )
    refused = {}
    for chunk in chunks(dated):
        rows = ratings.filter(player_id__in=chunk).values_list("player_id", "first_match", "first_ended_at")
        for player_id, match_id, ended_at in rows:
            opened_on = openings[player_id].on
            if opened_on is not None and ended_at.date() < opened_on:
                refused[player_id] = Refused("date", "after_match", match=match_id, ended_on=ended_at.date().isoformat())
    return refused


def _ratings(pool: Pool, player_ids: Collection[int]) -> dict[int, Rating]:
    rows = Rating.objects.filter(pool=pool)
    return {rating.player_id: rating for chunk in chunks(sorted(player_ids)) for rating in rows.filter(player_id__in=chunk)}


def _opening(rating: Rating | None) -> Opening | None:
    if rating is None or not rating.brought:
        return None
    return Opening(rating.opening, rating.opening_experience, rating.opened_on)
