"""The one door for results: whatever enters a match as completed comes through `complete_match` or `complete_matches`.

In one transaction the matches are stored, `match_completed` is sent with all of them, and its receiver rates them. A match that
ended before others of its players are rated makes the whole pool replay; the transaction then starts again with the pool held
exclusively, since no lock is upgraded in place.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from operator import attrgetter

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from matches import rake
from matches.entries import (
    TERMS,
    BatchRefused,
    Conflict,
    Entry,
    check_entry,
    check_players,
    check_terms,
    differences,
    differing_terms,
    fill,
    opened_statement,
)
from matches.models import Match, Participant, RakeBand
from matches.push import events
from matches.rating import LateMatch, MatchRefused
from matches.signals import match_completed
from players import rows
from players.ledger import chunks
from players.locks import hold_players, hold_pool, holding_players, require_transaction
from players.models import Player, Pool
from players.services import present_players
from players.systems.base import Refused, Result

MATCH_COLUMNS = tuple(field.attname for field in Match._meta.concrete_fields)
SEAT_COLUMNS = ("match_id", "player_id", "seat", "score", "place")
ATTEMPTS = 4
"""How often results are taken up again: one may be late, one of its players merged, a race lost."""


class _Merged(Exception):
    """A player is a duplicate that was merged into another: take up again what names him."""


@dataclass(frozen=True, slots=True)
class _Seated:
    """A match with its participants, stored or about to be."""

    match: Match
    seats: list[Participant]


def complete_match(pool: Pool, entry: Entry, *, now: datetime | None = None, exclusive: bool = False) -> Match:
    """Complete and rate one match; the same as a batch of one. Raises Refused, Conflict."""
    try:
        return complete_matches(pool, [entry], now=now, exclusive=exclusive)[0]
    except BatchRefused as batch:
        raise batch.refused from None


def complete_matches(
    pool: Pool, entries: Sequence[Entry], *, now: datetime | None = None, exclusive: bool = False
) -> list[Match]:
    """Complete results of one pool and rate them in the order of rating; all of them or none.

    Returns the matches in the order of the entries. An entry that is stored already (same source and id, or same entry token)
    answers the stored match and rates nothing. Raises BatchRefused where one is no possible result, Conflict where a stored match
    differs from its entry or has changed since it was read. `exclusive`: the caller holds the pool exclusively already, so there
    is no need to try it shared first. What names a merged duplicate is of the player whom he was merged into.
    """
    now = now or timezone.now()
    for attempt in range(ATTEMPTS):
        try:
            return _complete(pool, entries, exclusive=exclusive, now=now)
        except LateMatch:
            exclusive = True
        except _Merged:
            named = {player.pk: player for entry in entries for player in entry.players}
            present = dict(zip(named, present_players(list(named.values())), strict=True))
            entries = [replace(entry, players=[present[player.pk] for player in entry.players]) for entry in entries]
        except (IntegrityError, OperationalError) as error:
            if not _lost_race(error) or attempt == ATTEMPTS - 1:
                raise
            exclusive = True
    raise AssertionError("a match is late once, and a player merged once")


def save_open(
    pool: Pool,
    *,
    players: Sequence[Player],
    terms: Result,
    match: Match | None = None,
    entry_token: uuid.UUID | None = None,
    entered_by: User | None = None,
) -> Match:
    """Store a match that is not finished: who plays, and on which terms. It is rated nowhere.

    `match` is the open match that this changes, read at `match.version`. The same entry token again answers the stored match.
    Raises Refused, and Conflict as `complete_matches` does.
    """
    for attempt in range(ATTEMPTS):
        try:
            return _save_open(pool, players, terms, match, entry_token, entered_by)
        except _Merged:
            players = present_players(players)
        except IntegrityError as error:
            if not _lost_race(error) or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("a player is merged once")


@transaction.atomic
def _save_open(
    pool: Pool,
    players: Sequence[Player],
    terms: Result,
    match: Match | None,
    entry_token: uuid.UUID | None,
    entered_by: User | None,
) -> Match:
    locked = Match.objects.select_for_update(no_key=True, of=("self",))
    stored = locked.filter(pk=match.pk).first() if match is not None else None
    if hold_players({player.pk for player in players}):
        raise _Merged
    known = Match.objects.filter(entry_token=entry_token).first() if entry_token is not None else None
    if known is not None:
        if differing := differing_terms(known, list(known.participants.all()), pool, players, terms):
            raise Conflict(known, differing)
        return known
    if match is not None:
        if stored is None:
            raise Conflict(match, ["status"])
        if stored.status != Match.Status.OPEN or stored.version != match.version:
            raise Conflict(stored, differing_terms(stored, list(stored.participants.all()), pool, players, terms) or ["status"])
    check_players(pool, players)
    check_terms(pool, terms)
    match = stored or Match(version=0)
    match.pool, match.entered_by = pool, entered_by
    match.entry_token = entry_token or match.entry_token
    match.version += 1
    for name in TERMS:
        setattr(match, name, getattr(terms, name))
    match.save()
    match.participants.all().delete()
    Participant.objects.bulk_create(
        Participant(match=match, player=player, seat=seat) for seat, player in enumerate(players, start=1)
    )
    return match


@transaction.atomic
def delete_open(match_id: int) -> bool:
    """Delete a match that is not finished; whether there was one. A completed match is never deleted."""
    match = Match.objects.select_for_update(of=("self",)).filter(pk=match_id, status=Match.Status.OPEN).first()
    if match is not None:
        match.delete()
    return match is not None


def close_open(match: Match, *, closed_by: User | None, now: datetime) -> None:
    """Close a match that was not played to its end, without a result: it is voided, and moves nothing. The match is open, and
    locked by the caller."""
    require_transaction()
    match.status, match.ended_at, match.completed_at = Match.Status.VOIDED, now, now
    match.entered_by, match.version = closed_by, match.version + 1
    match.save()


def _lost_race(error: Exception) -> bool:
    """Whether another writer got in between: the same id or token (unique violation), or two batches crossing (deadlock).

    SQLite has one writer at a time, so there is no race to lose there.
    """
    return getattr(error.__cause__, "sqlstate", None) in {"23505", "40P01"}


@transaction.atomic
def _complete(pool: Pool, entries: Sequence[Entry], *, exclusive: bool, now: datetime) -> list[Match]:
    opened = lock_open(entries)
    pool = hold_pool(pool.pk, exclusive=exclusive)
    stored, openings, new_ids, bands = _look_up(pool, entries)
    answers: list[Match] = []
    prepared: list[_Seated] = []
    for index, entry in enumerate(entries):
        identity = (entry.source, entry.external_id) if entry.external_id else entry.entry_token
        known = stored.get(identity)
        if known is None:
            try:
                check_entry(pool, entry, openings, now=now)
            except Refused as refused:
                raise BatchRefused(index, refused) from refused
            known = _prepare(pool, entry, opened.get(entry.match.pk) if entry.match else Match(pk=next(new_ids)), now)
            prepared.append(known)
            if identity is not None:
                stored[identity] = known
        elif differing := differences(known.match, known.seats, pool, entry):
            raise Conflict(known.match, differing)
        answers.append(known.match)
    if prepared:
        _store(pool, prepared, now)
        matches = sorted((item.match for item in prepared), key=lambda match: match.order)
        seats = {item.match.pk: item.seats for item in prepared}
        try:
            match_completed.send(sender=Match, matches=matches, seats=seats, pool=pool, exclusive=exclusive, now=now)
        except MatchRefused as error:
            index = next((index for index, match in enumerate(answers) if match.pk == error.match.pk), 0)
            raise BatchRefused(index, error.refused) from error
        rake.charge(pool, matches, bands)
    return answers


def lock_open(entries: Sequence[Entry]) -> dict[int, Match]:
    """The open matches that the entries complete, locked in the order of ids."""
    ids = sorted(entry.match.pk for entry in entries if entry.match is not None)
    if not ids:
        return {}
    rows = Match.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids).order_by("pk")
    return {match.pk: match for match in rows}


def _look_up(
    pool: Pool, entries: Sequence[Entry]
) -> tuple[dict[object, _Seated], dict[int, date], Iterator[int], list[RakeBand]]:
    """Matches that are stored already, by (source, id) or by entry token; the openings of the players; ids for new matches; the
    bands of the rake, where some entry is for real money.

    The players are held. Raises _Merged.
    """
    by_source: dict[str, list[str]] = {}
    for entry in entries:
        if entry.external_id:
            by_source.setdefault(entry.source, []).append(entry.external_id)
    new = sum(entry.match is None for entry in entries)
    costing = [rake.bands_statement(pool.pk)] if any(entry.result.real_money for entry in entries) else []
    held, ids, opened, *more = rows.run(
        holding_players({player.pk for entry in entries for player in entry.players}),
        rows.new_ids(Match, new),
        opened_statement(pool, entries),
        *costing,
        *(_sent_before(source, external_ids) for source, external_ids in by_source.items()),
    )
    bands, sent = (rows.read(RakeBand, more[0]), more[1:]) if costing else ([], more)
    if any(merged_into is not None for _, merged_into in held):
        raise _Merged
    found: dict[object, _Seated] = {}
    matches = Match.objects.prefetch_related("participants")
    for chunk in chunks([match_id for answer in sent for (match_id,) in answer]):
        for match in matches.filter(pk__in=chunk):
            found[(match.source, match.external_id)] = _Seated(match, list(match.participants.all()))
    tokens = [entry.entry_token for entry in entries if entry.entry_token is not None]
    for match in matches.filter(entry_token__in=tokens) if tokens else ():
        found[match.entry_token] = _Seated(match, list(match.participants.all()))
    return found, dict(opened), (match_id for (match_id,) in ids), bands


def _sent_before(source: str, external_ids: Sequence[str]) -> rows.Statement:
    among, values = rows.among("external_id", external_ids)
    return f"SELECT id FROM matches_match WHERE source = %s AND NOT external_id = '' AND {among}", [source, *values]


def _prepare(pool: Pool, entry: Entry, match: Match | None, now: datetime) -> _Seated:
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
    return _Seated(match, seats)


def _store(pool: Pool, prepared: Sequence[_Seated], now: datetime) -> None:
    """Store matches and participants, and that there is something to tell, set-based."""
    new = [item.match for item in prepared if item.match._state.adding]
    for item in prepared:
        if not item.match._state.adding:
            item.match.version += 1
            item.match.save()
            item.match.participants.all().delete()
    match_row, seat_row = attrgetter(*MATCH_COLUMNS), attrgetter(*SEAT_COLUMNS)
    rows.write(
        rows.Insert(Match, MATCH_COLUMNS, [match_row(match) for match in new]),
        rows.Insert(Participant, SEAT_COLUMNS, [seat_row(seat) for item in prepared for seat in item.seats]),
        events.rated(pool, (item.match for item in prepared), now),
    )
    for match in new:
        match._state.adding, match._state.db = False, connection.alias
