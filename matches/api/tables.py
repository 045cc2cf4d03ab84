"""Tables of game servers: opened for a player, filled, left and closed, by the services of the site's own lobby.

A server has to do with the tables of its own source alone; everybody may read any open table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample
from rest_framework.response import Response

from matches.api import table_shapes as shapes
from matches.api.results import TERMS, own_id, player_named
from matches.api.seating import ToOpen, open_for, with_player
from matches.lobby import tables
from matches.lobby.models import LIMITS
from matches.models import Participant, Table, TableSeat
from matches.terms import AGREED
from players.api import reading
from players.api.actors import Actor, actor_of, reader_of, source_of
from players.api.answers import Json, euros, instant
from players.api.answers import player as player_answer
from players.api.base import ApiView, named_pool
from players.api.errors import ApiError, forbidden, not_found
from players.api.reading import Reader, Unfit, Unfits, read_object, read_query
from players.api.schema import WRITE_ERRORS, readable
from players.api.schema import described as documented
from players.models import Player
from players.permissions import stakes_for
from players.systems.base import EXPERIENCE_LIMIT, RATING_LIMIT, Kind, Result

WRITES = (*WRITE_ERRORS, 409)


def _most(most: int) -> Reader:
    return lambda name, value: reading.whole(name, value, 0, most)


OPENED: dict[str, Reader] = {
    "pool": lambda name, value: reading.text(name, value, 50),
    "external_id": own_id,
    "host": player_named,
    **{name: TERMS[name] for name in AGREED},
    "max_difference": _most(int(RATING_LIMIT)),
    "min_experience": _most(EXPERIENCE_LIMIT),
    "max_experience": _most(EXPERIENCE_LIMIT),
}
EXAMPLES = [
    OpenApiExample(
        "a match to 5 for players within 200 points",
        value={
            "pool": "fibs",
            "external_id": "table-81",
            "host": {"external_id": "u77", "name": "Vera"},
            "length": 5,
            "max_difference": 200,
        },
        request_only=True,
    ),
    OpenApiExample(
        "for money",
        value={
            "pool": "crowns-cup",
            "external_id": "table-82",
            "host": {"id": 12},
            "length": 7,
            "stake": 10,
            "real_money": True,
        },
        request_only=True,
    ),
]
SITS_DOWN = [OpenApiExample("a player sits down", value={"player": {"external_id": "u31", "name": "Didrik"}}, request_only=True)]


def find(pk: int) -> Table:
    """An open table, with its pool and host. Raises ApiError (404)."""
    table = Table.objects.select_related("pool", "host").filter(pk=pk, kind=Kind.TABLE).first()
    if table is None:
        raise not_found(_("There is no such table."))
    return table


def own_table(pk: int, actor: Actor) -> Table:
    """A table of the actor's source. Raises ApiError (404, 403)."""
    table = find(pk)
    actor.require("lobby", table.pool)
    if table.source != actor.source:
        raise forbidden(_("This table did not come from your source."))
    return table


def answer(table: Table, request: HttpRequest) -> Json:
    """The table as it is stored, as the sender may see it. At most three queries beyond its own."""
    seats: list[Any] = list(TableSeat.objects.filter(table=table).select_related("player").order_by("number"))
    if table.match_id is not None:
        seats = list(Participant.objects.filter(match=table.match_id).select_related("player").order_by("seat"))
    own = bool(table.external_id) and table.source == source_of(request)
    stakes = stakes_for(reader_of(request), table.pool)
    over = table.match_id is not None
    shows_stake = own or (stakes.of(seat.player for seat in seats) if over else stakes.of_tables)
    closed = table.status == Table.Status.CLOSED
    return {
        "id": table.pk,
        "page": table.get_absolute_url(),
        "pool": table.pool.slug,
        "external_id": table.external_id if own else None,
        "status": str(table.status),
        "closed_because": {"code": table.closed_because, "detail": table.get_closed_because_display()} if closed else None,
        "match": table.match_id,
        "host": player_answer(table.host),
        "players": [player_answer(seat.player) for seat in seats],
        "seats": table.pool.rating_system.seats,
        "length": table.length,
        "deals": table.deals,
        "stake": euros(table.stake) if shows_stake else None,
        "stake_hidden": table.stake is not None and not shows_stake,
        "real_money": table.real_money,
        **{name: getattr(table, name) for name in LIMITS},
        "opened_at": instant(table.opened_at),
    }


class _Writes(ApiView):
    rate = "write"

    def respond(
        self, request: HttpRequest, field: str, act: Callable[[], Any], table: int | None = None, status: int = 200
    ) -> Any:
        """What `act` makes of a table. Raises ApiError with what the lobby has against it."""
        try:
            made = act()
        except ValidationError as error:
            raise _refused(error, field, table) from None
        except Table.DoesNotExist:
            raise not_found(_("There is no such table.")) from None
        return Response(answer(find(made.pk if table is None else table), request), status=status)


def _refused(error: ValidationError, field: str, table: int | None) -> ApiError:
    [detail] = error.messages
    code = str(getattr(error, "code", None) or "refused")
    fields = [{"field": field, "code": code, "detail": detail}]
    return ApiError(409, detail, code=code, fields=fields, table=table)


class Tables(_Writes):
    @documented(
        "Open a table",
        "Opens a table in the pool's lobby with a player on its first seat. Players of the site can sit down at it too. The same "
        "request again, also ten at once, opens no second one and answers the table as it is by then; another one under the same "
        "external_id is a conflict. A player has one seat in a lobby.",
        {201: shapes.TableAnswer},
        tag="lobby",
        errors=WRITES,
        request=shapes.TableSent,
        shapes={409: shapes.TableRefused},
        examples=EXAMPLES,
        operation_id="tables_create",
    )
    def post(self, request: Any) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, OPENED, required=("pool", "external_id", "host"))
        pool = named_pool(values)
        actor.require("lobby", pool)
        limits = {name: values.get(name) for name in LIMITS}
        low, high = limits["min_experience"], limits["max_experience"]
        if low is not None and high is not None and low > high:
            raise Unfits([("max_experience", Unfit("max_experience", "below_least"))])
        terms = Result(**{name: values[name] for name in AGREED if name in values})
        wanted = ToOpen(values["external_id"], values["host"], terms, limits)
        return self.respond(request, "host", lambda: open_for(actor, pool, wanted, now=timezone.now()), status=201)


class TableDetail(_Writes):
    rates = {"GET": "read"}
    max_age = 1

    @readable(
        "A table",
        "Who sits there, on which terms, and the match that has started. An open table that nobody came to is kept for 30 days "
        "after it has closed.",
        shapes.TableAnswer,
        tag="lobby",
        errors=(404,),
        operation_id="tables_retrieve",
    )
    def get(self, request: HttpRequest, table: int) -> Response:
        read_query(request.GET, {})
        return Response(answer(find(table), request))

    @documented(
        "Close a table",
        "It is gone from the lobby. One that is closed already stays as it is; one whose match has started is a conflict: that "
        "match is completed or called off.",
        {200: shapes.TableAnswer},
        tag="lobby",
        errors=(*WRITES, 404),
        shapes={409: shapes.TableRefused},
        operation_id="tables_close",
    )
    def delete(self, request: Any, table: int) -> Response:
        own_table(table, actor_of(request))
        tables.close_table(table, because=Table.Closed.SERVER)
        found = find(table)
        if found.status == Table.Status.STARTED:
            raise ApiError(409, _("The match has started."), code="started", table=table)
        return Response(answer(found, request))


class Seats(_Writes):
    @documented(
        "Sit down",
        "A player takes a seat. With the last one the match starts: `status` is `started`, and `match` is the id under which its "
        "result is posted. Who sits there already, or plays that match, is answered the table as it is. His seats at other open "
        "tables go once his match starts.",
        {200: shapes.TableAnswer},
        tag="lobby",
        errors=(*WRITES, 404),
        request=shapes.SitsDownSent,
        shapes={409: shapes.TableRefused},
        examples=SITS_DOWN,
        operation_id="tables_sit_down",
    )
    def post(self, request: Any, table: int) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, {"player": player_named}, required=("player",))
        own_table(table, actor)
        now = timezone.now()

        def sit(player: Player) -> Table:
            return tables.take_seat(table, player, now=now)

        return self.respond(request, "player", lambda: with_player(actor, "player", values["player"], sit), table)


class Seat(_Writes):
    @documented(
        "Get up",
        "A player gives his seat up. Where he was the host, the table is that of whoever has sat there longest, and closes where "
        "nobody has. Nothing happens where he has no seat there; once the match has started it is a conflict.",
        {200: shapes.TableAnswer},
        tag="lobby",
        errors=(*WRITES, 404),
        shapes={409: shapes.TableRefused},
        operation_id="tables_get_up",
    )
    def delete(self, request: Any, table: int, player: int) -> Response:
        own_table(table, actor_of(request))
        who = Player.objects.filter(pk=player).first()
        if who is None:
            raise not_found(_("There is no such player."))
        return self.respond(request, "player", lambda: tables.leave_table(table, who), table)
