"""Who may see and correct what, pool by pool.

Superusers, and staff with the Django permission in question, may act in all pools. An organiser of a pool may do there what
ORGANISERS_MAY names, and nothing anywhere else. Services check nothing: whoever calls them asks here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from players.models import Organiser, Pool

AnyUser = User | AnonymousUser

SEE, CORRECT, ENTER = "matches.view_match", "matches.change_match", "matches.add_match"
SET_PARAMETERS = "players.change_pool"
ATTACH_LOGINS = "players.change_player"
CHANGE_PLAYERS = "players.change_player"
ORGANISERS_MAY = frozenset({SEE, CORRECT, ENTER, "matches.view_revision", "players.view_rating", "players.view_ratingchange"})
"""What concerns one pool alone. Its rules, and players, who may play in several, are not among it."""


def may_everywhere(user: AnyUser, permission: str) -> bool:
    """Whether the user has the permission in all pools. Nobody has any whose account is switched off."""
    return user.is_active and (user.is_superuser or (user.is_staff and user.has_perm(permission)))


def may(user: AnyUser, permission: str, pool: Pool) -> bool:
    """Whether the user has the permission in this pool. At most one query, besides Django's own for the permissions."""
    return may_everywhere(user, permission) or pools_for(user, permission).filter(pk=pool.pk).exists()


def can_see(user: AnyUser, pool: Pool) -> bool:
    """Whether staff may look at the pool's matches, with what only staff sees of them."""
    if may_everywhere(user, SEE) or may_everywhere(user, CORRECT):
        return True
    # What an organiser may, he may by one row.
    return user.is_active and organises(user, pool)


def organises(user: AnyUser, pool: Pool) -> bool:
    """Whether the user is among the pool's organisers. At most one query: none where whoever read the pool has looked."""
    if pool.organised_by is not None and pool.organised_by[0] == user.pk:
        return pool.organised_by[1]
    return Organiser.objects.filter(pool=pool, user=user.pk).exists()


def pools_for(user: AnyUser, permission: str = CORRECT) -> QuerySet[Pool]:
    """The pools in which the user has the permission."""
    if may_everywhere(user, permission):
        return Pool.objects.all()
    if user.is_active and permission in ORGANISERS_MAY:
        return Pool.objects.filter(organisers__user=user)
    return Pool.objects.none()


class HasLogin(Protocol):
    """A player, or so much of one as was read."""

    @property
    def user_id(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class StakeSight:
    """What a reader may see of the stakes of a pool: the stakes themselves, and whatever is a function of one alone (the stake
    factor, a rake). Pages, lists, exports and answers of programs all ask here; `stakes_for` makes one."""

    all: bool
    user_id: int | None = None

    def of(self, players: Iterable[HasLogin]) -> bool:
        """Whether he sees the stake of a match of these players."""
        return self.all or (self.user_id is not None and any(player.user_id == self.user_id for player in players))

    @property
    def of_tables(self) -> bool:
        """Whether he sees the stakes of waiting tables: whoever is logged in could sit down at one."""
        return self.all or self.user_id is not None


def stakes_for(user: AnyUser | None, pool: Pool) -> StakeSight:
    """What the user (None: the public) may see of the pool's stakes. No query where the pool shows them to everybody, else at
    most one, besides Django's own for the permissions."""
    if pool.stakes_shown_to == Pool.Stakes.EVERYBODY:
        return StakeSight(all=True)
    if user is None or not user.is_authenticated:
        return StakeSight(all=False)
    return StakeSight(all=can_see(user, pool), user_id=user.pk)
