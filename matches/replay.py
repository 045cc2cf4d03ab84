"""Late matches: the ratings of a pool, made anew from its openings and its counted matches in the order of rating.

What comes out is what a clean replay gives; only rows that differ are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from django.db.models import F

from matches.models import ORDER, Match, Participant
from players import ledger
from players.locks import require_transaction
from players.models import Pool, Rating, RatingChange
from players.systems.base import Result, Seat

COLUMNS = ("match_id", "player_id", "score", "place")
MATCH_COLUMNS = ("ended_at", "timed", "sequence", "length", "deals", "stake", "real_money", "kind", "points", "chance")


def counted_matches(pool: Pool) -> Iterator[tuple[ledger.MatchKey, list[int], Result]]:
    """The pool's counted matches in the order of rating: place in the order, player ids by seat, result."""
    order = [F(f"match__{name}" if name != "id" else "match_id") for name in ORDER]
    rows = (
        Participant.objects.filter(match__pool=pool, match__status=Match.Status.COMPLETED, match__not_counted="")
        .order_by(*order, "seat")
        .values_list(*COLUMNS, *(f"match__{name}" for name in MATCH_COLUMNS))
    )
    for match_id, group in groupby(rows.iterator(chunk_size=5000), key=lambda row: row[0]):
        seats = list(group)
        ended_at, timed, sequence, *terms = seats[0][len(COLUMNS) :]
        scores = tuple(score for _, _, score, _, *_ in seats if score is not None)
        places = tuple(place for _, _, _, place, *_ in seats if place is not None)
        result = Result(scores=scores or None, places=places or None, **dict(zip(MATCH_COLUMNS[3:], terms, strict=True)))
        yield ledger.MatchKey(ended_at, timed, sequence, match_id), [player_id for _, player_id, *_ in seats], result


def replay(pool: Pool, now: datetime) -> int:
    """Rate the pool anew and return the number of lines of its history that were written. The caller holds it exclusively.

    Raises Refused where a match cannot be rated (a rating would leave its range).
    """
    require_transaction()
    system = pool.rating_system
    players = Participant.objects.filter(match__pool=pool, match__status=Match.Status.COMPLETED, match__not_counted="")
    rated_players = set(Rating.objects.filter(pool=pool).values_list("player_id", flat=True))
    ratings = ledger.lock_ratings(pool, rated_players | set(players.values_list("player_id", flat=True)), now)
    stored_ratings = {player_id: ledger.state(rating) for player_id, rating in ratings.items()}
    for rating in ratings.values():
        ledger.reset(rating)

    stored = {
        (line.match_id, line.player_id): line for line in RatingChange.objects.filter(rating__pool=pool).iterator(chunk_size=5000)
    }
    new, changed = [], []
    for key, player_ids, result in counted_matches(pool):
        at_table = [ratings[player_id] for player_id in player_ids]
        rated = system.rate([Seat(rating.value, rating.experience) for rating in at_table], result)
        for line in ledger.book(key, at_table, rated):
            old = stored.pop((line.match_id, line.player_id), None)
            if old is None:
                new.append(line)
            elif any(getattr(old, name) != getattr(line, name) for name in ledger.CHANGE_FIELDS):
                line.pk = old.pk
                changed.append(line)
    gone = [line.pk for line in stored.values()]
    ledger.rewrite(changed, gone)
    moved = [rating for player_id, rating in ratings.items() if ledger.state(rating) != stored_ratings[player_id]]
    ledger.write(pool, moved, new, now)
    return len(new) + len(changed) + len(gone)
