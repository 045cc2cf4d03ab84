"""Reads of the lobby: who waits at which table, and what each table would mean for the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, FilteredRelation, Prefetch, Q, QuerySet
from django.utils import timezone

from matches.lobby.admission import Strength, difference, why_not
from matches.lobby.prospects import Prospect, prospect, rake, why_not_counted
from matches.models import Match, PairingRequest, Participant, RakeBand, Table, TableSeat
from matches.money.rake import bands_of
from players import rows
from players.formatting import is_provisional
from players.models import Player, Pool, Rating
from players.systems.base import Kind

MOST_TABLES = 200
"""A page shows no more."""
MOST_PLAYING = 20
"""So many of the reader's unfinished matches are listed, the latest."""
ORDERS = ("best", "waiting", "nearest", "highest", "lowest")
"""How tables can be put in order: best match for the reader, longest wait, nearest rating, highest and lowest rating."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables the reader wants to see, and in which order; None is no limit. Difference in points, stake in euros."""

    difference: int | None = None
    length: int | None = None
    deals: int | None = None
    stake: Decimal | None = None
    settled: bool = False
    order: str = ORDERS[0]


@dataclass(frozen=True, slots=True)
class Seated:
    """A player at a table; `difference` is his rating minus the reader's, in points as shown, None where nobody reads."""

    player: Player
    strength: Strength
    provisional: bool
    own: bool
    difference: Decimal | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting table with its players, the host first. For a reader with a player: why he may not sit down ("" where he may),
    what it would mean for him, and whether he sits there."""

    table: Table
    seated: tuple[Seated, ...]
    free: int
    not_counted: str
    own: bool = False
    why_not: str = ""
    prospect: Prospect | None = None
    rake: Decimal | None = None
    rake_is_example: bool = False

    @property
    def host(self) -> Seated:
        return self.seated[0]


@dataclass(frozen=True, slots=True)
class Own:
    """What concerns the reader alone: where he waits, who asks him, and what he is playing."""

    seat: Table | None = None
    offers: tuple[Table, ...] = ()
    asked: tuple[Table, ...] = ()
    request: PairingRequest | None = None
    playing: tuple[Match, ...] = ()

    @property
    def waits(self) -> bool:
        return bool(self.seat or self.offers or self.request)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that the reader wants to see, of how many, what else concerns him, and whether the house takes a rake here; of
    an example, where nobody has set its bands."""

    listed: tuple[Waiting, ...]
    total: int
    own: Own
    strength: Strength | None
    raked: bool
    rake_is_example: bool


def tables(pool: Pool, reader: Player | None, wanted: Wanted | None = None) -> Tables:
    """The pool's open tables. Two queries, for a reader with a player ten more at most."""
    wanted = wanted or Wanted()
    strength, bands = own_strength(pool, reader), bands_for(pool, reader)
    waiting = open_tables(pool).prefetch_related(with_strengths(pool))
    # One that has closed since the first query has no seats any more.
    found = [_waiting(pool, table, reader, strength, bands) for table in waiting if table.taken]
    listed = sorted((row for row in found if _is_wanted(row, wanted)), key=lambda row: _order(row, wanted, strength))
    own = own_business(pool, reader) if reader is not None else Own()
    return Tables(tuple(listed[:MOST_TABLES]), len(found), own, strength, bool(bands), _are_example(bands))


def waiting_tables(pool: Pool) -> tuple[Waiting, ...]:
    """The pool's open tables as the public sees them, the oldest first. Two queries."""
    return tables(pool, None).listed


def open_tables(pool: Pool) -> QuerySet[Table]:
    return Table.objects.filter(pool=pool, kind=Kind.TABLE, status=Table.Status.WAITING).order_by("opened_at", "id")


def with_strengths(pool: Pool) -> Prefetch:
    """The seats of tables of the pool, each with its player, his rating and his experience."""
    seats = (
        TableSeat.objects.select_related("player")
        .annotate(rated=FilteredRelation("player__ratings", condition=Q(player__ratings__pool=pool)))
        .annotate(rating=F("rated__value"), experience=F("rated__experience"))
        .order_by("number")
    )
    return Prefetch("seats", seats, to_attr="taken")


def own_strength(pool: Pool, reader: Player | None) -> Strength | None:
    """The reader's rating and experience in the pool; None for nobody. One query for a player."""
    if reader is None:
        return None
    rating = Rating.objects.filter(pool=pool, player=reader).values_list("value", "experience").first()
    return Strength(*rating) if rating else Strength(pool.rating_system.start)


def one_table(table: Table, reader: Player | None) -> Waiting | None:
    """A waiting table as the reader sees it; None where it has closed meanwhile. Four queries at most."""
    [found] = Table.objects.filter(pk=table.pk).prefetch_related(with_strengths(table.pool))
    if not found.taken:
        return None
    return _waiting(table.pool, found, reader, own_strength(table.pool, reader), bands_for(table.pool, reader))


def bands_for(pool: Pool, reader: Player | None) -> list[RakeBand]:
    """The bands of the rake that the reader would pay. One query where there are stakes."""
    return bands_of(pool) if reader is not None and "stake" in pool.rating_system.uses else []


def _waiting(pool: Pool, table: Table, reader: Player | None, own: Strength | None, bands: Sequence[RakeBand]) -> Waiting:
    start = pool.rating_system.start
    seated = []
    for seat in table.taken:
        strength = Strength(start if seat.rating is None else seat.rating, seat.experience or 0)
        seated.append(
            Seated(
                seat.player,
                strength,
                is_provisional(strength.experience, pool.provisional_below),
                reader is not None and seat.player_id == reader.pk,
                difference(pool, strength, own) if own else None,
            )
        )
    seated.sort(key=lambda one: one.player.pk != table.host_id)
    free, terms = pool.rating_system.seats - len(seated), table.terms
    row = Waiting(table, tuple(seated), free, why_not_counted(pool, terms))
    if own is None:
        return row
    sits = any(one.own for one in seated)
    others = [one.strength for one in seated if not one.own]
    return Waiting(
        table,
        row.seated,
        free,
        row.not_counted,
        own=sits,
        why_not="" if sits else why_not(pool, table, row.host.strength, own),
        prospect=prospect(pool, terms, own, others) if others else None,
        rake=rake(bands, terms, own, others) if others else None,
        rake_is_example=_are_example(bands),
    )


def _are_example(bands: Sequence[RakeBand]) -> bool:
    return any(band.example for band in bands)


def _is_wanted(row: Waiting, wanted: Wanted) -> bool:
    """The reader's own table is always there."""
    if row.own:
        return True
    table = row.table
    if wanted.length is not None and table.length != wanted.length:
        return False
    if wanted.deals is not None and table.deals != wanted.deals:
        return False
    if wanted.stake is not None and (table.stake or Decimal(0)) > wanted.stake:
        return False
    if wanted.settled and any(one.provisional for one in row.seated):
        return False
    if wanted.difference is None:
        return True
    return all(abs(one.difference or Decimal(0)) <= wanted.difference for one in row.seated)


def _order(row: Waiting, wanted: Wanted, own: Strength | None) -> tuple[Any, ...]:
    """The own table first. The best match for the reader is one that he may join, then one that counts, then the nearest."""
    since = row.table.opened_at, row.table.pk
    far = sum(abs(one.difference or Decimal(0)) for one in row.seated) / len(row.seated)
    rating = row.host.strength.rating
    match wanted.order:
        case "nearest" if own is not None:
            key: tuple[Any, ...] = (far,)
        case "highest":
            key = (-rating,)
        case "lowest":
            key = (rating,)
        case "best" if own is not None:
            key = (row.why_not != "", row.not_counted != "", far)
        case _:
            key = ()
    return (not row.own, *key, *since)


def own_business(pool: Pool, reader: Player) -> Own:
    """Six queries at most."""
    seats, players = TableSeat.objects.select_related("player"), Participant.objects.select_related("player")
    concerning = (
        Table.objects.filter(Q(seats__player=reader) | Q(invited=reader) | Q(rematch_of__participants__player=reader))
        .filter(status=Table.Status.WAITING)
        .select_related("host", "invited", "pool")
        .prefetch_related(Prefetch("seats", seats), Prefetch("rematch_of__participants", players))
        .distinct()
    )
    seat, offers, asked = None, [], []
    for table in concerning:
        if all(taken.player_id != reader.pk for taken in table.seats.all()):
            asked.append(table)  # of any pool: he might not look there
        elif table.pool_id != pool.pk:
            continue
        elif table.kind == Kind.TABLE:
            seat = table
        else:
            offers.append(table)
    return Own(
        seat=seat,
        offers=tuple(offers),
        asked=tuple(asked),
        request=PairingRequest.objects.filter(pool=pool, player=reader).select_related("pool").first(),
        playing=tuple(
            Match.objects.filter(pool=pool, status=Match.Status.OPEN, participants__player=reader)
            .prefetch_related(Prefetch("participants", players))
            .order_by("-created_at")[:MOST_PLAYING]
        ),
    )


def started_since(reader: Player, instant: datetime) -> Match | None:
    """The latest match of the reader's that started on this site since an instant, if there is one."""
    begun = Match.objects.filter(status=Match.Status.OPEN, source="", entered_by=None, participants__player=reader)
    return begun.filter(created_at__gte=instant).order_by("-created_at").first()


def tables_by_pool(pools: Sequence[Pool]) -> list[tuple[Pool, int]]:
    """How many tables wait in each pool. One query."""
    waiting = Table.objects.filter(kind=Kind.TABLE, status=Table.Status.WAITING).order_by()
    counts = dict(waiting.values_list("pool").annotate(Count("pk")))
    return [(pool, counts.get(pool.pk, 0)) for pool in pools]


# --- Whether anything has changed ---

STATE = """
    SELECT pool.id, lobby.version, own.version, request.id,
           (SELECT SUM(rating.version) FROM matches_tableseat seat
              JOIN players_rating rating ON rating.player_id = seat.player_id AND rating.pool_id = seat.lobby_id
             WHERE seat.lobby_id = pool.id)
      FROM players_pool pool
      LEFT JOIN matches_lobby lobby ON lobby.pool_id = pool.id
      LEFT JOIN players_rating own ON own.pool_id = pool.id AND own.player_id = %s
      LEFT JOIN matches_pairingrequest request ON request.pool_id = pool.id AND request.player_id = %s
     WHERE pool.slug = %s
"""
"""What the tables of a lobby are shown by: its version, the reader's rating and the ratings of all who sit there."""
SHOWN_FOR = 60
"""Seconds for which an unchanged lobby is shown unchanged: how long a table waits is written in minutes."""


def state_of(slug: str, reader: Player | None) -> tuple[Any, ...]:
    """Differs where the lobby's tables are shown otherwise to this reader. Raises Pool.DoesNotExist. One query."""
    reader_id = reader.pk if reader else 0
    [found] = rows.run((STATE, [reader_id, reader_id, slug]))
    if not found:
        raise Pool.DoesNotExist
    # Not at the same second for everybody: they would all ask for the whole of it at once.
    minute = int(timezone.now().timestamp() + reader_id * 7) // SHOWN_FOR
    return (*found[0], reader_id, minute)
