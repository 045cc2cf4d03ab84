"""The calculation sheet of a match: for each player the sum that gave the change, computed from what is stored."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from matches.models import Evaluation, Match, Participant, Report
from matches.money import rake
from matches.revisions import Note, notes_of
from players.models import Player, PublishedChange, RatingChange
from players.pages.history import adds_up, shown_otherwise, why_not_counted
from players.permissions import AnyUser, stakes_for
from players.sums import Sum, sum_of, without_stake
from players.systems.base import Refused, Seat


@dataclass(frozen=True, slots=True)
class Column:
    """One player's part of the sheet. Points, and experience in the pool's unit.

    `line` is the stored change, and `sum` how it comes about; `rounded` where the shown before and change do not add up to the
    shown after. Without `line` the match moves nothing. `published` is what it was before it was `revised`, if it was; `differs`:
    in a digit that is shown.
    """

    seat: Participant
    own: bool
    line: RatingChange | None = None
    sum: Sum | None = None
    rounded: bool = False
    published: PublishedChange | None = None
    revised: Note | None = None
    differs: bool = False
    published_rounded: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A match with its players; `explained` is false where the pool's rules have changed since and are not applied yet.

    `notes` are the revisions of it and of what was published of it, the last one first. `unseated` is what was published of
    players who did not sit at the table, as it was found out. `shows_stake`: the reader may see what was at stake.
    `decision` is why an organiser decided as he did, for those who played. `rake_is_example`: a rake was taken, and nobody has
    set its bands.
    """

    match: Match
    seats: tuple[Participant, ...]
    columns: tuple[Column, ...]
    why_not: str
    counted: bool
    explained: bool
    shows_stake: bool = True
    rake_is_example: bool = False
    notes: tuple[Note, ...] = ()
    unseated: tuple[PublishedChange, ...] = ()
    evaluation: Evaluation | None = None
    decision: str = ""

    @property
    def called_off(self) -> bool:
        """Whether it was closed without a result."""
        result = self.match.result(self.seats)
        return self.match.status == Match.Status.VOIDED and not (result.scores or result.places or result.chance is not None)

    @property
    def may_appeal(self) -> bool:
        """Whether the reader played, and players or an evaluation said how it ended."""
        settled_here = self.match.played_at is not None or self.match.chance is not None
        return self.match.status == Match.Status.COMPLETED and settled_here and any(column.own for column in self.columns)

    @property
    def charged(self) -> bool:
        """Whether a rake was taken."""
        return any(seat.rake is not None for seat in self.seats)


def sheet(match_id: int, reader: Player | None, user: AnyUser | None = None) -> Sheet:
    """The sheet of a match as the user (None: the public) may see it. Raises Match.DoesNotExist. The reader's column comes first.

    Six queries; one more for a match whose players were corrected, another where the pool hides stakes, one where a rake was
    taken, and one for those who played a match that was settled on the site.
    """
    match = Match.objects.select_related("pool").get(pk=match_id)
    seats = tuple(match.participants.select_related("player").order_by("seat"))
    lines = {line.player_id: line for line in _lines(match)}
    counted = match.status == Match.Status.COMPLETED and not match.not_counted and len(lines) == len(seats) > 0
    shows_stake = stakes_for(user, match.pool).of(seat.player for seat in seats)
    sums = _sums(match, seats, lines, shows_stake) if counted else None
    published = {row.player_id: row for row in PublishedChange.objects.filter(match=match).select_related("player")}
    notes = notes_of(match, published.values(), shows_stake=shows_stake)
    revisions = {note.revision.pk: note for note in notes}
    columns = [
        _column(match, seat, lines, sums[index] if sums else None, published.get(seat.player_id), revisions, reader)
        for index, seat in enumerate(seats)
    ]
    columns.sort(key=lambda column: not column.own)
    return Sheet(
        match=match,
        seats=seats,
        columns=tuple(columns),
        why_not=why_not_counted(match.pool.system_at(match.ended_at), match, seats),
        counted=counted,
        explained=sums is not None,
        shows_stake=shows_stake,
        rake_is_example=shows_stake and any(seat.rake is not None for seat in seats) and rake.are_examples([match.pool_id]),
        notes=tuple(notes),
        evaluation=match.evaluations.first() if match.chance is not None else None,
        decision=_decision(match) if any(column.own for column in columns) else "",
        unseated=tuple(row for player_id, row in published.items() if player_id not in {seat.player_id for seat in seats}),
    )


def _decision(match: Match) -> str:
    """The reason of the organiser who decided a dispute or closed the match, else ""."""
    if match.status == Match.Status.OPEN or (match.played_at is None and match.status != Match.Status.VOIDED):
        return ""
    decided = match.reports.filter(state=Report.State.DECIDED).order_by("-pk")
    # The reason of an evaluation is the evaluation's own note.
    return (decided.values_list("decision", flat=True).first() or "") if match.chance is None else ""


def _lines(match: Match) -> QuerySet[RatingChange]:
    return RatingChange.objects.filter(match=match)


def _sums(
    match: Match, seats: tuple[Participant, ...], lines: dict[int, RatingChange], shows_stake: bool
) -> tuple[Sum, ...] | None:
    """The sum of every seat, or None where they would not give the stored changes."""
    before = [Seat(lines[seat.player_id].before, lines[seat.player_id].experience_before) for seat in seats]
    try:
        terms = match.pool.system_at(match.ended_at).explain(before, match.result(seats))
    except Refused:
        return None
    if any(own[-1].value != lines[seat.player_id].change for own, seat in zip(terms, seats, strict=True)):
        return None
    sums = tuple(sum_of(own, match.pool.shown_decimals) for own in terms)
    return sums if shows_stake else tuple(map(without_stake, sums))


def _column(
    match: Match,
    seat: Participant,
    lines: dict[int, RatingChange],
    own_sum: Sum | None,
    published: PublishedChange | None,
    revisions: dict[int, Note],
    reader: Player | None,
) -> Column:
    line, pool = lines.get(seat.player_id), match.pool
    numbers = (line.before, line.change, line.after) if line else (None, None, None)
    return Column(
        seat=seat,
        own=reader is not None and seat.player_id == reader.pk,
        line=line,
        sum=own_sum,
        rounded=line is not None and not adds_up(line, pool),
        published=published,
        revised=revisions.get(published.revision_id) if published else None,
        differs=published is not None and shown_otherwise(numbers, (published.before, published.change, published.after), pool),
        published_rounded=published is not None and not adds_up(published, pool),
    )
