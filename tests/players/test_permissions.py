"""Who may see and correct what, pool by pool."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User

from players.models import Organiser, Pool
from players.permissions import CORRECT, SET_PARAMETERS, can_see, may, pools_for
from tests.building import pool_of

pytestmark = pytest.mark.django_db


def user(name: str, *permissions: str, **fields: Any) -> User:
    made = User.objects.create(username=name, **fields)
    made.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return User.objects.get(pk=made.pk)


def organiser(name: str, *slugs: str, **fields: Any) -> User:
    made = user(name, **fields)
    for slug in slugs:
        Organiser.objects.create(user=made, pool=pool_of(slug))
    return made


def allowed(who: Any) -> tuple[set[str], set[str]]:
    """The pools that somebody may see, and those that he may correct."""
    pools = list(Pool.objects.all())
    corrected = {pool.slug for pool in pools if may(who, CORRECT, pool)}
    assert corrected == set(pools_for(who).values_list("slug", flat=True))
    return {pool.slug for pool in pools if can_see(who, pool)}, corrected


EVERYWHERE = {"fibs", "crowns-cup", "online-backgammon", "freewhist", "tics"}


def test_who_may_see_and_correct() -> None:
    nowhere: set[str] = set()
    assert allowed(user("root", is_superuser=True)) == (EVERYWHERE, EVERYWHERE)
    assert allowed(user("staff", "change_match", is_staff=True)) == (EVERYWHERE, EVERYWHERE)
    assert allowed(user("reader", "view_match", is_staff=True)) == (EVERYWHERE, nowhere)
    assert allowed(organiser("one", "fibs")) == ({"fibs"}, {"fibs"})
    assert allowed(organiser("two", "fibs", "tics", is_staff=True)) == ({"fibs", "tics"}, {"fibs", "tics"})
    for nobody in (
        AnonymousUser(),
        user("player"),
        user("not staff", "change_match"),
        user("off", is_superuser=True, is_active=False),
        organiser("gone", "fibs", is_active=False),
    ):
        assert allowed(nobody) == (nowhere, nowhere)


def test_an_organiser_does_not_set_the_rules() -> None:
    assert not may(organiser("one", "fibs"), SET_PARAMETERS, pool_of("fibs"))
    assert may(user("staff", "change_pool", is_staff=True), SET_PARAMETERS, pool_of("fibs"))
