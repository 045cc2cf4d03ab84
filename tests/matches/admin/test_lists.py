"""The admin's lists of matches and tables, and its tables."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches.completion import Entry, complete_match, save_open
from matches.lobby.tables import open_table
from matches.models import Lobby, Match, Table
from players.models import Player
from players.services import create_players
from players.systems.base import Result
from tests.building import DAY_ONE, NOW, complete, people, pool_of, won
from tests.matches.entering import add_url, change_url, queries

pytestmark = pytest.mark.django_db

MATCHES = "admin:matches_match_changelist"
TABLES = "admin:matches_table_changelist"


@pytest.fixture(autouse=True)
def chief(client: Client) -> User:
    user = User.objects.create_superuser("chief")
    client.force_login(user)
    return user


def found(client: Client, **query: object) -> list[int]:
    return [match.pk for match in client.get(reverse(MATCHES), query).context["cl"].result_list]


def some_matches() -> tuple[list[Player], list[Match]]:
    """Vera and Didrik at Crowns Cup (counted, not counted) and at FIBS (open); Vera and three others at FreeWhist."""
    vera, didrik, inger, rune = create_players(["Vera Holm", "Didrik", "Inger", "Rune Straße"])
    money = {"stake": Decimal(10), "real_money": True}
    cup = pool_of("crowns-cup")
    counted, idle = complete(
        cup, won(vera, didrik, DAY_ONE, kind="table", **money), won(didrik, vera, DAY_ONE, kind="tournament", **money)
    )
    opened = save_open(pool_of("fibs"), players=(vera, didrik), terms=Result(length=7))
    whist = Entry(
        players=(vera, didrik, inger, rune), result=Result(places=(1, 2, 2, 4), deals=24), ended_at=DAY_ONE, timed=False
    )
    return [vera, didrik, inger, rune], [counted, idle, opened, complete_match(pool_of("freewhist"), whist, now=NOW)]


def test_the_list_says_how_matches_ended(client: Client) -> None:
    some_matches()
    text = client.get(reverse(MATCHES)).text
    assert "Vera Holm won against Didrik" in text and "Didrik won against Vera Holm" in text
    assert "1. Vera Holm" in text
    assert "20:00" in text  # where the time is known


def test_matches_are_found_by_player_and_number(client: Client) -> None:
    _, (counted, idle, opened, whist) = some_matches()
    assert found(client, q="vera") == [whist.pk, opened.pk, idle.pk, counted.pk]
    assert found(client, q="HOLM strasse") == [whist.pk]
    assert found(client, q="vera inger") == [whist.pk]
    assert found(client, q="nobody") == []
    assert found(client, q=f"#{idle.pk}") == found(client, q=str(idle.pk)) == [idle.pk]
    assert found(client, q="9" * 18) == found(client, q="9" * 40) == found(client, q="#") == []
    assert found(client, q=f"vera #{idle.pk}") == [idle.pk]
    for term in ("\x00", "%", "²", "x" * 5000):
        found(client, q=term)


def test_matches_are_filtered(client: Client) -> None:
    _, (counted, idle, opened, whist) = some_matches()
    assert found(client, pool__id__exact=pool_of("crowns-cup").pk) == [idle.pk, counted.pk]
    assert found(client, status__exact="open") == [opened.pk]
    assert found(client, counted="yes") == [whist.pk, counted.pk]
    assert found(client, counted="no") == [opened.pk, idle.pk]
    assert found(client, kind__exact="tournament") == [idle.pk]
    assert found(client, o="1.2") and found(client, o="-2")


def more_matches() -> None:
    players = people(20)
    for number, (one, two) in enumerate(pairwise(players)):
        complete(
            pool_of("fibs"), won(one, two, DAY_ONE + timedelta(minutes=number), entered_by=User.objects.create_user(f"u{number}"))
        )


def test_the_list_has_a_fixed_number_of_queries(client: Client) -> None:
    some_matches()
    few = queries(lambda: client.get(reverse(MATCHES)))
    more_matches()
    assert queries(lambda: client.get(reverse(MATCHES))) == few <= 9
    assert queries(lambda: client.get(reverse(MATCHES), {"q": "player"})) <= few


def test_the_pages_have_a_fixed_number_of_queries(client: Client) -> None:
    _, matches = some_matches()
    urls = [add_url(pool_of("freewhist")), *(change_url(match) for match in matches)]
    few = [queries(lambda address=address: client.get(address)) for address in urls]
    more_matches()
    assert [queries(lambda address=address: client.get(address)) for address in urls] == few
    assert max(few) <= 14


# --- Tables ---


def table_data(slug: str, host: Player, **more: str) -> dict[str, str]:
    return {
        "pool": str(pool_of(slug).pk),
        "host": str(host.pk),
        "length": "",
        "deals": "",
        "stake": "",
        "real_money": "unknown",
        "max_difference": "",
        "min_experience": "",
        "max_experience": "",
        **more,
    }


SOUND_TABLES = {
    "fibs": {"length": "5"},
    "crowns-cup": {"length": "5", "stake": "10", "real_money": "true"},
    "online-backgammon": {"length": "3"},
    "freewhist": {"deals": "16"},
    "tics": {},
}


@pytest.mark.parametrize("slug", SOUND_TABLES)
def test_a_table_is_opened_on_terms_of_the_pool(client: Client, slug: str) -> None:
    [host] = people(1)
    response = client.post(reverse("admin:matches_table_add"), table_data(slug, host, **SOUND_TABLES[slug]))
    assert response.status_code == 302
    assert Table.objects.get().host == host


@pytest.mark.parametrize(
    ("slug", "terms", "field"),
    [
        ("fibs", {"length": "0"}, "length"),
        ("fibs", {"length": "100"}, "length"),
        ("fibs", {"length": "NaN"}, "length"),
        ("fibs", {"length": "1e400"}, "length"),
        ("fibs", {"length": "99999999"}, "length"),
        ("fibs", {"length": "5", "stake": "1"}, "stake"),
        ("fibs", {"length": "5", "deals": "8"}, "deals"),
        ("fibs", {"length": "5", "real_money": "true"}, "real_money"),
        ("crowns-cup", {"length": "5", "stake": "-1", "real_money": "true"}, "stake"),
        ("crowns-cup", {"length": "5", "stake": "NaN", "real_money": "true"}, "stake"),
        ("crowns-cup", {"length": "5", "stake": "1e400", "real_money": "true"}, "stake"),
        ("crowns-cup", {"length": "5", "stake": "10"}, "real_money"),
        ("freewhist", {}, "deals"),
        ("tics", {"length": "5"}, "length"),
        ("fibs", {"length": "5", "max_difference": "-1"}, "max_difference"),
        ("fibs", {"length": "5", "min_experience": "1e400"}, "min_experience"),
        ("fibs", {"host": "x"}, "host"),
        ("fibs", {"host": "9" * 40}, "host"),
        ("fibs", {"pool": "x"}, "pool"),
        ("fibs", {"pool": "9" * 40}, "pool"),
    ],
)
def test_other_terms_are_refused_on_their_field(client: Client, slug: str, terms: dict[str, str], field: str) -> None:
    [host] = people(1)
    response = client.post(reverse("admin:matches_table_add"), table_data(slug, host) | terms)
    assert list(response.context["adminform"].form.errors) == [field]
    assert not Table.objects.exists()


def test_a_host_waits_at_one_table_of_a_pool(client: Client) -> None:
    [host] = people(1)
    open_table(pool_of("fibs"), host, Result(length=5))
    response = client.post(reverse("admin:matches_table_add"), table_data("fibs", host, length="7"))
    assert response.context["adminform"].form.errors


def test_tables_are_found_with_a_fixed_number_of_queries(client: Client) -> None:
    players = people(12)
    open_table(pool_of("fibs"), players[0], Result(length=5))
    few = queries(lambda: client.get(reverse(TABLES)))
    for player in players[1:]:
        open_table(pool_of("fibs"), player, Result(length=5))
    assert queries(lambda: client.get(reverse(TABLES))) == few <= 8
    assert client.get(reverse(TABLES), {"q": "PLAYER 12"}).context["cl"].result_count == 1


def test_tables_are_closed_from_the_list(client: Client) -> None:
    players = people(3)
    for player in players:
        open_table(pool_of("fibs"), player, Result(length=5))
    chosen = [table.pk for table in Table.objects.all()[:2]]
    client.post(reverse(TABLES), {"action": "close", "_selected_action": chosen})
    assert sorted(table.status for table in Table.objects.all()) == ["closed", "closed", "waiting"]
    assert Table.objects.filter(closed_because="staff").count() == 2 and players[2].table_seats.exists()
    shown = client.get(reverse("admin:matches_table_change", args=[chosen[0]]))
    assert shown.status_code == 200 and "closed by an organiser" in shown.content.decode()
    assert client.post(reverse("admin:matches_table_change", args=[chosen[0]]), {}).status_code == 403


def test_what_a_lobby_goes_by_is_set_and_checked(client: Client) -> None:
    pool = pool_of("fibs")
    settings = {"table_minutes": 5, "invitation_hours": 2, "pairing_difference": 30, "pairing_widening": 0}
    settings |= {"pairing_again_hours": 0, "pairing_minutes": 10}
    assert client.post(reverse("admin:matches_lobby_add"), {"pool": pool.pk, **settings}).status_code == 302
    lobby = Lobby.objects.get(pool=pool)
    assert all(getattr(lobby, name) == value for name, value in settings.items())
    page = reverse("admin:matches_lobby_change", args=[lobby.pk])
    for name, value in (("table_minutes", 0), ("invitation_hours", 10**9), ("pairing_difference", -1), ("pairing_minutes", "x")):
        assert list(client.post(page, {**settings, name: value}).context["adminform"].form.errors) == [name]
    open_table(pool, people(1)[0], Result(length=5))
    assert client.post(page, {**settings, "table_minutes": 7}).status_code == 302
    assert Lobby.objects.values_list("table_minutes", "version").get() == (7, 1)
