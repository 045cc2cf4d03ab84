"""The front page: what the site is, where to go, and what to do while it is empty."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from players.models import Pool
from tests.building import at, complete, people, pool_of, won
from tests.pages import login_of, queries_of, text_of

pytestmark = pytest.mark.django_db

SENTENCE = "The Rating Room rates backgammon, whist and board games"


def staff(*permissions: str) -> Client:
    user = User.objects.create(username="staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_it_says_what_the_site_is_and_leads_to_the_pages_of_each_pool(client: Client) -> None:
    response = client.get("/")
    page = response.content.decode()
    assert SENTENCE in text_of(response)
    for pool in Pool.objects.all():
        for name in ("rankings", "lobby", "rules", "simulator"):
            assert f'href="/{name}/{pool.slug}/"' in page


def test_the_readers_own_ratings_come_first(client: Client) -> None:
    one, two = people(2)
    complete(pool_of("fibs"), won(one, two, at(1), length=7))
    page = text_of(login_of(one).get("/"))
    assert page.index("1526.46") < page.index(SENTENCE) < page.index("Pools")
    assert "Your ratings" not in text_of(client.get("/"))


@pytest.mark.parametrize("name", ["rankings", "lobby", "rules", "simulator"])
def test_from_each_page_of_a_pool_one_finds_the_others(name: str, client: Client) -> None:
    page = client.get(f"/{name}/tics/").content.decode()
    nav = page[page.index('<nav class="pool-nav"') :].split("</nav>")[0]
    assert [f'href="/{other}/tics/"' in nav for other in ("rankings", "lobby", "rules", "simulator")] == [True] * 4
    assert nav.count('aria-current="page"') == 1 and f'href="/{name}/tics/" aria-current="page"' in nav


def test_so_one_does_from_a_match_and_from_a_player(client: Client) -> None:
    one, two = people(2)
    [match] = complete(pool_of("tics"), won(one, two, at(1), length=None))
    for address in (match.get_absolute_url(), "/players/player-1/tics/"):
        page = client.get(address).content.decode()
        nav = page[page.index('<nav class="pool-nav"') :].split("</nav>")[0]
        assert 'href="/rules/tics/"' in nav and "aria-current" not in nav


def test_an_empty_site_says_what_to_do_next(client: Client) -> None:
    assert "See who waits at a table" in text_of(client.get("/"))
    organiser = staff("add_match", "add_pool", "view_match")
    assert "Enter the first match" in text_of(organiser.get("/"))
    Pool.objects.all().delete()
    for address in ("/", "/rankings/", "/rules/", "/simulator/", "/lobby/"):
        assert 'href="/admin/players/pool/add/"' in organiser.get(address).content.decode(), address
        text = text_of(client.get(address))
        assert "There is no pool yet" in text and "An organiser makes the first one in the administration. Log in" in text, (
            address
        )


def test_the_number_of_queries_is_fixed() -> None:
    one, two = people(2)
    reader = login_of(one)
    few = queries_of(reader, "/")
    complete(pool_of("fibs"), *(won(one, two, at(number), length=3) for number in range(12)))
    complete(pool_of("tics"), *(won(one, two, at(number), length=None) for number in range(12)))
    assert queries_of(reader, "/") - few in (0, 1) and queries_of(reader, "/") <= 12
