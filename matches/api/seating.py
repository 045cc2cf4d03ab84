"""A game server's tables: opened once for each of its own ids, with players who are made where the key may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, transaction
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from matches.api.resolving import Known, Raced
from matches.api.results import Named
from matches.lobby.models import LIMITS
from matches.lobby.tables import open_table
from matches.models import Table
from matches.terms import AGREED
from matches.words import NOTHING, label_of, value_in_words
from players.api.actors import Actor
from players.api.errors import ApiError, busy
from players.formatting import format_number
from players.locks import lost_race
from players.models import Player, Pool
from players.services import present_players
from players.systems.base import Result

T = TypeVar("T")
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class ToOpen:
    """A table as a server wants it opened; None is no limit."""

    external_id: str
    host: Named
    terms: Result
    limits: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class _One:
    players: tuple[Named]


def with_player(actor: Actor, field: str, named: Named, act: Callable[[Player], T]) -> T:
    """Do something with the player whom a server names, in one transaction with making him, where he is new and the key may.

    Raises Refused with the field where he is not known, and what `act` raises: then nobody is made.
    """
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                known = Known(actor, [_One((named,))])
                player = known.player_of(field, named)
                if known.new:
                    player = known.make([player])[player.pk]
                return act(player)
        except Raced:
            continue
        except (IntegrityError, OperationalError) as error:
            # On PostgreSQL: another request made the same player or table a moment ago, or the two crossed.
            if attempt == ATTEMPTS - 1 or not lost_race(error):
                raise
    raise busy()


def open_for(actor: Actor, pool: Pool, wanted: ToOpen, *, now: datetime) -> Table:
    """Open a table, or find the one that the source has opened under this id. Raises Refused, ValidationError, ApiError (409)."""

    def stored(player: Player) -> Table | None:
        table = Table.objects.select_related("pool", "host").filter(source=actor.source, external_id=wanted.external_id).first()
        if table is not None:
            _check_same(table, pool, player, wanted)
        return table

    def found_or_opened(player: Player) -> Table:
        own = {"source": actor.source, "external_id": wanted.external_id}
        return stored(player) or open_table(pool, player, wanted.terms, now=now, **wanted.limits, **own)  # type: ignore[arg-type]

    try:
        return with_player(actor, "host", wanted.host, found_or_opened)
    except ValidationError:
        # The same request may have opened it a moment ago: then that is the seat he has already.
        table = with_player(actor, "host", wanted.host, stored)
        if table is None:
            raise
        return table


def _check_same(table: Table, pool: Pool, host: Player, wanted: ToOpen) -> None:
    """Raise ApiError (409) where the table says something else than what is wanted."""
    [kept_host] = present_players([table.host])
    kept: dict[str, Any] = {"pool": table.pool.slug, "host": kept_host.pk}
    sent: dict[str, Any] = {"pool": pool.slug, "host": host.pk}
    for name in AGREED:
        kept[name], sent[name] = getattr(table, name), getattr(wanted.terms, name)
    for name in LIMITS:
        kept[name], sent[name] = getattr(table, name), wanted.limits.get(name)
    differing = [name for name in kept if kept[name] != sent[name]]
    if not differing:
        return
    words = {"host": kept_host.name, "pool": table.pool.name}
    fields = [
        {
            "field": name,
            "code": "stored_differs",
            "detail": _("%(field)s: stored is %(stored)s.")
            % {"field": _label(name), "stored": words.get(name) or _value(name, kept)},
        }
        for name in differing
    ]
    labels = ", ".join(_label(name) for name in differing)
    detail = _("Your table %(id)s was opened already and says something else. It differs in: %(fields)s.")
    raise ApiError(409, detail % {"id": wanted.external_id, "fields": labels}, fields=fields, table=table.pk)


def _label(name: str) -> str:
    own = ("host", *LIMITS)
    return capfirst(str(Table._meta.get_field(name).verbose_name)) if name in own else label_of(name)  # type: ignore[union-attr]


def _value(name: str, kept: dict[str, Any]) -> str:
    if name in LIMITS:
        return NOTHING if kept[name] is None else format_number(kept[name], 0)
    return value_in_words(name, kept, {})
