"""The language of the site: switched in the header, kept with the player, spoken again after his next log-in."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from players.models import Player
from tests.building import people
from tests.pages import login_of

pytestmark = pytest.mark.django_db
SWITCH = "/i18n/setlang/"


def language_of(client: Client) -> str:
    page = client.get("/").content.decode()
    return page.split('<html lang="')[1].split('"')[0]


def with_password(player: Player, language: str) -> None:
    login_of(player, language=language)
    assert player.user
    player.user.set_password("rating-room")
    player.user.save()


def log_in(client: Client, player: Player) -> None:
    assert player.user
    answer = client.post("/accounts/login/", {"login": player.user.get_username(), "password": "rating-room"})
    assert answer.status_code == 302


def test_the_switch_is_kept_in_the_browser_and_with_the_player() -> None:
    vera, didrik = people(2)
    reader, other = login_of(vera), login_of(didrik)
    answer = reader.post(SWITCH, {"language": "de", "next": "/cashier/"})
    assert answer.status_code == 302 and answer["Location"] == "/cashier/"
    vera.refresh_from_db()
    didrik.refresh_from_db()
    assert (vera.language, didrik.language) == ("de", "")
    assert (language_of(reader), language_of(other)) == ("de", "en")


def test_a_log_in_brings_the_players_language_along() -> None:
    [vera] = people(1)
    with_password(vera, "da")
    browser = Client(headers={"accept-language": "nl"})
    browser.post(SWITCH, {"language": "de"})
    assert language_of(browser) == "de"
    log_in(browser, vera)
    assert language_of(browser) == "da"
    browser.post(SWITCH, {"language": "nl"})
    browser.post("/accounts/logout/")
    another = Client()
    log_in(another, vera)
    assert language_of(another) == "nl"


@pytest.mark.parametrize("language", ["", "xx", "de\0", "en-us", "../de", "d" * 5000])
def test_a_language_that_the_site_does_not_speak_changes_nothing(language: str) -> None:
    [vera] = people(1)
    reader = login_of(vera, language="da")
    assert reader.post(SWITCH, {"language": language}).status_code == 302
    vera.refresh_from_db()
    assert vera.language == "da"


def test_without_a_player_or_a_login_the_browser_alone_remembers() -> None:
    user = get_user_model().objects.create_user("organiser")
    browser, stranger = Client(), Client()
    browser.force_login(user)
    for client in (browser, stranger):
        client.post(SWITCH, {"language": "nl"})
        assert language_of(client) == "nl"


def test_a_link_from_elsewhere_switches_nothing_and_leads_nowhere_else() -> None:
    [vera] = people(1)
    reader = login_of(vera)
    reader.get(SWITCH + "?language=de")
    vera.refresh_from_db()
    assert (vera.language, language_of(reader)) == ("", "en")
    assert reader.post(SWITCH, {"language": "de", "next": "https://evil.example/"})["Location"] == "/"


def test_the_header_names_every_language_and_marks_the_present_one(client: Client) -> None:
    header = client.get("/", headers={"accept-language": "da"}).content.decode().split("<header")[1].split("</header>")[0]
    for code in ("en", "de", "da", "nl"):
        assert f'name="language" value="{code}"' in header
    assert 'value="da" lang="da" aria-current="true"' in header


def test_who_has_not_chosen_a_language_keeps_that_of_his_browser(client: Client) -> None:
    [player] = people(1)
    login_of(player)
    assert player.language == "" and player.speaks == "en"
    client.get("/", headers={"accept-language": "de"})
    player.user.set_password("rating-room")
    player.user.save()
    answer = client.post("/accounts/login/", {"login": player.user.get_username(), "password": "rating-room"})
    assert answer.status_code == 302 and "django_language" not in answer.cookies
