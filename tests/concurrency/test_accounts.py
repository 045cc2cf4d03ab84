"""Sign-ups, names and claims by many at once, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

from players.accounts import claims
from players.accounts.renaming import rename_oneself
from players.models import Claim, Player, PlayerRecord
from tests.building import people
from tests.concurrency.running import at_once
from tests.pages import login_of

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]
PASSWORD = "the-brass-window-9"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who does not come to the count of sign-ups within a second is told to come again; a busy machine is slow.
    monkeypatch.setattr(ratelimit, "CACHE_LOCK_WAIT_TIMEOUT", 60)


def signing_up(email: str, name: str) -> Callable[[], Any]:
    form = {"email": email, "password1": PASSWORD, "password2": PASSWORD, "name": name, "time_zone": "UTC"}
    return lambda: Client().post("/accounts/signup/", form).status_code


def test_eight_who_want_one_name_at_once_all_get_a_login_and_one_gets_the_name() -> None:
    answers = at_once([signing_up(f"vera{number}@ratings.example", "Vera") for number in range(8)])
    assert set(answers) <= {200, 302}
    assert [player.name for player in Player.objects.all()] == ["Vera"]


def test_the_same_sign_up_eight_times_at_once_makes_one_login() -> None:
    answers = at_once([signing_up("vera@ratings.example", "Vera")] * 8)
    assert set(answers) <= {200, 302}
    assert [user.player.name for user in User.objects.all()] == ["Vera"]


def test_eight_whose_addresses_begin_alike_all_get_a_login() -> None:
    answers = at_once([signing_up(f"vera@{number}.example", f"Vera {number}") for number in range(8)])
    assert answers == [302] * 8 and User.objects.filter(player__isnull=False).count() == 8


def test_of_eight_other_names_at_once_a_player_gets_one() -> None:
    [player] = people(1)
    login_of(player)
    answers = at_once([lambda number=number: rename_oneself(player, f"Vera {number}") for number in range(8)])
    assert sum(isinstance(answer, ValidationError) for answer in answers) == 7
    assert PlayerRecord.objects.count() == 1


def test_two_admins_and_three_claims_of_one_player() -> None:
    [player] = people(1)
    admins = [User.objects.create_superuser(f"admin{number}") for number in range(2)]
    for number in range(3):
        user = User.objects.create_user(f"user{number}", f"user{number}@ratings.example")
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        claims.claim(user=user, player=player)
    asked = [(claim.pk, grant, admin) for claim in Claim.objects.all() for grant in (True, False) for admin in admins]
    answers = at_once(
        [
            lambda pk=pk, grant=grant, admin=admin: claims.answer(claim_id=pk, grant=grant, answered_by=admin)
            for pk, grant, admin in asked
        ]
    )
    assert all(isinstance(answer, (Claim, ValidationError)) for answer in answers)
    granted = Claim.objects.filter(state="granted")
    player.refresh_from_db()
    assert granted.count() <= 1 and player.user == (granted[0].user if granted else None)
