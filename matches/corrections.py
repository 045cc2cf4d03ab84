"""Corrections of completed matches: a result is edited, voided, or its void taken back, and everything after it is rated anew.

`preview` says what would move and writes nothing. `correct` does it: it computes with no lock held, against the version of the
pool; one short transaction then writes the lines, catches up on what was completed meanwhile, and stores the ratings. Until it
commits the old ratings stand, so it is safe to kill and to run again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from matches import replay
from matches.entries import BatchRefused, Conflict, Entry, changed, check_entry, described, fill, openings_of
from matches.models import Match, Participant, Revision
from matches.replay import Played, Progress, Recalculation
from players import ledger
from players.ledger import MatchKey
from players.locks import hold_history, hold_pool
from players.models import Player, Pool, Rating, RatingChange
from players.standings import rank_points, standing
from players.systems.base import Refused

Details = dict[str, dict[str, list[Any]]]
"""What becomes of matches: by id, and by the name of a field, from what to what. See `matches.entries.changed`."""

ATTEMPTS = 3
"""How often a correction is computed with no lock held before it holds the pool while it computes."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What shall become of a completed or voided match, read at `match.version`: with `entry` it is edited, with `void` set it is
    voided (True) or counts again (False)."""

    match: Match
    entry: Entry | None = None
    void: bool | None = None

    @property
    def kind(self) -> Revision.Kind:
        if self.void is None:
            return Revision.Kind.EDIT
        return Revision.Kind.VOID if self.void else Revision.Kind.UNVOID


@dataclass(frozen=True, slots=True)
class Move:
    """A player whom a correction moves: rating (points) and rank, from what to what. A rank is None for one who is not listed."""

    player: Player
    rating: tuple[float, float]
    rank: tuple[int | None, int | None]

    @property
    def difference(self) -> float:
        return self.rating[1] - self.rating[0]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a correction would do: every player whose rating or rank moves, how many lines of the history, and a token that stands
    for just this. `details` are those of the revision that it would make."""

    moves: Sequence[Move]
    lines: int
    matches: int
    token: str
    details: Details = field(default_factory=dict)


class Moved(Exception):
    """The pool is no longer as it was previewed. Holds the new preview; nothing was written."""

    def __init__(self, preview: Preview) -> None:
        super().__init__("the pool has changed since the preview")
        self.preview = preview


class _Overtaken(Exception):
    """Another correction came first: compute again."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Corrections that were checked: the matches as they will be, with their seats, and what a replay rates in their place."""

    corrections: Sequence[Correction]
    matches: Sequence[Match]
    seats: dict[int, list[Participant]]
    instead: dict[int, Played | None]
    since: MatchKey | None
    details: Details


def preview(
    pool: Pool, corrections: Sequence[Correction], *, now: datetime | None = None, progress: Progress | None = None
) -> Preview:
    """What the corrections would do. Writes nothing. Raises BatchRefused, Conflict as `correct` does."""
    now = now or timezone.now()
    with snapshot():
        pool = Pool.objects.get(pk=pool.pk)
        plan = _plan(pool, corrections, now)
        return moves_of(pool, _recalculate(pool, plan, mark=None, progress=progress), now, plan.details)


def affected(pool: Pool, corrections: Sequence[Correction], *, now: datetime | None = None) -> int:
    """How many matches the corrections rate anew, counted by index. Raises BatchRefused, Conflict as `correct` does."""
    plan = _plan(pool, corrections, now or timezone.now())
    return 0 if plan.since is None else replay.count_matches(pool, plan.since)


def correct(
    pool: Pool,
    corrections: Sequence[Correction],
    *,
    reason: str,
    made_by: User | None = None,
    token: str | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Revision:
    """Correct matches of a pool, all of them or none, and rate anew what they change.

    With `token` only where the pool is still as that preview showed it. Raises BatchRefused where a correction makes no possible
    result, Conflict where a match has changed since it was read, Moved where the preview holds no more.
    """
    now = now or timezone.now()
    for attempt in range(ATTEMPTS):
        # On SQLite, which has one writer, and in the last attempt the pool is held from the start: nothing can overtake it.
        held = connection.vendor != "postgresql" or attempt == ATTEMPTS - 1
        try:
            if held:
                with transaction.atomic():
                    _lock_matches(corrections)
                    hold_pool(pool.pk, exclusive=True)
                    return _correct(pool, corrections, reason, made_by, token, now, progress)
            return _correct(pool, corrections, reason, made_by, token, now, progress)
        except _Overtaken:
            continue
    raise AssertionError("nothing overtakes who holds the pool")


def made_before(corrections: Sequence[Correction], *, reason: str, made_by: User | None) -> Revision | None:
    """The revision that just these corrections made already, where they are sent or run a second time."""
    ids = [correction.match.pk for correction in corrections]
    last = Revision.objects.filter(matches=ids[0], made_by=made_by, reason=reason, kind=corrections[0].kind).first()
    if last is None:
        return None
    versions = {correction.match.pk: correction.match.version + 1 for correction in corrections}
    return last if dict(last.matches.values_list("pk", "version")) == versions else None


def _correct(
    pool: Pool,
    corrections: Sequence[Correction],
    reason: str,
    made_by: User | None,
    token: str | None,
    now: datetime,
    progress: Progress | None,
) -> Revision:
    mark = _mark(pool)
    with snapshot():
        pool = Pool.objects.get(pk=pool.pk)
        plan = _plan(pool, corrections, now)
        answer = _recalculate(pool, plan, mark=mark, progress=progress)
        shown = moves_of(pool, answer, now, plan.details) if token is not None else None
    if shown is not None and shown.token != token:
        raise Moved(shown)
    with transaction.atomic():
        locked = _lock_matches(corrections)
        hold_history(pool.pk)
        if Pool.objects.values_list("version", flat=True).get(pk=pool.pk) != pool.version:
            raise _Overtaken
        _check_versions(corrections, locked)
        _store_matches(plan)
        revision = Revision.objects.create(
            pool=pool,
            kind=corrections[0].kind,
            reason=reason,
            details=plan.details,
            changes=answer.writes,
            made_by=made_by,
            made_at=now,
        )
        revision.matches.set(plan.matches)
        if plan.since is not None:
            replay.write_history(pool, answer, now, revision.pk)
            hold_pool(pool.pk, exclusive=True)
            replay.catch_up(pool, answer, now, revision.pk)
            replay.write_ratings(pool, answer, now)
    return revision


def _mark(pool: Pool) -> int:
    """The highest id of a line so far. The pool is held for a moment, so that no line with a lower id is still on its way."""
    with transaction.atomic():
        hold_pool(pool.pk, exclusive=True)
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


def _plan(pool: Pool, corrections: Sequence[Correction], now: datetime) -> _Plan:
    """Check the corrections against the stored matches. Raises BatchRefused, Conflict."""
    ids = [correction.match.pk for correction in corrections]
    stored = {match.pk: match for match in Match.objects.filter(pk__in=ids).prefetch_related("participants")}
    _check_versions(corrections, stored)
    openings = openings_of(pool, [correction.entry for correction in corrections if correction.entry])
    seats: dict[int, list[Participant]] = {}
    instead: dict[int, Played | None] = {}
    details: Details = {}
    places: list[MatchKey] = []
    for index, correction in enumerate(corrections):
        match = stored[correction.match.pk]
        seats[match.pk] = list(match.participants.all())
        old, before = _played(match, seats[match.pk]), described(match, seats[match.pk])
        entry = correction.entry
        try:
            if entry is not None:
                check_entry(pool, entry, openings, now=now)
                seats[match.pk] = fill(match, pool, entry)
            elif correction.void is not None:
                match.status = Match.Status.VOIDED if correction.void else Match.Status.COMPLETED
            result = match.result(seats[match.pk])
            reason = pool.rating_system.not_counted(result)
        except Refused as refused:
            raise BatchRefused(index, refused) from refused
        match.not_counted = reason.code if reason else ""
        match.version += 1
        details[str(match.pk)] = changed(before, described(match, seats[match.pk]))
        new = _played(match, seats[match.pk])
        if old != new:
            instead[match.pk] = new
            places += [played.key for played in (old, new) if played is not None]
    return _Plan(corrections, [stored[pk] for pk in ids], seats, instead, min(places, default=None), details)


def _played(match: Match, seats: Sequence[Participant]) -> Played | None:
    """The match as a replay rates it, or None where it does not count."""
    if match.status != Match.Status.COMPLETED or match.not_counted:
        return None
    assert match.ended_at is not None
    key = MatchKey(match.ended_at, match.timed, match.sequence, match.pk)
    return Played(key, tuple(seat.player_id for seat in seats), match.result(seats))


def _check_versions(corrections: Sequence[Correction], stored: dict[int, Match]) -> None:
    for correction in corrections:
        match = stored.get(correction.match.pk)
        if match is None or match.version != correction.match.version or match.status == Match.Status.OPEN:
            raise Conflict(match or correction.match, ["version"])
        if correction.void is not None and correction.void == (match.status == Match.Status.VOIDED):
            raise Conflict(match, ["status"])


def _lock_matches(corrections: Sequence[Correction]) -> dict[int, Match]:
    ids = sorted(correction.match.pk for correction in corrections)
    rows = Match.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids).order_by("pk")
    return {match.pk: match for match in rows}


def _store_matches(plan: _Plan) -> None:
    for correction, match in zip(plan.corrections, plan.matches, strict=True):
        match.save()
        if correction.entry is not None:
            match.participants.all().delete()
            Participant.objects.bulk_create(plan.seats[match.pk])


def _recalculate(pool: Pool, plan: _Plan, *, mark: int | None, progress: Progress | None = None) -> Recalculation:
    if plan.since is None:
        return Recalculation(None, mark)
    try:
        return replay.recalculate(pool, plan.since, instead=plan.instead, mark=mark, progress=progress)
    except Refused as refused:
        raise BatchRefused(0, refused) from refused


def moves_of(pool: Pool, answer: Recalculation, now: datetime, details: Details) -> Preview:
    """Every player whose rating or rank the recalculation moves."""
    listed = Rating.objects.filter(pool=pool)
    columns = ("player_id", "value", "rank_points", "matches")
    more: dict[int, int] = {}
    for line in answer.new:
        more[line.player_id] = more.get(line.player_id, 0) + 1
    for _, line in answer.gone:
        more[line.player_id] = more.get(line.player_id, 0) - 1
    old: dict[int, tuple[float, int | None]] = {}
    new: dict[int, tuple[float, int | None]] = {}
    for player_id, value, points, matches in listed.values_list(*columns).iterator():
        old[player_id] = new[player_id] = (value, points if matches else None)
        state = answer.states.get(player_id)
        if state is not None and (state.value != value or more.get(player_id)):
            last = state.last.ended_at if state.last else None
            points = rank_points(standing(pool.standing_rule, state.value, last, now), pool.shown_decimals)
            new[player_id] = (state.value, points if matches + more.get(player_id, 0) else None)
    for player_id in answer.states.keys() - old.keys():
        state = answer.states[player_id]
        last = state.last.ended_at if state.last else None
        old[player_id] = (pool.rating_system.start, None)
        new[player_id] = (state.value, rank_points(standing(pool.standing_rule, state.value, last, now), pool.shown_decimals))
    ranks_before, ranks_after = _ranks(old), _ranks(new)
    moved = [
        player_id
        for player_id in new
        if old[player_id][0] != new[player_id][0] or ranks_before.get(player_id) != ranks_after.get(player_id)
    ]
    players = {player.pk: player for chunk in ledger.chunks(moved) for player in Player.objects.filter(pk__in=chunk)}
    moves = [
        Move(
            players[player_id],
            (old[player_id][0], new[player_id][0]),
            (ranks_before.get(player_id), ranks_after.get(player_id)),
        )
        for player_id in moved
    ]
    moves.sort(key=lambda move: (-abs(move.rating[1] - move.rating[0]), move.rank[1] or 0, move.player.pk))
    said = repr((pool.pk, pool.version, [(move.player.pk, move.rating, move.rank) for move in moves]))
    return Preview(moves, answer.writes, answer.matches, hashlib.sha256(said.encode()).hexdigest(), details)


def _ranks(standings: dict[int, tuple[float, int | None]]) -> dict[int, int]:
    """Ranks by player id, 1, 2, 2, 4, of those who are listed."""
    order = sorted((-points, player_id) for player_id, (_, points) in standings.items() if points is not None)
    ranks: dict[int, int] = {}
    rank, previous = 0, None
    for place, (points, player_id) in enumerate(order, start=1):
        if points != previous:
            rank, previous = place, points
        ranks[player_id] = rank
    return ranks
