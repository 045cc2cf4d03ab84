"""Whom a server means: players by id, by name, or by the server's own ids; those who are not known yet are made with the first
result, where the key may."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from matches.api.results import Named
from players.api.actors import Actor
from players.api.models import ExternalPlayer
from players.api.reading import Unfit
from players.ledger import chunks
from players.models import Player
from players.names import name_key
from players.services import create_players, players_by_name, present_players


class Raced(Exception):
    """Somebody else made a player of a name that was free when it was looked up."""


class Names(Protocol):
    """What names players: a result, say."""

    @property
    def players(self) -> Sequence[Named]: ...


class Known:
    """The players whom results name. Those to be made are unsaved, with ids below 0, until `make` has stored them.

    At most one query for each way of naming players, and one where some of them were merged.
    """

    def __init__(self, actor: Actor, sent: Iterable[Names], *, may_create: bool = True) -> None:
        self.actor, self.may_create = actor, may_create and actor.may_create_players
        named = {one for row in sent for one in row.players}
        self.by_id = self._by_id({one.id for one in named if one.id is not None})
        self.by_external = self._by_external({one.external_id for one in named if one.external_id})
        names = {one.name for one in named if one.name and not one.external_id}
        self.by_name = players_by_name(names) if names else {}
        self.new: dict[Named, Player] = {}

    @staticmethod
    def _by_id(ids: set[int]) -> dict[int, Player]:
        found = {player.pk: player for chunk in chunks(sorted(ids)) for player in Player.objects.filter(pk__in=chunk)}
        return dict(zip(found, _present(list(found.values())), strict=True))

    def _by_external(self, ids: set[str]) -> dict[str, Player]:
        rows = [
            row
            for chunk in chunks(sorted(ids))
            for row in ExternalPlayer.objects.filter(source=self.actor.source, external_id__in=chunk).select_related("player")
        ]
        players = _present([row.player for row in rows])
        return {row.external_id: player for row, player in zip(rows, players, strict=True)}

    def players_of(self, sent: Names) -> list[Player]:
        """The players of a result. Raises Refused, with the path to whoever is not known."""
        return [self.player_of(f"players[{index}]", named) for index, named in enumerate(sent.players)]

    def player_of(self, where: str, named: Named) -> Player:
        """Raises Refused, with `where` as the path to him."""
        if named.id is not None:
            if (found := self.by_id.get(named.id)) is None:
                raise Unfit(where, "no_player", name=named.id)
            return found
        found = self.by_external.get(named.external_id) if named.external_id else self.by_name.get(name_key(named.name))
        return found or self._new(where, named)

    def _new(self, where: str, named: Named) -> Player:
        if named.external_id and not named.name:
            raise Unfit(where, "name_for_new", name=named.external_id)
        if not self.may_create:
            raise Unfit(where, "not_created", name=named.name)
        # The server's id tells players apart; without one, the name does.
        key = Named(external_id=named.external_id) if named.external_id else Named(name=name_key(named.name))
        return self.new.setdefault(key, Player(pk=-1 - len(self.new), name=named.name))

    def make(self, players: Sequence[Player]) -> dict[int, Player]:
        """Store those of the players who are new; by their ids so far. In a transaction. Raises Raced.

        A name that is somebody's gets a number where the server's own id says that this is somebody else.
        """
        wanted = {key: player for key, player in self.new.items() if player in players}
        made = create_players(player.name for player in wanted.values())
        for key, player in zip(wanted, made, strict=True):
            if not key.external_id and player.name_key != key.name:
                raise Raced
        ids = [
            ExternalPlayer(source=self.actor.source, external_id=key.external_id, player=player)
            for key, player in zip(wanted, made, strict=True)
            if key.external_id
        ]
        ExternalPlayer.objects.bulk_create(ids)
        return {before.pk: player for before, player in zip(wanted.values(), made, strict=True)}


def _present(players: list[Player]) -> list[Player]:
    return present_players(players) if any(player.merged_into_id is not None for player in players) else players
