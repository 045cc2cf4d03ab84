"""What an import says: the rows that it refused, in words, and what became of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players import wording
from players.systems.base import Refused

RULES: dict[str, Any] = {
    "wrong_cells": gettext_lazy("the row has %(given)s cells, the header %(needed)s."),
    "not_a_date": gettext_lazy("must be a date such as 2026-03-31."),
    "not_an_instant": gettext_lazy("must be a date with a time such as 2026-03-31T20:15:00+02:00 or 2026-03-31T18:15:00Z."),
    "date_or_instant": gettext_lazy("give exactly one of date and ended_at."),
    "not_a_result": gettext_lazy("must be 1, 0.5 or 0: what player1 scored."),
    "no_player": gettext_lazy("there is no player “%(name)s”. Check the spelling, or have missing players created."),
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
    """A row that is not taken: the physical line it begins on, the column at fault, and the rule in words."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return _("Line %(line)d, %(field)s: %(message)s") % {"line": self.line, "field": self.field, "message": self.message}


@dataclass(slots=True)
class Report:
    """What became of a file of matches, or would: `stored` tells which.

    Every row is one of: added (`not_counted` of them, by the reason in words, move no rating), `known` (already there) or
    `refused`. `moved` rows are known ones that stand at another place within their date than they did when they were added;
    `also_from` names another source that new rows have been imported from already.
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
