"""Tables: whoever waits for opponents, and the match that starts when the last seat is taken.

A player has at most one seat at the open tables of a pool. Whoever's match starts waits nowhere any more: his seats at other open
tables and his requests to be paired go. Challenges, invitation links and rematches stay, since they can wait for days. A match
that is not finished keeps nobody from the next one: its result may be waiting for a confirmation.

Locks: tables by id, requests to be paired, open matches, players, and at the end the lobbies.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from matches.completion import save_open
from matches.entries import check_terms
from matches.inbox.models import Message
from matches.inbox.telling import tell
from matches.lobby.admission import strengths_of, why_not
from matches.lobby.row import lobby_of, touch
from matches.models import Match, PairingRequest, Participant, Table, TableSeat
from matches.push import events
from matches.terms import terms_of
from players.locks import hold_players, require_transaction
from players.models import Player, Pool
from players.systems.base import Kind, Refused, Result

Status, Closed = Table.Status, Table.Closed
TOKEN_BYTES = 24
KEPT = timedelta(days=30)
"""For so long a closed table is kept: whoever made a challenge can see what became of it."""
ASKED_A_DAY = 3
"""So often in 24 hours somebody may ask the same player, or for the same rematch, in vain: each time a mail goes out."""


# --- A match starts ---


def start_match(pool: Pool, terms: Result, players: Sequence[Player], kind: Kind | str) -> Match:
    """Start a match: it is stored as not finished, its participants in the order given, its kind by how it came about.

    The one way by which a match comes about on the site itself. `terms` are length, deals, stake and real money; how it will end
    is not among them. A merged duplicate is seated as the player whom he was merged into. Raises Refused.
    """
    if kind not in tuple(Kind):
        raise Refused("kind", "unknown")
    return save_open(pool, players=players, terms=replace(terms, kind=str(kind)))


def lock_tables(player_ids: Collection[int], *table_ids: int) -> dict[int, Table]:
    """The open tables at which the players sit, and these others, locked in the order of ids. With their pools."""
    require_transaction()
    seated = TableSeat.objects.filter(player__in=player_ids, lobby__isnull=False).values_list("table_id", flat=True)
    ids = sorted({*seated, *table_ids})
    locked = Table.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=ids).order_by("pk")
    return {table.pk: table for table in locked.select_related("pool")}


def stop_waiting(player_ids: Collection[int], tables: Collection[Table], now: datetime) -> set[int]:
    """Take players whose match has started from these locked tables and from matchmaking; the ids of the lobbies that changes."""
    changed = {table.pool_id for table in tables if table.status == Status.WAITING and _unseat(table, player_ids, now)}
    PairingRequest.objects.filter(player__in=player_ids).delete()
    return changed


# --- Opening a table ---


def open_table(
    pool: Pool,
    host: Player,
    terms: Result,
    *,
    max_difference: int | None = None,
    min_experience: int | None = None,
    max_experience: int | None = None,
    source: str = "",
    external_id: str = "",
    now: datetime | None = None,
) -> Table:
    """Open a table in the lobby, with its host on the first seat.

    Others may join whose rating differs by at most `max_difference` points from the host's, and whose experience is in the range;
    None is no limit. `source` and `external_id` name the table of a game server. Raises Refused for the terms, ValidationError
    where he has a seat in this lobby already.
    """
    limits = {"max_difference": max_difference, "min_experience": min_experience, "max_experience": max_experience}
    return _open(pool, host, terms, Kind.TABLE, now, source=source, external_id=external_id, **limits)


def challenge(pool: Pool, host: Player, invited: Player, terms: Result, *, now: datetime | None = None) -> Table:
    """Challenge a player to a match. Raises Refused, and ValidationError where there is such a challenge already."""
    if invited == host:
        raise Refused("players", "same_player")
    if pool.rating_system.seats != 2:
        raise ValidationError(_("A challenge is for two. Here, send an invitation link to those with whom you want to play."))
    if invited.merged_into_id is not None or invited.anonymised_at is not None:
        raise ValidationError(_("This player cannot be challenged."))
    return _open(pool, host, terms, Kind.CHALLENGE, now, invited=invited)


def invite(pool: Pool, host: Player, terms: Result, *, now: datetime | None = None) -> Table:
    """Make an invitation: whoever has its token may take a seat. Raises Refused, and ValidationError where he has one already."""
    return _open(pool, host, terms, Kind.INVITATION, now, token=secrets.token_urlsafe(TOKEN_BYTES))


def offer_rematch(match: Match, player: Player, *, now: datetime | None = None) -> Table:
    """Offer the others of a finished match another one on the same terms, or take up the offer that is there.

    Raises ValidationError where he did not play it, where it is not finished, or where there was a rematch.
    """
    if match.status != Match.Status.COMPLETED:
        raise ValidationError(_("A rematch is offered when the match is finished and its result confirmed."), code="unfinished")
    if not Participant.objects.filter(match=match, player=player).exists():
        raise ValidationError(_("Only those who played a match can offer a rematch."), code="not_a_player")
    offered = Table.objects.filter(rematch_of=match).exclude(status=Status.CLOSED)
    table = offered.first()
    if table is None:
        try:
            return _open(match.pool, player, terms_of(match, ""), Kind.REMATCH, now, rematch_of=match)
        except IntegrityError:  # another of them offered it a moment ago
            table = offered.first()
            if table is None:
                raise
    return take_seat(table.pk, player, now=now)


ALREADY: dict[str, Callable[[], str]] = {
    "seat_once_per_lobby": lambda: _("You have a seat at a table of this lobby already. Leave it first."),
    "table_challenge_once": lambda: _("You have challenged this player already, and he has not answered yet."),
    "table_invitation_once": lambda: _("You have an invitation link in this pool already. Withdraw it to make another one."),
}
"""What the database keeps from being there twice, by the name of the constraint."""


@transaction.atomic
def _open(pool: Pool, host: Player, terms: Result, kind: Kind, now: datetime | None, **fields: Any) -> Table:
    now = now or timezone.now()
    check_terms(pool, replace(terms, kind=kind.value))
    if hold_players({host.pk, *([fields["invited"].pk] if "invited" in fields else [])}):
        raise ValidationError(_("This player was merged into another one."), code="merged")
    waiting = Table.objects.filter(pool=pool, host=host, kind=kind.value, status=Status.WAITING)
    if kind == Kind.TABLE and TableSeat.objects.filter(lobby=pool, player=host).exists():
        raise already("seat_once_per_lobby")
    if kind == Kind.CHALLENGE and waiting.filter(invited=fields["invited"]).exists():
        raise already("table_challenge_once")
    if kind == Kind.INVITATION and waiting.exists():
        raise already("table_invitation_once")
    agreed = {name: getattr(terms, name) for name in ("length", "deals", "stake", "real_money")}
    _check_patience(host, kind, fields, now)
    with refusing_a_second():
        table = Table.objects.create(pool=pool, host=host, kind=kind.value, opened_at=now, changed_at=now, **agreed, **fields)
        _seat(table, host, 1, now).save()
    events.table_changed(table, [host.pk], now)
    asked = _asked(table)
    if asked:
        details = {"table": table.pk, "kind": table.kind}
        tell(asked, Message.Kind.ASKED, f"table {table.pk}", pool, now=now, details=dict.fromkeys(asked, details))
    _touch(table)
    return table


def _check_patience(host: Player, kind: Kind, fields: Mapping[str, Any], now: datetime) -> None:
    """Raise ValidationError where he has asked the same again and again, and it was declined or he took it back himself."""
    same = {name: fields[name] for name in ("invited", "rematch_of") if name in fields}
    if not same:
        return
    lately = Table.objects.filter(host=host, kind=kind.value, status=Status.CLOSED, opened_at__gt=now - timedelta(days=1), **same)
    if lately.count() >= ASKED_A_DAY:
        raise ValidationError(
            _("You have asked for this %(count)d times within a day. Ask again tomorrow.") % {"count": ASKED_A_DAY},
            code="too_often",
        )


def _asked(table: Table) -> list[int]:
    """Whom a challenge or a rematch asks, by id."""
    if table.kind == Kind.CHALLENGE and table.invited_id is not None:
        return [table.invited_id]
    if table.kind == Kind.REMATCH:
        others = Participant.objects.filter(match=table.rematch_of_id).exclude(player=table.host_id)
        return list(others.order_by("player").values_list("player_id", flat=True))
    return []


def already(constraint: str) -> ValidationError:
    return ValidationError(ALREADY[constraint](), code="already")


@contextmanager
def refusing_a_second() -> Iterator[None]:
    """Raise ValidationError for what another request has made since this one looked. (SQLite, with one writer at a time, has no
    such gap.)"""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        if constraint in ALREADY:
            raise already(constraint) from error
        raise


def _seat(table: Table, player: Player, number: int, now: datetime) -> TableSeat:
    lobby_id = table.pool_id if table.kind == Kind.TABLE else None
    return TableSeat(table=table, player=player, number=number, lobby_id=lobby_id, taken_at=now)


def _touch(table: Table) -> None:
    touch([table.pool_id])


# --- Sitting down ---


@transaction.atomic
def take_seat(table_id: int, player: Player, *, token: str = "", now: datetime | None = None) -> Table:
    """Take a seat. With the last one the match starts; it is the returned table's `match`.

    Whoever has a seat already, or plays the match that has started, is answered the table as it is. `token` is that of an
    invitation. Raises Table.DoesNotExist where there is no such table for him, ValidationError where he may not sit down, Refused
    where the pool takes such a match no longer.
    """
    now = now or timezone.now()
    at_table = TableSeat.objects.filter(table=table_id).values_list("player_id", flat=True)
    locked = lock_tables({player.pk, *at_table}, table_id)
    table = locked.pop(table_id, None)
    if table is None or not is_for(table, player, token):
        raise Table.DoesNotExist
    if table.status != Status.WAITING:
        if table.match_id and Participant.objects.filter(match=table.match_id, player=player).exists():
            return table
        raise ValidationError(*_too_late(table))
    if any(other.status == Status.STARTED for other in locked.values()):
        raise ValidationError(_("Somebody has just sat down at another table: that match has started."), code="started")
    seats = list(table.seats.select_related("player"))
    if all(seat.player_id != player.pk for seat in seats):
        if hold_players({player.pk}):
            raise ValidationError(_("This player was merged into another one."), code="merged")
        _check_may_join(table, player)
        taken = {seat.number for seat in seats}
        number = next(number for number in range(1, len(seats) + 2) if number not in taken)
        seats.append(_seat(table, player, number, now))
        if len(seats) < table.pool.rating_system.seats:
            _sit(table, seats, now)
        else:
            _start(table, seats, locked.values(), now)
    return table


def is_for(table: Table, player: Player | None, token: str = "") -> bool:
    """Whether the player (None: anybody) may know of the table at all. At most one query."""
    if table.kind == Kind.TABLE:
        return True
    if table.kind == Kind.INVITATION and secrets.compare_digest((table.token or "").encode(), token.encode()):
        return True
    if player is None:
        return False
    if table.kind == Kind.REMATCH:
        return Participant.objects.filter(match=table.rematch_of_id, player=player).exists()
    if table.kind == Kind.INVITATION:
        return TableSeat.objects.filter(table=table, player=player).exists()
    return player.pk in (table.host_id, table.invited_id) or not {table.host_id, table.invited_id}.isdisjoint(player.ids)


def find_table(player: Player | None, *, table_id: int | None = None, token: str = "") -> Table:
    """A table by its id, or by the token of an invitation. Raises Table.DoesNotExist where the player (None: anybody) may not
    know of it."""
    tables = Table.objects.select_related("pool", "host", "invited", "match")
    if table_id is not None:
        table = tables.get(pk=table_id)
    elif "\0" in token or not token:
        raise Table.DoesNotExist
    else:
        table = tables.get(token=token)
    if not is_for(table, player, token):
        raise Table.DoesNotExist
    return table


def _too_late(table: Table) -> tuple[str, str]:
    if table.status == Status.STARTED:
        return _("Somebody else took the last seat a moment ago."), "full"
    return _("This table is closed."), "closed"


def _check_may_join(table: Table, player: Player) -> None:
    if table.kind != Kind.TABLE:
        return
    strengths = strengths_of(table.pool, (table.host_id, player.pk))
    reason = why_not(table.pool, table, strengths[table.host_id], strengths[player.pk])
    if reason:
        raise ValidationError(reason, code="not_admitted")


def _sit(table: Table, seats: Sequence[TableSeat], now: datetime) -> None:
    """Keep the last of the seats at a table that waits for more."""
    seat = seats[-1]
    if seat.lobby_id and TableSeat.objects.filter(lobby=seat.lobby_id, player=seat.player_id).exists():
        raise already("seat_once_per_lobby")
    with refusing_a_second():
        seat.save()
    table.changed_at = now
    table.save(update_fields=["changed_at"])
    events.table_changed(table, _by_seat(seats), now)
    _touch(table)


def _by_seat(seats: Sequence[TableSeat]) -> list[int]:
    return [seat.player_id for seat in sorted(seats, key=lambda seat: seat.number)]


def _start(table: Table, seats: Sequence[TableSeat], others: Collection[Table], now: datetime) -> None:
    """Start the match of a locked table whose seats are all taken. `others` are the locked tables where its players wait too."""
    players = [seat.player for seat in sorted(seats, key=lambda seat: seat.number)]
    changed = stop_waiting([player.pk for player in players], others, now)
    table.match = start_match(table.pool, table.terms, players, table.kind)
    table.status, table.changed_at = Status.STARTED, now
    table.save(update_fields=["match", "status", "changed_at"])
    events.table_changed(table, _by_seat(seats), now)
    table.seats.all().delete()
    touch(changed | {table.pool_id})


# --- Getting up ---


@transaction.atomic
def leave_table(table_id: int, player: Player, *, now: datetime | None = None) -> None:
    """Give up a seat. An open table that its host leaves passes on to whoever has sat there longest, and closes where nobody has;
    a challenge, an invitation or a rematch goes with whoever made it.

    Nothing happens where he has no seat there. Raises ValidationError where the match has started, Table.DoesNotExist.
    """
    table = _locked(table_id)
    if table.status == Status.STARTED and Participant.objects.filter(match=table.match_id, player=player).exists():
        raise ValidationError(_("Somebody took the last seat a moment ago: the match has started."), code="started")
    if table.status == Status.WAITING and _unseat(table, [player.pk], now or timezone.now(), Closed.LEFT):
        _touch(table)


@transaction.atomic
def decline(table_id: int, player: Player, *, now: datetime | None = None) -> None:
    """Turn down a challenge or a rematch that another one offers. Nothing happens where it is closed already.

    Raises ValidationError where the match has started, Table.DoesNotExist where there is no such offer to him.
    """
    table = _locked(table_id)
    if table.kind not in (Kind.CHALLENGE, Kind.REMATCH) or table.host_id == player.pk or not is_for(table, player):
        raise Table.DoesNotExist
    if table.status == Status.STARTED:
        raise ValidationError(_("The match has started."), code="started")
    if table.status == Status.WAITING:
        _close(table, Closed.DECLINED, now or timezone.now())
        _touch(table)


@transaction.atomic
def close_table(table_id: int, *, because: str = Closed.STAFF, now: datetime | None = None) -> bool:
    """Close a table as an organiser or a game server; False where it waited no more."""
    table = _locked(table_id)
    if table.status != Status.WAITING:
        return False
    _close(table, because, now or timezone.now())
    _touch(table)
    return True


@transaction.atomic
def withdraw(player_id: int, now: datetime) -> None:
    """Take a player from every table where he waits or is waited for, and from matchmaking."""
    seated = TableSeat.objects.filter(player=player_id).values_list("table_id", flat=True)
    challenged = Table.objects.filter(invited=player_id, status=Status.WAITING).values_list("pk", flat=True)
    tables = lock_tables([player_id], *seated, *challenged).values()
    changed = stop_waiting([player_id], tables, now)
    for table in tables:
        if table.invited_id == player_id and table.status == Status.WAITING:
            _close(table, Closed.DECLINED, now)
            changed.add(table.pool_id)
    touch(changed)


def waits(player_id: int) -> bool:
    """Whether there is a table where the player waits or is waited for, or he waits to be paired."""
    challenged = Table.objects.filter(invited=player_id, status=Status.WAITING)
    return any(
        rows.exists()
        for rows in (TableSeat.objects.filter(player=player_id), challenged, PairingRequest.objects.filter(player=player_id))
    )


def _locked(table_id: int) -> Table:
    return Table.objects.select_for_update(no_key=True, of=("self",)).get(pk=table_id)


def _unseat(table: Table, player_ids: Collection[int], now: datetime, because: str = Closed.PLAYING) -> bool:
    """Take the players from a locked table that waits; whether one of them sat there."""
    seats = list(table.seats.order_by("taken_at", "number"))
    leaving = [seat.pk for seat in seats if seat.player_id in set(player_ids)]
    if not leaving:
        return False
    left = [seat for seat in seats if seat.pk not in leaving]
    if not left or (table.kind != Kind.TABLE and table.host_id in player_ids):
        _close(table, because, now)
        return True
    TableSeat.objects.filter(pk__in=leaving).delete()
    if table.host_id not in {seat.player_id for seat in left}:
        table.host_id = left[0].player_id
    table.changed_at = now
    table.save(update_fields=["host", "changed_at"])
    events.table_changed(table, _by_seat(left), now)
    return True


def _close(table: Table, because: str, now: datetime) -> None:
    table.seats.all().delete()
    table.status, table.closed_because, table.changed_at = Status.CLOSED, because, now
    table.save(update_fields=["status", "closed_because", "changed_at"])
    events.table_changed(table, [], now)


# --- What closes by itself ---


def close_stale(now: datetime) -> int:
    """Close the tables where nobody came for too long, and free the seats of those who play meanwhile; how many tables.

    What somebody holds at this moment is left to the next time. Tables closed long ago are forgotten.
    """
    closed = 0
    for pool in Pool.objects.order_by("pk"):
        lobby = lobby_of(pool)
        waiting = Table.objects.filter(pool=pool, status=Status.WAITING)
        stale = waiting.filter(kind=Kind.TABLE, changed_at__lt=now - timedelta(minutes=lobby.table_minutes)) | waiting.exclude(
            kind=Kind.TABLE
        ).filter(changed_at__lt=now - timedelta(hours=lobby.invitation_hours))
        for table_id in stale.order_by("pk").values_list("pk", flat=True):
            closed += _close_if(stale, table_id, now)
    for table_id, player_id in list(_playing_elsewhere()):
        with transaction.atomic():
            table = _locked(table_id)
            if table.status == Status.WAITING and _unseat(table, [player_id], now):
                _touch(table)
    Table.objects.filter(status=Status.CLOSED, changed_at__lt=now - KEPT).delete()
    return closed


@transaction.atomic
def _close_if(stale: QuerySet[Table], table_id: int, now: datetime) -> int:
    table = stale.select_for_update(skip_locked=True, no_key=True, of=("self",)).filter(pk=table_id).first()
    if table is None:
        return 0
    _close(table, Closed.STALE, now)
    _touch(table)
    return 1


def _playing_elsewhere() -> QuerySet[Any]:
    """(table, player) of the seats in lobbies whose player began a match here since he sat down. A start takes them along; this
    finds those that were taken at that very moment."""
    begun = Participant.objects.filter(
        player=OuterRef("player"),
        match__status=Match.Status.OPEN,
        match__created_at__gt=OuterRef("taken_at"),
        match__source="",
        match__entered_by=None,
    )
    return TableSeat.objects.filter(Exists(begun), lobby__isnull=False).values_list("table_id", "player_id")
