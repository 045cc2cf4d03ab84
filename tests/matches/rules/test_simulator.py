"""The simulator: every outcome of a match that somebody thinks of, with its sums, from an address that can be sent on."""

from __future__ import annotations

import html
import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client

from matches.merging import merge
from matches.models import Match, RakeBand
from players.formatting import format_change
from players.ledger import Opening, set_openings
from players.models import Player, Pool, Rating
from players.services import create_players
from players.simulation import FourPlayers, TwoPlayers, simulate
from players.systems.base import Seat
from tests.building import NOW, people, pool_of
from tests.pages import login_of, queries_of, text_of

pytestmark = pytest.mark.django_db

POOLS = ["fibs", "crowns-cup", "online-backgammon", "freewhist", "tics"]


def get(client: Client, slug: str, **fields: Any) -> Any:
    return client.get(f"/simulator/{slug}/?{urlencode(fields)}")


def text(client: Client, slug: str, **fields: Any) -> str:
    return text_of(get(client, slug, **fields))


def error_beside(response: Any, name: str) -> str:
    """What the page says beside a field, which it names as wrong."""
    page = response.content.decode()
    found = re.search(rf'<span class="error" id="{name}-error">(.*?)</span>', page, flags=re.DOTALL)
    field = re.search(rf'<(?:input|select) id="{name}"[^>]*>', page)
    assert field is not None
    assert (found is not None) == ('aria-invalid="true"' in field[0])
    assert found is None or f'aria-describedby="{name}-error' in field[0]
    return text_of(found[1]) if found else ""


def rated(pool: Pool, *ratings: tuple[float, int]) -> list[Player]:
    table = people(len(ratings))
    with transaction.atomic():
        set_openings(pool, {player.pk: Opening(*rating, None) for player, rating in zip(table, ratings, strict=True)}, NOW)
    return table


def test_the_published_figures(client: Client) -> None:
    page = text(
        client, "crowns-cup", rating1=1650, experience1=400, rating2=1500, experience2=400, length=5, stake=10, kind="table"
    )
    assert "Player 1 is expected to score 59.5%; Player 2 is expected to score 40.5%." in page
    assert (
        "Player 1 wins Player 1 wins Player Before Change After Player 1 1650.00 +3.77 1653.77 Player 2 1500.00 −3.77 1496.23"
        in page
    )
    assert (
        "Player 2 wins Player 2 wins Player Before Change After Player 1 1650.00 −5.55 1644.45 Player 2 1500.00 +5.55 1505.55"
        in page
    )
    assert page.count("Change, shown as") == 4 and "1 / (10^(150 × 2.236068 / 2000) + 1)" in page
    both = text(client, "online-backgammon", rating1=600, rating2=600, length=5, kind="matchmade")
    assert "Player 1 600 +44 644 Player 2 600 −44 556" in both


@pytest.mark.parametrize("slug", POOLS)
def test_it_says_what_the_systems_say(slug: str, client: Client) -> None:
    system = pool_of(slug).rating_system
    fields: dict[str, Any] = {"length": 7, "stake": 25, "deals": 17}
    fields = {name: value for name, value in fields.items() if name in system.uses}
    seats = [Seat(1432.5 + 61 * number, 33 * number) for number in range(system.seats)]
    typed = {f"rating{number}": seat.rating for number, seat in enumerate(seats, 1)}
    typed |= {f"experience{number}": seat.experience for number, seat in enumerate(seats, 1)}
    more = {"kind": system.params.counted_kinds[0], "real_money": "yes"}
    page = text(client, slug, **typed, **fields, **{name: value for name, value in more.items() if name in system.needs})
    decimals = system.shown_decimals
    said = simulate(system, seats, **(fields | ({"stake": Decimal(25)} if "stake" in fields else {})))
    if isinstance(said, TwoPlayers):
        assert page.count("Player Before Change After") == len(said.outcomes) == (3 if slug == "tics" else 2)
        for outcome in said.outcomes:
            one, two = (format_change(change, decimals) for change in outcome.changes)
            assert re.search(rf"Player 1 \S+( \([^)]*\))? {re.escape(one)} ", page)
            assert re.search(rf"Player 2 \S+( \([^)]*\))? {re.escape(two)} ", page)
    else:
        assert isinstance(said, FourPlayers)
        for changes in said.changes:
            for change in changes:
                assert f" {format_change(change, decimals)} " in page
        assert page.count("Change, shown as") == 16
    assert "would not count" not in page


def test_an_empty_form_shows_an_example_and_the_reader_in_it(client: Client) -> None:
    for slug in POOLS:
        assert "What would change" in text(client, slug) and "needs a look" not in text(client, slug)
    [vera, _] = rated(pool_of("fibs"), (1723.25, 60), (1500, 0))
    page = text_of(login_of(vera).get("/simulator/fibs/"))
    assert "Player 1 wins" in page and "1723.25" in page


def test_named_players_have_their_ratings_and_what_is_typed_goes_before(client: Client) -> None:
    rated(pool_of("fibs"), (1723.25, 60), (1480.5, 90))
    response = get(client, "fibs", player1="player  1", player2="Player 2", length=5)
    page = text_of(response)
    assert "Player 1 1723.25 " in page and "Player 2 1480.50 " in page
    assert 'placeholder="1723.25"' in response.content.decode()
    page = text(client, "fibs", player1="Player 1", rating1=1600, player2="Player 2", experience2=20, length=5)
    assert "Player 1 1600.00 " in page and "Player 2 1480.50 (provisional: 20 of 50 experience)" in page
    # Who has not played in the pool starts like everybody.
    assert "Player 1 1500 " in text(client, "tics", player1="Player 1", rating2=1400)


def test_the_name_of_a_merged_duplicate_finds_the_player(client: Client) -> None:
    pool = pool_of("fibs")
    one, two = rated(pool, (1723.25, 60), (1480.5, 90))
    del one
    [double] = create_players(["Vera the second"])
    merge(two, double, reason="the same", now=NOW)
    assert "Player 2 1480.50 " in text(client, "fibs", player1="Vera the second", length=5)


def test_an_unknown_name_says_so_and_suggests(client: Client) -> None:
    create_players(["Vera Holm", "Verner", "Didrik"])
    response = get(client, "fibs", player1="Ver", length=5)
    assert error_beside(response, "player1") == "There is no player “Ver”. Did you mean: Vera Holm, Verner?"
    assert error_beside(response, "player2") == "" and "What would change" not in text_of(response)
    assert error_beside(get(client, "fibs", player1="Zoe"), "player1") == "There is no player “Zoe”."


def test_a_player_does_not_meet_himself(client: Client) -> None:
    people(2)
    response = get(client, "fibs", player1="Player 1", player2="PLAYER 1", length=5)
    assert "cannot play against himself" in error_beside(response, "player2") and not error_beside(response, "player1")


BAD = ["x", "\0", "1\0", "inf", "-inf", "nan", "1e999", "9" * 60, "9" * 5000, "١", "²", "--1", "1_0", "0x10", "1 2", "½", "'<b>"]
FIELDS = ["rating1", "experience2", "length", "points", "stake", "chance"]


@pytest.mark.parametrize("value", BAD, ids=[f"{value[:6]!a}-{len(value)}" for value in BAD])
@pytest.mark.parametrize("name", FIELDS)
def test_what_is_no_value_is_said_beside_its_field(name: str, value: str, client: Client) -> None:
    fields = {"length": 5, "stake": 10, "kind": "table", "real_money": "yes", name: value}
    response = get(client, "crowns-cup", **fields)
    assert response.status_code == 200
    assert error_beside(response, name), name
    assert "1 field needs a look" in text_of(response) and "What would change" not in text_of(response)
    assert "<b>" not in re.sub(r"<b class|<b>[\d,.%−+]", "", response.content.decode()).replace("Rating <b>Room</b>", "")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("rating1", "100001", "Must be from −100000 to 100000."),
        ("experience1", "-1", "Must be from 0 to 2147483647."),
        ("experience1", "1.5", "Must be a whole number from 0 to 2147483647."),
        ("length", "0", "Must be from 1 to 99."),
        ("length", "100", "Must be from 1 to 99."),
        ("points", "3", "Only a money game has it."),
        ("stake", "0", "Must be above 0."),
        ("stake", "1.005", "Must have at most 2 decimals."),
        ("stake", "", "It is missing, and the change depends on it."),
        ("stake", "99999999999", "Must not be above €9999999999.99."),
        ("chance", "1.01", "Must be from 0 to 1."),
        ("kind", "friendly", "Is not known."),
        ("real_money", "perhaps", "Must be yes or no."),
        ("kind", "", "It is missing, and not every kind counts in this pool."),
    ],
)
def test_the_rule_that_a_value_breaks(name: str, value: str, says: str, client: Client) -> None:
    fields = {"length": "5", "stake": "10", "kind": "table", "real_money": "yes", name: value}
    assert says in error_beside(get(client, "crowns-cup", **fields), name)


def test_all_that_is_wrong_is_said_at_once(client: Client) -> None:
    response = get(client, "crowns-cup", player1="Nobody", length="x", stake="0", chance="2", rating2="x")
    for name in ("player1", "length", "stake", "chance", "rating2"):
        assert error_beside(response, name), name
    assert "5 fields need a look" in text_of(response)
    assert error_beside(response, "length") == "Must be a whole number from 1 to 99."


def test_a_money_game_needs_its_points(client: Client) -> None:
    fields = {"stake": "2.50", "kind": "table", "real_money": "yes"}
    assert "Give the points won" in error_beside(get(client, "crowns-cup", **fields), "points")
    page = text(client, "crowns-cup", points=4, **fields)
    assert "Stake: per point, times the points won €2.50 × 4 €10.00" in page


def test_a_break_has_one_outcome(client: Client) -> None:
    page = text(client, "crowns-cup", length=5, stake=10, kind="table", real_money="yes", chance="0,75")
    assert "Broken off Broken off Player Before Change After" in page and page.count("Player Before Change After") == 1
    assert "S, score: winning chance when the match was broken off 75%" in page


def test_what_would_not_count_says_why(client: Client) -> None:
    page = text(client, "crowns-cup", length=5, stake=10, kind="tournament", real_money="yes")
    assert "It would not count. Tournament matches do not count in this pool. If it did:" in page and "What would change" in page
    page = text(client, "fibs", rating1=1600)
    assert "It would not count. Unlimited play, which has no match length" in page and "needs a look" not in page
    page = text(client, "freewhist", deals=5)
    assert "It would not count. It had too few deals: this pool rates games of 8 deals or more." in page


def test_it_asks_only_for_what_the_system_uses(client: Client) -> None:
    def fields(slug: str) -> set[str]:
        return set(re.findall(r'<(?:input|select) id="([a-z_]+)"', client.get(f"/simulator/{slug}/").content.decode()))

    assert fields("fibs") == {"length"} and fields("tics") == set() and fields("freewhist") == {"deals"}
    assert fields("crowns-cup") == {"length", "points", "stake", "chance", "real_money", "kind"}
    assert fields("online-backgammon") == {"length", "kind"}
    Pool.objects.filter(slug="fibs").update(parameters={"counted_kinds": ["table"]})
    assert fields("fibs") == {"length", "kind"}


def test_numbers_are_read_with_a_point_or_a_comma_in_every_language(client: Client) -> None:
    for language in ("en", "de"):
        client.cookies["django_language"] = language
        for typed in ("1650.25", "1650,25"):
            page = get(client, "fibs", rating1=typed, length=5).content.decode()
            assert re.search(r">1650[.,]25<", page), (language, typed)


def test_the_link_shows_the_same_when_the_player_has_moved(client: Client) -> None:
    rated(pool_of("fibs"), (1723.123456, 60), (1480.5, 90))
    response = get(client, "fibs", player1="Player 1", player2="Player 2", length=9)
    before = re.search(r"is expected to score [\d.]+%", text_of(response))
    [link] = re.findall(r'<a href="(\?rating1=[^"]+)">', response.content.decode())
    Rating.objects.update(value=1000, standing=1000)
    later = client.get("/simulator/fibs/" + html.unescape(link))
    assert "rating1=1723.123456" in link and "player" not in link
    assert before is not None and before[0] in text_of(later) and "1723.12" in text_of(later)


def test_nothing_is_stored(client: Client) -> None:
    people(2)
    text(client, "fibs", player1="Player 1", player2="Player 2", length=5)
    assert not Match.objects.exists() and not Rating.objects.exists()


def test_names_are_suggested_by_their_beginning(client: Client) -> None:
    create_players(["Vera Holm", "VERNER", "Didrik", "%", "_x", "Åse"])

    def names(text: str) -> list[str]:
        return client.get("/simulator/players.json", {"q": text}).json()["names"]

    assert names("ver") == ["Vera Holm", "VERNER"] and names("VERA") == ["Vera Holm"] and names("åS") == ["Åse"]
    assert names("%") == ["%"] and names("_") == ["_x"] and names("holm") == []
    assert names("") == names("  ") == names("\0") == names("x" * 5000) == []
    create_players(f"Verity {number}" for number in range(30))
    assert len(names("ver")) == 10
    double, keep = Player.objects.get(name="VERNER"), Player.objects.get(name="Didrik")
    merge(keep, double, reason="same", now=NOW)
    assert "VERNER" not in names("vern")


def test_the_index_is_the_first_pool(client: Client) -> None:
    assert client.get("/simulator/")["Location"] == "/simulator/fibs/"
    assert client.get("/simulator/none/").status_code == 404
    Pool.objects.filter(slug="tics").update(slug="players")
    assert "What would change" in text(client, "players")


def test_the_number_of_queries_is_fixed(client: Client) -> None:
    rated(pool_of("freewhist"), *[(1200 + number, number) for number in range(4)])
    two = {"player1": "Player 1", "player2": "Player 2", "length": 5}
    four = {f"player{number}": f"Player {number}" for number in range(1, 5)} | {"deals": 24}
    unknown = {"player1": "Play", "player2": "Player 2"}
    counts = [
        queries_of(client, f"/simulator/{slug}/?{urlencode(fields)}")
        for slug, fields in (("fibs", two), ("freewhist", four), ("fibs", unknown))
    ]
    assert counts[0] == counts[1] <= 4 and counts[2] <= 5


def test_the_rake_is_shown_where_there_is_one(client: Client) -> None:
    pool = pool_of("crowns-cup")
    address = f"/simulator/{pool.slug}/?rating1=1650&rating2=1500&length=5&stake=10&real_money="
    text = text_of(client.get(f"{address}yes"))
    assert "Rake: €0.30 for each player. The figures of the rake are an example." in text
    assert "Rake" not in text_of(client.get(f"{address}no"))
    RakeBand.objects.all().delete()
    assert "Rake" not in text_of(client.get(f"{address}yes"))
