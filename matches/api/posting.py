"""Results from a server, one or a thousand, through the one door for results.

What is right in every row, which is the common case, costs nothing beyond `complete_matches`. Else each row is judged by itself:
one that is stored already is as it was sent first, or it is a conflict; one that is no possible result is refused. A row can end
a match that has started at a table of the server, see `matches.api.finishing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import IntegrityError, OperationalError, transaction

from matches.api.finishing import check_finish, started_of, to_finish
from matches.api.first import differing, stored_of
from matches.api.resolving import Known, Raced
from matches.api.results import Sent
from matches.completion import complete_matches
from matches.entries import BatchRefused, Conflict, Entry, check_entry, openings_of
from matches.models import Match, Participant
from matches.replay import Overtaken
from players.api.actors import Actor
from players.api.errors import busy
from players.api.models import ExternalPlayer
from players.api.reading import Unfit
from players.locks import hold_pool, lost_race
from players.models import Player, Pool
from players.systems.base import Refused

ATTEMPTS = 4
ROUNDS = 5
"""So often the rest of a batch is tried again without the rows that were refused; then they are taken one by one."""


@dataclass
class Stored:
    """What became of a row: it is stored as `match`, or `refused`, or another match has its id: the `conflict`."""

    match: int | None = None
    refused: Refused | None = None
    conflict: Conflict | None = None


@dataclass
class NotStored(Exception):
    """Nothing was stored: what is wrong, by row."""

    rows: dict[int, Stored] = field(default_factory=dict)


def post_results(actor: Actor, pool: Pool, sent: Sequence[Sent], *, each: bool, now: datetime) -> list[Stored]:
    """Complete results as they were sent, all or none; with `each` all that can be. What became of each row, in their order.

    Raises NotStored where not all can be and `each` is off.
    """
    for attempt in range(ATTEMPTS):
        try:
            return _Posting(actor, pool, sent, each, now).run()
        except Raced:
            continue
        except Overtaken:
            raise busy() from None
        except (IntegrityError, OperationalError) as error:
            # On PostgreSQL: somebody made the same player in another pool, or two batches crossed.
            if attempt == ATTEMPTS - 1 or not lost_race(error):
                raise
    raise busy()


@dataclass
class _Posting:
    actor: Actor
    pool: Pool
    sent: Sequence[Sent]
    each: bool
    now: datetime
    rows: dict[int, Stored] = field(default_factory=dict)
    started: dict[int, Match] = field(default_factory=dict)

    def run(self) -> list[Stored]:
        self.started = started_of(self.sent)
        known = self._known()
        entries = self._entries(known)
        if not known.new and not self.rows and not self.started:
            try:
                return [Stored(match.pk) for match in complete_matches(self.pool, list(entries.values()), now=self.now)]
            except (Conflict, BatchRefused):
                pass  # which rows, and what of the others?
        if known.new:
            return self._with_new_players()
        return self._row_by_row(entries, exclusive=False)

    def _with_new_players(self) -> list[Stored]:
        """Everything again with the pool held alone: nobody else makes the same players for it meanwhile."""
        with transaction.atomic():
            lock_matches(self.started)
            hold_pool(self.pool.pk, exclusive=True)
            self.rows, self.started = {}, started_of(self.sent)
            known = self._known()
            entries = self._without_impossible(self._entries(known))
            made = known.make([player for entry in entries.values() for player in entry.players])
            entries = {
                index: replace(entry, players=[made.get(player.pk, player) for player in entry.players])
                for index, entry in entries.items()
            }
            answer = self._row_by_row(entries, exclusive=True)
            _drop_idle(list(made.values()))
            return answer

    def _known(self) -> Known:
        return Known(self.actor, [row for row in self.sent if row.match is None])

    def _entries(self, known: Known) -> dict[int, Entry]:
        """By row, the entries of those whose players are known, and whose match is the server's own to end."""
        entries: dict[int, Entry] = {}
        ending = [row for row in self.sent if row.match is not None]
        at_table = Known(self.actor, ending, may_create=False) if ending else known
        for index, row in enumerate(self.sent):
            match, result = None, row.result
            try:
                if row.match is not None:
                    match, result = to_finish(self.actor, row, self.started)
                players = (known if match is None else at_table).players_of(row)
            except Refused as refused:
                self.rows[index] = Stored(refused=refused)
                continue
            entries[index] = Entry(
                match=match,
                players=players,
                result=result,
                ended_at=row.ended_at,
                timed=row.timed,
                sequence=row.sequence,
                source=self.actor.source,
                external_id=row.external_id,
                entered_by=self.actor.login,
            )
        return entries

    def _row_by_row(self, entries: dict[int, Entry], *, exclusive: bool) -> list[Stored]:
        for _ in range(ROUNDS):
            entries = self._without_impossible(self._without_stored(entries))
            if not self.each and any(row.match is None for row in self.rows.values()):
                raise NotStored({index: row for index, row in self.rows.items() if row.match is None})
            try:
                matches = complete_matches(self.pool, list(entries.values()), now=self.now, exclusive=exclusive)
            except BatchRefused as batch:
                self.rows[list(entries)[batch.index]] = Stored(refused=batch.refused)
            except Conflict:
                self.started = started_of(self.sent)  # stored by somebody else a moment ago: now it is seen
            else:
                self.rows |= {index: Stored(match.pk) for index, match in zip(entries, matches, strict=True)}
                entries = {}
                break
        if entries and not self.each:
            raise busy()
        for index, entry in entries.items():
            if index not in self.rows:
                self.rows[index] = self._alone(entry, exclusive)
        return [self.rows[index] for index in range(len(self.sent))]

    def _alone(self, entry: Entry, exclusive: bool) -> Stored:
        try:
            [match] = complete_matches(self.pool, [entry], now=self.now, exclusive=exclusive)
        except BatchRefused as batch:
            return Stored(refused=batch.refused)
        except Conflict as conflict:
            return Stored(conflict=conflict)
        return Stored(match.pk)

    def _without_stored(self, entries: dict[int, Entry]) -> dict[int, Entry]:
        """Those that are new. One that is stored already is as it was sent first, or in conflict; of two with the same id, the
        second is the first, or refused."""
        stored = stored_of(self.actor.source, [entry.external_id for entry in entries.values()])
        new: dict[int, Entry] = {}
        first: dict[str, int] = {}
        for index, entry in entries.items():
            if index in self.rows:
                continue
            if entry.match is not None:
                entry = replace(entry, match=self.started.get(entry.match.pk, entry.match))
            if (match := stored.get(entry.external_id)) is not None:
                fields = differing(match, self.pool, entry)
                self.rows[index] = Stored(conflict=Conflict(match, fields)) if fields else Stored(match.pk)
            elif entry.external_id in first and entry != new[first[entry.external_id]]:
                self.rows[index] = Stored(refused=Unfit("external_id", "id_again", index=first[entry.external_id]))
            else:
                first.setdefault(entry.external_id, index)
                new[index] = entry
        return new

    def _without_impossible(self, entries: dict[int, Entry]) -> dict[int, Entry]:
        openings = openings_of(self.pool, entries.values())
        possible: dict[int, Entry] = {}
        first: dict[int, int] = {}
        for index, entry in entries.items():
            try:
                if entry.match is not None:
                    check_finish(self.pool, entry)
                check_entry(self.pool, entry, openings, now=self.now)
                if entry.match is not None and possible.get(first.setdefault(entry.match.pk, index), entry) != entry:
                    raise Unfit("match", "match_again", index=first[entry.match.pk])
            except Refused as refused:
                self.rows[index] = Stored(refused=refused)
            except Conflict as conflict:
                self.rows[index] = Stored(conflict=conflict)
            else:
                possible[index] = entry
        return possible


def lock_matches(ids: Iterable[int]) -> None:
    """Lock matches in their order, before their pool."""
    list(Match.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=list(ids)).order_by("pk"))


def _drop_idle(made: list[Player]) -> None:
    """Players who were made for rows that were refused in the end go again."""
    seated = set(Participant.objects.filter(player__in=made).values_list("player_id", flat=True))
    idle = [player.pk for player in made if player.pk not in seated]
    if idle:
        ExternalPlayer.objects.filter(player__in=idle).delete()
        Player.objects.filter(pk__in=idle).delete()
