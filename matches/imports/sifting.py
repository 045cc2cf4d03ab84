"""The rows of an import, sifted: which are there already, which are refused, and what the others would be. It writes nothing.

`matches.imports.service` does it while the pool is held, `matches.imports.late` without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from matches.entries import Entry, check_entry, openings_of
from matches.imports.csv_rows import Defaults, Row, Rows
from matches.imports.dialect import Dialect
from matches.imports.identity import also_from, entry_of, split_known
from matches.imports.likeness import suggestions
from matches.imports.report import Report, UnknownName
from players import wording
from players.models import Player, Pool, Rating
from players.services import create_players, players_by_name
from players.systems.base import Refused

EXAMPLES = 10
"""Rows that a dry run shows as they will be."""


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


class Raced(Exception):
    """Somebody else made a player of a name that was free when it was looked up."""


@dataclass(slots=True)
class Sifting:
    """Rows on their way into a pool. `from_import`: the id of the import that its matches will know."""

    pool: Pool
    rows: Rows
    source: str
    options: Options
    entered_by: User | None
    now: datetime
    from_import: int | None = None
    report: Report = field(init=False)

    def __post_init__(self) -> None:
        self.report = Report(
            rows=len(self.rows.taken) + len(self.rows.refused),
            refused=self.rows.refused,
            unfinished=self.rows.unfinished,
            notes=self.rows.notes,
        )

    def look(self) -> list[Candidate]:
        """The new rows that are possible results, in the order of rating; the others are refused. What is found of all of them is
        in the report, for a dry run with what somebody wants to see before it is made."""
        self._describe(self.report)
        new, self.report.known, self.report.moved = split_known(self.pool, self.rows, self.source)
        self.report.also_from = also_from(new, self.source)
        candidates = self._checked(new)
        if self.options.dry_run:
            self._look_ahead(self.report, new, candidates)
        return candidates

    @property
    def may_go_on(self) -> bool:
        return self.options.skip_invalid or not self.rows.refused

    def refuse(self, row: Row, refused: Refused) -> None:
        self.rows.refuse(row.line, refused, timed=row.timed)

    def count(self, entry: Entry, not_counted: str) -> None:
        """Note in the report that the entry comes in, and why it does not count ("": it does)."""
        self.report.added += 1
        if not_counted:
            reason = self.pool.system_at(entry.ended_at).not_counted(entry.result)
            self.report.not_counted[wording.reason(not_counted, reason.values if reason else None)] += 1

    def end(self, *, stored: bool) -> Report:
        """The report, with what was stored of the rows: all that may be, or nothing."""
        self.report.stored = stored
        self.report.refused.sort(key=lambda refused: refused.line)
        if not self.may_go_on:
            self.report.added, self.report.not_counted = 0, Counter()
        return self.report

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
        report.late = sum(1 for _ in self.late(candidates))
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
            candidates.append(Candidate(row, replace(entry, entered_by=self.entered_by, from_import=self.from_import)))
        openings = openings_of(self.pool, (candidate.entry for candidate in candidates))
        possible = []
        for candidate in candidates:
            try:
                check_entry(self.pool, candidate.entry, openings, now=self.now)
            except Refused as refused:
                self.refuse(candidate.row, refused)
            else:
                possible.append(candidate)
        return possible

    def late(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """The candidates that come before a counted match that one of their players has played already."""
        played = Rating.objects.filter(pool=self.pool, matches__gt=0)
        keys = played.values_list("player_id", "last_ended_at", "last_timed", "last_sequence")
        last: dict[int, Any] = {player_id: tuple(key) for player_id, *key in keys}
        for candidate in candidates:
            entry = candidate.entry
            at = (entry.ended_at, entry.timed, entry.sequence)
            if any(player.pk in last and at < last[player.pk] for player in entry.players):
                yield candidate


def new_players(candidates: Iterable[Candidate]) -> dict[str, Player]:
    """The players whom the candidates bring along, by name key, in the order in which they first play."""
    return {player.name_key: player for _, entry in candidates for player in entry.players if player._state.adding}


def make_players(wanted: Mapping[str, Player], ids: Sequence[int] | None = None) -> dict[str, Player]:
    """Make them, by name key. `ids` are theirs where they were taken already. Raises Raced."""
    made = create_players((player.name for player in wanted.values()), ids=ids) if wanted else []
    if [player.name_key for player in made] != list(wanted):
        raise Raced
    return dict(zip(wanted, made, strict=True))


def _in_words(candidate: Candidate) -> str:
    """A row as a line of the report: when, who, how it ended."""
    row, result = candidate.row, candidate.entry.result
    names = " – ".join(player.name for player in candidate.entry.players)
    on = row.ended_at.isoformat(sep=" ", timespec="minutes") if row.timed else row.ended_at.date().isoformat()
    ended = result.scores or result.places or (result.chance,)
    told = {"length": result.length, "deals": result.deals, "points": result.points, "stake": result.stake}
    terms = ", ".join(f"{wording.field_label(name)} {value}" for name, value in told.items() if value is not None)
    return f"{on} · {names} · {' : '.join(f'{value:g}' for value in ended if value is not None)}{' · ' if terms else ''}{terms}"
