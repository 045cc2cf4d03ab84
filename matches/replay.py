"""Late and changed matches: the ratings of a pool from a place in the order on, as a clean replay gives them.

`recalculate` reads and computes and writes nothing; it can run with no lock held. `apply` writes what differs. `replay` does
both, for a caller who holds the pool exclusively.

A replay starts at the first match that is affected, with ratings and experience as of that moment: a player's first stored line
from there on says what he had before it. Each match is rated by the rules in force when it ended, and whoever brought no rating
along starts with the start of the rules of his first counted match: so the ratings follow from the matches, the rules over time
and the ratings brought along, and from nothing else.
"""

from __future__ import annotations

import gc
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from matches.models import ORDER, Match, Participant
from matches.push import events
from players import ledger
from players.ledger import Opening
from players.locks import require_transaction
from players.models import Pool, Rating, RatingChange
from players.rows import stream
from players.systems.base import RatingSystem, Result, Seat
from players.systems.running import LINE_FIELDS, MATCH, PLAYER, Line, MatchKey, Running, book, key_of

FETCH = 5000
"""Lines between two reports of progress."""
RANGES = 100
"""Ranges of ids in a statement."""
SEAT_COLUMNS = ("match_id", "player_id", "score", "place")
RESULT_COLUMNS = ("length", "deals", "stake", "real_money", "kind", "points", "chance")
HISTORY_ORDER = ("ended_at", "timed", "sequence", "match_id")
"""The order of rating, of the lines of the history."""

Progress = Callable[[int], None]
"""Is told how many matches have been rated so far."""


class Overtaken(Exception):
    """Something came in between that a recalculation cannot take up: compute again."""


class Played(NamedTuple):
    """A counted match as a replay needs it. Matches compare by their place in the order of rating."""

    key: MatchKey
    player_ids: tuple[int, ...]
    result: Result


@dataclass(slots=True)
class Recalculation:
    """What a replay would write: new lines, changed lines (id, as stored, as computed), lines that go (id, as stored), and where
    the players end up who play in it. `mark`: lines with a higher id were left out, except those of the matches `instead`."""

    since: MatchKey | None
    mark: int | None = None
    instead: Collection[int] = ()
    new: list[Line] = field(default_factory=list)
    changed: list[tuple[int, Line, Line]] = field(default_factory=list)
    gone: list[tuple[int, Line]] = field(default_factory=list)
    states: dict[int, Running] = field(default_factory=dict)
    matches: int = 0
    caught_up: set[int] = field(default_factory=set)
    settled: dict[int, Settled] = field(default_factory=dict)
    _more: Counter[int] | None = field(default=None, init=False)

    @property
    def writes(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)

    @property
    def more(self) -> Counter[int]:
        """By player id, how many counted matches he has more than before."""
        if self._more is None:
            self._more = self._count()
        return self._more

    def _count(self) -> Counter[int]:
        more = Counter(line[PLAYER] for line in self.new)
        more.subtract(line[PLAYER] for _, line in self.gone)
        for _, old, line in self.changed:
            if old[PLAYER] != line[PLAYER]:
                more[line[PLAYER]] += 1
                more[old[PLAYER]] -= 1
        return more

    def add(self, later: Recalculation) -> None:
        """Take up what a later one writes."""
        self.more.update(later.more)
        self.new += later.new
        self.changed += later.changed
        self.gone += later.gone


class Settled(NamedTuple):
    """A rating as it will be, but for its version, which is that of the row from which this was made; the value there (points);
    and whether anything moves."""

    rating: Rating
    before: float
    moves: bool


def from_key(since: MatchKey, prefix: str = "", match: str = "id") -> Q:
    """The rows from a place in the order of rating on."""
    same: dict[str, Any] = {}
    condition = Q()
    for name, value in zip((*ORDER[:-1], match), since, strict=True):
        comparison = "gte" if name == match else "gt"
        condition |= Q(**same, **{f"{prefix}{name}__{comparison}": value})
        same[f"{prefix}{name}"] = value
    return condition & Q(**{f"{prefix}ended_at__gte": since.ended_at})


def from_instant(instant: datetime) -> MatchKey:
    """The place in the order of rating before every match that ends at the instant or later."""
    return MatchKey(instant, False, -(2**63), 0)


def completed(pool: Pool, since: MatchKey | None = None, prefix: str = "") -> Q:
    """The pool's completed matches from a place in the order of rating on."""
    condition = Q(**{f"{prefix}pool": pool, f"{prefix}status": Match.Status.COMPLETED})
    return condition if since is None else condition & from_key(since, prefix)


def _counted(prefix: str, pool: Pool, since: MatchKey | None) -> Q:
    return completed(pool, since, prefix) & Q(**{f"{prefix}not_counted": ""})


def count_matches(pool: Pool, since: MatchKey | None = None) -> int:
    """How many counted matches a replay from a place in the order on would rate."""
    return Match.objects.filter(_counted("", pool, since)).count()


def counted_matches(pool: Pool, since: MatchKey | None = None) -> Generator[Played, None, None]:
    """The pool's counted matches in the order of rating, from a place in it on."""
    return (played for played, _ in _played(_counted("match__", pool, since)))


def completed_matches(pool: Pool, since: MatchKey | None = None) -> Generator[tuple[Played, str], None, None]:
    """The pool's completed matches in the order of rating, from a place in it on, and why each does not count ("": it does)."""
    return _played(completed(pool, since, "match__"))


def some_matches(pool: Pool, ids: Sequence[int]) -> Generator[tuple[Played, str], None, None]:
    """Those of the matches that are completed in the pool, in the order of rating within a chunk, as `completed_matches` does."""
    for chunk in ledger.chunks(ids):
        yield from _played(completed(pool, None, "match__") & Q(match__in=chunk))


def _played(condition: Q) -> Generator[tuple[Played, str], None, None]:
    """The matches of the participants that the condition names. Who stops before the end closes it: on PostgreSQL a cursor that
    is closed after its savepoint was rolled back breaks the transaction."""
    columns = (*SEAT_COLUMNS, *(f"match__{name}" for name in (*ORDER[:-1], "not_counted", *RESULT_COLUMNS)))
    rows = Participant.objects.filter(condition).values_list(*columns)
    ordered = rows.order_by("match__ended_at", "match__timed", "match__sequence", "match_id", "seat")
    for match_id, group in groupby(stream(ordered), key=itemgetter(0)):
        seats = list(group)
        ended_at, timed, sequence, not_counted, *terms = seats[0][len(SEAT_COLUMNS) :]
        scores = tuple(row[2] for row in seats if row[2] is not None)
        places = tuple(row[3] for row in seats if row[3] is not None)
        result = Result(scores=scores or None, places=places or None, **dict(zip(RESULT_COLUMNS, terms, strict=True)))
        yield Played(MatchKey(ended_at, timed, sequence, match_id), tuple(row[1] for row in seats), result), not_counted


def stored_lines(pool: Pool, since: MatchKey | None) -> Iterator[tuple[int, Line]]:
    """The lines of the pool's history, with their ids, of all counted matches from a place in the order on."""
    lines = RatingChange.objects.filter(rating__pool=pool)
    if since is not None:
        lines = RatingChange.objects.filter(_counted("match__", pool, since))
    return _lines(lines)


def _lines(found: QuerySet[RatingChange]) -> Iterator[tuple[int, Line]]:
    for row in stream(found.values_list("id", *LINE_FIELDS)):
        yield row[0], cast(Line, row[1:])


def recalculate(
    pool: Pool,
    since: MatchKey | None = None,
    *,
    instead: Mapping[int, Played | None] | None = None,
    taken_over: Mapping[tuple[int, int], int] | None = None,
    openings: Mapping[int, Opening | None] | None = None,
    mark: int | None = None,
    progress: Progress | None = None,
) -> Recalculation:
    """Rate the pool's counted matches from `since` (None: the beginning) and compare with the stored history.

    `instead` says by match id what to rate in place of a stored match: None for one that no longer counts. Its old and new
    places must not come before `since`. `taken_over` says by match and player whose line it becomes, in matches of `instead`;
    `openings` what players bring along from now on (None: nothing), all of whose matches must come after `since`. Matches whose
    lines have ids above `mark` are left out: whoever computes with no lock held rates them at the end. Raises Refused where a
    rating would leave its range.
    """
    instead, taken_over = instead or {}, taken_over or {}
    answer = Recalculation(since, mark, instead.keys())
    # By whose they will be; the lines themselves name whose they are.
    stored = {(line[MATCH], taken_over.get(line[:2], line[PLAYER])): (pk, line) for pk, line in stored_lines(pool, since)}
    states = answer.states
    start = _Starts(pool, since, [line for _, line in stored.values()], instead, openings or {})
    left_out = set(instead)
    if mark is not None:
        for place in [place for place, (pk, _) in stored.items() if pk > mark and place[0] not in instead]:
            left_out.add(place[0])
            del stored[place]
    leaving = {line[PLAYER] for (_, player_id), (_, line) in stored.items() if player_id != line[PLAYER]}
    number = 0
    with closing(counted_matches(pool, since)) as matches, _collector_off():
        kept: Iterable[Played] = (played for played in matches if played.key.id not in left_out)
        games = heapq.merge(kept, sorted(played for played in instead.values() if played)) if instead else kept
        for number, line in enumerate(_rated(pool, games, states, start), start=1):
            old = stored.pop(line[:2], None)
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
    for player_id in leaving.union(start.openings, (line[PLAYER] for _, line in answer.gone)):
        if player_id not in states:
            states[player_id] = start.of(player_id, pool.rating_system.start)
    return answer


def _rated(pool: Pool, games: Iterable[Played], states: dict[int, Running], start: _Starts) -> Iterator[Line]:
    """The lines of matches in the order of rating, each by the rules in force when it ended."""
    rules = pool.rules

    def era(system: RatingSystem, games: Iterable[Played]) -> Iterator[Line]:
        return system.rate_many(games, states, partial(start.of, start=system.start))

    if not rules.past:
        return era(rules.at(None), games)
    eras = groupby(games, key=lambda played: rules.at(played.key.ended_at))
    return chain.from_iterable(era(system, played) for system, played in eras)


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

    def __init__(
        self,
        pool: Pool,
        since: MatchKey | None,
        lines: Sequence[Line],
        instead: Mapping[int, Played | None],
        openings: Mapping[int, Opening | None],
    ) -> None:
        self.since, self.openings = since, openings
        if since is None:
            self.ratings = {rating.player_id: rating for rating in Rating.objects.filter(pool=pool)}
            return
        players = {line[PLAYER] for line in lines}
        players.update(player for played in instead.values() if played for player in played.player_ids)
        seats = Participant.objects.filter(_counted("match__", pool, since))
        players.update(seats.order_by().values_list("player_id", flat=True).distinct())
        self.ratings = {
            rating.player_id: rating
            for chunk in ledger.chunks(sorted(players))
            for rating in Rating.objects.filter(pool=pool, player_id__in=chunk)
        }
        self.counts = Counter(line[PLAYER] for line in lines)
        self.first: dict[int, Line] = {}
        may_end: set[int] = set()
        self.peaks_after: set[int] = set()
        for line in lines:
            first = self.first.setdefault(line[PLAYER], line)
            if key_of(line) < key_of(first):
                self.first[line[PLAYER]] = line
            rating = self.ratings[line[PLAYER]]
            if rating.peak_match_id == line[MATCH]:
                self.peaks_after.add(rating.pk)
            if line[MATCH] in instead:
                may_end.add(rating.pk)
        # What came before is looked up only where it matters: the peak where it lies after the place, the last match where
        # none may be left after it.
        self.peaks = self._latest(self.peaks_after, F("after").desc(), *HISTORY_ORDER, columns=("after", "match_id"))
        self.lasts = self._latest(may_end, *(F(name).desc() for name in HISTORY_ORDER), columns=HISTORY_ORDER)

    def of(self, player_id: int, start: float) -> Running:
        """The player; `start` (points) is that of the rules of his next match, where it is his first."""
        rating = self.ratings.get(player_id)
        if rating is None or self.since is None or rating.matches == self.counts[player_id]:
            return self._opening(player_id, rating, start)
        first = self.first.get(player_id)
        if first is None:
            return ledger.running(rating, start)
        _, _, before, _, _, experience_before, *_ = first
        state = Running(before, experience_before, peak=rating.opening)
        peak, peak_match_id = self.peaks.get(rating.pk, (rating.peak, rating.peak_match_id))
        if rating.pk in self.peaks_after and rating.pk not in self.peaks:
            peak, peak_match_id = rating.opening, None
        if peak > state.peak:
            state.peak, state.peak_match_id = peak, peak_match_id
        if last := self.lasts.get(rating.pk):
            state.last = MatchKey(*last)
        return state

    def _opening(self, player_id: int, rating: Rating | None, start: float) -> Running:
        """Where somebody starts who has no match before the place."""
        if player_id in self.openings:
            opening = self.openings[player_id]
            return ledger.beginner(start) if opening is None else Running(opening.rating, opening.experience)
        return ledger.beginner(start) if rating is None else ledger.opening_of(rating, start)

    def _latest(self, rating_ids: set[int], *order: Any, columns: tuple[str, ...]) -> dict[int, tuple[Any, ...]]:
        """By rating, the columns of its first line in the order given, among those before the place."""
        assert self.since is not None
        found: dict[int, tuple[Any, ...]] = {}
        for chunk in ledger.chunks(sorted(rating_ids)):
            earlier = RatingChange.objects.filter(~from_key(self.since, match="match_id"), rating__in=chunk)
            ranked = earlier.annotate(place=Window(RowNumber(), partition_by="rating", order_by=order)).filter(place=1)
            found.update((rating, tuple(values)) for rating, *values in ranked.values_list("rating_id", *columns))
        return found


def apply(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None = None) -> int:
    """Write a recalculation that nothing has overtaken, and return the number of lines written. The pool is held exclusively."""
    write_history(pool, answer, now, revision_id)
    write_ratings(pool, answer, now, revision_id)
    return answer.writes


def write_history(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None) -> None:
    """Write the lines of a recalculation. The caller holds the pool's history."""
    require_transaction()
    players = {line[PLAYER] for line in answer.new}.union(line[PLAYER] for _, line in answer.gone)
    players.update(line[PLAYER] for _, _, line in answer.changed)
    rating_ids = ledger.rating_ids(pool, players, now)
    ledger.rewrite_lines(rating_ids, new=answer.new, changed=answer.changed, gone=answer.gone, revision_id=revision_id)


def write_ratings(pool: Pool, answer: Recalculation, now: datetime, revision_id: int | None) -> None:
    """Store where the players end up, and tell of those whose rating is another now. The caller holds the pool exclusively."""
    settled = answer.settled
    if settled:
        versions = ledger.lock_versions(pool, answer.states.keys(), now)
        settled = {one: known for one, known in settled.items() if known.rating.version == versions[one]}
    settled |= _settled(pool, answer, ledger.lock_ratings(pool, answer.states.keys() - settled.keys(), now), now)
    moved = [known for _, known in sorted(settled.items()) if known.moves]
    ledger.overwrite([known.rating for known in moved])
    told = [(known.rating.player_id, known.before, known.rating.value) for known in moved if known.rating.value != known.before]
    events.revised(pool, told, now, revision_id)
    ledger.next_version(pool)


def settle_ratings(pool: Pool, answer: Recalculation, now: datetime) -> None:
    """Settle in memory what `write_ratings` will store, so that less is left to do when completions wait for it. That settles
    anew what somebody else has written by then, and whom `catch_up` has moved."""
    answer.settled = _settled(pool, answer, ledger.ratings_of(pool, answer.states.keys()), now)


def _settled(pool: Pool, answer: Recalculation, ratings: Mapping[int, Rating], now: datetime) -> dict[int, Settled]:
    settled = {}
    for player_id, rating in ratings.items():
        state, before = answer.states[player_id], rating.value
        if answer.since is not None:
            state.matches = rating.matches + answer.more[player_id]
        moves = bool(ledger.settle(rating, state))
        if moves:
            ledger.settle_standing(rating, pool, now)
        settled[player_id] = Settled(rating, before, moves)
    return settled


def catch_up(
    pool: Pool,
    answer: Recalculation,
    now: datetime,
    revision_id: int | None,
    *,
    also: Collection[int] = (),
    by_new_rules: bool = False,
) -> None:
    """Rate anew what was completed since the recalculation was begun: the matches whose lines have ids above its mark.

    `also` are completed matches that had no lines by then and may count by now; with `by_new_rules` matches are rated anew also
    where the recalculation moved none of their players. The caller has written the recalculation's history, and holds the pool
    exclusively the last time: until then it can be called to take up what is there already. Raises Overtaken where a match comes
    before one that the recalculation has rated.
    """
    assert answer.mark is not None
    settled = {line[MATCH] for line in answer.new}.union(answer.instead, answer.caught_up)
    fresh = _lines(RatingChange.objects.filter(_besides(answer.instead), rating__pool=pool, pk__gt=answer.mark))
    stored = {line[:2]: (pk, line) for pk, line in fresh if line[MATCH] not in settled}
    ids = sorted({match_id for match_id, _ in stored}.union(also))
    answer.caught_up.update(ids)
    matches = sorted((played, not_counted) for played, not_counted in some_matches(pool, ids))
    later = Recalculation(answer.since, states=answer.states)
    for (key, player_ids, result), not_counted in matches:
        if not (by_new_rules or any(player_id in answer.states for player_id in player_ids)):
            continue
        for player_id in player_ids:
            answer.settled.pop(player_id, None)
        system = pool.system_at(key.ended_at)
        if not not_counted:
            at_table = [_seated(pool, answer.states, player_id, key, system.start) for player_id in player_ids]
            if any(player.last is not None and key < player.last for player in at_table):
                raise Overtaken
            rated = system.rate([Seat(player.value, player.experience) for player in at_table], result)
            for line in book(key, player_ids, at_table, rated):
                old = stored.pop(line[:2], None)
                if old is None:
                    later.new.append(line)
                elif old[1] != line:
                    later.changed.append((*old, line))
        for player_id in player_ids:
            if gone := stored.pop((key.id, player_id), None):
                _seated(pool, answer.states, player_id, key, pool.rating_system.start)
                later.gone.append(gone)
    if later.writes:
        write_history(pool, later, now, revision_id)
    answer.add(later)


def _besides(match_ids: Collection[int]) -> Q:
    """Not of the matches, as far as a few ranges can say that: an import has many, and took their ids at once."""
    condition, ids = Q(), sorted(match_ids)
    starts = [index for index, pk in enumerate(ids) if not index or pk != ids[index - 1] + 1]
    if len(starts) <= RANGES:
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=False):
            condition &= ~Q(match__gte=ids[start], match__lte=ids[end - 1])
    return condition


def _seated(pool: Pool, states: dict[int, Running], player_id: int, place: MatchKey, start: float) -> Running:
    """Where a player stands just before a place; `start` (points) is that of the rules there, where he has no match before it.

    One of whom nothing has moved until then is looked up and put among the states.
    """
    state = states.get(player_id)
    if state is None:
        state = _before(pool, player_id, place, start)
    elif state.opening is not None and state.last is None:
        state = ledger.beginner(start)
    states[player_id] = state
    return state


def _before(pool: Pool, player_id: int, place: MatchKey, start: float) -> Running:
    """Where the stored history has a player just before a place."""
    rating = Rating.objects.filter(pool=pool, player_id=player_id).first()
    earlier = RatingChange.objects.filter(~from_key(place, match="match_id"), rating=rating) if rating else None
    latest = earlier.order_by(*(f"-{name}" for name in HISTORY_ORDER)).first() if earlier is not None else None
    if rating is None or earlier is None or latest is None:
        return ledger.beginner(start) if rating is None else ledger.opening_of(rating, start)
    key = MatchKey(latest.ended_at, latest.timed, latest.sequence, latest.match_id)
    state = Running(latest.after, latest.experience_after, peak=rating.opening, last=key)
    highest = earlier.order_by("-after", *HISTORY_ORDER).first()
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
            answer.states[rating.player_id] = ledger.opening_of(rating, pool.rating_system.start)
    return apply(pool, answer, now)
