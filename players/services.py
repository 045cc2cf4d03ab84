"""Writes to players and pools that touch no rating, and how a player is found: by name, by address, by who he has become."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from players import systems
from players.ledger import BATCH, chunks
from players.models import OldAddress, Player, PlayerRecord, Pool, Tier
from players.names import NAME_MAX, clean_name, name_key, name_slug

DEFAULT: Any = object()
"""Stands for the system's default where None has a meaning of its own."""


@transaction.atomic
def create_pool(
    slug: str,
    *,
    name: str,
    system: str,
    parameters: Mapping[str, object] | None = None,
    game: str | None = None,
    shown_decimals: int | None = None,
    provisional_below: int | None = DEFAULT,
) -> Pool:
    """Make a pool; what is not given takes the system's default, tiers included. Raises ValidationError."""
    try:
        known = systems.get(system)
    except systems.UnknownSystem:
        raise ValidationError(
            {
                "system": _("There is no rating system “%(key)s”. Known: %(known)s.")
                % {"key": system, "known": ", ".join(systems.keys())}
            }
        ) from None
    pool = Pool(
        slug=slug,
        name=name,
        system=system,
        parameters=dict(parameters or {}),
        game=game or known.game,
        shown_decimals=known.shown_decimals if shown_decimals is None else shown_decimals,
        provisional_below=known.provisional_below if provisional_below is DEFAULT else provisional_below,
    )
    pool.full_clean()
    pool.save()
    Tier.objects.bulk_create(
        Tier(pool=pool, name=tier.name, threshold=tier.threshold, decays=tier.decays) for tier in known.tiers
    )
    return pool


def create_player(name: str, *, user: AbstractBaseUser | None = None, **fields: Any) -> Player:
    """Make a player; a namesake of one who is there gets a number: Vera (2). Raises ValidationError."""
    return create_players([name], user=user, **fields)[0]


@transaction.atomic
def create_players(names: Iterable[str], *, ids: Sequence[int] | None = None, **fields: Any) -> list[Player]:
    """Make players, in the order of the names, set-based; namesakes get a number. `ids` are theirs where they were taken already.

    Raises ValidationError where a name is empty or too long.
    """
    wanted = [clean_name(name) for name in names]
    for name in wanted:
        if not name or len(name) > NAME_MAX:
            raise ValidationError({"name": _("A name has 1 to %(most)d characters.") % {"most": NAME_MAX}})
    keys = Taken("name_key", wanted, key=name_key)
    slugs = Taken("slug", map(name_slug, wanted))
    made = []
    for name in wanted:
        unique = keys.free(f"{name[: NAME_MAX - 8]} ({number})" if number else name for number in numbered())
        slug = slugs.free(f"{name_slug(unique)}-{number}" if number else name_slug(unique) for number in numbered())
        made.append(Player(name=unique, name_key=name_key(unique), slug=slug, **fields))
    for player, pk in zip(made, ids or (), strict=ids is not None):
        player.pk = pk
    return Player.objects.bulk_create(made, batch_size=BATCH)


def numbered() -> Iterator[int]:
    """Nothing for the first of a name, then 2, 3, …"""
    yield 0
    yield from itertools.count(2)


class Taken:
    """The values of a unique field of Player that are in use, those to be stored next included. An address that was somebody's
    once is in use."""

    def __init__(self, field: str, wanted: Iterable[str], key: Callable[[str], str] = str) -> None:
        self.field, self.key = field, key
        self.sources = [Player.objects.all(), *([OldAddress.objects.all()] if field == "slug" else [])]
        self.in_use = {key(value): False for value in wanted}
        for chunk in chunks(sorted(self.in_use)):
            for rows in self.sources:
                used = rows.filter(**{f"{field}__in": chunk}).values_list(field, flat=True)
                self.in_use.update(dict.fromkeys(used, True))

    def free(self, candidates: Iterable[str]) -> str:
        """The first of the candidates that is free; from now on it is taken. There must be one."""
        value = next(value for value in candidates if self.is_free(value))
        self.in_use[self.key(value)] = True
        return value

    def is_free(self, value: str) -> bool:
        key = self.key(value)
        if key not in self.in_use:
            self.in_use[key] = any(rows.filter(**{self.field: key}).exists() for rows in self.sources)
        return not self.in_use[key]


def players_by_name(names: Iterable[str]) -> dict[str, Player]:
    """The players who are there, by `name_key`. The name of a merged duplicate finds the player whom he belongs to."""
    keys = sorted({name_key(clean_name(name)) for name in names})
    found = (player for chunk in chunks(keys) for player in Player.objects.filter(name_key__in=chunk))
    return {player.name_key: _present(player) for player in found}


def present_players(players: Sequence[Player]) -> list[Player]:
    """Whom these players are by now, in their order: one who was merged into another is that other. One query where none was."""
    ids = sorted({player.pk for player in players})
    merged = {
        player.pk: _present(player)
        for chunk in chunks(ids)
        for player in Player.objects.filter(pk__in=chunk, merged_into__isnull=False)
    }
    return [merged.get(player.pk, player) for player in players]


def _present(player: Player) -> Player:
    while player.merged_into_id is not None:
        player = Player.objects.get(pk=player.merged_into_id)
    return player


def find_by_address(slug: str) -> tuple[Player, bool]:
    """The player of an address, and whether it is his present one; from any other a page redirects.

    Raises Player.DoesNotExist.
    """
    if "\0" in slug:
        raise Player.DoesNotExist
    player = Player.objects.filter(slug=slug).first()
    if player is None:
        player = Player.objects.get(old_addresses__slug=slug)
    shown = _present(player)
    return shown, shown.slug == slug


def rename_player(
    player: Player, name: str, *, reason: str = "", made_by: User | None = None, now: datetime | None = None
) -> Player:
    """Give a player another name: his address follows it, and the old one leads to him. What he played stays as it is.

    Nothing happens where that is his name already. Raises ValidationError where the name is empty, too long or another's, or
    where the player is a merged duplicate.
    """
    now = now or timezone.now()
    try:
        return _rename(player.pk, name, reason, made_by, now)
    except IntegrityError:
        # Somebody took the name or the address between the look at it and the write. It is seen now.
        return _rename(player.pk, name, reason, made_by, now)


@transaction.atomic
def _rename(player_id: int, name: str, reason: str, made_by: User | None, now: datetime) -> Player:
    player = Player.objects.select_for_update(no_key=True, of=("self",)).get(pk=player_id)
    if player.merged_into_id is not None:
        raise ValidationError({"name": merged_message(player)})
    old, player.name = player.name, clean_name(name)
    if player.name == old:
        return player
    if len(player.name) > NAME_MAX:
        raise ValidationError({"name": _("A name has 1 to %(most)d characters.") % {"most": NAME_MAX}})
    player.clean()
    move_to(player, free_address(player), now)
    player.anonymised_at = None
    player.save(update_fields=["name", "name_key", "slug", "anonymised_at"])
    PlayerRecord.objects.create(
        player=player,
        kind=PlayerRecord.Kind.RENAMED,
        details={"name": [old, player.name]},
        reason=reason,
        made_by=made_by,
        made_at=now,
    )
    return player


def merged_message(player: Player) -> str:
    return _("%(name)s was merged into %(keep)s. Change that player, or undo the merge first.") % {
        "name": player.name,
        "keep": _present(player).name,
    }


def free_address(player: Player) -> str:
    """The address that the player's name gives him: one that is his already, now or once, or one that is free."""
    slug = name_slug(player.name)
    taken = Taken("slug", [slug])
    for number in numbered():
        candidate = f"{slug}-{number}" if number else slug
        if candidate == player.slug or player.old_addresses.filter(slug=candidate).exists() or taken.is_free(candidate):
            return candidate
    raise AssertionError("there is always another number")


def move_to(player: Player, slug: str, now: datetime) -> None:
    """Let the player's address be another one, in memory, and keep the one that he leaves."""
    if slug != player.slug:
        OldAddress.objects.filter(slug=slug, player=player).delete()
        OldAddress.objects.create(slug=player.slug, player=player, left_at=now)
        player.slug = slug
