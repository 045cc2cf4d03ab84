"""Late and changed matches: the ratings of a pool from a place in the order on, as a clean replay gives them.

`recalculate` reads and computes and writes nothing; it can run with no lock held. `apply` writes what differs. `replay` does
both, for a caller who holds the pool exclusively.

A replay starts at the first match that is affected, with ratings and experience as of that moment: a player's first stored line
from there on says what he had before it.
"""

from __future__ import annotations

import gc
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from players.rows import stream
from players.systems.base import Result, Seat

FETCH = 5000
"""Lines between two reports of progress."""
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
    the players end up who play in it. `mark`: lines with a higher id were left out."""

    since: MatchKey | None
    mark: int | None = None
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


def count_matches(pool: Pool, since: MatchKey | None = None) -> int:
    """How many counted matches a replay from a place in the order on would rate."""
    return Match.objects.filter(_counted("", pool, since)).count()


def counted_matches(pool: Pool, since: MatchKey | None = None) -> Iterator[Played]:
    """The pool's counted matches in the order of rating, from a place in it on."""
    columns = (*SEAT_COLUMNS, *(f"match__{name}" for name in (*ORDER[:-1], *RESULT_COLUMNS)))
    rows = Participant.objects.filter(_counted("match__", pool, since)).values_list(*columns)
    ordered = rows.order_by("match__ended_at", "match__timed", "match__sequence", "match_id", "seat")
    for match_id, group in groupby(stream(ordered), key=itemgetter(0)):
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
    for row in stream(lines.values_list("id", *ledger.LINE_FIELDS)):
        yield row[0], Line._make(row[1:])


def recalculate(
    pool: Pool,
    since: MatchKey | None = None,
    *,
    instead: Mapping[int, Played | None] | None = None,
    mark: int | None = None,
    progress: Progress | None = None,
) -> Recalculation:
    """Rate the pool's counted matches from `since` (None: the beginning) and compare with the stored history.

    `instead` says by match id what to rate in place of a stored match: None for one that no longer counts. Its old and new
    places must not come before `since`. Matches whose lines have ids above `mark` are left out: whoever computes with no lock
    held rates them at the end. Raises Refused where a rating would leave its range.
    """
    instead = instead or {}
    answer = Recalculation(since, mark)
    stored = {(line.match_id, line.player_id): (pk, line) for pk, line in stored_lines(pool, since, instead.keys())}
    states = answer.states
    start = _Starts(pool, since, [line for _, line in stored.values()], instead)
    left_out = set(instead)
    if mark is not None:
        for place in [place for place, (pk, _) in stored.items() if pk > mark]:
            left_out.add(place[0])
            del stored[place]
    kept = (played for played in counted_matches(pool, since) if played.key.id not in left_out)
    games = heapq.merge(kept, sorted(played for played in instead.values() if played)) if instead else kept
    number = 0
    with _collector_off():
        for number, line in enumerate(ledger.book_all(pool.rating_system, games, states, start.of), start=1):
            old = stored.pop((line.match_id, line.player_id), None)
            if old is None:
                answer.new.append(line)
            elif old[1] != line:
                answer.changed.append((*old, line))
            if progress is not None and number % FETCH == 0:
                progress(number // pool.rating_system.seats)
    answer.matches = number // pool.rating_system.seats
    if progress is not None:
        progress(answer.matches)
    answer.gone = sorted(stored.values())
    for _, line in answer.gone:
        if line.player_id not in states:
            states[line.player_id] = start.of(line.player_id)
    return answer


@contextmanager
def _collector_off() -> Iterator[None]:
    """Keep the garbage collector from going through all lines again and again: they are plain tuples, and half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Starts:
    """Where players stand just before a place in the order: value, experience, peak and last match as of that moment."""

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
        state = Running(first.before, first.experience_before, peak=rating.opening)
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


def apply(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None = None) -> int:
    """Write a recalculation that nothing has overtaken, and return the number of lines written. The pool is held exclusively."""
    write_history(pool, answer, now, revision_id)
    write_ratings(pool, answer, now)
    return answer.writes


def write_history(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None) -> None:
    """Write the lines of a recalculation. The caller holds the pool's history."""
    require_transaction()
    known = Rating.objects.filter(pool=pool)
    rating_ids = {
        player_id: pk
        for chunk in ledger.chunks(sorted(answer.states))
        for player_id, pk in known.filter(player_id__in=chunk).values_list("player_id", "pk")
    }
    if missing := answer.states.keys() - rating_ids.keys():
        rating_ids.update({player_id: rating.pk for player_id, rating in ledger.lock_ratings(pool, missing, now).items()})
    ledger.rewrite_lines(rating_ids, new=answer.new, changed=answer.changed, gone=answer.gone, revision_id=revision_id)


def write_ratings(pool: Pool, answer: Recalculation, now: datetime) -> None:
    """Store where the players end up. The caller holds the pool exclusively."""
    ratings = ledger.lock_ratings(pool, answer.states.keys(), now)
    more = Counter(line.player_id for line in answer.new)
    more.subtract(line.player_id for _, line in answer.gone)
    moved = {}
    for player_id, rating in ratings.items():
        state = answer.states[player_id]
        if answer.since is not None:
            state.matches = rating.matches + more[player_id]
        if ledger.settle(rating, state):
            moved[player_id] = rating
    ledger.write(pool, moved, (), now)
    ledger.next_version(pool)


def catch_up(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None) -> None:
    """Rate anew what was completed, in order, since the recalculation was begun: lines with ids above its mark.

    The caller holds the pool exclusively and has written the recalculation's history.
    """
    assert answer.mark is not None
    columns = ("id", *ledger.LINE_FIELDS)
    fresh = RatingChange.objects.filter(rating__pool=pool, pk__gt=answer.mark).exclude(
        match__in={line.match_id for line in answer.new}
    )
    stored = {
        (line.match_id, line.player_id): (pk, line) for pk, *values in fresh.values_list(*columns) for line in (Line(*values),)
    }
    matches = Match.objects.filter(pk__in={match_id for match_id, _ in stored}).order_by(*ORDER).prefetch_related("participants")
    later = Recalculation(answer.since, states=answer.states)
    for match in matches:
        seats = list(match.participants.all())
        if not any(seat.player_id in answer.states for seat in seats):
            continue
        at_table = []
        for seat in seats:
            first = stored[match.pk, seat.player_id][1]
            state = answer.states.get(seat.player_id)
            if state is None:
                state = answer.states[seat.player_id] = _before_mark(pool, first, answer.mark)
            at_table.append(state)
        rated = pool.rating_system.rate([Seat(state.value, state.experience) for state in at_table], match.result(seats))
        assert match.ended_at is not None
        key = MatchKey(match.ended_at, match.timed, match.sequence, match.pk)
        for line in ledger.book(key, [seat.player_id for seat in seats], at_table, rated):
            pk, old = stored[match.pk, line.player_id]
            if old != line:
                later.changed.append((pk, old, line))
    write_history(pool, later, now, revision_id)


def _before_mark(pool: Pool, first: Line, mark: int) -> Running:
    """Where a player stood before his first match after the mark, of whom nothing moved until then."""
    rating = Rating.objects.get(pool=pool, player_id=first.player_id)
    state = Running(first.before, first.experience_before, peak=rating.opening)
    highest = RatingChange.objects.filter(rating=rating, pk__lte=mark).order_by("-after", *HISTORY_ORDER).first()
    if highest is not None and highest.after > state.peak:
        state.peak, state.peak_match_id = highest.after, highest.match_id
    return state


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
