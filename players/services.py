"""Writes to players and pools that touch no rating."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from players import systems
from players.ledger import BATCH, chunks
from players.models import Player, Pool, Tier
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
def create_players(names: Iterable[str], **fields: Any) -> list[Player]:
    """Make players, in the order of the names, set-based; namesakes get a number.

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
        unique = keys.free(f"{name[: NAME_MAX - 8]} ({number})" if number else name for number in _numbers())
        slug = slugs.free(f"{name_slug(unique)}-{number}" if number else name_slug(unique) for number in _numbers())
        made.append(Player(name=unique, name_key=name_key(unique), slug=slug, **fields))
    return Player.objects.bulk_create(made, batch_size=BATCH)


def _numbers() -> Iterator[int]:
    """Nothing for the first of a name, then 2, 3, …"""
    yield 0
    yield from itertools.count(2)


class Taken:
    """The values of a unique field of Player that are in use, those to be stored next included."""

    def __init__(self, field: str, wanted: Iterable[str], key: Callable[[str], str] = str) -> None:
        self.field, self.key = field, key
        self.in_use = {key(value): False for value in wanted}
        for chunk in chunks(sorted(self.in_use)):
            rows = Player.objects.filter(**{f"{field}__in": chunk}).values_list(field, flat=True)
            self.in_use.update(dict.fromkeys(rows, True))

    def free(self, candidates: Iterable[str]) -> str:
        """The first of the candidates that is free; from now on it is taken. There must be one."""
        value = next(value for value in candidates if not self._is_in_use(self.key(value)))
        self.in_use[self.key(value)] = True
        return value

    def _is_in_use(self, value: str) -> bool:
        if value not in self.in_use:
            self.in_use[value] = Player.objects.filter(**{self.field: value}).exists()
        return self.in_use[value]


def players_by_name(names: Iterable[str]) -> dict[str, Player]:
    """The players who are there, by `name_key`."""
    keys = sorted({name_key(clean_name(name)) for name in names})
    return {player.name_key: player for chunk in chunks(keys) for player in Player.objects.filter(name_key__in=chunk)}
