"""Results on their way into the tables: looked up, judged, made into matches, and stored. For `matches.completion`, which does it
while the pool is held, and for `matches.latecomers`, which first looks without a lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from operator import attrgetter
from typing import Any

from django.db import connection

from matches.entries import BatchRefused, Conflict, Entry, check_entry, differences, fill, opened_statement
from matches.models import Match, Participant, RakeBand
from matches.money import rake
from matches.push import events
from players import rows
from players.ledger import chunks
from players.locks import holding_players
from players.models import Pool
from players.services import present_players
from players.systems.base import Refused

MATCH_COLUMNS = tuple(field.attname for field in Match._meta.concrete_fields)
OFTEN_EMPTY = frozenset(field.attname for field in Match._meta.concrete_fields if field.null)
SEAT_COLUMNS = ("match_id", "player_id", "seat", "score", "place")


class Merged(Exception):
    """A player is a duplicate that was merged into another: take up again what names him."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A match with its participants, stored or about to be."""

    match: Match
    seats: list[Participant]


@dataclass(slots=True)
class Batch:
    """What becomes of entries: `answers` are the matches in their order, `prepared` those of them that are not stored yet,
    `bands` those of the rake, where some entry is for real money."""

    answers: list[Match] = field(default_factory=list)
    prepared: list[Seated] = field(default_factory=list)
    bands: Sequence[RakeBand] = ()

    @property
    def matches(self) -> list[Match]:
        """Those that are not stored yet, in the order of rating."""
        return sorted((item.match for item in self.prepared), key=lambda match: match.order)

    @property
    def seats(self) -> dict[int, list[Participant]]:
        return {item.match.pk: item.seats for item in self.prepared}

    def index_of(self, match_id: object) -> int:
        """The place of a match among the entries; 0 for one that is not among them."""
        return next((index for index, match in enumerate(self.answers) if match.pk == match_id), 0)


def prepare(
    pool: Pool,
    entries: Sequence[Entry],
    opened: Mapping[int, Match],
    answers: Sequence[Sequence[tuple[Any, ...]]],
    *,
    now: datetime,
    ids: Iterable[int] = (),
) -> Batch:
    """Make matches of the entries, in memory. `opened` are the open matches that they complete, by id; `answers` those to the
    `questions`.

    `ids` are for the matches to be made, in the order of the entries that name no open match, where none were taken with the
    questions. Raises BatchRefused, Conflict, Merged.
    """
    stored, openings, taken, bands = _look_up(entries, answers)
    new_ids = iter((*taken, *ids))
    batch = Batch(bands=bands)
    for index, entry in enumerate(entries):
        identity = (entry.source, entry.external_id) if entry.external_id else entry.entry_token
        known = stored.get(identity)
        new_id = None if entry.match else next(new_ids)
        if known is None:
            try:
                check_entry(pool, entry, openings, now=now)
            except Refused as refused:
                raise BatchRefused(index, refused) from refused
            known = _prepare(pool, entry, opened.get(entry.match.pk) if entry.match else Match(pk=new_id), now)
            batch.prepared.append(known)
            if identity is not None:
                stored[identity] = known
        elif differing := differences(known.match, known.seats, pool, entry):
            raise Conflict(known.match, differing)
        batch.answers.append(known.match)
    return batch


def present_entries(entries: Sequence[Entry]) -> list[Entry]:
    """The entries as they will be stored: one who was merged into another is that other."""
    named = {player.pk: player for entry in entries for player in entry.players}
    present = dict(zip(named, present_players(list(named.values())), strict=True))
    return [replace(entry, players=[present[player.pk] for player in entry.players]) for entry in entries]


def lock_open(entries: Sequence[Entry]) -> dict[int, Match]:
    """The open matches that the entries complete, locked in the order of ids."""
    ids = sorted(entry.match.pk for entry in entries if entry.match is not None)
    if not ids:
        return {}
    rows = Match.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids).order_by("pk")
    return {match.pk: match for match in rows}


def questions(pool: Pool, entries: Sequence[Entry], *, hold: bool = True, take_ids: bool = True) -> list[rows.Statement]:
    """What `prepare` must know of the database. With `hold` the players are held until the transaction ends; with `take_ids` ids
    are taken for the matches to be made."""
    new = sum(entry.match is None for entry in entries)
    return [
        holding_players({player.pk for entry in entries for player in entry.players}, hold=hold),
        rows.new_ids(Match, new) if take_ids else ("SELECT 1 WHERE 1 = 0", []),
        opened_statement(pool, entries),
        *([rake.bands_statement(pool.pk)] if _may_cost(entries) else []),
        *(_sent_before(source, external_ids) for source, external_ids in _ids_by_source(entries).items()),
    ]


def _may_cost(entries: Sequence[Entry]) -> bool:
    return any(entry.result.real_money for entry in entries)


def _ids_by_source(entries: Sequence[Entry]) -> dict[str, list[str]]:
    by_source: dict[str, list[str]] = {}
    for entry in entries:
        if entry.external_id:
            by_source.setdefault(entry.source, []).append(entry.external_id)
    return by_source


def _look_up(
    entries: Sequence[Entry], answers: Sequence[Sequence[tuple[Any, ...]]]
) -> tuple[dict[object, Seated], dict[int, date], list[int], list[RakeBand]]:
    """Matches that are stored already, by (source, id) or by entry token; the openings of the players; ids for new matches; the
    bands of the rake, where some entry is for real money. Raises Merged."""
    held, ids, opened, *more = answers
    bands, sent = (rows.read(RakeBand, more[0]), more[1:]) if _may_cost(entries) else ([], more)
    if any(merged_into is not None for _, merged_into in held):
        raise Merged
    found: dict[object, Seated] = {}
    matches = Match.objects.prefetch_related("participants")
    for chunk in chunks([match_id for answer in sent for (match_id,) in answer]):
        for match in matches.filter(pk__in=chunk):
            found[(match.source, match.external_id)] = Seated(match, list(match.participants.all()))
    tokens = [entry.entry_token for entry in entries if entry.entry_token is not None]
    for match in matches.filter(entry_token__in=tokens) if tokens else ():
        found[match.entry_token] = Seated(match, list(match.participants.all()))
    return found, dict(opened), [match_id for (match_id,) in ids], bands


def _sent_before(source: str, external_ids: Sequence[str]) -> rows.Statement:
    among, values = rows.among("external_id", external_ids)
    return f"SELECT id FROM matches_match WHERE source = %s AND NOT external_id = '' AND {among}", [source, *values]


def _prepare(pool: Pool, entry: Entry, match: Match | None, now: datetime) -> Seated:
    """The match, new or open so far (None: it is gone), and its participants as they will be stored.

    Raises Conflict where the open match is not as it was read.
    """
    if match is None:
        assert entry.match is not None
        raise Conflict(entry.match, ["status"])
    if entry.match is not None and (match.status != Match.Status.OPEN or match.version != entry.match.version):
        raise Conflict(match, differences(match, list(match.participants.all()), pool, entry) or ["status"])
    seats = fill(match, pool, entry)
    match.entered_by, match.from_import_id, match.played_at = entry.entered_by, entry.from_import, entry.played_at
    if entry.match is None or entry.external_id:
        match.source, match.external_id = entry.source, entry.external_id
    if entry.entry_token is not None:
        # That of the form that was sent last: by it a second click finds what the first one did.
        match.entry_token = entry.entry_token
    match.status, match.completed_at = Match.Status.COMPLETED, now
    return Seated(match, seats)


def store(pool: Pool, prepared: Sequence[Seated], now: datetime) -> None:
    """Store matches and participants, and that there is something to tell, set-based."""
    new = [item.match for item in prepared if item.match._state.adding]
    for item in prepared:
        if not item.match._state.adding:
            item.match.version += 1
            item.match.save()
            item.match.participants.all().delete()
    # What no match of them has is left to the database: with fewer values all of it takes one round trip.
    columns = tuple(
        name for name in MATCH_COLUMNS if name not in OFTEN_EMPTY or any(getattr(match, name) is not None for match in new)
    )
    match_row, seat_row = attrgetter(*columns), attrgetter(*SEAT_COLUMNS)
    rows.write(
        rows.Insert(Match, columns, [match_row(match) for match in new]),
        rows.Insert(Participant, SEAT_COLUMNS, [seat_row(seat) for item in prepared for seat in item.seats]),
        events.rated(pool, (item.match for item in prepared), now),
    )
    for match in new:
        match._state.adding, match._state.db = False, connection.alias
