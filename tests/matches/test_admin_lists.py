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
from matches.models import Match, Table
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
    Table.objects.create(pool=pool_of("fibs"), host=host, length=5)
    response = client.post(reverse("admin:matches_table_add"), table_data("fibs", host, length="7"))
    assert response.context["adminform"].form.errors


def test_tables_are_found_with_a_fixed_number_of_queries(client: Client) -> None:
    players = people(12)
    Table.objects.create(pool=pool_of("fibs"), host=players[0], length=5)
    few = queries(lambda: client.get(reverse(TABLES)))
    for player in players[1:]:
        Table.objects.create(pool=pool_of("fibs"), host=player, length=5)
    assert queries(lambda: client.get(reverse(TABLES))) == few <= 8
    assert client.get(reverse(TABLES), {"q": "PLAYER 12"}).context["cl"].result_count == 1
