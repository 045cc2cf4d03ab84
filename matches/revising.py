"""The one path by which published ratings are revised: corrections, new parameters and merged players all take it.

`preview` says what would move and writes nothing. `revise` does it: it computes with no lock held, against the version of each
pool; one short transaction then writes the lines, catches up on what was completed meanwhile, and stores the ratings. Until it
commits the old ratings stand, so it is safe to kill and to run again.

What is particular to a kind of revision is in a `Change`: what it makes of a pool, and what it stores besides the ratings.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.db.models import Max

from matches import replay
from matches.models import Match, Participant, Revision
from matches.replay import Overtaken, Played, Progress, Recalculation
from players import ledger
from players.ledger import Opening, chunks
from players.locks import hold_history, hold_pool
from players.models import Player, Pool, Rating, RatingChange
from players.standings import rank_points, standing
from players.systems.base import Refused
from players.systems.running import MatchKey

ATTEMPTS, HELD_ATTEMPTS = 2, 3
"""How often a revision is computed with no lock held, and then how often while it holds the pools: what can still stop it are
matches that are not finished and players who are being seated elsewhere."""


Made = Callable[[list[Revision]], None]
Details = dict[str, dict[str, list[Any]]]
"""What becomes of matches: by id, and by the name of a field, from what to what. See `matches.entries.changed`."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a change makes of one pool, checked against what is stored.

    `pool` is as it was read, `after` as it will be: the same where its rules stay. `matches` are those that the revision names,
    `details` and `rules` what it says of them and of the pool.
    With `rates` the matches from `since` on (None: all) are rated anew, with the arguments of `replay.recalculate`. Who is
    `seated` anew gets a rating there if he has none. Players `to_be_made` are stored with what the change stores.
    """

    pool: Pool
    after: Pool
    kind: Revision.Kind
    matches: Sequence[int]
    details: Details
    rates: bool
    rules: dict[str, Any] | None = None
    since: MatchKey | None = None
    instead: Mapping[int, Played | None] = field(default_factory=dict)
    taken_over: Mapping[tuple[int, int], int] = field(default_factory=dict)
    openings: Mapping[int, Opening | None] = field(default_factory=dict)
    seated: Collection[int] = ()
    to_be_made: Collection[int] = ()

    @property
    def new_rules(self) -> bool:
        return self.after is not self.pool


class Change(ABC):
    """What is to be revised. It is asked in this order; all but `pool_ids` and `plan` inside the writing transaction.

    The history of its pools is held before its matches are locked, so that revisions wait for each other there and nowhere else.
    """

    @abstractmethod
    def pool_ids(self) -> Collection[int]:
        """The pools that it moves. Raises what makes it impossible in all of them."""

    @abstractmethod
    def plan(self, pool: Pool, now: datetime) -> Plan:
        """What it makes of a pool. Raises whatever makes it impossible. Reads only."""

    def begin(self, *, reason: str, made_by: User | None, now: datetime) -> dict[str, Any]:
        """Lock and store what comes before the histories in the order of locks; more fields for the revisions."""
        return {}

    @abstractmethod
    def lock(self, plans: Sequence[Plan]) -> None:
        """Lock the matches that will be written, by id: the histories are held.

        Raises Overtaken, or what makes the change impossible, where one is not as it was planned.
        """

    @abstractmethod
    def store(self, plan: Plan) -> None:
        """Write what is not a rating. Raises Overtaken."""

    def completed_since(self, plan: Plan, now: datetime) -> Collection[int]:
        """Matches that were completed since the plan was made and may count by now. The pool is held exclusively."""
        return ()

    def recorded(self, plan: Plan, answer: Recalculation) -> bool:
        """Whether what it does to the pool is a revision of what was published."""
        return True

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:  # noqa: B027, most have nothing to do
        """The last writes; all pools are held exclusively. Raises Overtaken."""

    def impossible(self, refused: Refused) -> Exception:
        """The error that says that a rating would leave its range."""
        return refused

    def seen(self, previews: Sequence[tuple[Pool, Preview]]) -> Any:
        """What is shown of the previews of all its pools: something with a `token`."""
        [(_, preview)] = previews
        return preview


@dataclass(frozen=True, slots=True)
class Move:
    """A player whom a revision moves: rating (points) and rank, from what to what. A rank is None for one who is not listed."""

    player: Player
    rating: tuple[float, float]
    rank: tuple[int | None, int | None]

    @property
    def difference(self) -> float:
        return self.rating[1] - self.rating[0]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a revision would do to a pool: every player whose rating or rank moves, how many lines of the history, and a token
    that stands for just this. `details` are those of the revision that it would make; `basis` stands for the history it starts
    from."""

    moves: Sequence[Move]
    lines: int
    matches: int
    token: str
    details: Details = field(default_factory=dict)
    rules: dict[str, Any] | None = None
    basis: str = ""


class NothingChanges(Exception):
    """What is to be revised is so already."""


class Moved(Exception):
    """The pool is no longer as it was previewed. Holds the new preview; nothing was written."""

    def __init__(self, preview: Any) -> None:
        super().__init__("the pool has changed since the preview")
        self.preview = preview


def preview(change: Change, *, now: datetime, progress: Progress | None = None) -> Any:
    """What the change would do, as its `seen` shows it. Writes nothing. Raises what makes it impossible."""
    with snapshot():
        plans = _plans(change, change.pool_ids(), now)
        answers = _recalculate_all(change, plans, {}, progress)
        return change.seen([_previewed(*both, now) for both in zip(plans, answers, strict=True)])


def affected(change: Change, *, now: datetime) -> int:
    """How many counted matches the change rates anew in all its pools, counted by index. Raises what makes it impossible."""
    plans = _plans(change, change.pool_ids(), now)
    return sum(replay.count_matches(plan.pool, plan.since) for plan in plans if plan.rates)


def revise(
    change: Change,
    *,
    reason: str,
    made_by: User | None,
    token: str | None,
    now: datetime,
    progress: Progress | None = None,
    made: Made | None = None,
) -> list[Revision]:
    """Make the change, all of it or nothing: one revision for each pool, in the order of their ids.

    `made` is told of them in the transaction that makes them, and may raise to have nothing made. With `token` only where
    everything is still as that preview showed it; with a preview's basis, where the history still is. Raises Moved where it is
    not, what makes the change impossible, and Overtaken where others were faster each time.
    """
    for attempt in range(last := ATTEMPTS + HELD_ATTEMPTS):
        # On SQLite, which has one writer, the pools are held from the start.
        held = connection.vendor != "postgresql" or attempt >= ATTEMPTS
        try:
            if held:
                with transaction.atomic():
                    for pool_id in sorted(change.pool_ids()):
                        hold_pool(pool_id, exclusive=True)
                    return _revise(change, reason, made_by, token, now, progress, made)
            return _revise(change, reason, made_by, token, now, progress, made)
        except Overtaken:
            if attempt == last - 1:
                raise
        except OperationalError as error:
            if attempt == last - 1 or getattr(error.__cause__, "sqlstate", None) != "40P01":  # a deadlock with another writer
                raise
    raise AssertionError("the last attempt returns or raises")


def _revise(
    change: Change,
    reason: str,
    made_by: User | None,
    token: str | None,
    now: datetime,
    progress: Progress | None,
    made: Made | None,
) -> list[Revision]:
    marks = {pool_id: _mark(pool_id) for pool_id in sorted(change.pool_ids())}
    with snapshot():
        plans = _plans(change, marks, now)
        answers = _recalculate_all(change, plans, marks, progress)
        if token is not None and token != joint(basis_of(plan.pool, plan.details, plan.rules) for plan in plans):
            shown = change.seen([_previewed(*both, now) for both in zip(plans, answers, strict=True)])
            if shown.token != token:
                raise Moved(shown)
    both = list(zip(plans, answers, strict=True))
    for plan, answer in both:
        if players := {*answer.states, *plan.openings, *plan.seated}.difference(plan.to_be_made):
            ledger.make_ratings(plan.pool, players, now)
    with transaction.atomic():
        fields = change.begin(reason=reason, made_by=made_by, now=now)
        for plan in plans:
            hold_history(plan.pool.pk)
        for plan in plans:
            _check_version(plan)
        change.lock(plans)
        revisions = []
        revision_ids: list[int | None] = []
        for plan, answer in both:
            change.store(plan)
            revision_ids.append(None)
            if change.recorded(plan, answer):
                revision = Revision.objects.create(
                    pool=plan.pool,
                    kind=plan.kind,
                    reason=reason,
                    details=plan.details,
                    rules=plan.rules,
                    changes=answer.writes,
                    made_by=made_by,
                    made_at=now,
                    **fields,
                )
                _name_matches(revision, plan.matches)
                revisions.append(revision)
                revision_ids[-1] = revision.pk
            replay.write_history(plan.after, answer, now, revision_ids[-1])
        for (plan, answer), revision_id in zip(both, revision_ids, strict=True):
            if not plan.rates:
                ledger.next_version(plan.pool)
                continue
            if not (plan.new_rules or plan.taken_over or plan.openings):
                # Most of what was completed meanwhile, before anybody has to wait.
                replay.catch_up(plan.after, answer, now, revision_id)
            replay.settle_ratings(plan.after, answer, now)
            hold_pool(plan.pool.pk, exclusive=True)
            also = change.completed_since(plan, now)
            replay.catch_up(plan.after, answer, now, revision_id, also=also, by_new_rules=plan.new_rules)
            if plan.openings:
                ledger.set_openings(plan.after, plan.openings, now)
            replay.write_ratings(plan.after, answer, now, revision_id)
        change.finish(plans, now)
        if made is not None:
            made(revisions)
    return revisions


def _plans(change: Change, pool_ids: Iterable[int], now: datetime) -> list[Plan]:
    return [change.plan(pool, now) for pool in Pool.objects.filter(pk__in=list(pool_ids)).order_by("pk")]


def _check_version(plan: Plan) -> None:
    """Raise Overtaken unless the pool is as it was read."""
    stored = Pool.objects.get(pk=plan.pool.pk)
    if stored.version != plan.pool.version or stored.parameters != plan.pool.parameters:
        raise Overtaken


def _name_matches(revision: Revision, match_ids: Sequence[int]) -> None:
    through = Revision.matches.through
    through.objects.bulk_create(
        (through(revision_id=revision.pk, match_id=match_id) for match_id in match_ids), batch_size=ledger.BATCH
    )


def _mark(pool_id: int) -> int:
    """The highest id of a line so far. The pool is held for a moment, so that no line with a lower id is still on its way."""
    with transaction.atomic():
        hold_pool(pool_id, exclusive=True)
        return RatingChange.objects.aggregate(last=Max("pk"))["last"] or 0


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything as of one moment, holding nothing up."""
    outermost = not connection.in_atomic_block
    if connection.vendor != "postgresql" and outermost:
        yield  # autocommitted reads; whoever writes afterwards on SQLite holds the write lock already
        return
    with transaction.atomic():
        if connection.vendor == "postgresql" and outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def locked_matches(match_ids: Iterable[int]) -> dict[int, Match]:
    """The matches, locked in the order of their ids."""
    rows = Match.objects.select_for_update(no_key=True, of=("self",)).order_by("pk")
    return {match.pk: match for chunk in chunks(sorted(match_ids)) for match in rows.filter(pk__in=chunk)}


def played(match: Match, seats: Sequence[Participant]) -> Played | None:
    """The match as a replay rates it, or None where it does not count."""
    if match.status != Match.Status.COMPLETED or match.not_counted:
        return None
    assert match.ended_at is not None
    key = MatchKey(match.ended_at, match.timed, match.sequence, match.pk)
    return Played(key, tuple(seat.player_id for seat in seats), match.result(seats))


def _recalculate_all(
    change: Change, plans: Sequence[Plan], marks: Mapping[int, int], progress: Progress | None
) -> list[Recalculation]:
    """The recalculations of all pools, one after the other; the progress counts on."""
    answers: list[Recalculation] = []
    for plan in plans:
        before = sum(answer.matches for answer in answers)
        counted = None if progress is None else lambda done, before=before: progress(before + done)
        answers.append(_recalculate(change, plan, marks.get(plan.pool.pk), counted))
    return answers


def _recalculate(change: Change, plan: Plan, mark: int | None, progress: Progress | None) -> Recalculation:
    if not plan.rates:
        return Recalculation(None, mark)
    try:
        return replay.recalculate(
            plan.after,
            plan.since,
            instead=plan.instead,
            taken_over=plan.taken_over,
            openings=plan.openings,
            mark=mark,
            progress=progress,
        )
    except Refused as refused:
        raise change.impossible(refused) from refused


Listed = tuple[float, int | None]
"""A rating (points), and the standing in rank points where it is listed."""


def _previewed(plan: Plan, answer: Recalculation, now: datetime) -> tuple[Pool, Preview]:
    return plan.pool, moves_of(plan.pool, answer, now, plan.details, after=plan.after, rules=plan.rules)


def moves_of(
    pool: Pool,
    answer: Recalculation,
    now: datetime,
    details: Details,
    *,
    after: Pool | None = None,
    rules: dict[str, Any] | None = None,
) -> Preview:
    """Every player whose rating or rank the recalculation moves; `after` is the pool as it will be, with other `rules`."""
    after = after or pool
    other_standings = after.standing_rule != pool.standing_rule
    more = answer.more

    def listed(value: float, last: datetime | None, matches: int) -> Listed:
        points = rank_points(standing(after.standing_rule, value, last, now), after.shown_decimals)
        return value, points if matches else None

    old: dict[int, Listed] = {}
    new: dict[int, Listed] = {}
    columns = ("player_id", "value", "rank_points", "matches", "last_ended_at")
    for player_id, value, points, matches, last in Rating.objects.filter(pool=pool).values_list(*columns).iterator():
        old[player_id] = new[player_id] = (value, points if matches else None)
        state = answer.states.get(player_id)
        if state is not None and (state.value != value or more[player_id]):
            new[player_id] = listed(state.value, state.last and state.last.ended_at, matches + more[player_id])
        elif other_standings:
            new[player_id] = listed(value, last, matches)
    for player_id in answer.states.keys() - old.keys():
        state = answer.states[player_id]
        old[player_id] = (pool.rating_system.start, None)
        new[player_id] = listed(state.value, state.last and state.last.ended_at, more[player_id])
    ranks_before, ranks_after = _ranks(old), _ranks(new)
    moved = [
        player_id
        for player_id in new
        if old[player_id][0] != new[player_id][0] or ranks_before.get(player_id) != ranks_after.get(player_id)
    ]
    players = {player.pk: player for chunk in chunks(moved) for player in Player.objects.filter(pk__in=chunk)}
    moves = [
        Move(
            players[player_id],
            (old[player_id][0], new[player_id][0]),
            (ranks_before.get(player_id), ranks_after.get(player_id)),
        )
        for player_id in moved
    ]
    moves.sort(key=lambda move: (-abs(move.rating[1] - move.rating[0]), move.rank[1] or 0, move.player.pk))
    said = repr((pool.pk, pool.version, details, rules, [(move.player.pk, move.rating, move.rank) for move in moves]))
    basis = basis_of(pool, details, rules)
    return Preview(moves, answer.writes, answer.matches, hashlib.sha256(said.encode()).hexdigest(), details, rules, basis)


def basis_of(pool: Pool, details: Details, rules: dict[str, Any] | None) -> str:
    """Stands for the history that a preview was made of. Results that come in order since leave it as it is."""
    return hashlib.sha256(repr((pool.pk, pool.version, details, rules)).encode()).hexdigest()


def joint(bases: Iterable[str]) -> str:
    """The basis of previews of several pools."""
    return " ".join(bases)


def _ranks(standings: dict[int, Listed]) -> dict[int, int]:
    """Ranks by player id, 1, 2, 2, 4, of those who are listed."""
    order = sorted((-points, player_id) for player_id, (_, points) in standings.items() if points is not None)
    ranks: dict[int, int] = {}
    rank, previous = 0, None
    for place, (points, player_id) in enumerate(order, start=1):
        if points != previous:
            rank, previous = place, points
        ranks[player_id] = rank
    return ranks
