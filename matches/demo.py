"""Demo data: a club's year in all pools, played out by chance with a fixed seed, so that every page has something to show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.db import transaction

from matches.completion import Entry, complete_matches
from matches.lobby.tables import open_table, take_seat
from players.models import Player, Pool
from players.services import create_players
from players.systems.base import Kind, Result, Seat

PASSWORD = "rating-room"
"""Of every demo login. The demo is for one's own machine."""
STAFF_LOGIN = "organiser"
PLAYER_LOGINS = ("vera", "didrik", "inger")
NAMES = (
    *("Vera", "Didrik", "Inger", "Aksel", "Hanne", "Rune", "Sune", "Pia", "Morten", "Vibeke", "Jens-Peter", "Åse"),
    *("Günther", "Liesbeth", "Joost", "Marijke", "Wiebke", "Fritz", "Ömer", "Zoë", "Ib", "Maximiliane", "Thyra", "Kees"),
)
SEED = 1729
LENGTHS = (1, 3, 5, 5, 7, 7, 9, 11)
STAKES = ("1", "2", "5", "10", "20", "2.50")


def demo_logins() -> list[str]:
    """The demo's user names that exist here, staff first."""
    known = get_user_model().objects.filter(username__in=(STAFF_LOGIN, *PLAYER_LOGINS)).values_list("username", flat=True)
    return [name for name in (STAFF_LOGIN, *PLAYER_LOGINS) if name in set(known)]


@transaction.atomic
def load(now: datetime) -> int:
    """Fill an empty site; the number of matches. The caller has seen that there is no player yet."""
    dice = random.Random(SEED)
    players = create_players(NAMES)
    users = get_user_model().objects
    users.create_superuser(STAFF_LOGIN, password=PASSWORD)
    for login, player in zip(PLAYER_LOGINS, players, strict=False):
        player.user = user = users.create_user(login, f"{login}@ratings.example", PASSWORD)
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        player.time_zone = "Europe/Copenhagen"
        player.save(update_fields=["user", "time_zone"])
    strength = {player.pk: dice.gauss(0, 1) for player in players}
    strength[players[0].pk], strength[players[1].pk] = 1.3, 0.9  # the logins have a story to tell

    count = 0
    for slug, play in PLAYS.items():
        pool = Pool.objects.get(slug=slug)
        entries = list(play(pool, players, strength, dice, now))
        complete_matches(pool, entries, now=now)
        count += len(entries)
        _open_tables(pool, players, dice, now)
    return count


Play = Callable[[Pool, list[Player], dict[int, float], random.Random, datetime], Iterator[Entry]]


def _evenings(dice: random.Random, now: datetime, count: int, days: int = 330) -> list[datetime]:
    """`count` instants within the last `days` days, most of them in the evening, in order."""
    starts = [now - timedelta(days=dice.uniform(0.2, days)) for _ in range(count)]
    return sorted(min(start.replace(hour=dice.choice((15, 18, 19, 20, 21)), second=0, microsecond=0), now) for start in starts)


def _won(dice: random.Random, pool: Pool, one: float, two: float, result: Result) -> tuple[float, float]:
    """Who wins between two strengths, by the pool's own formula."""
    spread = 200
    expected = pool.rating_system.rate([Seat(1000 + spread * one), Seat(1000 + spread * two)], result).expected[0]
    return (1.0, 0.0) if dice.random() < expected else (0.0, 1.0)


def _pair(dice: random.Random, players: list[Player], active: int) -> tuple[Player, Player]:
    one, two = dice.sample(players[:active], 2)
    return one, two


def _fibs(pool: Pool, players: list[Player], strength: dict[int, float], dice: random.Random, now: datetime) -> Iterator[Entry]:
    for ended_at in _evenings(dice, now, 420):
        one, two = _pair(dice, players, 22)
        result = Result(scores=(1.0, 0.0), length=dice.choice(LENGTHS), kind=dice.choice((Kind.TOURNAMENT, Kind.INVITATION)))
        scores = _won(dice, pool, strength[one.pk], strength[two.pk], result)
        yield Entry(players=(one, two), result=replace(result, scores=scores), ended_at=ended_at)


def _crowns_cup(
    pool: Pool, players: list[Player], strength: dict[int, float], dice: random.Random, now: datetime
) -> Iterator[Entry]:
    for ended_at in _evenings(dice, now, 460):
        one, two = _pair(dice, players, 20)
        stake = Decimal(dice.choice(STAKES))
        match = Result(scores=(1.0, 0.0), length=dice.choice(LENGTHS), stake=stake, real_money=True, kind=Kind.TABLE)
        result = replace(match, scores=_won(dice, pool, strength[one.pk], strength[two.pk], match))
        chance = dice.random()
        if chance < 0.25:  # a money game
            result = replace(result, length=None, points=dice.choice((1, 1, 2, 2, 4, 4, 8, 6)))
        elif chance < 0.30:  # broken off
            result = replace(result, scores=None, chance=round(dice.uniform(0.1, 0.9), 3))
        elif chance < 0.38:
            result = replace(result, kind=Kind.TOURNAMENT)
        elif chance < 0.43:
            result = replace(result, real_money=False, stake=None)
        yield Entry(players=(one, two), result=result, ended_at=ended_at)


def _online(pool: Pool, players: list[Player], strength: dict[int, float], dice: random.Random, now: datetime) -> Iterator[Entry]:
    away = {players[0].pk: now - timedelta(days=26, hours=5), players[4].pk: now - timedelta(days=9)}
    for ended_at in _evenings(dice, now, 1500):
        one, two = _pair(dice, players, 16)
        if any(ended_at > away.get(player.pk, now) for player in (one, two)):
            continue
        kind = dice.choice((Kind.MATCHMADE, Kind.MATCHMADE, Kind.MATCHMADE, Kind.TOURNAMENT, Kind.REMATCH))
        result = Result(scores=(1.0, 0.0), length=dice.choice(LENGTHS), kind=kind)
        scores = _won(dice, pool, 1.6 * strength[one.pk], 1.6 * strength[two.pk], result)
        yield Entry(players=(one, two), result=replace(result, scores=scores), ended_at=ended_at)


def _freewhist(
    pool: Pool, players: list[Player], strength: dict[int, float], dice: random.Random, now: datetime
) -> Iterator[Entry]:
    for ended_at in _evenings(dice, now, 260):
        table = dice.sample(players[:14], 4)
        order = sorted(table, key=lambda player: -strength[player.pk] + dice.gauss(0, 1.4))
        places = {player.pk: place for place, player in enumerate(order, start=1)}
        if dice.random() < 0.1:
            places[order[2].pk] = 2  # the second place is shared
        result = Result(
            places=tuple(places[player.pk] for player in table), deals=dice.choice((4, 12, 16, 16, 24)), kind=Kind.TABLE
        )
        yield Entry(players=table, result=result, ended_at=ended_at)


def _tics(pool: Pool, players: list[Player], strength: dict[int, float], dice: random.Random, now: datetime) -> Iterator[Entry]:
    for ended_at in _evenings(dice, now, 380):
        one, two = _pair(dice, players, 18)
        result = Result(scores=(1.0, 0.0))
        scores = (0.5, 0.5) if dice.random() < 0.2 else _won(dice, pool, strength[one.pk], strength[two.pk], result)
        yield Entry(players=(one, two), result=replace(result, scores=scores), ended_at=ended_at)


PLAYS: dict[str, Play] = {
    "fibs": _fibs,
    "crowns-cup": _crowns_cup,
    "online-backgammon": _online,
    "freewhist": _freewhist,
    "tics": _tics,
}


def _open_tables(pool: Pool, players: list[Player], dice: random.Random, now: datetime) -> None:
    """Five waiting tables, one of them of a player whose rating is not settled; at a table of four somebody has joined."""
    uses = pool.rating_system.uses
    hosts = dice.sample(players[3:12], 4) + [players[-1]]
    for number, host in enumerate(hosts):
        length = dice.choice((*LENGTHS, None)) if "stake" in uses else dice.choice(LENGTHS)
        terms = Result(
            length=length if "length" in uses else None,
            deals=dice.choice((12, 16, 24)) if "deals" in uses else None,
            stake=Decimal(dice.choice(STAKES)) if "stake" in uses else None,
            real_money=dice.random() < 0.7 if "stake" in uses else None,
        )
        opened_at = now - timedelta(minutes=dice.randrange(1, 25))
        table = open_table(pool, host, terms, max_difference=150 if number == 2 else None, now=opened_at)
        if pool.rating_system.seats > 2 and number < 2:
            take_seat(table.pk, players[12 + number], now=now - timedelta(minutes=1))
