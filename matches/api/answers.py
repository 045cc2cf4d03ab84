"""What the API says of matches and tables, as JSON values. `matches.api.shapes` describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matches.lobby.reads import Waiting
from matches.models import Match
from matches.revisions import Note
from matches.sheet import Column, Sheet
from players.api.answers import Json, change, end, euros, instant, player, points
from players.formatting import format_term
from players.models import Pool
from players.pages.history import why_not_counted
from players.permissions import StakeSight
from players.systems.base import Term
from players.wording import term_formula, term_label


def match_line(match: Match, seats: Sequence[Any], pool: Pool, source: str | None, stakes: StakeSight) -> Json:
    """A match with its seats as `players.pages.history.seats_with_changes` reads them.

    Its id at the source is only for its own `source`; that one sees the stake too, and others as `stakes` has it.
    """
    return {
        **_facts(match, pool, source, stakes.of(seat.player for seat in seats)),
        "not_counted": not_counted(match, seats, pool),
        "players": [
            {
                "player": player(seat.player),
                "score": seat.score,
                "place": seat.place,
                "before": None if seat.before is None else points(seat.before, pool),
                "change": None if seat.change is None else change(seat.change, pool),
                "after": None if seat.after is None else points(seat.after, pool),
            }
            for seat in seats
        ],
    }


def _facts(match: Match, pool: Pool, source: str | None, shows_stake: bool) -> Json:
    own = bool(match.external_id) and match.source == source
    shows_stake = shows_stake or own
    return {
        "id": match.pk,
        "page": match.get_absolute_url(),
        "pool": pool.slug,
        "external_id": match.external_id if own else None,
        "status": str(match.status),
        "version": match.version,
        **end(match.ended_at, match.timed),
        "sequence": match.sequence,
        "kind": match.kind or None,
        "length": match.length,
        "deals": match.deals,
        "points": match.points,
        "stake": euros(match.stake) if shows_stake else None,
        "stake_hidden": match.stake is not None and not shows_stake,
        "real_money": match.real_money,
        "chance": match.chance,
    }


def not_counted(match: Match, seats: Sequence[Any], pool: Pool) -> Json | None:
    """Why a match moves no rating, with the words; None where it counts or is not over."""
    if not match.not_counted:
        return None
    return {"code": match.not_counted, "detail": why_not_counted(pool.system_at(match.ended_at), match, seats)}


def sheet_page(found: Sheet, source: str | None) -> Json:
    match, pool = found.match, found.match.pool
    return {
        **_facts(match, pool, source, found.shows_stake),
        "not_counted": {"code": match.not_counted, "detail": found.why_not} if match.not_counted else None,
        "counted": found.counted,
        "explained": found.explained,
        "players": [_column(column, pool) for column in found.columns],
        "revisions": [_note(note) for note in found.notes],
    }


def _column(column: Column, pool: Pool) -> Json:
    line, seat, was = column.line, column.seat, column.published
    whole = column.sum
    lines = () if whole is None else (*whole.lines, whole.last)
    return {
        "player": player(seat.player),
        "score": seat.score,
        "place": seat.place,
        "before": None if line is None else points(line.before, pool),
        "change": None if line is None else change(line.change, pool),
        "after": None if line is None else points(line.after, pool),
        "experience_before": None if line is None else line.experience_before,
        "experience_after": None if line is None else line.experience_after,
        "expected": None if line is None else line.expected,
        "published": None
        if was is None
        else {"before": points(was.before, pool), "change": change(was.change, pool), "after": points(was.after, pool)},
        "terms": [_term(line.term, pool, whole.digits) for line in lines] if whole else [],
        "hides_stake": whole is not None and whole.hides_stake,
    }


def _term(term: Term, pool: Pool, digits: int) -> Json:
    return {
        "code": term.code,
        "label": term_label(term),
        "unit": str(term.unit),
        "value": float(term.value) + 0.0,
        "shown": format_term(term.value, term.unit, pool.shown_decimals, digits),
        "formula": term_formula(term, pool.shown_decimals, digits),
        "inputs": dict(term.inputs),
    }


def _note(note: Note) -> Json:
    revision = note.revision
    return {
        "kind": str(revision.kind),
        "label": revision.get_kind_display(),
        "made_at": instant(revision.made_at),
        "reason": revision.reason,
        "for_match": note.match_id,
        "changes": [{"field": one.label, "before": one.before, "after": one.after} for one in note.changes],
    }


def table(waiting: Waiting, pool: Pool, stakes: StakeSight) -> Json:
    found = waiting.table
    return {
        "id": found.pk,
        "host": player(waiting.host.player),
        "rating": points(waiting.host.strength.rating, pool),
        "experience": waiting.host.strength.experience,
        "provisional": waiting.host.provisional,
        "length": found.length,
        "deals": found.deals,
        "stake": euros(found.stake) if stakes.of_tables else None,
        "stake_hidden": found.stake is not None and not stakes.of_tables,
        "real_money": found.real_money,
        "opened_at": instant(found.opened_at),
    }
