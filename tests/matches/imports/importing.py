"""What the tests of imports and exports share: writing files, running commands, and seeing that nothing was left behind."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from players.models import Player, Pool, Rating
from players.services import create_pool

DATA = Path(__file__).parents[2] / "data"


def club(slug: str = "club") -> Pool:
    """A pool with the rules of the club whose list is in the tests' data: FIBS from 1800, without a ramp."""
    return create_pool(slug, name=slug.capitalize(), system="fibs", parameters={"start": 1800, "ramp": None})


def csv_file(folder: Path, *lines: str | Sequence[str], name: str = "list.csv") -> Path:
    """A CSV file of these lines."""
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else ','.join(line)}\n" for line in lines), encoding="utf-8")
    return path


def run(command: str, *arguments: Any) -> tuple[str, str]:
    """What a command prints on stdout and on stderr. Raises CommandError; what it said before is in its `said`."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(command, *map(str, arguments), stdout=out, stderr=err, no_color=True)
    except Exception as error:
        error.said = err.getvalue()  # type: ignore[attr-defined]
        raise
    return out.getvalue(), err.getvalue()


def rows_of_all_tables() -> dict[str, int]:
    """How many rows each table of the database has."""
    with connection.cursor() as cursor:
        counts = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(table)}")
            counts[table] = cursor.fetchone()[0]
        return counts


def numbers(pool: Pool) -> dict[str, tuple[float, int, int]]:
    """Rating, experience and counted matches by the player's name; equal only where every bit is."""
    rows = Rating.objects.filter(pool=pool, matches__gt=0)
    return {
        name: (value, experience, matches)
        for name, value, experience, matches in rows.values_list("player__name", "value", "experience", "matches")
    }


def names() -> set[str]:
    return set(Player.objects.values_list("name", flat=True))
