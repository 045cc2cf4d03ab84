"""How an import is to be made, as JSON in its row, and what is guessed of a list before anybody has said anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from matches.imports.csv_rows import COLUMNS, Defaults
from matches.imports.dialect import Dialect
from matches.imports.service import Options
from players.names import clean_name, name_key

Stored = dict[str, Any]
PLAIN: Stored = {
    "create_players": True,
    "skip_invalid": False,
    "kind": "",
    "real_money": None,
    "stake": None,
    "on": None,
    "dates": "iso",
    "decimal": "",
    "encoding": "utf-8",
    "columns": {},
    "names": {},
    "head": [],
}
"""What holds unless something is said. `head` are the first rows of a list, for whoever says what its columns are."""
HEADINGS: dict[str, tuple[str, ...]] = {
    "date": ("datum", "dato", "day", "tag", "dag"),
    "ended_at": ("ended", "end", "beendet", "afsluttet", "zeitpunkt", "tidspunkt", "tijdstip"),
    "winner": ("gewinner", "sieger", "vinder", "winnaar", "won by"),
    "loser": ("verlierer", "taber", "verliezer", "lost by"),
    "player1": ("player 1", "spieler 1", "spiller 1", "speler 1", "player a"),
    "player2": ("player 2", "spieler 2", "spiller 2", "speler 2", "player b"),
    "player3": ("player 3", "spieler 3", "spiller 3", "speler 3"),
    "player4": ("player 4", "spieler 4", "spiller 4", "speler 4"),
    "result": ("ergebnis", "resultat", "uitslag", "score"),
    "length": ("match length", "points to", "länge", "matchlänge", "længde", "lengte", "punkte", "point"),
    "deals": ("spiele", "spil", "giften", "runden"),
    "stake": ("einsatz", "indsats", "inzet"),
    "kind": ("art", "type", "soort"),
    "sequence": ("nr", "no", "no.", "nr.", "number", "#"),
    "external_id": ("id", "match id", "match_id"),
}
"""Headings, without capitals, that are taken for a column until somebody says otherwise."""


def read_options(stored: Mapping[str, Any], *, dry_run: bool = False) -> Options:
    """The options of an import by what is stored."""
    given = PLAIN | dict(stored)
    return Options(
        create_players=given["create_players"],
        skip_invalid=given["skip_invalid"],
        dry_run=dry_run,
        defaults=Defaults(
            kind=given["kind"],
            real_money=given["real_money"],
            stake=None if given["stake"] is None else Decimal(given["stake"]),
            on=None if given["on"] is None else date.fromisoformat(given["on"]),
        ),
        dialect=Dialect(given["dates"], given["decimal"], given["encoding"], given["columns"]),
        names={name_key(clean_name(name)): player for name, player in given["names"].items()},
    )


def guessed_columns(header: Sequence[str]) -> dict[str, str]:
    """For each heading the column that it seems to be, each once; "" for one that seems to be none."""
    by_heading = {heading: column for column, headings in HEADINGS.items() for heading in headings}
    guessed: dict[str, str] = {}
    used = {heading.casefold() for heading in header} & set(COLUMNS)
    for heading in header:
        name = " ".join(heading.casefold().split())
        column = name if name in COLUMNS else by_heading.get(name, "")
        guessed[heading] = "" if column in guessed.values() or (column in used and column != name) else column
    return guessed
