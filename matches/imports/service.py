"""Imports of match lists and of match files: their rows through the one door for results, all of them or none.

Rows in order are rated on top of the ratings with the pool held shared: of the other results of the pool only those of the same
players wait until the import is done. Where some row comes before a match that one of its players has played, the import goes the
way of `matches.imports.late`, and so does a dry run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from matches.completion import complete_in_order
from matches.entries import BatchRefused, Conflict
from matches.imports import keeping, late
from matches.imports.csv_rows import Rows, read_rows
from matches.imports.csv_table import BadFile
from matches.imports.keeping import NotWaiting
from matches.imports.report import Report
from matches.imports.sifting import Candidate, Options, Raced, Sifting, make_players, new_players
from matches.imports.transcripts.reading import NamedFile
from matches.imports.transcripts.rows import SOURCE, read_match_files
from matches.models import Import, Match
from matches.rating import LateMatch
from matches.replay import Overtaken
from matches.words import busy_sentence
from players import ledger
from players.ledger import chunks
from players.locks import hold_history, hold_pool, lost_race
from players.models import Player, Pool
from players.names import clean_name, name_key
from players.systems.base import RatingSystem, Refused

__all__ = ["NotWaiting", "Options", "import_match_files", "import_matches", "import_rows"]

BATCH = 1000
"""Matches a step: what the progress tells, and what memory holds."""
ATTEMPTS = 3

Progress = Callable[[int, int], None]
"""Called with the number of rows done and of all there are to do."""


Read = Callable[[RatingSystem], Rows]
"""Reads the rows anew each time. Raises BadFile."""


def import_matches(
    pool: Pool,
    data: bytes,
    *,
    source: str,
    options: Options,
    entered_by: User | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
    record: Import | None = None,
) -> Report:
    """Import a CSV file of matches (columns: `matches.imports.csv_rows`) from `source` into the pool; see `import_rows`."""

    def read(system: RatingSystem) -> Rows:
        return read_rows(data, system, options.defaults, options.dialect)

    return import_rows(
        pool, read, source=source, options=options, entered_by=entered_by, now=now, progress=progress, record=record
    )


def import_match_files(
    pool: Pool,
    files: Sequence[NamedFile],
    *,
    options: Options,
    entered_by: User | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
    record: Import | None = None,
) -> Report:
    """Import the finished matches in match files and zips of them; see `import_rows`."""

    def read(system: RatingSystem) -> Rows:
        return read_match_files(files, system, options.defaults)

    return import_rows(
        pool, read, source=SOURCE, options=options, entered_by=entered_by, now=now, progress=progress, record=record
    )


def import_rows(
    pool: Pool,
    read: Read,
    *,
    source: str,
    options: Options,
    entered_by: User | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
    record: Import | None = None,
) -> Report:
    """Import rows into the pool. `record` is what this import is known by: a new one is stored with the first match, one that
    is stored must be waiting to be made.

    Raises BadFile where a file as a whole cannot be taken, NotWaiting. Refused rows are in the report; unless they may be
    skipped, they are all it has, and nothing is stored.
    """
    now, told = now or timezone.now(), progress or (lambda done, of: None)
    is_new, is_late, counted = record is not None and record._state.adding, options.dry_run, (0, 0)

    def renamed(pool: Pool) -> Rows:
        # Read anew each time: identities are looked up, and rows refused, inside the transaction.
        rows = read(pool.rating_system)
        _rename(rows, options.names)
        return rows

    for attempt in range(1, ATTEMPTS + 2):
        try:
            if is_late:
                how: dict[str, Any] = {"source": source, "options": options, "entered_by": entered_by, "now": now}
                return late.import_late(pool, renamed, **how, told=told, record=record, counted=counted)
            in_order = _Import(Sifting(pool, renamed(pool), source, options, entered_by, now), told, record)
            try:
                return in_order.run()
            finally:
                counted = in_order.needed
        except LateMatch:
            is_late = True
        except late.TooFew as more:
            counted = more.needed
        except Raced:
            if attempt >= ATTEMPTS:
                raise
        except Overtaken:
            raise BadFile(busy_sentence()) from None
        except (IntegrityError, OperationalError) as error:
            # On PostgreSQL: a name or an id that another writer stored first, or a deadlock with one.
            if attempt >= ATTEMPTS or not lost_race(error):
                raise
        if record is not None and is_new:
            # It went with the transaction.
            record.pk, record._state.adding = None, True
    raise AssertionError("the last attempt returns or raises")


def _rename(rows: Rows, names: Mapping[str, str]) -> None:
    """Let the names of a file be those of the players who are meant by them. What tells the rows apart stays."""
    if not names:
        return
    for row in rows.taken:
        row.names = tuple(clean_name(names.get(key, name)) for key, name in zip(row.keys, row.names, strict=True))
        row.keys = tuple(name_key(name) for name in row.names)


@dataclass(slots=True)
class _Import:
    """The import in one transaction, with the pool held shared: its rows must be in order."""

    sifting: Sifting
    progress: Progress
    record: Import | None
    needed: late.Needed = (0, 0)

    @transaction.atomic
    def run(self) -> Report:
        """Raises LateMatch where some row is late, NotWaiting, Raced."""
        if self.record is not None:
            keeping.begin(self.record)
            self.sifting.from_import = self.record.pk
        # With the history first: whoever rewrites it waits there, and not in the queue for the pool, where he would keep out all
        # who come after him.
        hold_history(self.sifting.pool.pk)
        self.sifting.pool = hold_pool(self.sifting.pool.pk, exclusive=False)
        candidates = self.sifting.look()
        self.needed = late.needed(candidates)
        if not self.sifting.may_go_on:
            return self._end()
        if any(self.sifting.late(candidates)):
            raise LateMatch
        self._hold_ratings(candidates)
        made = make_players(new_players(candidates))
        stored = [
            Candidate(row, replace(entry, players=[made.get(player.name_key, player) for player in entry.players]))
            for row, entry in candidates
        ]
        playing = self._complete(stored)
        if self.sifting.may_go_on:
            self.sifting.report.new_players = _without_idle(made.values(), playing)
        return self._end()

    def _end(self) -> Report:
        stored = self.sifting.may_go_on
        report = self.sifting.end(stored=stored)
        if not stored:
            transaction.set_rollback(True)
        elif self.record is not None:
            keeping.end(self.record, report, self.sifting.now)
        return report

    def _hold_ratings(self, candidates: Iterable[Candidate]) -> None:
        """Hold the ratings of all who play before the first of them is rated, in their order: so two imports, and an import and a
        result, never wait for each other."""
        players = {player.pk for _, entry in candidates for player in entry.players if not player._state.adding}
        if players:
            ledger.lock_ratings(self.sifting.pool, players, self.sifting.now)

    def _complete(self, candidates: Sequence[Candidate]) -> set[int]:
        """Complete the candidates in steps, and return the ids of those who played. What is refused only when it is rated is left
        out."""
        playing: set[int] = set()
        self.progress(0, len(candidates))
        for start in range(0, len(candidates), BATCH):
            pending = list(candidates[start : start + BATCH])
            matches: list[Match] = []
            while pending:
                try:
                    matches = complete_in_order(self.sifting.pool, [entry for _, entry in pending], now=self.sifting.now)
                    break
                except BatchRefused as batch:
                    self.sifting.refuse(pending.pop(batch.index).row, batch.refused)
                except Conflict as conflict:
                    at_fault = next(item for item in pending if item.row.external_id == conflict.match.external_id)
                    pending.remove(at_fault)
                    values = {"match": conflict.match.pk, "fields": ", ".join(conflict.fields)}
                    self.sifting.refuse(at_fault.row, Refused("external_id", "stored_differs", **values))
                if not self.sifting.may_go_on:
                    return playing
            for (_row, entry), match in zip(pending, matches, strict=True):
                playing.update(player.pk for player in entry.players)
                self.sifting.count(entry, match.not_counted)
            self.progress(min(start + BATCH, len(candidates)), len(candidates))
        return playing


def _without_idle(made: Iterable[Player], playing: Collection[int]) -> list[str]:
    """The names of the players made who play. The others go again: their rows were refused only when they were rated."""
    names, idle = [], []
    for player in made:
        if player.pk in playing:
            names.append(player.name)
        else:
            idle.append(player.pk)
    for chunk in chunks(idle):
        Player.objects.filter(pk__in=chunk).delete()
    return names
