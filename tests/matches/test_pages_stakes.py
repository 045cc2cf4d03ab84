"""Who sees what was at stake, on every page that could tell it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from matches.completion import complete_matches
from matches.corrections import correct
from matches.lobby.tables import open_table
from matches.models import Match
from matches.sheet import sheet
from players.models import Organiser, Player, Pool
from players.permissions import stakes_for
from players.systems.base import Result
from tests.building import NOW, at, complete, people, pool_of, won
from tests.matches.test_corrections import edited
from tests.pages import login_of, queries_of, text_of

pytestmark = pytest.mark.django_db

STAKE = {"stake": Decimal("17.31"), "real_money": True, "kind": "table"}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def staff(*permissions: str) -> User:
    user = User.objects.create(username="staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def organiser(slug: str) -> User:
    user = User.objects.create(username=f"organiser of {slug}")
    Organiser.objects.create(user=user, pool=pool_of(slug))
    return user


@pytest.fixture
def hidden() -> tuple[Pool, list[Player], Match]:
    """A pool that hides stakes, with a match between the first two of three players, and a table at which the third waits."""
    Pool.objects.filter(slug="crowns-cup").update(stakes_shown_to=Pool.Stakes.PLAYERS)
    pool, players = pool_of("crowns-cup"), people(3)
    [match] = complete(pool, won(players[0], players[1], at(1), length=7, **STAKE))
    open_table(pool, players[2], Result(length=5, stake=Decimal("17.31"), real_money=True))
    return pool, players, match


WHO: dict[str, tuple[Callable[[list[Player]], Client], bool, bool]] = {
    "the public": (lambda players: Client(), False, False),
    "a player of it": (lambda players: login_of(players[0]), True, True),
    "the other player": (lambda players: login_of(players[1]), True, True),
    "another player": (lambda players: login_of(players[2]), False, True),
    "its organiser": (lambda players: client_of(organiser("crowns-cup")), True, True),
    "the organiser of another pool": (lambda players: client_of(organiser("fibs")), False, True),
    "staff who may see matches": (lambda players: client_of(staff("view_match")), True, True),
    "staff who may not": (lambda players: client_of(staff("view_player")), False, True),
}
"""By who reads: a client, whether he sees the stake of the match, and those of the tables."""


@pytest.mark.parametrize("who", WHO)
def test_who_sees_a_stake(who: str, hidden: tuple[Pool, list[Player], Match]) -> None:
    _pool, players, match = hidden
    make, sees_match, sees_tables = WHO[who]
    client = make(players)
    page = text_of(client.get(match.get_absolute_url()))
    assert ("17.31" in page) == sees_match
    assert ("Stake not shown" in page) == ("Not shown: in this pool" in page) == (not sees_match)
    # The factor would tell it: log10(18.31) = 1.262688.
    assert ("1.262688" in page) == sees_match
    assert page.count("Change, shown as") == 2
    for seat, player in enumerate(players[:2], start=1):
        part = text_of(client.get(f"/matches/{match.pk}/seats/{seat}/"))
        assert ("17.31" in part) == ("1.262688" in part) == sees_match
        assert ("17.31" in text_of(client.get(f"/players/{player.slug}/crowns-cup/"))) == sees_match
    assert ("17.31" in text_of(client.get("/lobby/crowns-cup/"))) == sees_tables


def test_a_pool_shows_them_to_everybody_unless_it_says_otherwise(client: Client) -> None:
    pool, players = pool_of("crowns-cup"), people(2)
    [match] = complete(pool, won(*players, at(1), length=7, **STAKE))
    open_table(pool, players[0], Result(length=5, stake=Decimal("17.31"), real_money=True))
    for address in (match.get_absolute_url(), "/players/player-1/crowns-cup/", "/lobby/crowns-cup/"):
        page = text_of(client.get(address))
        assert "17.31" in page and "not shown" not in page.lower()


def test_a_corrected_stake_is_hidden_too(client: Client, hidden: tuple[Pool, list[Player], Match]) -> None:
    pool, players, match = hidden
    correct(pool, [edited(match, stake=Decimal("23.57"))], reason="the card", now=NOW)
    page = text_of(client.get(match.get_absolute_url()))
    assert "“the card”" in page and "23.57" not in page and "17.31" not in page
    assert "Stake: €17.31 → €23.57" in text_of(login_of(players[1]).get(match.get_absolute_url()))


def test_the_own_cashier_window_shows_the_own_stakes(hidden: tuple[Pool, list[Player], Match]) -> None:
    assert "17.31" in text_of(login_of(hidden[1][0]).get("/cashier/crowns-cup/"))


def test_nobody_is_a_player_of_a_match_without_players(hidden: tuple[Pool, list[Player], Match]) -> None:
    pool, players, _ = hidden
    for user in (None, AnonymousUser()):
        sight = stakes_for(user, pool)
        # Players without a login are nobody's.
        assert not sight.of(players) and not sight.of([]) and not sight.of_tables


def test_where_everybody_sees_them_nobody_is_asked(hidden: tuple[Pool, list[Player], Match]) -> None:
    Pool.objects.update(stakes_shown_to=Pool.Stakes.EVERYBODY)
    with CaptureQueriesContext(connection) as queries:
        assert stakes_for(User(pk=1, username="x"), Pool(stakes_shown_to=Pool.Stakes.EVERYBODY)).all
    assert not queries.captured_queries


def test_the_number_of_queries_is_fixed(hidden: tuple[Pool, list[Player], Match]) -> None:
    pool, players, match = hidden
    reader = login_of(players[2])
    pages = [match.get_absolute_url(), f"/players/{players[0].slug}/crowns-cup/", "/lobby/crowns-cup/"]
    few = [queries_of(reader, page) for page in pages]
    entries = [won(players[number % 2], players[1 - number % 2], at(2 + number), length=3, **STAKE) for number in range(15)]
    complete_matches(pool, entries, now=NOW)
    assert [queries_of(reader, page) for page in pages] == few and max(few) <= 18


def test_the_admin_sets_it_where_the_system_has_stakes(admin_client: Client) -> None:
    def page(slug: str) -> str:
        return admin_client.get(f"/admin/players/pool/{pool_of(slug).pk}/change/").content.decode()

    assert "Stakes are shown to" in page("crowns-cup") and "Stakes are shown to" not in page("fibs")


def test_the_sheet_as_the_public_sees_it_is_the_default(hidden: tuple[Pool, list[Player], Match]) -> None:
    assert not sheet(hidden[2].pk, None).shows_stake
    assert sheet(hidden[2].pk, hidden[1][0], User.objects.create_superuser("root")).shows_stake
