"""Matchmaking: players wait to be paired with somebody near in rating, and a task pairs them.

Nobody is told who else waits: whom he gets he sees when the match has started. The longer somebody waits, the further from him an
opponent may be; two are paired who are near enough for both of them. The same two are not paired again before the lobby's
`pairing_again_hours` are over, nor while they have a match with each other that is not finished.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from matches.entries import check_terms
from matches.lobby.admission import Strength, strengths_of
from matches.lobby.row import lobby_of, touch
from matches.lobby.tables import lock_tables, start_match, stop_waiting
from matches.models import Lobby, Match, PairingRequest, Participant
from players.locks import hold_players, require_transaction
from players.models import Player, Pool
from players.systems.base import Kind, Refused, Result

log = logging.getLogger(__name__)

MOST_AT_ONCE = 500
"""So many requests, the oldest, are looked at in one go."""
Pair = frozenset[int]


def seek(pool: Pool, player: Player, terms: Result, *, now: datetime | None = None) -> PairingRequest:
    """Let a player wait to be paired. The same again changes nothing; other terms begin the wait anew.

    Raises Refused for the terms.
    """
    now = now or timezone.now()
    agreed = {name: getattr(terms, name) for name in ("length", "deals", "stake", "real_money")}
    asked = PairingRequest(pool=pool, player=player, since=now, **agreed)
    check_terms(pool, asked.terms)
    with transaction.atomic():
        if hold_players({player.pk}):
            raise ValidationError(_("This player was merged into another one."), code="merged")
        request, made = PairingRequest.objects.get_or_create(pool=pool, player=player, defaults={**agreed, "since": now})
        if not made and request.terms != asked.terms:
            # Not saved: a request that was paired a moment ago must not come back.
            PairingRequest.objects.filter(pk=request.pk).update(since=now, **agreed)
            asked.pk = request.pk
            return asked
    return request


def give_up(pool: Pool, player: Player) -> bool:
    """Wait no more; False where he did not wait (any more: perhaps he has just been paired)."""
    return bool(PairingRequest.objects.filter(pool=pool, player=player).delete()[0])


def expire(now: datetime) -> int:
    """Let those wait no more who have waited for too long; how many."""
    gone = 0
    for pool in Pool.objects.order_by("pk"):
        earliest = now - timedelta(minutes=lobby_of(pool).pairing_minutes)
        gone += PairingRequest.objects.filter(pool=pool, since__lt=earliest).delete()[0]
    return gone


def pair(pool: Pool, *, now: datetime | None = None) -> list[Match]:
    """Pair those who wait in the pool, who has waited longest first: the matches that start.

    Several workers may pair at once: whom another one has taken, or who has given up meanwhile, is left out.
    """
    now = now or timezone.now()
    waiting = list(PairingRequest.objects.filter(pool=pool).select_related("player")[:MOST_AT_ONCE])
    if len(waiting) < pool.rating_system.seats:
        return []
    lobby, ids = lobby_of(pool), [request.player_id for request in waiting]
    found = groups(
        waiting, strengths_of(pool, ids), kept_apart(pool, ids, lobby, now), lobby, size=pool.rating_system.seats, now=now
    )
    return [match for match in (_pair(pool, group, now) for group in found) if match is not None]


def groups(
    waiting: Sequence[PairingRequest],
    strengths: Mapping[int, Strength],
    apart: Collection[Pair],
    lobby: Lobby,
    *,
    size: int,
    now: datetime,
) -> Iterator[list[PairingRequest]]:
    """Who plays with whom: each group has one set of terms, and everybody in it is near enough to everybody else."""
    left = list(waiting)
    while left:
        first = left.pop(0)
        group = [first]
        others = sorted(
            (request for request in left if request.terms == first.terms),
            key=lambda request: abs(strengths[request.player_id].rating - strengths[first.player_id].rating),
        )
        for request in others:
            if len(group) < size and all(_match(request, other, strengths, apart, lobby, now) for other in group):
                group.append(request)
        if len(group) == size:
            taken = {request.pk for request in group}
            left = [request for request in left if request.pk not in taken]
            yield sorted(group, key=lambda request: request.pk)


def _match(
    one: PairingRequest,
    two: PairingRequest,
    strengths: Mapping[int, Strength],
    apart: Collection[Pair],
    lobby: Lobby,
    now: datetime,
) -> bool:
    if frozenset((one.player_id, two.player_id)) in apart:
        return False
    between = abs(strengths[one.player_id].rating - strengths[two.player_id].rating)
    return between <= min(reach(lobby, one, now), reach(lobby, two, now))


def reach(lobby: Lobby, request: PairingRequest, now: datetime) -> float:
    """How far from his rating a player's opponents may be by now, in points."""
    minutes = max(0.0, (now - request.since).total_seconds() / 60)
    return lobby.pairing_difference + lobby.pairing_widening * minutes


def kept_apart(pool: Pool, player_ids: Collection[int], lobby: Lobby, now: datetime) -> set[Pair]:
    """The pairs of these players that are not to be made now. One query."""
    recently = Q(match__kind=Kind.MATCHMADE, match__created_at__gt=now - timedelta(hours=lobby.pairing_again_hours))
    unfinished = Q(match__status=Match.Status.OPEN)
    seats = Participant.objects.filter(recently | unfinished, match__pool=pool, player__in=player_ids)
    at_match: dict[int, list[int]] = {}
    for match_id, player_id in seats.order_by().values_list("match_id", "player_id"):
        at_match.setdefault(match_id, []).append(player_id)
    return {frozenset(two) for players in at_match.values() for two in combinations(players, 2)}


def _pair(pool: Pool, group: Sequence[PairingRequest], now: datetime) -> Match | None:
    """Start the match of a group that is still waiting as it was."""
    ids = [request.player_id for request in group]
    try:
        with transaction.atomic():
            tables = lock_tables(ids)
            held = lock_requests([request.pk for request in group])
            if [(request.pk, request.terms) for request in held] != [(request.pk, request.terms) for request in group]:
                return None
            changed = stop_waiting(ids, tables.values(), now)
            match = start_match(pool, group[0].terms, [request.player for request in held], Kind.MATCHMADE)
            touch(changed)
            return match
    except Refused as refused:
        log.warning("%s takes such a match no longer: %s", pool, refused)
        return None


def lock_requests(request_ids: Collection[int]) -> list[PairingRequest]:
    """Those of the requests that are still there, locked in the order of ids."""
    require_transaction()
    rows = PairingRequest.objects.select_for_update(of=("self",)).select_related("player")
    return list(rows.filter(pk__in=request_ids).order_by("pk"))
