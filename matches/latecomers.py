"""Matches that come before others which their players have played already: completed as all is that rewrites the history.

What they change is computed with no lock held; then one transaction stores them and catches up with what was completed meanwhile,
so that other results of the pool wait only for its last moments. See `matches.revising`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from matches import revising, storing
from matches.entries import BatchRefused, Entry
from matches.models import Match, Revision
from matches.money import rake
from matches.rating import LATE, known_end
from matches.replay import Overtaken, Progress, Recalculation
from matches.revising import Change, Made, Plan, played
from matches.signals import match_completed
from players import rows
from players.locks import hold_players
from players.models import Pool
from players.systems.base import Refused


class Stored(Exception):
    """All of the entries are stored already."""


def complete(
    pool: Pool,
    entries: Sequence[Entry],
    *,
    now: datetime,
    token: str | None = None,
    progress: Progress | None = None,
    made: Made | None = None,
) -> list[Match]:
    """Complete the entries, all of them or none, and rate anew what comes after them; the matches in the order of the entries.

    It is one revision where somebody is late by an hour or more, and none else. With `token` only where the pool is still as that
    preview showed it. Raises BatchRefused and Conflict as `completion.complete_matches` does, Stored, Moved, and Overtaken where
    others were faster each time.
    """
    # SQLite gives the ids only to whoever has its write lock.
    with nullcontext() if connection.vendor == "postgresql" else transaction.atomic():
        if connection.in_atomic_block:
            storing.lock_open(entries)  # the caller will hold all locks to the end, so in their order
        [taken] = rows.run(rows.new_ids(Match, sum(entry.match is None for entry in entries)))
        change = Latecomers(pool.pk, entries, [match_id for (match_id,) in taken])
        revising.revise(change, reason="", made_by=entered_by(entries), token=token, now=now, progress=progress, made=made)
    return change.batch.answers


def entered_by(entries: Sequence[Entry]) -> User | None:
    return entries[0].entered_by


@dataclass(slots=True)
class Latecomers(Change):
    """Entries to be completed. `ids` are for those that complete no open match, in their order."""

    pool_id: int
    entries: Sequence[Entry]
    ids: Sequence[int]
    batch: storing.Batch = field(default_factory=storing.Batch)

    def pool_ids(self) -> Collection[int]:
        return (self.pool_id,)

    def plan(self, pool: Pool, now: datetime) -> Plan:
        """Raises BatchRefused, Conflict, Stored."""
        entries = storing.present_entries(self.entries)
        opened = Match.objects.in_bulk([entry.match.pk for entry in entries if entry.match is not None])
        answers = rows.run(*storing.questions(pool, entries, hold=False, take_ids=False))
        self.batch = batch = storing.prepare(pool, entries, opened, answers, now=now, ids=self.ids)
        if not batch.prepared:
            raise Stored
        counted = [item for item in batch.prepared if played(item.match, item.seats) is not None]
        instead = {item.match.pk: played(item.match, item.seats) for item in counted}
        return Plan(
            pool=pool,
            after=pool,
            kind=Revision.Kind.LATE,
            matches=[item.match.pk for item in counted if now - known_end(item.match) >= LATE],
            details={},
            rates=bool(counted),
            since=min((each.key for each in instead.values() if each is not None), default=None),
            instead=instead,
            seated={seat.player_id for item in counted for seat in item.seats},
        )

    def recorded(self, plan: Plan, answer: Recalculation) -> bool:
        return bool(plan.matches) and bool(answer.changed)

    def begin(self, *, reason: str, made_by: User | None, now: datetime) -> dict[str, Any]:
        opened = storing.lock_open(self.entries)
        for entry in self.entries:
            if entry.match is not None:
                match = opened.get(entry.match.pk)
                if match is None or match.status != Match.Status.OPEN or match.version != entry.match.version:
                    raise Overtaken
        return {}

    def lock(self, plans: Sequence[Plan]) -> None:
        """No completed match is written."""

    def store(self, plan: Plan) -> None:
        """What is stored under the same id meanwhile is told by the database."""
        if hold_players({seat.player_id for item in self.batch.prepared for seat in item.seats}):
            raise Overtaken
        [completed_at] = {item.match.completed_at for item in self.batch.prepared}
        assert completed_at is not None
        storing.store(plan.pool, self.batch.prepared, completed_at)

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:
        [plan] = plans
        matches = self.batch.matches
        match_completed.send(
            sender=Match, matches=matches, seats=self.batch.seats, pool=plan.pool, exclusive=True, now=now, rated=True
        )
        rake.charge(plan.pool, matches, self.batch.bands)

    def impossible(self, refused: Refused) -> Exception:
        return BatchRefused(self.batch.index_of(refused.values.get("match")), refused)
