"""Imports of which some rows come before matches that their players have played: made as all is that rewrites the history.

The rows are read, judged and rated with no lock held; then one transaction stores them in steps and catches up with what was
completed meanwhile, so that other results of the pool wait only for its last moments. See `matches.revising`. A dry run ends
after the first half, whatever the order of its rows, and holds nobody up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.translation import gettext as _

from matches import replay, revising, storing
from matches.entries import BatchRefused, Conflict, Entry, instant_of, normal
from matches.imports import keeping
from matches.imports.csv_rows import Rows
from matches.imports.csv_table import BadFile
from matches.imports.report import Report
from matches.imports.sifting import Candidate, Options, Sifting, make_players, new_players
from matches.late import NO_ID
from matches.models import Import, Match, RakeBand, Revision
from matches.money import rake
from matches.rating import LATE, known_end
from matches.replay import Overtaken, Played, Recalculation
from matches.revising import Change, Plan
from matches.signals import match_completed
from players import rows, wording
from players.models import Player, Pool
from players.systems.base import Refused
from players.systems.running import MatchKey

STEP = 1000
"""Matches that are stored at a time."""

Needed = tuple[int, int]
"""How many matches an import makes, and how many players."""


class _Settled(Exception):
    """There is nothing to store: all is there already, or a row is refused."""


class TooFew(Exception):
    """There is more to store than was counted before."""

    def __init__(self, needed: Needed) -> None:
        super().__init__(needed)
        self.needed = needed


def needed(candidates: Sequence[Candidate]) -> Needed:
    return len(candidates), len(new_players(candidates))


def import_late(
    pool: Pool,
    read: Callable[[Pool], Rows],
    *,
    source: str,
    options: Options,
    entered_by: User | None,
    now: datetime,
    told: Callable[[int, int], None],
    record: Import | None,
    counted: Needed,
) -> Report:
    """Make the import, all of it or nothing, as `service.import_rows` does; where it is a dry run nothing.

    `counted` is what was needed when the rows were counted; TooFew is raised where it is more by now. Raises Raced where somebody
    else made one of its players, and Overtaken where others were faster each time.
    """
    change = LateRows(pool.pk, read, source, options, entered_by, now, told, record)
    # SQLite gives the ids only to whoever has its write lock.
    with transaction.atomic() if connection.vendor != "postgresql" and not options.dry_run else nullcontext():
        if not options.dry_run:
            change.take_ids(counted)
        while True:
            try:
                if options.dry_run:
                    return change.rehearse()
                revising.revise(change, reason="", made_by=entered_by, token=None, now=now, progress=change.tell_rated)
                return change.sifting.report
            except BatchRefused as batch:
                # Refused only when it is rated: all is computed again without it.
                change.unrated[change.candidates[batch.index].row.line] = batch.refused
            except _Settled:
                return change.settle()


@dataclass(slots=True)
class LateRows(Change):
    """The rows of an import. `unrated` are those, by line, that were refused when they were rated."""

    pool_id: int
    read: Callable[[Pool], Rows]
    source: str
    options: Options
    entered_by: User | None
    now: datetime
    told: Callable[[int, int], None]
    record: Import | None
    unrated: dict[int, Refused] = field(default_factory=dict)
    match_ids: Sequence[int] = ()
    player_ids: Sequence[int] = ()
    record_is_new: bool = False
    sifting: Sifting = field(init=False)
    candidates: list[Candidate] = field(default_factory=list)
    made: dict[str, Player] = field(default_factory=dict)
    others: int = 0
    costing: list[tuple[list[Match], Sequence[RakeBand]]] = field(default_factory=list)

    def take_ids(self, counted: Needed) -> None:
        """Take ids for what will be stored: a snapshot, which only reads, gives none."""
        self.record_is_new = self.record is not None and self.record._state.adding
        matches, players, records = rows.run(
            rows.new_ids(Match, counted[0]), rows.new_ids(Player, counted[1]), rows.new_ids(Import, int(self.record_is_new))
        )
        self.match_ids, self.player_ids = [pk for (pk,) in matches], [pk for (pk,) in players]
        for (pk,) in records:
            assert self.record is not None
            self.record.pk = pk

    # --- With no lock held ---

    def pool_ids(self) -> Collection[int]:
        return (self.pool_id,)

    def plan(self, pool: Pool, now: datetime) -> Plan:
        """Raises BadFile, _Settled, TooFew."""
        self._sift(pool)
        played = []
        for match_id, (_row, entry) in zip(self.match_ids, self.candidates, strict=False):
            result = normal(entry.result)
            reason = pool.system_at(instant_of(entry)).not_counted(result)
            self.sifting.count(entry, reason.code if reason else "")
            if reason is None:
                key = MatchKey(instant_of(entry), entry.timed, entry.sequence, match_id)
                played.append(Played(key, tuple(player.pk for player in entry.players), result))
        since = min((match.key for match in played), default=None)
        self.others = replay.count_matches(pool, since) if played else 0
        return Plan(
            pool=pool,
            after=pool,
            kind=Revision.Kind.LATE,
            matches=[match.key.id for match in played if now - known_end(match.key) >= LATE],
            details={},
            rates=bool(played),
            since=since,
            instead={match.key.id: match for match in played},
            seated={player_id for match in played for player_id in match.player_ids},
            to_be_made={player.pk for player in self.made.values()},
        )

    def _sift(self, pool: Pool) -> None:
        """Read the rows anew, and number what they make."""
        from_import = self.record.pk if self.record is not None and not self.options.dry_run else None
        self.sifting = Sifting(pool, self.read(pool), self.source, self.options, self.entered_by, self.now, from_import)
        self.candidates = []
        for candidate in self.sifting.look():
            if refused := self.unrated.get(candidate.row.line):
                self.sifting.refuse(candidate.row, refused)
            else:
                self.candidates.append(candidate)
        self.made = new_players(self.candidates)
        self.sifting.report.new_players = [player.name for player in self.made.values()]
        if not self.sifting.may_go_on or not self.candidates:
            raise _Settled
        if self.options.dry_run:
            # After all that is stored, as they would come; their players have numbers of their own.
            self.match_ids = range(NO_ID - len(self.candidates), NO_ID)
            return
        if len(self.candidates) > len(self.match_ids) or len(self.made) > len(self.player_ids):
            raise TooFew(needed(self.candidates))
        for player, pk in zip(self.made.values(), self.player_ids, strict=False):
            player.pk = pk

    def rehearse(self) -> Report:
        """What would become of the rows. Raises BatchRefused, _Settled."""
        with revising.snapshot():
            plan = self.plan(Pool.objects.get(pk=self.pool_id), self.now)
            if plan.rates:
                try:
                    replay.recalculate(plan.pool, plan.since, instead=plan.instead, progress=self.tell_rated)
                except Refused as refused:
                    raise self.impossible(refused) from refused
        return self.sifting.end(stored=False)

    def settle(self) -> Report:
        """End the import without a match."""
        stored = self.sifting.may_go_on and not self.options.dry_run
        report = self.sifting.end(stored=stored)
        if stored and self.record is not None:
            with transaction.atomic():
                keeping.begin(self.record)
                keeping.end(self.record, report, self.now)
        return report

    def impossible(self, refused: Refused) -> Exception:
        match_id = refused.values.get("match")
        if match_id in self.match_ids:
            return BatchRefused(self.match_ids.index(match_id), refused)
        return BadFile(_("With these rows a match cannot be rated. %(rule)s") % {"rule": wording.refusal(refused)})

    def tell_rated(self, done: int) -> None:
        self.told(done, self._steps)

    @property
    def _steps(self) -> int:
        """All that is to be done: each match is rated, and each new one stored."""
        return self.others + (1 if self.options.dry_run else 2) * len(self.candidates)

    # --- In the writing transaction ---

    def begin(self, *, reason: str, made_by: User | None, now: datetime) -> dict[str, Any]:
        """Raises NotWaiting."""
        if self.record is not None:
            self.record._state.adding = self.record_is_new  # also where a transaction that stored it was rolled back
            keeping.begin(self.record)
        return {}

    def lock(self, plans: Sequence[Plan]) -> None:
        """No completed match is written."""

    def store(self, plan: Plan) -> None:
        """Raises Raced. What is stored under the same id meanwhile is told by the database."""
        make_players(self.made, self.player_ids[: len(self.made)])
        self.costing = []
        for start in range(0, len(self.candidates), STEP):
            entries = [entry for _row, entry in self.candidates[start : start + STEP]]
            self._store(plan.pool, entries, self.match_ids[start : start + len(entries)])
            self.told(self.others + len(self.candidates) + start + len(entries), self._steps)

    def _store(self, pool: Pool, entries: Sequence[Entry], ids: Sequence[int]) -> None:
        try:
            answers = rows.run(*storing.questions(pool, entries, take_ids=False))
            batch = storing.prepare(pool, entries, {}, answers, now=self.now, ids=ids)
        except (storing.Merged, Conflict, BatchRefused):
            raise Overtaken from None
        if len(batch.prepared) < len(entries):
            raise Overtaken
        storing.store(pool, batch.prepared, self.now)
        matches = batch.matches
        match_completed.send(
            sender=Match, matches=matches, seats=batch.seats, pool=pool, exclusive=False, now=self.now, rated=True
        )
        if costing := [match for match in matches if batch.bands and rake.may_cost(match)]:
            self.costing.append((costing, batch.bands))

    def recorded(self, plan: Plan, answer: Recalculation) -> bool:
        return bool(plan.matches) and bool(answer.changed)

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:
        [plan] = plans
        for matches, bands in self.costing:
            rake.charge(plan.pool, matches, bands)
        report = self.sifting.end(stored=True)
        if self.record is not None:
            keeping.end(self.record, report, self.now)
