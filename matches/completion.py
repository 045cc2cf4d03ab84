"""The one door for results: whatever enters a match as completed comes through `complete_match` or `complete_matches`.

In one transaction the matches are stored, `match_completed` is sent with all of them, and its receiver rates them. Where one of
them comes before others that its players have played, it all rolls back, and they are completed by `matches.latecomers`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from matches import latecomers, storing
from matches.entries import TERMS, BatchRefused, Conflict, Entry, check_players, check_terms, differing_terms
from matches.models import Match, Participant
from matches.money import rake
from matches.rating import LateMatch, MatchRefused
from matches.replay import Overtaken, Progress
from matches.revising import Made
from matches.signals import match_completed
from matches.storing import lock_open
from players.locks import hold_players, hold_pool_and_ask, lost_race, require_transaction
from players.models import Player, Pool
from players.services import present_players
from players.systems.base import Result

ATTEMPTS = 4
"""How often results are taken up again: one may be late, one of its players merged, a race lost."""


def complete_match(pool: Pool, entry: Entry, *, now: datetime | None = None, **more: Any) -> Match:
    """Complete and rate one match; the same as a batch of one, with the same options. Raises Refused, and as that does."""
    try:
        return complete_matches(pool, [entry], now=now, **more)[0]
    except BatchRefused as batch:
        raise batch.refused from None


def complete_matches(
    pool: Pool,
    entries: Sequence[Entry],
    *,
    now: datetime | None = None,
    exclusive: bool = False,
    token: str | None = None,
    progress: Progress | None = None,
    made: Made | None = None,
) -> list[Match]:
    """Complete results of one pool and rate them in the order of rating; all of them or none.

    In order they are rated on top of the ratings. Where some come before others that their players have played they go the way
    of all that rewrites the history, see `matches.latecomers`; with `token` only where the pool is still as this preview showed
    it, else Moved is raised. `made` is told of the revisions in the transaction that stores the matches. `exclusive`: the caller
    holds the pool exclusively already, and what is late is rated where it stands.

    Returns the matches in the order of the entries. An entry that is stored already (same source and id, or same entry token)
    answers the stored match and rates nothing. What names a merged duplicate is of the player whom he was merged into. Raises
    BatchRefused where one is no possible result, Conflict where a stored match differs from its entry or has changed since it was
    read, and Overtaken where others were faster each time.
    """
    now = now or timezone.now()
    for attempt in range(ATTEMPTS):
        try:
            try:
                return _complete(pool, entries, exclusive=exclusive, now=now, made=made)
            except LateMatch:
                return latecomers.complete(pool, entries, now=now, token=token, progress=progress, made=made)
        except latecomers.Stored:
            pass  # somebody else has stored them meanwhile: they are found now
        except Overtaken:
            exclusive = True  # others were faster each time: rate them where they stand, while everybody waits
        except storing.Merged:
            entries = storing.present_entries(entries)
        except (IntegrityError, OperationalError) as error:
            if not lost_race(error) or attempt == ATTEMPTS - 1:
                raise
            exclusive = True
    raise Overtaken


def complete_in_order(pool: Pool, entries: Sequence[Entry], *, now: datetime) -> list[Match]:
    """The same inside a transaction of the caller, who does not hold the pool alone. Raises LateMatch where some of the matches
    come before others that their players have played."""
    try:
        return _complete(pool, entries, exclusive=False, now=now)
    except storing.Merged:
        return _complete(pool, storing.present_entries(entries), exclusive=False, now=now)


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
        except storing.Merged:
            players = present_players(players)
        except IntegrityError as error:
            if not lost_race(error) or attempt == ATTEMPTS - 1:
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
        raise storing.Merged
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


@transaction.atomic
def _complete(pool: Pool, entries: Sequence[Entry], *, exclusive: bool, now: datetime, made: Made | None = None) -> list[Match]:
    opened = lock_open(entries)
    pool, answers = hold_pool_and_ask(pool.pk, *storing.questions(pool, entries), exclusive=exclusive)
    batch = storing.prepare(pool, entries, opened, answers, now=now)
    if batch.prepared:
        storing.store(pool, batch.prepared, now)
        matches = batch.matches
        try:
            match_completed.send(sender=Match, matches=matches, seats=batch.seats, pool=pool, exclusive=exclusive, now=now)
        except MatchRefused as error:
            raise BatchRefused(batch.index_of(error.match.pk), error.refused) from error
        rake.charge(pool, matches, batch.bands)
    if made is not None:
        made([])
    return batch.answers
