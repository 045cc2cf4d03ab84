"""Imports of match lists and of match files: their rows through the one door for results, all of them or none.

Rows in order are rated on top of the ratings with the pool held shared: of the other results of the pool only those of the same
players wait until the import is done. Where some row comes before a match that one of its players has played, the import starts
again with the pool held exclusively, and each step replays it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from matches.completion import complete_in_order, complete_matches
from matches.entries import BatchRefused, Conflict, Entry, check_entry, openings_of
from matches.imports.csv_rows import Defaults, Row, Rows, read_rows
from matches.imports.dialect import Dialect
from matches.imports.identity import also_from, entry_of, split_known
from matches.imports.likeness import suggestions
from matches.imports.report import Report, UnknownName
from matches.imports.transcripts.reading import NamedFile
from matches.imports.transcripts.rows import SOURCE, read_match_files
from matches.models import Import, Match
from matches.rating import LateMatch
from players import ledger, wording
from players.ledger import chunks
from players.locks import hold_history, hold_pool
from players.models import Player, Pool, Rating
from players.names import clean_name, name_key
from players.services import create_players, players_by_name
from players.systems.base import RatingSystem, Refused

BATCH = 1000
"""Matches a step: what the progress tells, and what memory holds."""
LATE_BATCH = 25_000
"""The same where each step replays the pool: few steps, though they take some 10 KB a match."""
ATTEMPTS = 3
EXAMPLES = 10
"""Rows that a dry run shows as they will be."""

Progress = Callable[[int, int], None]
"""Called with the number of rows done and of all there are to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to import. `create_players`: names that are not known become players; `skip_invalid`: refused rows are left out and
    the others taken; `dry_run`: everything is computed and nothing kept. `names` says who is meant by a name of the file, by
    name key. `dialect` is that of a CSV."""

    create_players: bool = False
    skip_invalid: bool = False
    dry_run: bool = False
    defaults: Defaults = field(default_factory=Defaults)
    dialect: Dialect = field(default_factory=Dialect)
    names: Mapping[str, str] = field(default_factory=dict)


class Candidate(NamedTuple):
    """A new row and the entry that it makes."""

    row: Row
    entry: Entry


class _Raced(Exception):
    """Somebody else made a player of a name that was free when it was looked up."""


class NotWaiting(Exception):
    """The import is not waiting to be made: it is made already, or was withdrawn."""


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
    now = now or timezone.now()
    late, is_new = False, record is not None and record._state.adding
    for attempt in range(1, ATTEMPTS + 2):
        # Read anew each time: identities are looked up, and rows refused, inside the transaction.
        rows = read(pool.rating_system)
        _rename(rows, options.names)
        try:
            told = progress or (lambda done, of: None)
            return _Import(pool, rows, source, options, entered_by, now, told, record, late).run()
        except LateMatch:
            late = True
        except _Raced:
            if attempt >= ATTEMPTS:
                raise
        except (IntegrityError, OperationalError) as error:
            # On PostgreSQL: a name or an id that another writer stored first, or a deadlock with one.
            if attempt >= ATTEMPTS or getattr(error.__cause__, "sqlstate", None) not in {"23505", "40P01"}:
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
    pool: Pool
    rows: Rows
    source: str
    options: Options
    entered_by: User | None
    now: datetime
    progress: Progress
    record: Import | None
    late: bool
    """Whether the pool is held exclusively, and replayed."""

    @transaction.atomic
    def run(self) -> Report:
        """Raises LateMatch where some row is late and the import does not expect it."""
        self._begin_record()
        # With the history first: whoever rewrites it waits there, and not in the queue for the pool, where he would keep out all
        # who come after him.
        hold_history(self.pool.pk)
        self.pool = hold_pool(self.pool.pk, exclusive=self.late)
        report = Report(
            rows=len(self.rows.taken) + len(self.rows.refused),
            refused=self.rows.refused,
            unfinished=self.rows.unfinished,
            notes=self.rows.notes,
        )
        self._describe(report)
        new, report.known, report.moved = split_known(self.pool, self.rows, self.source)
        report.also_from = also_from(new, self.source)
        candidates = self._checked(new)
        if self.options.dry_run:
            self._look_ahead(report, new, candidates)
        if not self._may_go_on():
            return self._end(report, stored=False)
        if not self.late:
            if any(self._late(candidates)):
                raise LateMatch
            self._hold_ratings(candidates)
        candidates, made = self._with_players(candidates)
        playing = self._complete(candidates, report)
        if not self._may_go_on():
            return self._end(report, stored=False)
        report.new_players = [player.name for player in self._drop_idle(made, playing)]
        return self._end(report, stored=not self.options.dry_run)

    def _may_go_on(self) -> bool:
        return self.options.skip_invalid or not self.rows.refused

    def _end(self, report: Report, *, stored: bool) -> Report:
        report.stored = stored
        report.refused.sort(key=lambda refused: refused.line)
        if self.rows.refused and not self.options.skip_invalid:
            report.added, report.not_counted = 0, Counter()
        if not stored:
            transaction.set_rollback(True)
        elif self.record is not None:
            self._end_record(report)
        return report

    def _begin_record(self) -> None:
        """Hold the import, before anything else, so that two workers make it one after the other. Raises NotWaiting."""
        if self.record is None or self.options.dry_run:
            return
        if self.record._state.adding:
            self.record.save()
            return
        held = Import.objects.select_for_update(no_key=True, of=("self",)).filter(pk=self.record.pk).first()
        if held is None or held.status != Import.Status.IMPORTING:
            raise NotWaiting

    def _end_record(self, report: Report) -> None:
        assert self.record is not None
        if not report.added and not self.record.confirmed_at:
            # From the command line: nothing came in, and nothing was shown to anybody before.
            self.record.delete()
            return
        self.record.status, self.record.report = Import.Status.DONE, report.to_json()
        self.record.done_at = self.now
        self.record.save(update_fields=["status", "report", "done_at"])

    def _describe(self, report: Report) -> None:
        """What should be known of the rows as the file has them."""
        first: dict[str, int] = {}
        last: tuple[datetime, bool] | None = None
        for row in self.rows.taken:
            if row.has_own_id is False and (line := first.setdefault(row.content, row.line)) != row.line:
                report.repeats.append((row.line, line))
            at = (row.ended_at, row.timed)
            if last is not None and at < last and not self.rows.files:
                report.disordered.append(row.line)
            last = at

    def _look_ahead(self, report: Report, new: Sequence[Row], candidates: Sequence[Candidate]) -> None:
        """What somebody wants to see before it is made."""
        found = players_by_name(name for row in new for name in row.names)
        unknown = {key: name for row in new for key, name in zip(row.keys, row.names, strict=True) if key not in found}
        if unknown:
            known = Player.objects.filter(merged_into=None).order_by("pk").values_list("name", flat=True)
            near = suggestions(unknown.values(), known.iterator())
            report.unknown = [UnknownName(name, near[name]) for name in unknown.values()]
        report.late = sum(1 for _ in self._late(candidates))
        report.examples = [_in_words(candidate) for candidate in candidates[:EXAMPLES]]

    def _checked(self, new: Iterable[Row]) -> list[Candidate]:
        """The new rows that are possible results, in the order of rating. Players who are not there yet are unsaved."""
        new = sorted(new, key=lambda row: (row.ended_at, row.timed, row.sequence, row.line))
        players = players_by_name(name for row in new for name in row.names)
        candidates = []
        for row in new:
            missing = [place for place, key in enumerate(row.keys) if key not in players or players[key].pk < 0]
            if missing and not self.options.create_players:
                column, name = self.rows.player_columns[missing[0]], row.names[missing[0]]
                self.rows.refuse(row.line, Refused(column, "no_player", name=name))
                continue
            for place in missing:
                # Told apart by a key of their own, which no stored player has.
                players.setdefault(row.keys[place], Player(pk=-1 - len(players), name=row.names[place], name_key=row.keys[place]))
            entry = entry_of(row, [players[key] for key in row.keys], self.source)
            from_import = self.record.pk if self.record is not None and not self.options.dry_run else None
            candidates.append(Candidate(row, replace(entry, entered_by=self.entered_by, from_import=from_import)))
        openings = openings_of(self.pool, (candidate.entry for candidate in candidates))
        possible = []
        for candidate in candidates:
            try:
                check_entry(self.pool, candidate.entry, openings, now=self.now)
            except Refused as refused:
                self._refuse(candidate.row, refused)
            else:
                possible.append(candidate)
        return possible

    def _refuse(self, row: Row, refused: Refused) -> None:
        self.rows.refuse(row.line, refused, timed=row.timed)

    def _with_players(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Player]]:
        """The candidates with every player stored, and those made for them, in the order in which they first play."""
        wanted = {player.name_key: player.name for _, entry in candidates for player in entry.players if player.pk < 0}
        made = create_players(wanted.values()) if wanted else []
        players = dict(zip(wanted, made, strict=True))
        if any(player.name_key != key for key, player in players.items()):
            raise _Raced
        stored = [
            Candidate(row, replace(entry, players=[players.get(player.name_key, player) for player in entry.players]))
            for row, entry in candidates
        ]
        return stored, made

    def _complete(self, candidates: Sequence[Candidate], report: Report) -> set[int]:
        """Complete the candidates in steps, and return the ids of those who played. What is refused only when it is rated is left
        out.

        Where some are earlier than what their players have played, each step replays the pool.
        """
        step = LATE_BATCH if self.late else BATCH
        playing: set[int] = set()
        self.progress(0, len(candidates))
        for start in range(0, len(candidates), step):
            pending = list(candidates[start : start + step])
            while pending:
                try:
                    matches = self._store([entry for _, entry in pending])
                except BatchRefused as batch:
                    self._refuse(pending.pop(batch.index).row, batch.refused)
                except Conflict as conflict:
                    at_fault = next(item for item in pending if item.row.external_id == conflict.match.external_id)
                    pending.remove(at_fault)
                    values = {"match": conflict.match.pk, "fields": ", ".join(conflict.fields)}
                    self._refuse(at_fault.row, Refused("external_id", "stored_differs", **values))
                else:
                    break
                if not self.options.skip_invalid:
                    return playing
            else:
                matches = []
            for (_, entry), match in zip(pending, matches, strict=True):
                playing.update(player.pk for player in entry.players)
                if match.not_counted:
                    report.not_counted[self._why_not_counted(match.not_counted, entry)] += 1
            report.added += len(matches)
            self.progress(min(start + step, len(candidates)), len(candidates))
        return playing

    def _store(self, entries: Sequence[Entry]) -> list[Match]:
        if self.late:
            return complete_matches(self.pool, entries, now=self.now, exclusive=True)
        return complete_in_order(self.pool, entries, now=self.now)

    def _hold_ratings(self, candidates: Iterable[Candidate]) -> None:
        """Hold the ratings of all who play before the first of them is rated, in their order: so two imports, and an import and a
        result, never wait for each other."""
        players = {player.pk for _, entry in candidates for player in entry.players if player.pk > 0}
        if players:
            ledger.lock_ratings(self.pool, players, self.now)

    def _why_not_counted(self, code: str, entry: Entry) -> str:
        reason = self.pool.system_at(entry.ended_at).not_counted(entry.result)
        return wording.reason(code, reason.values if reason else None)

    def _late(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """The candidates that come before a counted match that one of their players has played already."""
        played = Rating.objects.filter(pool=self.pool, matches__gt=0)
        keys = played.values_list("player_id", "last_ended_at", "last_timed", "last_sequence")
        last: dict[int, Any] = {player_id: tuple(key) for player_id, *key in keys}
        for candidate in candidates:
            entry = candidate.entry
            at = (entry.ended_at, entry.timed, entry.sequence)
            if any(player.pk in last and at < last[player.pk] for player in entry.players):
                yield candidate

    def _drop_idle(self, made: Sequence[Player], playing: set[int]) -> list[Player]:
        """Of the players made, those who play. The others go again: their rows were refused only when they were rated."""
        idle = [player.pk for player in made if player.pk not in playing]
        for chunk in chunks(idle):
            Player.objects.filter(pk__in=chunk).delete()
        return [player for player in made if player.pk in playing]


def _in_words(candidate: Candidate) -> str:
    """A row as a line of the report: when, who, how it ended."""
    row, result = candidate.row, candidate.entry.result
    names = " – ".join(player.name for player in candidate.entry.players)
    on = row.ended_at.isoformat(sep=" ", timespec="minutes") if row.timed else row.ended_at.date().isoformat()
    ended = result.scores or result.places or (result.chance,)
    told = {"length": result.length, "deals": result.deals, "points": result.points, "stake": result.stake}
    terms = ", ".join(f"{wording.field_label(name)} {value}" for name, value in told.items() if value is not None)
    return f"{on} · {names} · {' : '.join(f'{value:g}' for value in ended if value is not None)}{' · ' if terms else ''}{terms}"
