"""Files of opening ratings: `name`, `rating` (points) and, where they are known, `experience` and `date`.

The date is the day from which a player's matches here count; earlier ones are in the rating already.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from matches.imports import cells
from matches.imports.csv_table import BadFile, Line, read_table
from matches.imports.report import RefusedRow, rule
from matches.openings import Opened, after_counted_matches, open_ratings
from players import wording
from players.ledger import Opening
from players.locks import hold_pool
from players.models import Pool
from players.names import NAME_MAX, clean_name, name_key
from players.services import create_players, players_by_name
from players.systems.base import RATING_LIMIT, Refused

COLUMNS = ("name", "rating", "experience", "date")
MOST_EXPERIENCE = 10_000_000


class Row(NamedTuple):
    """A player with his opening."""

    line: int
    name: str
    opening: Opening


@dataclass(slots=True)
class OpeningReport:
    """What became of a file of openings: nothing where a row is refused."""

    refused: list[RefusedRow] = field(default_factory=list)
    opened: Opened = field(default_factory=lambda: Opened(0, 0, 0, 0))
    new_players: list[str] = field(default_factory=list)


def import_openings(
    pool: Pool, data: bytes, *, source: str, made_by: User | None = None, now: datetime | None = None
) -> OpeningReport:
    """Give the players in a CSV file their openings, make those who are missing, and replay the pool; all or nothing.

    `source` and `made_by` go into the record of what this revises.

    Raises BadFile where the file as a whole cannot be taken.
    """
    now = now or timezone.now()
    rows, refused = _read(data, now)
    if refused:
        return OpeningReport(refused)
    try:
        return _import(pool, rows, source, made_by, now)
    except IntegrityError:
        raise BadFile(_("Somebody else made a player of this file at the same moment. Please import it again.")) from None


@transaction.atomic
def _import(pool: Pool, rows: dict[str, Row], source: str, made_by: User | None, now: datetime) -> OpeningReport:
    pool = hold_pool(pool.pk, exclusive=True)
    players = players_by_name(row.name for row in rows.values())
    openings = {players[key].pk: row.opening for key, row in rows.items() if key in players}
    if too_late := after_counted_matches(pool, openings):
        lines = {players[key].pk: row.line for key, row in rows.items() if key in players}
        refused = [RefusedRow(lines[player_id], error.field, rule(error)) for player_id, error in too_late.items()]
        return OpeningReport(sorted(refused, key=lambda row: row.line))
    missing = {key: row for key, row in rows.items() if key not in players}
    made = create_players(row.name for row in missing.values()) if missing else []
    if [player.name_key for player in made] != list(missing):
        raise IntegrityError("a name that was free is taken")
    openings |= {player.pk: row.opening for player, row in zip(made, missing.values(), strict=True)}
    try:
        opened = open_ratings(pool, openings, reason=source, made_by=made_by, now=now)
    except Refused as error:
        raise BadFile(_("With these openings a match cannot be rated. %(rule)s") % {"rule": wording.refusal(error)}) from None
    return OpeningReport([], opened, [player.name for player in made])


def _read(data: bytes, now: datetime) -> tuple[dict[str, Row], list[RefusedRow]]:
    """The rows by name key, and those refused. Raises BadFile."""
    table = read_table(data, COLUMNS)
    for column in ("name", "rating"):
        if column not in table.columns:
            raise BadFile(_("The column “%(column)s” is missing.") % {"column": column})
    rows: dict[str, Row] = {}
    refused = []
    for line in table.lines:
        try:
            if line.count != len(table.columns):
                raise Refused("row", "wrong_cells", given=line.count, needed=len(table.columns))
            row = _row(line, now)
            first = rows.setdefault(name_key(row.name), row)
            if first is not row:
                raise Refused("name", "name_again", line=first.line)
        except Refused as error:
            refused.append(RefusedRow(line.number, error.field, rule(error)))
    return rows, refused


def _row(line: Line, now: datetime) -> Row:
    """Raises Refused."""
    name = clean_name(cells.unprotected(line.cells["name"]))
    if not name:
        raise Refused("name", "needed")
    if len(name) > NAME_MAX:
        raise Refused("name", "name_too_long", most=NAME_MAX)
    if not line.cells["rating"]:
        raise Refused("rating", "needed")
    rating = cells.real("rating", line.cells["rating"], -RATING_LIMIT, RATING_LIMIT)
    experience, on = line.cells.get("experience", ""), line.cells.get("date", "")
    brought = cells.whole("experience", experience, 0, MOST_EXPERIENCE) if experience else 0
    opened_on = cells.day("date", on) if on else None
    if opened_on is not None and opened_on > now.astimezone(UTC).date():
        raise Refused("date", "day_in_future")
    return Row(line.number, name, Opening(rating, brought, opened_on))
