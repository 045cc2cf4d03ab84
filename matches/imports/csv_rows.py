"""Files of matches: each row of a CSV as plain values, or as refused with its line and the rule. No database here.

Columns, in any order:

- `date` (2026-03-31) or `ended_at` (with a time), one of them filled in each row
- `winner`, `loser`; or `player1`, `player2` with `result` (1, 0.5 or 0 for player1) or `chance` (player1's winning chance where
  the match was broken off); at a table of four `player1` to `player4` with `rank1` to `rank4`, equal ones shared
- `length` or `deals`, `points`, `stake`, `real_money` (yes or no), `kind`
- `sequence` orders the rows of one date; without the column it is a row's place within its date, refused rows included
- `external_id` names the match at its source
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal

from django.utils.translation import gettext as _

from matches.entries import SEQUENCES
from matches.imports import cells
from matches.imports.csv_table import BadFile, Line, read_table
from matches.imports.dialect import Dialect, iso_date
from matches.imports.report import RefusedRow, rule
from players.names import NAME_MAX, clean_name, name_key
from players.systems.base import DEALS, LENGTHS, POINTS, RatingSystem, Refused, Result
from players.systems.freewhist import normal_places

PLAYERS = ("player1", "player2", "player3", "player4")
RANKS = ("rank1", "rank2", "rank3", "rank4")
DUEL = ("winner", "loser")
TERMS = ("length", "deals", "points", "stake", "real_money", "kind")
PASSED_OVER = ("match", "not_counted")
"""Columns of an export that an import has no use for."""
COLUMNS = ("date", "ended_at", "sequence", *DUEL, *PLAYERS, "result", *RANKS, *TERMS, "chance", "external_id")


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for the rows that do not say it themselves."""

    kind: str = ""
    real_money: bool | None = None
    stake: Decimal | None = None
    on: date | None = None
    """The date of match files that have none; a row of a CSV always says its own."""


@dataclass(slots=True)
class Row:
    """A match as a row says it: names as they would be stored, `ended_at` the midnight (UTC) of a date alone.

    `content` tells rows apart (see `matches.imports.identity`). Without an id in the file, `external_id` is set from it.
    """

    line: int
    names: tuple[str, ...]
    keys: tuple[str, ...]
    result: Result
    ended_at: datetime
    timed: bool
    sequence: int
    external_id: str
    content: str
    has_own_id: bool


@dataclass(slots=True)
class Rows:
    """What a file holds. `player_columns` are those of the seats, `has_sequence` whether it numbers its rows itself.

    Of match files: `files` names them by the number of a row, `unfinished` says which matches are not in the rows, and `notes`
    what else should be known.
    """

    player_columns: tuple[str, ...]
    has_sequence: bool
    taken: list[Row] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    files: dict[int, str] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def refuse(self, line: int, refused: Refused, *, timed: bool = True) -> None:
        """Note that a row is refused, under the column that stands for the field at fault."""
        columns = {"scores": "result" if self.player_columns != DUEL else "winner", "places": "rank1"}
        if not timed:
            columns["ended_at"] = "date"
        column = columns.get(refused.field, refused.field)
        same = refused.code == "same_player"
        self.refused.append(RefusedRow(line, column, rule(refused), self.files.get(line, ""), same))


def read_rows(data: bytes, system: RatingSystem, defaults: Defaults, dialect: Dialect | None = None) -> Rows:
    """Read a file of matches for a pool of this system. Raises BadFile."""
    dialect = dialect or Dialect()
    table = read_table(data, (*COLUMNS, *PASSED_OVER), dialect)
    check_options(system, defaults)
    rows = Rows(_player_columns(table.columns, system), "sequence" in table.columns)
    _check_columns(table.columns, system, defaults)
    places: Counter[str] = Counter()
    for line in table.lines:
        # By the text, and refused rows too, so that the places of the others do not move when one is put right.
        on = line.cells.get("date", "")
        places[on] += 1
        try:
            if line.count != len(table.columns):
                raise Refused("row", "wrong_cells", given=line.count, needed=len(table.columns))
            rows.taken.append(_row(line, rows, places[on], defaults, dialect.dates))
        except Refused as refused:
            rows.refuse(line.number, refused)
    return rows


def check_options(system: RatingSystem, defaults: Defaults) -> None:
    """Raise BadFile where something is to hold for all matches that those of this pool do not have."""
    for name, given in (("kind", defaults.kind), ("real_money", defaults.real_money), ("stake", defaults.stake)):
        if given and name not in system.uses:
            raise BadFile(_("The matches of this pool have no “%(column)s”: leave the option out.") % {"column": name})


def _player_columns(columns: Sequence[str], system: RatingSystem) -> tuple[str, ...]:
    """The columns of the seats. Raises BadFile where the columns of the players and of the results do not fit each other."""
    seats = PLAYERS[: system.seats]
    if "places" in system.uses:
        needed = accepted = (*seats, *RANKS[: system.seats])
    elif set(DUEL) & set(columns):
        seats = needed = accepted = DUEL
    else:
        accepted = (*seats, "result")
        needed = seats if "chance" in columns and "chance" in system.uses else accepted
    for column in columns:
        if column in {*DUEL, *PLAYERS, *RANKS, "result"} - set(accepted):
            raise BadFile(
                _("The column “%(column)s” does not go with this pool's matches. They are given by: %(needed)s.")
                % {"column": column, "needed": _ways(system)}
            )
    missing = [column for column in needed if column not in columns]
    if missing:
        raise BadFile(
            _("The column “%(column)s” is missing. This pool's matches are given by: %(needed)s.")
            % {"column": ", ".join(missing), "needed": _ways(system)}
        )
    return seats


def _ways(system: RatingSystem) -> str:
    """The columns that say who played and how it ended, in words."""
    if "places" in system.uses:
        return ", ".join((*PLAYERS[: system.seats], *RANKS[: system.seats]))
    return _("winner, loser; or player1, player2, result")


def _check_columns(columns: Sequence[str], system: RatingSystem, defaults: Defaults) -> None:
    if "date" not in columns and "ended_at" not in columns:
        raise BadFile(_("The column “date” is missing (or “ended_at”, for matches whose time is known)."))
    for needed in ("length", "deals"):
        if needed in system.uses and "points" not in system.uses and needed not in columns:
            raise BadFile(_("The column “%(column)s” is missing: this pool's matches need it.") % {"column": needed})
    for name, given in (("kind", defaults.kind), ("real_money", defaults.real_money)):
        if name in system.needs and name not in columns and not given:
            raise BadFile(
                _("The column “%(column)s” is missing: without it nobody can tell whether a match counts in this pool.")
                % {"column": name}
            )


def _row(line: Line, rows: Rows, place: int, defaults: Defaults, dates: str) -> Row:
    """Raises Refused."""
    cell = {column: text for column, text in line.cells.items() if text}
    if ("date" in cell) == ("ended_at" in cell):
        both = "date" in line.cells and "ended_at" in line.cells
        raise Refused("ended_at" if "date" not in line.cells else "date", "date_or_instant" if both else "needed")
    timed = "ended_at" in cell
    if timed:
        ended_at = cells.instant("ended_at", iso_date("ended_at", cell["ended_at"], dates))
    else:
        ended_at = datetime.combine(cells.day("date", iso_date("date", cell["date"], dates)), time(), UTC)
    names = tuple(read_name(column, cells.unprotected(cell.get(column, ""))) for column in rows.player_columns)
    keys = tuple(name_key(name) for name in names)
    told = _result(cell, rows.player_columns)
    result = replace(
        told,
        kind=told.kind or defaults.kind,
        real_money=defaults.real_money if told.real_money is None else told.real_money,
        stake=defaults.stake if told.stake is None else told.stake,
    )
    return Row(
        line=line.number,
        names=names,
        keys=keys,
        result=result,
        ended_at=ended_at,
        timed=timed,
        sequence=_sequence(cell, rows, timed, place),
        external_id=cell.get("external_id", ""),
        content=_content(ended_at if timed else ended_at.date(), keys, told),
        has_own_id="external_id" in cell,
    )


def read_name(column: str, text: str) -> str:
    """The name of a player as it is stored. Raises Refused."""
    name = clean_name(text)
    if not name:
        raise Refused(column, "needed")
    if len(name) > NAME_MAX:
        raise Refused(column, "name_too_long", most=NAME_MAX)
    return name


def _result(cell: Mapping[str, str], player_columns: Sequence[str]) -> Result:
    """What the row itself says, its kind and its money included. Raises Refused."""
    scores = places = None
    if player_columns == DUEL:
        scores = (1.0, 0.0)
    elif "result" in cell:
        scores = cells.scores("result", cell["result"])
    if len(player_columns) == len(RANKS):
        for column in RANKS:
            if column not in cell:
                raise Refused(column, "needed")
        places = tuple(cells.whole(column, cell[column], 1, len(RANKS)) for column in RANKS)
    return Result(
        scores=scores,
        places=places,
        chance=cells.real("chance", cell["chance"], 0, 1) if "chance" in cell else None,
        length=cells.whole("length", cell["length"], LENGTHS.start, LENGTHS.stop - 1) if "length" in cell else None,
        deals=cells.whole("deals", cell["deals"], DEALS.start, DEALS.stop - 1) if "deals" in cell else None,
        points=cells.whole("points", cell["points"], POINTS.start, POINTS.stop - 1) if "points" in cell else None,
        stake=cells.amount("stake", cell["stake"]) if "stake" in cell else None,
        real_money=cells.yes_or_no("real_money", cell["real_money"]) if "real_money" in cell else None,
        kind=cells.kind("kind", cell["kind"]) if "kind" in cell else "",
    )


def _sequence(cell: Mapping[str, str], rows: Rows, timed: bool, place: int) -> int:
    if "sequence" in cell:
        return cells.whole("sequence", cell["sequence"], SEQUENCES.start, SEQUENCES.stop - 1)
    if timed:
        return 0
    if rows.has_sequence:
        # A place of our own among numbers of the file's would order the two by chance.
        raise Refused("sequence", "needed")
    return place


def _content(ended: date | datetime, keys: Sequence[str], told: Result) -> str:
    """The row itself as a text that is the same however it is written: seats in any order, 5 or 5.00, shared places 1, 1, 2, 3.

    The sequence is no part of it, nor what options add: a list that gains a sequence column, or is imported again with another
    option, holds the matches that it held before.
    """
    who: list[tuple[str, float | None]]
    if told.places is not None:
        try:
            who = sorted(zip(keys, normal_places(told.places), strict=True))
        except Refused:
            who = sorted(zip(keys, told.places, strict=True))
    elif told.scores is not None:
        who = sorted(zip(keys, told.scores, strict=True))
    else:
        who = [(key, None) for key in keys]
    stake = None if told.stake is None else format(told.stake.normalize(), "f")
    parts = (ended.isoformat(), who, told.chance, told.length, told.deals, told.points, stake, told.real_money, told.kind)
    return json.dumps(parts, ensure_ascii=False)
