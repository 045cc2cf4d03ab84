"""What an import says: the rows that it refused, in words, and what became of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players import wording
from players.systems.base import Refused

RULES: dict[str, Any] = {
    "wrong_cells": gettext_lazy("the row has %(given)s cells, the header %(needed)s."),
    "not_a_date": gettext_lazy("must be a date such as 2026-03-31."),
    "not_that_date": gettext_lazy("must be a date as in %(example)s, as was said of this file."),
    "not_an_instant": gettext_lazy("must be a date with a time such as 2026-03-31T20:15:00+02:00 or 2026-03-31T18:15:00Z."),
    "date_or_instant": gettext_lazy("give exactly one of date and ended_at."),
    "not_a_result": gettext_lazy("must be 1, 0.5 or 0: what player1 scored."),
    "no_player": gettext_lazy("there is no player “%(name)s”. Check the spelling, or have missing players created."),
    "no_date_in_file": gettext_lazy("the file has none. Say on which day the match was played."),
    "name_too_long": gettext_lazy("a name has at most %(most)s characters."),
    "id_again": gettext_lazy("line %(line)s has the same id and says something else."),
    "stored_differs": gettext_lazy(
        "match %(match)s was entered from this source under the same id, and differs in: %(fields)s. "
        "What is stored is corrected on the site."
    ),
    "stored_sequence": gettext_lazy(
        "the same row was imported as match %(match)s with the sequence %(stored)s. What is stored is corrected on the site."
    ),
    "name_again": gettext_lazy("line %(line)s names the same player."),
    "day_in_future": gettext_lazy("lies in the future. Check the date."),
    "after_match": gettext_lazy(
        "match %(match)s of %(ended_on)s counts already and is earlier. An opening is from before the first counted match."
    ),
}
"""The rules of imports, after the column's name; the others are in `players.wording`."""


def rule(refused: Refused) -> str:
    """The rule that a row breaks, to be written after the column's name."""
    sentence = RULES.get(refused.code)
    return str(sentence) % refused.values if sentence else wording.refusal_rule(refused)


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that is not taken: the physical line it begins on, the column at fault, and the rule in words. A match file has a
    name instead of the line, and no column where it cannot be read at all."""

    line: int
    field: str
    message: str
    file: str = ""
    is_self_match: bool = False

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}: {self.field}: {self.message}" if self.field else f"{self.file}: {self.message}"
        return _("Line %(line)d, %(field)s: %(message)s") % {"line": self.line, "field": self.field, "message": self.message}


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that no player has, and those of players (or of others in the file) that are nearly the same."""

    name: str
    like: list[str]


@dataclass(slots=True)
class Report:
    """What became of a file of matches, or would: `stored` tells which.

    Every row is one of: added (`not_counted` of them, by the reason in words, move no rating), `known` (already there) or
    `refused`. `moved` rows are known ones that stand at another place within their date than they did when they were added;
    `also_from` names another source that new rows have been imported from already.

    Of the file itself: lines that `repeat` another one (the line and the first that says the same), lines that are `disordered`
    (they end before the line above them), names that are `unknown`, matches that are `unfinished`, and other `notes`. `late` of
    the rows added end before matches of their players that are rated already. `examples` are the first of the rows added.
    """

    rows: int = 0
    added: int = 0
    known: int = 0
    moved: int = 0
    refused: list[RefusedRow] = field(default_factory=list)
    not_counted: Counter[str] = field(default_factory=Counter)
    new_players: list[str] = field(default_factory=list)
    also_from: str = ""
    stored: bool = False
    repeats: list[tuple[int, int]] = field(default_factory=list)
    disordered: list[int] = field(default_factory=list)
    unknown: list[UnknownName] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    late: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def uncounted(self) -> int:
        """How many of the rows added move no rating."""
        return self.not_counted.total()

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why, and how many each. (A template asks a Counter for its `items` as for one of its keys.)"""
        return self.not_counted.most_common()

    @property
    def self_matches(self) -> int:
        """Refused rows in which a player meets himself."""
        return sum(row.is_self_match for row in self.refused)

    def to_json(self) -> dict[str, Any]:
        # asdict cannot rebuild a Counter.
        return {**asdict(replace(self, not_counted=Counter())), "not_counted": dict(self.not_counted)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Report:
        values = dict(stored)
        values["refused"] = [RefusedRow(**row) for row in values["refused"]]
        values["unknown"] = [UnknownName(**row) for row in values["unknown"]]
        values["repeats"] = [(line, first) for line, first in values["repeats"]]
        values["not_counted"] = Counter(values["not_counted"])
        return cls(**values)
