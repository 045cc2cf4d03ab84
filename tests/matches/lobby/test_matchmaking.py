"""Matchmaking: who is paired with whom, when, and when not."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.utils import timezone

from matches.lobby.matchmaking import expire, give_up, pair, seek
from matches.lobby.row import lobby_of
from matches.lobby.tables import open_table
from matches.models import Lobby, Match, PairingRequest, Table
from matches.tasks import pair_players, sweep_lobbies
from players import ledger
from players.ledger import Opening
from players.models import Player, Pool
from players.systems.base import Refused, Result
from tests.building import NOW, complete, people, pool_of, won

pytestmark = pytest.mark.django_db

FIVE = Result(length=5)


def rated(pool: Pool, *ratings: float) -> list[Player]:
    """New players with these ratings."""
    players = people(len(ratings))
    with transaction.atomic():
        openings = {player.pk: Opening(rating, 100, None) for player, rating in zip(players, ratings, strict=True)}
        ledger.set_openings(pool, openings, NOW)
    return players


def waiting(pool: Pool, players: list[Player], minutes: float = 0, terms: Result = FIVE) -> datetime:
    """Let them wait; the moment from which they have waited for so many minutes."""
    since = timezone.now()
    for player in players:
        seek(pool, player, terms, now=since)
    return since + timedelta(minutes=minutes)


def names(match: Match) -> set[str]:
    return {player.name for player in match.players.all()}


def test_two_who_are_near_are_paired_and_the_match_counts() -> None:
    pool = pool_of("online-backgammon")
    players = rated(pool, 600, 700)
    [match] = pair(pool, now=waiting(pool, players))
    assert match.status == "open" and match.kind == "matchmade" and match.length == 5
    assert pool.rating_system.not_counted(match.result()) is None
    assert names(match) == {"Player 1", "Player 2"} and not PairingRequest.objects.exists()


def test_the_nearest_is_taken_the_longest_wait_first() -> None:
    pool = pool_of("fibs")
    players = rated(pool, 1500, 1580, 1520, 1600, 1900)
    matches = pair(pool, now=waiting(pool, players))
    assert [names(match) for match in matches] == [{"Player 1", "Player 3"}, {"Player 2", "Player 4"}]
    assert PairingRequest.objects.get().player == players[4]


@pytest.mark.parametrize(("minutes", "paired"), [(0, False), (3.9, False), (4, True)])
def test_the_range_widens_with_time(minutes: float, paired: bool) -> None:
    pool = pool_of("fibs")
    players = rated(pool, 1500, 1800)
    assert bool(pair(pool, now=waiting(pool, players, minutes))) is paired


def test_near_enough_is_meant_for_both() -> None:
    pool = pool_of("fibs")
    vera, didrik = rated(pool, 1500, 1800)
    now = waiting(pool, [vera], 10)
    seek(pool, didrik, FIVE, now=now)
    assert pair(pool, now=now) == []
    assert len(pair(pool, now=now + timedelta(minutes=4))) == 1


def test_the_settings_are_the_lobbys() -> None:
    pool = pool_of("fibs")
    Lobby.objects.create(pool=pool, pairing_difference=10, pairing_widening=0)
    players = rated(pool, 1500, 1511)
    assert pair(pool, now=waiting(pool, players, 60)) == []
    Lobby.objects.update(pairing_difference=11)
    assert len(pair(pool)) == 1


def test_only_the_same_terms_are_paired() -> None:
    pool = pool_of("crowns-cup")
    players = people(4)
    for player, stake, length in zip(players, ("5", "10", "5.00", "5"), (5, 5, 5, 7), strict=True):
        seek(pool, player, Result(length=length, stake=Decimal(stake), real_money=True))
    [match] = pair(pool)
    assert names(match) == {"Player 1", "Player 3"} and match.stake == 5


def test_the_same_two_are_not_paired_again_and_again() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    [match] = pair(pool, now=waiting(pool, [vera, didrik]))
    complete(pool, won(vera, didrik, NOW, kind="matchmade", match=match))
    assert pair(pool, now=waiting(pool, [vera, didrik])) == []
    assert pair(pool, now=timezone.now() + timedelta(hours=23)) == []
    assert len(pair(pool, now=timezone.now() + timedelta(hours=25))) == 1


def test_the_setting_for_that_can_be_off_but_nobody_gets_whom_he_plays_with() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    Lobby.objects.create(pool=pool, pairing_again_hours=0)
    [match] = pair(pool, now=waiting(pool, [vera, didrik]))
    assert pair(pool, now=waiting(pool, [vera, didrik])) == []
    seek(pool, inger, FIVE)
    assert [names(one) for one in pair(pool)] == [{"Player 1", "Player 3"}]
    complete(pool, won(vera, didrik, NOW, kind="matchmade", match=match))
    assert [names(one) for one in pair(pool, now=waiting(pool, [vera]))] == [{"Player 1", "Player 2"}]


def test_four_who_are_near_are_seated_together() -> None:
    pool, deals = pool_of("freewhist"), Result(deals=16)
    players = rated(pool, 1200, 1250, 1280, 1500, 1290)
    now = waiting(pool, players[:4], terms=deals)
    assert pair(pool, now=now) == []
    seek(pool, players[4], deals)
    [match] = pair(pool)
    assert names(match) == {"Player 1", "Player 2", "Player 3", "Player 5"} and match.deals == 16


def test_who_is_paired_waits_nowhere_else() -> None:
    fibs, tics, (vera, didrik) = pool_of("fibs"), pool_of("tics"), people(2)
    table = open_table(tics, vera, Result())
    seek(tics, vera, Result())
    pair(fibs, now=waiting(fibs, [vera, didrik]))
    table.refresh_from_db()
    assert table.closed_because == "playing" and not PairingRequest.objects.exists() and lobby_of(tics).version == 2


def test_asking_again_keeps_the_place_and_other_terms_begin_anew() -> None:
    pool, [vera] = pool_of("fibs"), people(1)
    now = timezone.now()
    first = seek(pool, vera, FIVE, now=now)
    seek(pool, vera, FIVE, now=now + timedelta(minutes=5))
    assert PairingRequest.objects.get().since == now
    seek(pool, vera, Result(length=7), now=now + timedelta(minutes=6))
    request = PairingRequest.objects.get()
    assert (request.pk, request.length, request.since) == (first.pk, 7, now + timedelta(minutes=6))
    assert give_up(pool, vera) and not give_up(pool, vera)


@pytest.mark.parametrize("terms", [Result(length=0), Result(length=5, deals=8), Result(length=5, stake=Decimal(1))])
def test_terms_that_could_not_be_completed_are_refused(terms: Result) -> None:
    with pytest.raises(Refused):
        seek(pool_of("fibs"), people(1)[0], terms)
    assert not PairingRequest.objects.exists()


def test_who_has_waited_too_long_waits_no_more() -> None:
    pool, [vera, didrik] = pool_of("fibs"), people(2)
    Lobby.objects.create(pool=pool, pairing_minutes=10)
    now = waiting(pool, [vera], 11)
    seek(pool, didrik, FIVE, now=now - timedelta(minutes=9))
    assert expire(now) == 1 and PairingRequest.objects.get().player == didrik


def test_the_tasks_pair_and_sweep_all_pools_and_may_run_twice() -> None:
    players = people(5)
    for slug, terms in (("fibs", FIVE), ("tics", Result())):
        waiting(pool_of(slug), players[:2] if slug == "fibs" else players[2:4], terms=terms)
    assert pair_players() == 2 and pair_players() == 0
    open_table(pool_of("fibs"), players[4], FIVE, now=timezone.now() - timedelta(hours=2))
    seek(pool_of("tics"), players[4], Result(), now=timezone.now() - timedelta(hours=2))
    assert sweep_lobbies() == 2 and sweep_lobbies() == 0
    assert Table.objects.get().closed_because == "stale"
