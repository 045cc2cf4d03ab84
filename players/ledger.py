"""The one place that writes Rating and RatingChange.

`lock_ratings` takes the rows, `book` applies what a system answered to a rating in memory and makes the line of its history,
`write` stores both. `set_opening`, `refresh_standings` and `update_standings` change what is not a match's doing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Case, ExpressionWrapper, F, FloatField, Value, When
from django.db.models.functions import Greatest

from players.dbfunctions import ElapsedDays, RankPoints
from players.locks import hold_pool, require_transaction
from players.models import Pool, Rating, RatingChange
from players.standings import rank_points, standing
from players.systems.base import RATING_LIMIT, Rated, Refused

T = TypeVar("T")
Row = TypeVar("Row", Rating, RatingChange)

BATCH = 500
"""Rows a statement: below SQLite's limit of variables with every column of the tables here."""

STATE_FIELDS = (
    "value",
    "experience",
    "matches",
    "peak",
    "peak_match_id",
    "last_ended_at",
    "last_timed",
    "last_sequence",
    "last_match_id",
)
STANDING_FIELDS = ("standing", "standing_at", "rank_points")
OPENING_FIELDS = ("opening", "opening_experience", "opened_on")
CHANGE_FIELDS = (
    "before",
    "change",
    "after",
    "experience_before",
    "experience_after",
    "score",
    "expected",
    "ended_at",
    "timed",
    "sequence",
)


@dataclass(frozen=True, slots=True)
class MatchKey:
    """A match's place in the order of rating."""

    ended_at: datetime
    timed: bool
    sequence: int
    id: int

    @property
    def order(self) -> tuple[datetime, bool, int, int]:
        return (self.ended_at, self.timed, self.sequence, self.id)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a player brings along: rating (points), experience, and the date from which his matches here count."""

    rating: float
    experience: int
    on: date | None


def new_rating(pool: Pool, player_id: int, now: datetime) -> Rating:
    """The rating of a player who has not played in the pool, not stored: the system's start, experience 0."""
    rating = Rating(pool=pool, player_id=player_id, opening=pool.rating_system.start)
    reset(rating)
    settle_standing(rating, pool, now)
    return rating


def reset(rating: Rating) -> None:
    """Put a rating back to its opening, in memory: where a replay starts."""
    rating.value = rating.peak = rating.opening
    rating.experience = rating.opening_experience
    rating.matches = 0
    rating.peak_match_id = None
    rating.last_ended_at = rating.last_timed = rating.last_sequence = rating.last_match_id = None


def state(rating: Rating) -> tuple[object, ...]:
    """All that matches have made of the rating: what a replay compares."""
    return tuple(getattr(rating, name) for name in STATE_FIELDS)


def settle_standing(rating: Rating, pool: Pool, now: datetime) -> None:
    """Set the standing, in memory, as it is at `now`."""
    rating.standing = standing(pool.standing_rule, rating.value, rating.last_ended_at, now)
    rating.standing_at = now
    rating.rank_points = rank_points(rating.standing, pool.shown_decimals)


def lock_ratings(pool: Pool, player_ids: Collection[int], now: datetime) -> dict[int, Rating]:
    """The ratings of the players in the pool, locked in the order of player ids; missing ones are made first."""
    require_transaction()
    ordered = sorted(set(player_ids))
    rows = Rating.objects.filter(pool=pool)
    known = {
        player_id
        for chunk in chunks(ordered)
        for player_id in rows.filter(player_id__in=chunk).values_list("player_id", flat=True)
    }
    missing = [new_rating(pool, player_id, now) for player_id in ordered if player_id not in known]
    if missing:
        # All creating comes before all locking, each in the order of player ids, so that two writers cannot wait for each other.
        Rating.objects.bulk_create(missing, ignore_conflicts=True, batch_size=BATCH)
    locked = rows.select_for_update(no_key=True).order_by("player_id")
    return {rating.player_id: rating for chunk in chunks(ordered) for rating in locked.filter(player_id__in=chunk)}


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in pieces of at most BATCH, for one statement each."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def last_order(rating: Rating) -> tuple[datetime, bool, int, int] | None:
    """The place of the player's last counted match in the order of rating, or None before the first."""
    if rating.last_match_id is None:
        return None
    assert rating.last_ended_at is not None and rating.last_timed is not None and rating.last_sequence is not None
    return (rating.last_ended_at, rating.last_timed, rating.last_sequence, rating.last_match_id)


def book(match: MatchKey, ratings: Sequence[Rating], rated: Rated) -> list[RatingChange]:
    """Apply one match's changes to its players' ratings, in memory, and return the lines of their history, in seat order.

    Raises Refused where a rating would leave the accepted range. Standings are settled by `write`.
    """
    lines = []
    for rating, change, expected, score in zip(ratings, rated.changes, rated.expected, rated.scores, strict=True):
        before, experience = rating.value, rating.experience
        after = before + change
        if not -RATING_LIMIT <= after <= RATING_LIMIT:
            raise Refused("rating", "out_of_range", value=after, low=-RATING_LIMIT, high=RATING_LIMIT)
        rating.value = after
        rating.experience = experience + rated.gained
        rating.matches += 1
        if after > rating.peak:
            rating.peak, rating.peak_match_id = after, match.id
        rating.last_ended_at, rating.last_timed, rating.last_sequence, rating.last_match_id = match.order
        lines.append(
            RatingChange(
                rating_id=rating.pk,
                match_id=match.id,
                player_id=rating.player_id,
                before=before,
                change=change,
                after=after,
                experience_before=experience,
                experience_after=rating.experience,
                score=score,
                expected=expected,
                ended_at=match.ended_at,
                timed=match.timed,
                sequence=match.sequence,
            )
        )
    return lines


def write(pool: Pool, ratings: Collection[Rating], new: Collection[RatingChange], now: datetime) -> None:
    """Store locked ratings with their standings as of `now`, and new lines of the history."""
    require_transaction()
    for rating in ratings:
        settle_standing(rating, pool, now)
    RatingChange.objects.bulk_create(new, batch_size=BATCH)
    _store(ratings, (*STATE_FIELDS, *STANDING_FIELDS))


def rewrite(changed: Collection[RatingChange], gone: Collection[int]) -> None:
    """Store lines of the history that a replay changed and delete those (by id) whose match does not count any more."""
    require_transaction()
    _overwrite(changed, CHANGE_FIELDS)
    for chunk in chunks(sorted(gone)):
        RatingChange.objects.filter(pk__in=chunk).delete()


def _store(ratings: Collection[Rating], fields: Sequence[str]) -> None:
    """Overwrite ratings that are locked, as the next version of each."""
    for rating in ratings:
        rating.version += 1
    _overwrite(ratings, (*fields, "version"))


def _overwrite(rows: Collection[Row], fields: Sequence[str]) -> None:
    """Store the fields of rows that exist, set-based: an upsert by id takes a tenth of the time of bulk_update's CASE."""
    if rows:
        manager = type(next(iter(rows)))._default_manager
        names = [manager.model._meta.get_field(name).name for name in fields]
        manager.bulk_create(rows, update_conflicts=True, unique_fields=["pk"], update_fields=names, batch_size=BATCH)


def set_openings(pool: Pool, openings: Mapping[int, Opening], now: datetime) -> None:
    """Give players (by id) the ratings that they bring along. The caller holds the pool exclusively and replays it afterwards."""
    ratings = lock_ratings(pool, openings.keys(), now)
    for player_id, opening in openings.items():
        rating = ratings[player_id]
        rating.opening, rating.opening_experience, rating.opened_on = opening.rating, opening.experience, opening.on
        if not rating.matches:
            reset(rating)
            settle_standing(rating, pool, now)
    _store(ratings.values(), (*OPENING_FIELDS, *STATE_FIELDS, *STANDING_FIELDS))


@transaction.atomic
def update_standings(pool_id: int, now: datetime) -> int:
    """Bring the standings of a pool with decay up to date at `now`, set-based; the number of ratings whose standing moved.

    Writes only what changes, so a second run writes nothing. Rows that a completion holds are skipped: it sets them itself.
    """
    pool = hold_pool(pool_id, exclusive=False)
    rule = pool.standing_rule
    if rule is None:
        return 0
    decayed: Any = F("value")
    if rule.decays_from is not None:
        over = Greatest(Value(0.0), ElapsedDays(F("last_ended_at"), now) - Value(float(rule.grace_days)))
        lost = ExpressionWrapper(F("value") - Value(rule.per_day) * over, FloatField())
        decayed = Case(
            When(value__gte=rule.decays_from, last_ended_at__isnull=False, then=Greatest(Value(rule.decays_from), lost)),
            default=F("value"),
        )
    fresh = Greatest(Value(rule.floor), decayed, output_field=FloatField())
    stale = Rating.objects.filter(pool=pool).alias(fresh=fresh).exclude(standing=F("fresh"))
    ids = list(stale.order_by("player_id").select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True))
    for chunk in chunks(ids):
        Rating.objects.filter(pk__in=chunk).update(
            version=F("version") + 1, standing=fresh, standing_at=now, rank_points=RankPoints(fresh, pool.shown_decimals)
        )
    return len(ids)


def refresh_standings(pool_id: int, now: datetime) -> None:
    """Set every standing of a pool anew, after its tiers, its decay or its shown decimals changed."""
    require_transaction()
    pool = hold_pool(pool_id, exclusive=True)
    ratings = list(Rating.objects.select_for_update(no_key=True).filter(pool=pool).order_by("player_id"))
    for rating in ratings:
        settle_standing(rating, pool, now)
    _store(ratings, STANDING_FIELDS)
