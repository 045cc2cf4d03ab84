"""The graph in words and numbers: point by point for a script that reads it out, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import ngettext, pgettext

from players import formatting
from players.graph import Graph
from players.models import RatingChange
from players.pages import outcomes
from players.pages.history import ORDER, Played, played_by
from players.pages.profile import Profile
from players.pages.progress import Progress
from players.permissions import AnyUser

TABLE_SIZE = 50


def points(facts: Profile, line: Progress, drawn: Graph) -> list[dict[str, Any]]:
    """A line for every point of the graph: where it is, and the day, the rating, the change and what was played. One query."""
    decimals = facts.pool.shown_decimals
    told = _outcomes(facts, [step.match_id for step in line.steps if step.matches == 1])
    found = []
    for step, (x, y) in zip(line.steps, drawn.places, strict=True):
        # Translators: a date such as "29 Nov 2026", in the letters of Django's date filter.
        day = date_format(step.day, pgettext("date format", "j M Y"))
        shown = formatting.shown(step.change, decimals)
        found.append(
            {
                "x": x,
                "y": y,
                "day": day,
                "rating": formatting.format_rating(step.rating, decimals),
                "change": formatting.format_change(step.change, decimals),
                "direction": "up" if shown > 0 else "down" if shown < 0 else "level",
                "what": told.get(step.match_id) or _matches(step.matches),
                "address": reverse("match", args=[step.match_id]) if step.matches == 1 else "",
            }
        )
    return found


def _matches(count: int) -> str:
    return ngettext("%(count)s match", "%(count)s matches", count) % {"count": formatting.format_number(count, 0)}


def _outcomes(facts: Profile, match_ids: Sequence[int]) -> dict[int, str]:
    """How matches ended, as the player tells it, by match id."""
    seats = facts.player.participations.model.objects.filter(match_id__in=match_ids).select_related("match", "player")
    told = {}
    for match_id, group in groupby(seats.order_by("match_id", "seat"), key=lambda seat: seat.match_id):
        at_table = list(group)
        match = at_table[0].match
        match.pool = facts.pool
        own = next((seat for seat in at_table if seat.player_id == facts.player.pk), None)
        if own is not None:
            told[match_id] = outcomes.own_outcome(match, own, [seat for seat in at_table if seat is not own])
    return told


@dataclass(frozen=True, slots=True)
class Row:
    """A counted match of the table, and its number among the player's in the pool."""

    number: int
    played: Played


@dataclass(frozen=True, slots=True)
class Table:
    """A page of the graph's numbers, newest first; pages count from 1."""

    lines: tuple[Row, ...]
    page: int
    pages: int


def table(facts: Profile, page: int, reader: AnyUser | None) -> Table:
    """The counted matches, newest first. At most three queries."""
    total = facts.rating.matches
    begin = (page - 1) * TABLE_SIZE
    newest = RatingChange.objects.filter(rating_id=facts.rating.pk).order_by(*(f"-{name}" for name in ORDER))
    ids = list(newest.values_list("match_id", flat=True)[begin : begin + TABLE_SIZE]) if facts.rating.pk else []
    played = played_by(facts.player, {facts.pool.pk: facts.pool}, ids, reader)
    lines = tuple(Row(total - begin - index, played[match_id]) for index, match_id in enumerate(ids))
    return Table(lines, page, max(1, -(-total // TABLE_SIZE)))
