"""Late and changed matches: the ratings of a pool from a place in the order on, as a clean replay gives them.

`recalculate` reads and computes and writes nothing; it can run with no lock held. `apply` writes what differs. `replay` does
both, for a caller who holds the pool exclusively.

A replay starts at the first match that is affected, with ratings and experience as of that moment: a player's first stored line
from there on says what he had before it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from matches.models import ORDER, Match, Participant
from players import ledger
from players.ledger import Line, MatchKey, Running
from players.locks import require_transaction
from players.models import Pool, Rating, RatingChange
from players.systems.base import Result, Seat

FETCH = 5000
"""Rows fetched at a time."""
SEAT_COLUMNS = ("match_id", "player_id", "score", "place")
RESULT_COLUMNS = ("length", "deals", "stake", "real_money", "kind", "points", "chance")
HISTORY_ORDER = ("ended_at", "timed", "sequence", "match_id")
"""The order of rating, of the lines of the history."""

Progress = Callable[[int], None]
"""Is told how many matches have been rated so far."""


class Played(NamedTuple):
    """A counted match as a replay needs it. Matches compare by their place in the order of rating."""

    key: MatchKey
    player_ids: tuple[int, ...]
    result: Result


@dataclass(slots=True)
class Recalculation:
    """What a replay would write: new lines, changed lines (id, as stored, as computed), lines that go (id, as stored), and where
    the players end up who have such a line."""

    since: MatchKey | None
    new: list[Line] = field(default_factory=list)
    changed: list[tuple[int, Line, Line]] = field(default_factory=list)
    gone: list[tuple[int, Line]] = field(default_factory=list)
    states: dict[int, Running] = field(default_factory=dict)
    matches: int = 0

    @property
    def writes(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)


def from_key(since: MatchKey, prefix: str = "", match: str = "id") -> Q:
    """The rows from a place in the order of rating on."""
    same: dict[str, Any] = {}
    condition = Q()
    for name, value in zip((*ORDER[:-1], match), since, strict=True):
        comparison = "gte" if name == match else "gt"
        condition |= Q(**same, **{f"{prefix}{name}__{comparison}": value})
        same[f"{prefix}{name}"] = value
    return condition & Q(**{f"{prefix}ended_at__gte": since.ended_at})


def _counted(prefix: str, pool: Pool, since: MatchKey | None) -> Q:
    condition = Q(**{f"{prefix}pool": pool, f"{prefix}status": Match.Status.COMPLETED, f"{prefix}not_counted": ""})
    return condition if since is None else condition & from_key(since, prefix)


def counted_matches(pool: Pool, since: MatchKey | None = None) -> Iterator[Played]:
    """The pool's counted matches in the order of rating, from a place in it on."""
    columns = (*SEAT_COLUMNS, *(f"match__{name}" for name in (*ORDER[:-1], *RESULT_COLUMNS)))
    rows = Participant.objects.filter(_counted("match__", pool, since)).values_list(*columns)
    ordered = rows.order_by("match__ended_at", "match__timed", "match__sequence", "match_id", "seat")
    for match_id, group in groupby(ordered.iterator(chunk_size=FETCH), key=itemgetter(0)):
        seats = list(group)
        ended_at, timed, sequence, *terms = seats[0][len(SEAT_COLUMNS) :]
        scores = tuple(row[2] for row in seats if row[2] is not None)
        places = tuple(row[3] for row in seats if row[3] is not None)
        result = Result(scores=scores or None, places=places or None, **dict(zip(RESULT_COLUMNS, terms, strict=True)))
        yield Played(MatchKey(ended_at, timed, sequence, match_id), tuple(row[1] for row in seats), result)


def stored_lines(pool: Pool, since: MatchKey | None, also: Collection[int]) -> Iterator[tuple[int, Line]]:
    """The lines of the pool's history, with their ids, of all matches from a place in the order on and of the matches `also`."""
    lines = RatingChange.objects.filter(rating__pool=pool)
    if since is not None:
        lines = RatingChange.objects.filter(_counted("match__", pool, since) | Q(match__in=also))
    for pk, *values in lines.values_list("id", *ledger.LINE_FIELDS).iterator(chunk_size=FETCH):
        yield pk, Line(*values)


def recalculate(
    pool: Pool,
    since: MatchKey | None = None,
    *,
    instead: Mapping[int, Played | None] | None = None,
    progress: Progress | None = None,
) -> Recalculation:
    """Rate the pool's counted matches from `since` (None: the beginning) and compare with the stored history.

    `instead` says by match id what to rate in place of a stored match: None for one that no longer counts. Its old and new
    places must not come before `since`. Raises Refused where a rating would leave its range.
    """
    instead = instead or {}
    answer = Recalculation(since)
    stored = {(line.match_id, line.player_id): (pk, line) for pk, line in stored_lines(pool, since, instead.keys())}
    states = answer.states
    start = _Starts(pool, since, [line for _, line in stored.values()], instead)
    rate = pool.rating_system.rate
    kept = (played for played in counted_matches(pool, since) if played.key.id not in instead)
    for key, player_ids, result in heapq.merge(kept, sorted(played for played in instead.values() if played)):
        at_table = []
        for player_id in player_ids:
            player = states.get(player_id)
            if player is None:
                player = states[player_id] = start.of(player_id)
            at_table.append(player)
        rated = rate([Seat(player.value, player.experience) for player in at_table], result)
        for line in ledger.book(key, player_ids, at_table, rated):
            old = stored.pop((key.id, line.player_id), None)
            if old is None:
                answer.new.append(line)
            elif old[1] != line:
                answer.changed.append((*old, line))
        answer.matches += 1
        if progress is not None and answer.matches % FETCH == 0:
            progress(answer.matches)
    answer.gone = sorted(stored.values())
    for _, line in answer.gone:
        if line.player_id not in states:
            states[line.player_id] = start.of(line.player_id)
    return answer


class _Starts:
    """Where players stand just before a place in the order: value, experience, matches, peak and last match as of that moment."""

    def __init__(self, pool: Pool, since: MatchKey | None, lines: Sequence[Line], instead: Mapping[int, Played | None]) -> None:
        self.start, self.since = pool.rating_system.start, since
        if since is None:
            self.ratings = {rating.player_id: rating for rating in Rating.objects.filter(pool=pool)}
            return
        players = {line.player_id for line in lines}
        players.update(player for played in instead.values() if played for player in played.player_ids)
        seats = Participant.objects.filter(_counted("match__", pool, since))
        players.update(seats.order_by().values_list("player_id", flat=True).distinct())
        self.ratings = {
            rating.player_id: rating
            for chunk in ledger.chunks(sorted(players))
            for rating in Rating.objects.filter(pool=pool, player_id__in=chunk)
        }
        self.first: dict[int, Line] = {}
        self.count = Counter(line.player_id for line in lines)
        may_end: set[int] = set()
        self.peaks_after: set[int] = set()
        for line in lines:
            first = self.first.setdefault(line.player_id, line)
            if _key(line) < _key(first):
                self.first[line.player_id] = line
            rating = self.ratings[line.player_id]
            if rating.peak_match_id == line.match_id:
                self.peaks_after.add(rating.pk)
            if line.match_id in instead:
                may_end.add(rating.pk)
        # What came before is looked up only where it matters: the peak where it lies after the place, the last match where
        # none may be left after it.
        self.peaks = self._latest(self.peaks_after, F("after").desc(), *HISTORY_ORDER, columns=("after", "match_id"))
        self.lasts = self._latest(may_end, *(F(name).desc() for name in HISTORY_ORDER), columns=HISTORY_ORDER)

    def of(self, player_id: int) -> Running:
        rating = self.ratings.get(player_id)
        if rating is None:
            return Running(self.start, 0)
        if self.since is None:
            return ledger.opening_of(rating)
        first = self.first.get(player_id)
        if first is None:
            return ledger.running(rating)
        state = Running(first.before, first.experience_before, rating.matches - self.count[player_id], rating.opening)
        peak, peak_match_id = self.peaks.get(rating.pk, (rating.peak, rating.peak_match_id))
        if rating.pk in self.peaks_after and rating.pk not in self.peaks:
            peak, peak_match_id = rating.opening, None
        if peak > state.peak:
            state.peak, state.peak_match_id = peak, peak_match_id
        if last := self.lasts.get(rating.pk):
            state.last = MatchKey(*last)
        return state

    def _latest(self, rating_ids: set[int], *order: Any, columns: tuple[str, ...]) -> dict[int, tuple[Any, ...]]:
        """By rating, the columns of its first line in the order given, among those before the place."""
        assert self.since is not None
        found: dict[int, tuple[Any, ...]] = {}
        for chunk in ledger.chunks(sorted(rating_ids)):
            earlier = RatingChange.objects.filter(~from_key(self.since, match="match_id"), rating__in=chunk)
            ranked = earlier.annotate(place=Window(RowNumber(), partition_by="rating", order_by=order)).filter(place=1)
            found.update((rating, tuple(values)) for rating, *values in ranked.values_list("rating_id", *columns))
        return found


def _key(line: Line) -> MatchKey:
    return MatchKey(line.ended_at, line.timed, line.sequence, line.match_id)


def apply(pool: Pool, answer: Recalculation, now: datetime) -> int:
    """Write a recalculation that nothing has overtaken, and return the number of lines written. The pool is held exclusively."""
    require_transaction()
    ratings = ledger.lock_ratings(pool, answer.states.keys(), now)
    rating_ids = {player_id: rating.pk for player_id, rating in ratings.items()}
    ledger.rewrite_lines(rating_ids, {pk: line for pk, _, line in answer.changed}, [pk for pk, _ in answer.gone])
    ledger.add_lines(rating_ids, answer.new)
    moved = {player_id: rating for player_id, rating in ratings.items() if ledger.settle(rating, answer.states[player_id])}
    ledger.write(pool, moved, (), now)
    return answer.writes


def replay(pool: Pool, now: datetime, since: MatchKey | None = None) -> int:
    """Rate the pool anew from `since` on (None: from the openings) and return the number of lines of its history written.

    The caller holds the pool exclusively. Raises Refused where a match cannot be rated (a rating would leave its range).
    """
    require_transaction()
    answer = recalculate(pool, since)
    if since is None:
        # Also those who have no counted match left go back to their openings.
        for rating in Rating.objects.filter(pool=pool).exclude(player_id__in=answer.states.keys()):
            answer.states[rating.player_id] = ledger.opening_of(rating)
    return apply(pool, answer, now)
