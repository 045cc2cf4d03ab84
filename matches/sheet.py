"""The calculation sheet of a match: for each player the sum that gave the change, computed from what is stored."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from matches.models import Match, Participant
from matches.revisions import Note, notes_of
from players.models import Player, PublishedChange, RatingChange
from players.pages.history import adds_up, shown_otherwise, why_not_counted
from players.systems.base import Refused, Seat, Term


@dataclass(frozen=True, slots=True)
class Column:
    """One player's part of the sheet. Points, and experience in the pool's unit.

    `terms` are the lines before the change, `change` is the stored one; `rounded` where the shown before and change do not add
    up to the shown after. Without `line` the match moves nothing. `published` is what it was before it was revised, if it was;
    `differs`: in a digit that is shown.
    """

    seat: Participant
    own: bool
    line: RatingChange | None = None
    terms: tuple[Term, ...] = ()
    last: Term | None = None
    rounded: bool = False
    published: PublishedChange | None = None
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A match with its players; `explained` is false where the pool's rules have changed since and are not applied yet.

    `notes` are the revisions of it and of what was published of it, the last one first. `unseated` is what was published of
    players who did not sit at the table, as it was found out.
    """

    match: Match
    seats: tuple[Participant, ...]
    columns: tuple[Column, ...]
    why_not: str
    counted: bool
    explained: bool
    notes: tuple[Note, ...] = ()
    unseated: tuple[PublishedChange, ...] = ()

    @property
    def charged(self) -> bool:
        """Whether a rake was taken."""
        return any(seat.rake is not None for seat in self.seats)


def sheet(match_id: int, reader: Player | None) -> Sheet:
    """The sheet of a match. Raises Match.DoesNotExist. Six queries, and one more for one whose players were corrected; the
    reader's column comes first."""
    match = Match.objects.select_related("pool").get(pk=match_id)
    seats = tuple(match.participants.select_related("player").order_by("seat"))
    lines = {line.player_id: line for line in _lines(match)}
    counted = match.status == Match.Status.COMPLETED and not match.not_counted and len(lines) == len(seats) > 0
    terms = _terms(match, seats, lines) if counted else None
    published = {row.player_id: row for row in PublishedChange.objects.filter(match=match).select_related("player")}
    columns = [
        _column(match, seat, lines, terms[index] if terms else (), published.get(seat.player_id), reader)
        for index, seat in enumerate(seats)
    ]
    columns.sort(key=lambda column: not column.own)
    return Sheet(
        match=match,
        seats=seats,
        columns=tuple(columns),
        why_not=why_not_counted(match.pool.system_at(match.ended_at), match, seats),
        counted=counted,
        explained=terms is not None,
        notes=tuple(notes_of(match, published.values())),
        unseated=tuple(row for player_id, row in published.items() if player_id not in {seat.player_id for seat in seats}),
    )


def _lines(match: Match) -> QuerySet[RatingChange]:
    return RatingChange.objects.filter(match=match)


def _terms(match: Match, seats: tuple[Participant, ...], lines: dict[int, RatingChange]) -> tuple[tuple[Term, ...], ...] | None:
    """The terms of every seat, or None where they would not give the stored changes."""
    before = [Seat(lines[seat.player_id].before, lines[seat.player_id].experience_before) for seat in seats]
    try:
        terms = match.pool.system_at(match.ended_at).explain(before, match.result(seats))
    except Refused:
        return None
    if any(own[-1].value != lines[seat.player_id].change for own, seat in zip(terms, seats, strict=True)):
        return None
    return terms


def _column(
    match: Match,
    seat: Participant,
    lines: dict[int, RatingChange],
    terms: tuple[Term, ...],
    published: PublishedChange | None,
    reader: Player | None,
) -> Column:
    own = reader is not None and seat.player_id == reader.pk
    line, pool = lines.get(seat.player_id), match.pool
    if line is None:
        return Column(seat, own, published=published, differs=published is not None)
    numbers = (line.before, line.change, line.after)
    return Column(
        published=published,
        differs=published is not None and shown_otherwise(numbers, (published.before, published.change, published.after), pool),
        seat=seat,
        own=own,
        line=line,
        terms=terms[:-1],
        last=terms[-1] if terms else None,
        rounded=not adds_up(line, pool),
    )
