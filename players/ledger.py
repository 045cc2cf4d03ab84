"""The one place that writes Rating and RatingChange.

`lock_ratings` takes the rows; `players.systems.running` rates in memory and makes the lines of the history; `settle` and `write`
store both. `set_openings`, `reopen`, `refresh_standings` and `update_standings` change what is not a match's
doing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Case, ExpressionWrapper, F, FloatField, Value, When
from django.db.models.functions import Greatest

from players import rankings, rows
from players.dbfunctions import Among, ElapsedDays, RankPoints
from players.locks import hold_pool, require_transaction
from players.models import Pool, PublishedChange, Rating, RatingChange
from players.signals import standings_moved
from players.standings import rank_points, standing
from players.systems.running import LINE_FIELDS, MATCH, PLAYER, Line, MatchKey, Running

T = TypeVar("T")

DECAY_STEP = 20_000
"""Players whose standings are brought up to date in one transaction."""
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
    "opening",
)
STANDING_FIELDS = ("standing", "standing_at", "rank_points")
OPENING_FIELDS = ("opening_experience", "opened_on", "brought")


PUBLISHED_FIELDS = ("before", "change", "after", "experience_before", "experience_after")
SAID = slice(2, 7)
"""The place of the published fields in a line; before them are the match and the player."""


def beginner(start: float) -> Running:
    """Somebody who has no counted match and brought nothing along; `start` in points, that of the rules of his first match."""
    return Running(start, 0, opening=start)


def opening_of(rating: Rating, start: float) -> Running:
    """Where a replay starts: what the player brought along, else the `start` (points) of the rules of his first match."""
    return Running(rating.opening, rating.opening_experience) if rating.brought else beginner(start)


def running(rating: Rating, start: float) -> Running:
    """Where the next match goes on, which is rated by rules that start with `start` points."""
    if not rating.matches:
        return opening_of(rating, start)
    return Running(rating.value, rating.experience, rating.matches, rating.peak, rating.peak_match_id, last_key(rating))


def last_key(rating: Rating) -> MatchKey | None:
    """The place of the player's last counted match in the order of rating, or None before the first."""
    if rating.last_match_id is None:
        return None
    assert rating.last_ended_at is not None and rating.last_timed is not None and rating.last_sequence is not None
    return MatchKey(rating.last_ended_at, rating.last_timed, rating.last_sequence, rating.last_match_id)


def settle(rating: Rating, now_at: Running) -> list[str]:
    """Put what matches have made of a rating into its row, in memory; the fields that moved."""
    before = [getattr(rating, name) for name in STATE_FIELDS]
    rating.value, rating.experience, rating.matches = now_at.value, now_at.experience, now_at.matches
    rating.peak, rating.peak_match_id = now_at.peak, now_at.peak_match_id
    last = now_at.last or (None, None, None, None)
    rating.last_ended_at, rating.last_timed, rating.last_sequence, rating.last_match_id = last
    if now_at.opening is not None and not rating.brought:
        rating.opening = now_at.opening
    return [name for name, was in zip(STATE_FIELDS, before, strict=True) if getattr(rating, name) != was]


@dataclass(frozen=True, slots=True)
class Opening:
    """What a player brings along: rating (points), experience, and the date from which his matches here count."""

    rating: float
    experience: int
    on: date | None


def new_rating(pool: Pool, player_id: int, now: datetime) -> Rating:
    """The rating of a player who has not played in the pool, not stored: the present start, experience 0."""
    rating = Rating(pool=pool, player_id=player_id)
    settle(rating, beginner(pool.rating_system.start))
    settle_standing(rating, pool, now)
    return rating


def settle_standing(rating: Rating, pool: Pool, now: datetime) -> None:
    """Set the standing, in memory, as it is at `now`."""
    rating.standing = standing(pool.standing_rule, rating.value, rating.last_ended_at, now)
    rating.standing_at = now
    rating.rank_points = rank_points(rating.standing, pool.shown_decimals)


def lock_ratings(pool: Pool, player_ids: Collection[int], now: datetime) -> dict[int, Rating]:
    """The ratings of the players in the pool, locked in the order of player ids; missing ones are made first."""
    return _by_player(rows.read(Rating, _lock(pool, player_ids, rows.columns(Rating), now)))


def lock_versions(pool: Pool, player_ids: Collection[int], now: datetime) -> dict[int, int]:
    """Lock the ratings as `lock_ratings` does, and return their versions alone, by player id."""
    return dict(_lock(pool, player_ids, "player_id, version", now))


def ratings_of(pool: Pool, player_ids: Collection[int]) -> dict[int, Rating]:
    """The ratings that the players have in the pool, not locked."""
    among, ids = rows.among("player_id", sorted(player_ids))
    [found] = rows.run((f"SELECT {rows.columns(Rating)} FROM players_rating WHERE pool_id = %s AND {among}", [pool.pk, *ids]))
    return _by_player(rows.read(Rating, found))


def rating_ids(pool: Pool, player_ids: Collection[int], now: datetime) -> dict[int, int]:
    """The ids of the players' ratings in the pool, by player id; missing ones are made."""
    among, ids = rows.among("player_id", sorted(player_ids))
    [found] = rows.run((f"SELECT player_id, id FROM players_rating WHERE pool_id = %s AND {among}", [pool.pk, *ids]))
    known = dict(found)
    if missing := set(player_ids).difference(known):
        known.update((player_id, rating.pk) for player_id, rating in lock_ratings(pool, missing, now).items())
    return known


def _by_player(ratings: Iterable[Rating]) -> dict[int, Rating]:
    return {rating.player_id: rating for rating in ratings}


def _lock(pool: Pool, player_ids: Collection[int], columns: str, now: datetime) -> list[tuple[Any, ...]]:
    require_transaction()
    ordered = sorted(set(player_ids))
    found = _lock_all(pool, ordered, columns)
    if len(found) < len(ordered):
        _make(pool, _missing(pool, ordered), now)
        found = _lock_all(pool, ordered, columns)
    return found


def _lock_all(pool: Pool, player_ids: Sequence[int], columns: str) -> list[tuple[Any, ...]]:
    """The ratings of the players, locked in the order given; where one of them has none, no other is locked either."""
    among, ids = rows.among("player_id", player_ids)
    found = f"FROM players_rating WHERE pool_id = %s AND {among}"
    sql = f"SELECT {columns} {found} AND (SELECT COUNT(*) {found}) = %s ORDER BY player_id"
    if connection.vendor == "postgresql":
        sql += " FOR NO KEY UPDATE"
    [answer] = rows.run((sql, [pool.pk, *ids, pool.pk, *ids, len(player_ids)]))
    return answer


def make_ratings(pool: Pool, player_ids: Collection[int], now: datetime) -> None:
    """Make the ratings that are missing, and let them be seen before somebody who holds the history waits for the pool."""
    if missing := _missing(pool, sorted(player_ids)):
        with transaction.atomic():
            hold_pool(pool.pk, exclusive=False)
            _make(pool, missing, now)


def _missing(pool: Pool, player_ids: Sequence[int]) -> list[int]:
    """Those of the players who have no rating in the pool, in the order of their ids."""
    among, ids = rows.among("player_id", player_ids)
    [known] = rows.run((f"SELECT player_id FROM players_rating WHERE pool_id = %s AND {among}", [pool.pk, *ids]))
    return sorted(set(player_ids).difference(player_id for (player_id,) in known))


def _make(pool: Pool, player_ids: Sequence[int], now: datetime) -> None:
    """All creating comes before all locking, each in the order of player ids, so that two writers cannot wait for each other."""
    made = [new_rating(pool, player_id, now) for player_id in player_ids]
    Rating.objects.bulk_create(made, ignore_conflicts=True, batch_size=BATCH)


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in pieces of at most BATCH, for one statement each."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def write(pool: Pool, ratings: Mapping[int, Rating], states: Mapping[int, Running], new: Collection[Line], now: datetime) -> None:
    """Store where locked ratings (by player id) are after the new lines of the history, with their standings as of `now`."""
    require_transaction()
    moved: set[str] = set()
    for player_id, rating in ratings.items():
        moved.update(settle(rating, states[player_id]))
        settle_standing(rating, pool, now)
    rating_ids = {player_id: rating.pk for player_id, rating in ratings.items()}
    # What moves in none of them stays: with fewer values all of it takes one round trip.
    fields = (*(name for name in STATE_FIELDS if name in moved), *STANDING_FIELDS)
    _store(ratings.values(), fields, _added(rating_ids, new))


def overwrite(ratings: Collection[Rating]) -> None:
    """Store locked ratings as they are settled, and their standings too."""
    require_transaction()
    _store(ratings, (*STATE_FIELDS, *STANDING_FIELDS))


def _added(rating_ids: Mapping[int, int], lines: Collection[Line]) -> rows.Insert:
    return rows.Insert(
        RatingChange, ("rating_id", *LINE_FIELDS), rows.Each(lambda line: (rating_ids[line[PLAYER]], *line), lines)
    )


def rewrite_lines(
    rating_ids: Mapping[int, int],
    *,
    new: Collection[Line],
    changed: Collection[tuple[int, Line, Line]],
    gone: Collection[tuple[int, Line]],
    revision_id: int | None,
) -> None:
    """Rewrite the history: store new lines, overwrite changed ones (id, as it was, as it is; also whose line it is) and delete
    those that go (id, as it was). `rating_ids` by player id.

    What a line said when it was published is kept for the readers of a revision until the line says it again. Without a revision
    (a match that is entered a little late) nothing is marked.
    """
    require_transaction()
    _mark_published(rating_ids, new=new, changed=changed, gone=gone, revision_id=revision_id)
    changes = rows.Each(lambda change: (change[0], rating_ids[change[2][PLAYER]], *change[2]), changed)
    rows.write(rows.Update(RatingChange, ("id", "rating_id", *LINE_FIELDS), changes))
    for chunk in chunks(sorted(pk for pk, _ in gone)):
        RatingChange.objects.filter(pk__in=chunk).delete()
    rows.write(_added(rating_ids, new))
    if connection.vendor == "postgresql":
        # It checks references at the end of the transaction: of very many lines better now, while nobody waits for the pool.
        connection.check_constraints()


def _mark_published(
    rating_ids: Mapping[int, int],
    *,
    new: Collection[Line],
    changed: Collection[tuple[int, Line, Line]],
    gone: Collection[tuple[int, Line]],
    revision_id: int | None,
) -> None:
    lines = [*new, *(line for _, _, line in changed)]
    among, ids = rows.among("match_id", {line[MATCH] for line in lines}.union(line[MATCH] for _, line in gone))
    columns = ", ".join(("id", "match_id", "player_id", *PUBLISHED_FIELDS))
    [known] = rows.run((f"SELECT {columns} FROM players_publishedchange WHERE {among}", ids))
    marked = {(match_id, player_id): (pk, tuple(said)) for pk, match_id, player_id, *said in known}
    restored: set[int] = set()
    if marked:
        found = ((marked.get(line[:2]), line) for line in lines)
        restored.update(mark[0] for mark, line in found if mark and mark[1] == line[SAID])
        for chunk in chunks(sorted(restored)):
            PublishedChange.objects.filter(pk__in=chunk).delete()
    if revision_id is not None:
        if marked:  # these are revised once more
            again = {line[:2] for _, old, line in changed if old[SAID] != line[SAID]}
            again.update(line[:2] for line in (*new, *(line for _, line in gone)))
            for chunk in chunks([pk for key, (pk, _) in marked.items() if key in again and pk not in restored]):
                PublishedChange.objects.filter(pk__in=chunk).update(revision=revision_id)
        # By whose line it is now, with what it said before.
        was = [(line, old) for _, old, line in changed if old[SAID] != line[SAID] and line[:2] not in marked]
        was += [(line, line) for _, line in gone if line[:2] not in marked]
        by = (revision_id, revision_id)
        names = ("rating_id", "revision_id", "first_revision_id", "match_id", "player_id", *PUBLISHED_FIELDS)
        marks = rows.Each(lambda both: (rating_ids[both[0][PLAYER]], *by, *both[0][:2], *both[1][SAID]), was)
        rows.write(rows.Insert(PublishedChange, names, marks))


def hand_over(pool: Pool, match_ids: Sequence[int], giver_id: int, taker_id: int) -> None:
    """What was published of one player in some matches was published of another, whose seat it is now and who has a rating."""
    require_transaction()
    for chunk in chunks(match_ids):
        marks = PublishedChange.objects.filter(match__in=chunk, player=giver_id)
        if marks.exists():
            marks.update(player=taker_id, rating=Rating.objects.get(pool=pool, player=taker_id))


def _store(ratings: Collection[Rating], fields: Sequence[str], added: rows.Insert | None = None) -> None:
    """Overwrite ratings that are locked, as the next version of each, after the lines `added` to their history."""
    for rating in ratings:
        rating.version += 1
    names = ("id", *fields, "version")
    stored = rows.Update(Rating, names, list(map(attrgetter(*names), ratings)))
    rows.write(*((added, stored) if added else (stored,)))
    rankings.changed(ratings)


def next_version(pool: Pool) -> None:
    """Count that the pool's history was rewritten."""
    Pool.objects.filter(pk=pool.pk).update(version=F("version") + 1)


def set_openings(pool: Pool, openings: Mapping[int, Opening | None], now: datetime) -> None:
    """Give players (by id) the ratings that they bring along; None takes one back, and he starts as everybody does.

    The caller holds the pool exclusively and replays it afterwards, unless no match of these players counts.
    """
    start = pool.rating_system.start
    ratings = lock_ratings(pool, openings.keys(), now)
    for player_id, opening in openings.items():
        rating = ratings[player_id]
        rating.brought = opening is not None
        if opening is not None:
            rating.opening, rating.opening_experience, rating.opened_on = opening.rating, opening.experience, opening.on
        else:
            rating.opening_experience, rating.opened_on = 0, None
        if not rating.matches:
            settle(rating, opening_of(rating, start))
            settle_standing(rating, pool, now)
    _store(ratings.values(), (*OPENING_FIELDS, *STATE_FIELDS, *STANDING_FIELDS))
    next_version(pool)


def reopen(pool: Pool, now: datetime) -> None:
    """Give those who neither played nor brought a rating along the pool's present start. The caller holds it exclusively."""
    require_transaction()
    start = pool.rating_system.start
    found = Rating.objects.filter(pool=pool, matches=0, brought=False).exclude(opening=start, value=start)
    ratings = list(found.select_for_update(no_key=True).order_by("player_id"))
    for rating in ratings:
        settle(rating, beginner(start))
        settle_standing(rating, pool, now)
    _store(ratings, (*STATE_FIELDS, *STANDING_FIELDS))


def update_standings(pool_id: int, now: datetime) -> int:
    """Bring the standings of a pool with decay up to date at `now`, set-based; the number of ratings whose standing moved.

    Writes only what changes, so a second run writes nothing. Rows that a completion holds are skipped: it sets them itself. A
    large pool takes several transactions, so that no completion waits for more than one of them.
    """
    moved, after = _update_some(pool_id, 0, now)
    while after is not None:
        more, after = _update_some(pool_id, after, now)
        moved += more
    return moved


@transaction.atomic
def _update_some(pool_id: int, after: int, now: datetime) -> tuple[int, int | None]:
    """Update the standings of at most DECAY_STEP players with ids above `after`: how many moved, and the last id if there are
    more."""
    pool = hold_pool(pool_id, exclusive=False)
    rule = pool.standing_rule
    if rule is None:
        return 0, None
    some = Rating.objects.filter(pool=pool, player_id__gt=after).order_by("player_id")
    last = some.values_list("player_id", flat=True)[DECAY_STEP - 1 : DECAY_STEP].first()
    if last is not None:
        some = some.filter(player_id__lte=last)
    decayed: Any = F("value")
    if rule.decays_from is not None:
        over = Greatest(Value(0.0), ElapsedDays(F("last_ended_at"), now) - Value(float(rule.grace_days)))
        lost = ExpressionWrapper(F("value") - Value(rule.per_day) * over, FloatField())
        decayed = Case(
            When(value__gte=rule.decays_from, last_ended_at__isnull=False, then=Greatest(Value(rule.decays_from), lost)),
            default=F("value"),
        )
    fresh = Greatest(Value(rule.floor), decayed, output_field=FloatField())
    stale = some.annotate(fresh=fresh).exclude(standing=F("fresh")).select_for_update(no_key=True, skip_locked=True)
    told = list(rows.stream(stale.values_list("pk", "player_id", "standing", "fresh").order_by("player_id")))
    if not told:
        return 0, last
    # By their ids: the condition might find one more by now, which a completion held a moment ago.
    locked = Rating.objects.filter(Among("pk", [row[0] for row in told]))
    moved = locked.update(
        version=F("version") + 1, standing=fresh, standing_at=now, rank_points=RankPoints(fresh, pool.shown_decimals)
    )
    rankings.changed(locked.iterator())
    standings_moved.send(sender=Rating, pool=pool, moved=[row[1:] for row in told], now=now)
    return moved, last


def refresh_standings(pool_id: int, now: datetime) -> None:
    """Set every standing of a pool anew, after its tiers, its decay or its shown decimals changed."""
    require_transaction()
    pool = hold_pool(pool_id, exclusive=True)
    ratings = list(Rating.objects.select_for_update(no_key=True).filter(pool=pool).order_by("player_id"))
    for rating in ratings:
        settle_standing(rating, pool, now)
    _store(ratings, STANDING_FIELDS)
