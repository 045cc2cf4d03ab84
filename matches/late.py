"""Matches that are entered late: what they would move, and their completion once somebody has seen it.

A match that is entered an hour or more after its end rates anew what its players have played since. Whoever enters it by hand
sees that first. It is completed as every match is, by `matches.completion`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from matches import replay
from matches.completion import complete_match
from matches.corrections import Preview, moves_of, snapshot
from matches.entries import Entry, check_entry, instant_of, normal, openings_of
from matches.models import Match
from matches.rating import LATE, known_end
from matches.replay import Played, Progress
from matches.revising import Made
from players import ledger
from players.models import Pool, Rating
from players.services import present_players
from players.systems.running import MatchKey

NO_ID = 2**63 - 1
"""Stands for the id of a match that is not stored: it will come after all that are."""


def is_late(pool: Pool, entry: Entry, *, now: datetime) -> bool:
    """Whether the entry, if it counts, ended an hour ago or longer and a later match of its players is rated already.

    False for one that `complete_match` will not store: it was stored by a first click, or its open match is not as it was read.
    Raises Refused where it is no possible result. At most five queries.
    """
    entry = _present(entry)
    check_entry(pool, entry, openings_of(pool, [entry]), now=now)
    if now - known_end(_key(entry)) < LATE or pool.system_at(instant_of(entry)).not_counted(normal(entry.result)):
        return False
    rated = Rating.objects.filter(pool=pool, player__in=entry.players, matches__gt=0)
    if all((ledger.last_key(rating) or _key(entry)) < _key(entry) for rating in rated):
        return False
    return not _is_stored(entry) and _is_as_read(entry)


def affected(pool: Pool, entry: Entry) -> int:
    """How many counted matches come after the entry, counted by index: all of them are rated anew."""
    return replay.count_matches(pool, _key(entry))


def preview(pool: Pool, entry: Entry, *, now: datetime, progress: Progress | None = None) -> Preview:
    """What completing the entry would do. Writes nothing. Raises Refused."""
    with snapshot():
        pool, entry = Pool.objects.get(pk=pool.pk), _present(entry)
        check_entry(pool, entry, openings_of(pool, [entry]), now=now)
        played = Played(_key(entry), tuple(player.pk for player in entry.players), normal(entry.result))
        answer = replay.recalculate(pool, played.key, instead={played.key.id: played}, progress=progress)
        return moves_of(pool, answer, now, {})


def complete(
    pool: Pool, entry: Entry, *, token: str, now: datetime, progress: Progress | None = None, made: Made | None = None
) -> Match:
    """Complete the entry where the pool is still as its preview showed it. Raises Moved, and what `complete_match` raises.

    A second click finds what the first one stored.
    """
    return complete_match(pool, entry, now=now, token=token, progress=progress, made=made)


def _present(entry: Entry) -> Entry:
    """The entry as it will be stored: one who was merged into another is that other."""
    return replace(entry, players=present_players(entry.players))


def _key(entry: Entry) -> MatchKey:
    return MatchKey(instant_of(entry), entry.timed, entry.sequence, entry.match.pk if entry.match else NO_ID)


def _is_stored(entry: Entry) -> bool:
    return entry.entry_token is not None and (
        Match.objects.filter(entry_token=entry.entry_token).exclude(status=Match.Status.OPEN).exists()
    )


def _is_as_read(entry: Entry) -> bool:
    opened = entry.match
    return opened is None or Match.objects.filter(pk=opened.pk, version=opened.version, status=Match.Status.OPEN).exists()
