"""Signing up, logging in, lockout, the profile, and claims."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from players.accounts import claims, countries
from players.accounts.forms import NameForm, SignUpForm
from players.accounts.signing_up import SignupForm
from players.models import Claim, Player, PlayerRecord
from players.permissions import ATTACH_LOGINS
from tests.building import at, complete, people, pool_of, won

pytestmark = pytest.mark.django_db

PASSWORD = "the-brass-window-9"


def signed_up(client: Client, email: str = "vera@ratings.example", **more: str) -> Any:
    form = {"email": email, "password1": PASSWORD, "password2": PASSWORD, "name": "Vera", "time_zone": "Europe/Copenhagen"}
    return client.post("/accounts/signup/", form | more)


def login_of(name: str, *, confirmed: bool = True, **fields: Any) -> User:
    user = User.objects.create_user(name, f"{name}@ratings.example", PASSWORD, **fields)
    EmailAddress.objects.create(user=user, email=user.email, verified=confirmed, primary=True)
    return user


# --- Signing up ---


def test_signing_up_makes_a_login_with_a_player_and_sends_a_confirmation(client: Client) -> None:
    with translation.override("en"):
        answer = signed_up(client)
    assert answer.status_code == 302
    player = Player.objects.select_related("user").get()
    assert (player.name, player.time_zone, player.user.email) == ("Vera", "Europe/Copenhagen", "vera@ratings.example")
    assert client.get("/cashier/").status_code == 200
    [sent] = mail.outbox
    link = re.search(r"https?://\S+", sent.body)[0]
    assert not claims.is_confirmed(player.user)
    client.post(link)
    assert claims.is_confirmed(player.user)


def test_a_name_that_somebody_has_is_not_taken(client: Client) -> None:
    people(1)
    answer = signed_up(client, name="PLAYER 1")
    assert answer.status_code == 200 and "name" in answer.context["form"].errors
    assert not User.objects.exists()


def test_without_a_name_one_is_asked_who_one_is(client: Client) -> None:
    signed_up(client, name="")
    assert not Player.objects.exists()
    assert client.get("/cashier/profile/").url == "/accounts/player/"
    assert client.get("/accounts/player/").status_code == 200
    assert client.post("/accounts/player/", {"begin": "1", "new-name": "Nils"}).url == "/cashier/"
    assert Player.objects.get().user == User.objects.get()
    client.post("/accounts/player/", {"begin": "1", "new-name": "Nils again"})
    assert Player.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "no address"},
        {"email": ""},
        {"password2": "something else"},
        {"password1": "12345678", "password2": "12345678"},
        {"name": "x" * 1000},
        {"name": "\0"},
    ],
)
def test_what_is_wrong_is_said_and_makes_nothing(client: Client, wrong: dict[str, str]) -> None:
    answer = signed_up(client, **wrong)
    assert answer.status_code == 200 and answer.context["form"].errors
    assert not User.objects.exists() and not Player.objects.exists()


def test_a_time_zone_that_is_none_is_utc(client: Client) -> None:
    signed_up(client, time_zone="../../etc/passwd")
    assert Player.objects.get().time_zone == "UTC"


def test_an_address_that_has_a_login_gets_no_second_one(client: Client) -> None:
    login_of("vera")
    answer = signed_up(client, name="Other", email="VERA@ratings.example")
    assert answer.status_code == 200 and "email" in answer.context["form"].errors
    assert User.objects.count() == 1 and not Player.objects.exists()


# --- Logging in ---


def test_one_logs_in_by_name_or_by_address() -> None:
    login_of("vera")
    for who in ("vera", "vera@ratings.example", "VERA@ratings.example"):
        client = Client()
        assert client.post("/accounts/login/", {"login": who, "password": PASSWORD}).url == "/cashier/"


def test_after_repeated_failures_one_is_locked_out_for_a_while(client: Client, settings: Any) -> None:
    login_of("vera"), login_of("nils")
    for number in range(settings.AXES_FAILURE_LIMIT):
        name = "vera" if number % 2 else " VERA"
        answer = client.post("/accounts/login/", {"login": name, "password": "wrong"})
    assert answer.status_code == 429 and "Too many attempts" in answer.content.decode()
    assert client.post("/accounts/login/", {"login": "vera", "password": PASSWORD}).status_code == 429
    assert client.post("/accounts/login/", {"login": "nils", "password": PASSWORD}).status_code == 302
    # From elsewhere the one whose login it is gets in.
    elsewhere = Client(REMOTE_ADDR="10.9.8.7")
    assert elsewhere.post("/accounts/login/", {"login": "vera", "password": PASSWORD}).status_code == 302


def test_the_admin_is_entered_by_the_same_door(client: Client) -> None:
    answer = client.post("/admin/login/", {"username": "admin", "password": "wrong"})
    assert answer.status_code == 302 and answer.url.startswith("/accounts/login/")
    client.force_login(login_of("vera"))
    assert client.get("/admin/", follow=True).status_code == 403


def test_a_forgotten_password_is_chosen_anew(client: Client) -> None:
    login_of("vera")
    client.post("/accounts/password/reset/", {"email": "vera@ratings.example"})
    link = re.search(r"https?://\S+", mail.outbox[0].body)[0]
    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": "another-window-7", "password2": "another-window-7"})
    assert Client().post("/accounts/login/", {"login": "vera", "password": "another-window-7"}).status_code == 302


@pytest.mark.parametrize(
    "path",
    ["login/", "signup/", "password/reset/", "password/reset/done/", "inactive/", "confirm-email/", "confirm-email/nothing/"],
)
def test_the_pages_of_strangers(client: Client, path: str) -> None:
    answer = client.get(f"/accounts/{path}")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "site.css" in page and "style=" not in page and "<script>" not in page


@pytest.mark.parametrize("path", ["email/", "password/change/", "logout/", "player/"])
def test_the_pages_of_a_login(client: Client, path: str) -> None:
    client.force_login(login_of("vera"))
    page = client.get(f"/accounts/{path}").content.decode()
    assert "site.css" in page and "style=" not in page and "<script>" not in page


def test_changing_the_address_asks_for_a_confirmation(client: Client) -> None:
    user = login_of("vera")
    client.force_login(user)
    client.post("/accounts/email/", {"email": "new@ratings.example", "action_add": ""})
    assert "new@ratings.example" in client.get("/accounts/email/").content.decode()
    assert User.objects.get().email == "vera@ratings.example"
    assert any("new@ratings.example" in sent.to for sent in mail.outbox)


# --- Profile ---


def profile_form(**more: str) -> dict[str, str]:
    return {"name": "Player 1", "language": "de", "time_zone": "Europe/Berlin", "country": "DE", "mail_wanted": "on"} | more


def reader(client: Client) -> Player:
    [player] = people(1)
    player.user = login_of("vera")
    player.save()
    client.force_login(player.user)
    return player


def test_the_profile_is_kept(client: Client) -> None:
    player = reader(client)
    answer = client.post("/cashier/profile/", profile_form(name="Vera Holm"))
    assert answer.status_code == 302 and answer.cookies["django_language"].value == "de"
    player.refresh_from_db()
    assert (player.name, player.slug, player.language, player.time_zone, player.country, player.mail_wanted) == (
        "Vera Holm",
        "vera-holm",
        "de",
        "Europe/Berlin",
        "DE",
        True,
    )
    assert client.get("/players/player-1/").url == "/players/vera-holm/"
    client.post("/cashier/profile/", {**profile_form(name="Vera Holm"), "mail_wanted": ""})
    assert not Player.objects.get().mail_wanted


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"name": "Other"}, {"time_zone": "Mars/Base"}, {"country": "XX"}, {"language": "fr"}, {"name": "\0x"}]
)
def test_a_profile_that_cannot_be(client: Client, wrong: dict[str, str]) -> None:
    player = reader(client)
    from players.services import create_player

    create_player("Other")
    answer = client.post("/cashier/profile/", profile_form(**wrong))
    assert answer.status_code == 200 and set(answer.context["form"].errors) == set(wrong)
    assert Player.objects.get(pk=player.pk).time_zone == "UTC"


def test_a_name_is_changed_once_a_month(client: Client) -> None:
    player = reader(client)
    client.post("/cashier/profile/", profile_form(name="Vera"))
    answer = client.post("/cashier/profile/", profile_form(name="Verena"))
    assert "name" in answer.context["form"].errors
    PlayerRecord.objects.update(made_at=timezone.now() - timedelta(days=31))
    assert client.post("/cashier/profile/", profile_form(name="Verena")).status_code == 302
    player.refresh_from_db()
    assert player.name == "Verena"


def test_countries_have_names_in_every_language() -> None:
    for language, name in (("en", "Denmark"), ("de", "Dänemark"), ("da", "Danmark"), ("nl", "Denemarken")):
        with translation.override(language):
            offered = dict(countries.choices())
        assert offered["DK"] == name and offered[""] == "–" and len(offered) > 200


# --- Claims ---


def test_a_claim_is_granted_and_the_matches_are_his(client: Client, admin_client: Client) -> None:
    (one, two), pool = people(2), pool_of("fibs")
    complete(pool, won(one, two, at(0)))
    user = login_of("vera")
    client.force_login(user)
    answer = client.post("/accounts/player/", {"claim": "1", "claim-player": " player  1 ", "claim-note": "Ask Nils"})
    assert answer.status_code == 302
    assert "organiser looks at it" in client.get("/accounts/player/").content.decode()
    [claim] = Claim.objects.all()
    action = {"action": "grant", "_selected_action": [claim.pk]}
    admin_client.post(reverse("admin:players_claim_changelist"), action)
    one.refresh_from_db()
    assert one.user == user
    assert one.name in client.get("/cashier/").content.decode()
    assert Claim.objects.get().answered_by.username == "admin"


def test_the_same_claim_again_is_the_same_and_another_takes_its_place() -> None:
    one, two = people(2)
    user, organiser = login_of("vera"), login_of("organiser")
    first = claims.claim(user=user, player=one)
    assert claims.claim(user=user, player=one) == first
    second = claims.claim(user=user, player=two)
    assert list(Claim.objects.order_by("pk").values_list("state", flat=True)) == ["withdrawn", "open"]
    with pytest.raises(ValidationError):
        claims.answer(claim_id=first.pk, grant=True, answered_by=organiser)
    assert claims.answer(claim_id=second.pk, grant=False, answered_by=organiser).state == "rejected"
    assert Player.objects.filter(user=user).count() == 0


def test_nobody_claims_what_is_anothers_or_without_a_confirmed_address(client: Client) -> None:
    one, two = people(2)
    two.user = login_of("nils")
    two.save()
    vera, unconfirmed = login_of("vera"), login_of("ole", confirmed=False)
    for user, player in ((vera, two), (two.user, one), (unconfirmed, one)):
        with pytest.raises(ValidationError):
            claims.claim(user=user, player=player)
    client.force_login(vera)
    for name in ("Player 2", "Nobody", "", "\0"):
        answer = client.post("/accounts/player/", {"claim": "1", "claim-player": name})
        assert answer.status_code == 200 and answer.context["claiming"].errors
    assert not Claim.objects.exists()


def test_a_claim_that_came_too_late_is_not_granted() -> None:
    [one] = people(1)
    vera, nils = login_of("vera"), login_of("nils")
    first, second = claims.claim(user=vera, player=one), claims.claim(user=nils, player=one)
    organiser = login_of("organiser")
    claims.answer(claim_id=first.pk, grant=True, answered_by=organiser)
    claims.answer(claim_id=first.pk, grant=True, answered_by=organiser)
    with pytest.raises(ValidationError):
        claims.answer(claim_id=second.pk, grant=True, answered_by=organiser)
    one.refresh_from_db()
    assert one.user == vera and Claim.objects.get(pk=second.pk).state == "open"


def test_organisers_answer_for_players_of_their_pools_alone(client: Client) -> None:
    fibs, tics, (one, two, three) = pool_of("fibs"), pool_of("tics"), people(3)
    complete(fibs, won(one, two, at(0)))
    complete(tics, won(two, three, at(1), length=None))
    here = claims.claim(user=login_of("a"), player=one)
    both = claims.claim(user=login_of("b"), player=two)
    nowhere = claims.claim(user=login_of("c"), player=three)
    organiser = login_of("organiser", is_staff=True)
    fibs.organisers.create(user=organiser)
    assert [claims.may_answer(organiser, claim.player) for claim in (here, both, nowhere)] == [True, False, False]
    assert list(claims.answerable(organiser)) == [here]
    client.force_login(organiser)
    page = reverse("admin:players_claim_changelist")
    client.post(page, {"action": "grant", "_selected_action": [here.pk, both.pk]})
    assert [Claim.objects.get(pk=claim.pk).state for claim in (here, both)] == ["granted", "open"]
    stranger = login_of("stranger", is_staff=True)
    client.force_login(stranger)
    client.post(page, {"action": "grant", "_selected_action": [both.pk]})
    assert Claim.objects.get(pk=both.pk).state == "open"
    assert ATTACH_LOGINS == "players.change_player"


@pytest.mark.parametrize("action", ["grant", "reject"])
@pytest.mark.parametrize("superuser", [False, True])
def test_nobody_answers_his_own_claim(client: Client, action: str, superuser: bool) -> None:
    fibs, (one, two) = pool_of("fibs"), people(2)
    complete(fibs, won(one, two, at(0)))
    organiser = login_of("organiser", is_staff=True, is_superuser=superuser)
    fibs.organisers.create(user=organiser)
    own, others = claims.claim(user=organiser, player=one), claims.claim(user=login_of("vera"), player=two)
    client.force_login(organiser)
    page = reverse("admin:players_claim_changelist")
    with translation.override("en"):
        said = client.post(page, {"action": action, "_selected_action": [own.pk, others.pk]}, follow=True).content.decode()
    assert "This claim is your own. Somebody else must answer it." in said
    assert Claim.objects.get(pk=own.pk).state == "open" and not Player.objects.filter(user=organiser).exists()
    assert Claim.objects.get(pk=others.pk).state == {"grant": "granted", "reject": "rejected"}[action]
    claims.answer(claim_id=own.pk, grant=True, answered_by=login_of("another"))
    assert Player.objects.get(user=organiser) == one


def test_a_name_that_goes_while_one_signs_up_leaves_a_login_that_is_asked_for_another(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(1)
    monkeypatch.setattr(SignUpForm, "clean_name", lambda form: form.cleaned_data["name"])  # it looked before he came
    with translation.override("en"):
        assert signed_up(client, name="Player 1").status_code == 302
    page = client.get("/accounts/player/")
    assert page.status_code == 200 and "There is a player called Player 1 already" in page.text
    monkeypatch.setattr(NameForm, "clean_name", lambda form: form.cleaned_data["name"])
    answer = client.post("/accounts/player/", {"begin": "1", "new-name": "Player 1"})
    assert "There is a player called Player 1 already" in answer.context["begin"].errors["name"][0]
    assert Player.objects.count() == 1


def test_a_name_longer_than_any_is_no_login(client: Client) -> None:
    for _ in range(2):
        answer = client.post("/accounts/login/", {"login": "9" * 5000, "password": "x"})
        assert answer.status_code == 200 and answer.context["form"].errors
    attempt = AccessAttempt.objects.get()
    assert len(attempt.username) == 255 and attempt.failures_since_start == 2


def test_an_address_that_is_taken_while_one_signs_up_leads_to_the_log_in(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    login_of("vera")
    monkeypatch.setattr(SignupForm, "clean_email", lambda form: form.cleaned_data["email"])  # it looked before it was taken
    answer = signed_up(client)
    assert (answer.status_code, answer.url) == (302, "/accounts/login/")
    assert User.objects.count() == 1 and not Player.objects.exists()
