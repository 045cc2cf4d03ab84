"""The lobby for a player: what each table would mean for him, what he can do there, and what he cannot."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.utils import timezone

from matches.lobby import reads
from matches.lobby.tables import challenge, invite, leave_table, offer_rematch, open_table, take_seat
from matches.models import Match, PairingRequest, RakeBand, Table, TableSeat
from players import formatting, ledger
from players.ledger import Opening
from players.models import Player, Pool
from players.services import create_players
from players.simulation import FourPlayers, TwoPlayers, simulate
from players.systems.base import Result, Seat
from tests.building import NOW, complete, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db

FIVE, DEALS = Result(length=5), Result(deals=16)
EURO_FIVE = Result(length=5, stake=Decimal(10), real_money=True)


def rated(pool: Pool, player: Player, rating: float, experience: int) -> None:
    with transaction.atomic():
        ledger.set_openings(pool, {player.pk: Opening(rating, experience, None)}, NOW)


def points(value: float, pool: Pool) -> str:
    return formatting.format_change(value, pool.shown_decimals)


def hosts(response: Any) -> list[str]:
    return [row.split()[1] for row in rows_of(response, "lobby")]


# --- What a table would mean ---


def test_the_numbers_are_those_of_the_simulation() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    rated(pool, vera, 1620.0, 400)
    rated(pool, didrik, 1500.0, 100)
    RakeBand.objects.filter(pool=pool).delete()
    RakeBand.objects.create(pool=pool, difference=0, percent=Decimal(1), minimum=Decimal("0.05"))
    RakeBand.objects.create(pool=pool, difference=120, percent=Decimal(5), minimum=Decimal("0.05"))
    open_table(pool, vera, EURO_FIVE)
    [row] = rows_of(login_of(didrik).get("/lobby/crowns-cup/"), "lobby")
    seats = [Seat(1500.0, 100), Seat(1620.0, 400)]
    expected = simulate(pool.rating_system, seats, length=5, stake=Decimal(10))
    assert isinstance(expected, TwoPlayers)
    gain, loss = (points(outcome.changes[0], pool) for outcome in expected.outcomes)
    chance = formatting.format_percent(expected.expected[0], 1)
    assert f"Player 1 1620.00 +120.00 5 €10.00 real money {chance} {gain} {loss} €0.50 0 min" in row
    assert chance == "42.3%" and gain.startswith("+") and loss.startswith("−")


def test_a_money_game_is_reckoned_for_a_point_and_play_money_for_none() -> None:
    pool, (vera, didrik, inger) = pool_of("crowns-cup"), people(3)
    open_table(pool, vera, Result(stake=Decimal(100), real_money=True))
    open_table(pool, inger, Result(length=5, real_money=False))
    response = login_of(didrik).get("/lobby/crowns-cup/")
    money, play = rows_of(response, "lobby")
    expected = simulate(pool.rating_system, [Seat(1500.0), Seat(1500.0)], stake=Decimal(100), points=1)
    assert isinstance(expected, TwoPlayers)
    assert f"unlimited €100.00 per point real money 50% {points(expected.outcomes[0].changes[0], pool)}" in money
    assert "play money 50% not rated Only matches for real money count in this pool." in play


def test_at_a_table_of_four_free_seats_are_at_its_mean() -> None:
    pool, (vera, didrik, inger) = pool_of("freewhist"), people(3)
    for player, rating in ((vera, 1500.0), (didrik, 1300.0), (inger, 1100.0)):
        rated(pool, player, rating, 80)
    table = open_table(pool, vera, DEALS)
    take_seat(table.pk, didrik)
    [row] = rows_of(login_of(inger).get("/lobby/freewhist/"), "lobby")
    expected = simulate(pool.rating_system, [Seat(1100.0, 80), Seat(1500.0), Seat(1300.0), Seat(1300.0)], deals=16)
    assert isinstance(expected, FourPlayers)
    first, last = points(expected.changes[0][0], pool), points(expected.changes[0][3], pool)
    chance = formatting.format_percent(expected.chances[0][0], 1)
    assert "Player 1 Player 2 2 seats free 1500 1300 +400 +200 16" in row and f"{chance} {first} {last}" in row


@pytest.mark.parametrize(
    ("slug", "terms", "why"),
    [
        ("online-backgammon", FIVE, "Matches from open tables do not count in this pool."),
        ("fibs", Result(), "Unlimited play, which has no match length, is not rated in this pool."),
        ("freewhist", Result(deals=4), "this pool rates games of 8 deals or more."),
        ("tics", Result(), ""),
    ],
)
def test_a_table_says_before_the_start_whether_it_counts(slug: str, terms: Result, why: str) -> None:
    vera, didrik = people(2)
    table = open_table(pool_of(slug), vera, terms)
    for reader in (login_of(didrik), Client()):
        [row] = rows_of(reader.get(f"/lobby/{slug}/"), "lobby")
        page = text_of(reader.get(f"/tables/{table.pk}/"))
        assert ("not rated" in row) is bool(why) and why in row
        assert ("Not rated." in page and why in page) if why else "This match will count." in page


def test_the_form_says_which_ways_do_not_count() -> None:
    reader = login_of(people(1)[0])
    text = text_of(reader.get("/lobby/online-backgammon/"))
    assert "Not rated. Matches from open tables do not count" in text and "Rematches do not count" in text
    assert "rated matchmaking do not count" not in text
    assert "Not rated." not in text_of(reader.get("/lobby/fibs/"))


def test_who_may_not_join_reads_why_with_his_rating_and_the_range() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    rated(pool, didrik, 1620.0, 400)
    table = open_table(pool, vera, EURO_FIVE, max_difference=100)
    reader, why = login_of(didrik), "This table is for ratings from 1400.00 to 1600.00, and yours is 1620.00."
    [row] = rows_of(reader.get("/lobby/crowns-cup/"), "lobby")
    assert why in row and "Sit down" not in row
    assert why in text_of(reader.get(f"/tables/{table.pk}/"))
    assert why in text_of(reader.post(f"/tables/{table.pk}/seat/", follow=True))
    assert not Match.objects.exists()


# --- Filters and order ---


def tables_to_choose_from() -> tuple[Pool, Client]:
    pool = pool_of("crowns-cup")
    players = people(6)
    strengths = ((1500.0, 400), (1510.0, 10), (1700.0, 400), (1450.0, 400), (1380.0, 400))
    terms = (
        EURO_FIVE,
        Result(length=7, stake=Decimal(1), real_money=False),
        Result(length=5, stake=Decimal(50), real_money=True),
        Result(length=7, stake=Decimal(5), real_money=True),
        Result(stake=Decimal(2), real_money=True),
    )
    for number, player in enumerate(players[1:]):
        rated(pool, player, *strengths[number])
        since = timezone.now() - timedelta(minutes=number)
        open_table(pool, player, terms[number], max_difference=5 if number == 3 else None, now=since)
    rated(pool, players[0], 1490.0, 100)
    return pool, login_of(players[0])


def test_the_best_match_comes_first_and_other_orders_can_be_had() -> None:
    _, reader = tables_to_choose_from()
    for order, expected in {
        "": "2 6 4 3 5",  # those that he may join, that count, the nearest
        "best": "2 6 4 3 5",
        "waiting": "6 5 4 3 2",
        "nearest": "2 3 5 6 4",
        "highest": "4 3 2 5 6",
        "lowest": "6 5 2 3 4",
    }.items():
        assert hosts(reader.get("/lobby/crowns-cup/", {"order": order})) == expected.split(), order
    assert hosts(Client().get("/lobby/crowns-cup/")) == ["6", "5", "4", "3", "2"]


def test_tables_are_filtered() -> None:
    _, reader = tables_to_choose_from()
    for query, expected in (
        ({"difference": "40"}, "2 3 5"),
        ({"difference": "39"}, "2 3"),
        ({"length": "7"}, "3 5"),
        ({"stake": "5"}, "3 5 6"),
        ({"stake": "4,99", "language": "de"}, "3 6"),
        ({"settled": "on"}, "2 4 5 6"),
        ({"length": "5", "settled": "on", "difference": "40"}, "2"),
        ({"length": "11"}, ""),
    ):
        headers = {"accept-language": query.pop("language", "en")}
        response = reader.get("/lobby/crowns-cup/", query, headers=headers)
        assert sorted(hosts(response)) == expected.split(), query
    assert "No table is as you want it." in text_of(reader.get("/lobby/crowns-cup/", {"length": "11"}))
    assert "2 of 5 tables" in text_of(reader.get("/lobby/crowns-cup/", {"length": "7"}))


@pytest.mark.parametrize("name", ["difference", "length", "stake", "order"])
@pytest.mark.parametrize("value", ["x", "-1", "1e400", "9" * 5000, "NaN", "Infinity", "\0", "0x10"])
def test_a_filter_that_makes_no_sense_is_said_beside_its_field(name: str, value: str) -> None:
    _, reader = tables_to_choose_from()
    for address in ("/lobby/crowns-cup/", "/lobby/crowns-cup/tables/"):
        response = reader.get(address, {name: value, "since": value})
        assert response.status_code == 200 and len(rows_of(response, "lobby")) == 5
    assert f'id="wanted_{name}_error"' in reader.get("/lobby/crowns-cup/", {name: value}).content.decode()


# --- What a player does ---


def test_two_players_come_to_their_match() -> None:
    vera, didrik = people(2)
    one, two = login_of(vera), login_of(didrik)
    terms = {"length": "7", "stake": "2.50", "real_money": "real", "max_difference": "200"}
    response = one.post("/lobby/crowns-cup/open/", terms, follow=True)
    assert "Your table stands in the lobby." in text_of(response) and "You wait at a table." in text_of(response)
    table = Table.objects.get()
    assert (table.host, table.length, table.stake, table.real_money, table.max_difference) == (vera, 7, Decimal("2.5"), True, 200)
    assert "you" in rows_of(response, "lobby")[0] and "Leave" in rows_of(response, "lobby")[0]
    match = two.post(f"/tables/{table.pk}/seat/")["Location"]
    assert match == Match.objects.get().get_absolute_url()
    assert two.get(match).status_code == 200
    assert "Your match is not finished. Player 2" in text_of(one.get("/lobby/crowns-cup/"))
    assert one.get(f"/tables/{table.pk}/")["Location"] == match
    assert "The match of this table has started." in text_of(Client().get(f"/tables/{table.pk}/"))


def test_a_player_is_paired() -> None:
    [vera] = people(1)
    reader = login_of(vera)
    text = text_of(reader.post("/lobby/fibs/pairing/", {"length": "5"}, follow=True))
    assert "You wait to be paired. You will see with whom when your match starts. to 5 points · 0 min" in text
    assert PairingRequest.objects.get().player == vera
    others = text_of(login_of(create_players(["Didrik"])[0]).get("/lobby/fibs/"))
    assert "Player 1" not in others and "wait to be paired" not in others
    assert "wait to be paired" not in text_of(reader.post("/lobby/fibs/pairing/stop/", follow=True))
    assert "You are waiting no more." in text_of(reader.post("/lobby/fibs/pairing/stop/", follow=True))


def test_a_player_is_challenged_and_answers() -> None:
    vera, didrik, inger = people(3)
    one, two, three = login_of(vera), login_of(didrik), login_of(inger)
    page = text_of(one.get("/lobby/online-backgammon/challenge/player-2/"))
    assert "Challenge Player 2" in page and "Not rated. Challenges do not count in this pool." in page
    response = one.post("/lobby/online-backgammon/challenge/player-2/", {"length": "5"})
    table = Table.objects.get()
    assert response["Location"] == f"/tables/{table.pk}/"
    assert "Player 2 has not answered yet." in text_of(one.get(f"/tables/{table.pk}/"))
    assert "Player 1 challenges you. to 5 points · Not rated." in text_of(two.get("/lobby/online-backgammon/"))
    assert "challenges" not in text_of(three.get("/lobby/online-backgammon/"))
    for stranger in (three, Client()):
        assert stranger.get(f"/tables/{table.pk}/").status_code == 404
    assert three.post(f"/tables/{table.pk}/seat/").status_code == three.post(f"/tables/{table.pk}/decline/").status_code == 404
    assert three.post(f"/tables/{table.pk}/leave/").status_code == 404
    two.post(f"/tables/{table.pk}/decline/")
    table.refresh_from_db()
    assert table.closed_because == "declined" and "This table is closed: declined." in text_of(one.get(f"/tables/{table.pk}/"))
    one.post("/lobby/online-backgammon/challenge/player-2/", {"length": "5"})
    two.post(f"/tables/{Table.objects.latest('pk').pk}/seat/")
    assert Match.objects.get().kind == "challenge"


def test_nobody_challenges_himself_or_plays_himself() -> None:
    [vera] = people(1)
    reader = login_of(vera)
    assert "You cannot challenge yourself." in text_of(reader.get("/lobby/fibs/challenge/player-1/"))
    refused = text_of(reader.post("/lobby/fibs/challenge/player-1/", {"length": "5"}, follow=True))
    assert "a player cannot play against himself" in refused and not Table.objects.exists()
    table = open_table(pool_of("fibs"), vera, FIVE)
    for _ in range(3):
        reader.post(f"/tables/{table.pk}/seat/")
    assert TableSeat.objects.count() == 1 and not Match.objects.exists()


def test_an_invitation_is_found_by_its_link_alone() -> None:
    vera, didrik = people(2)
    one, two = login_of(vera), login_of(didrik)
    shown = one.post("/lobby/tics/invite/", {}, follow=True)
    table = Table.objects.get()
    link = f"/invitations/{table.token}/"
    assert f"http://testserver{link}" in shown.content.decode()
    assert two.get(f"/tables/{table.pk}/").status_code == two.post(f"/tables/{table.pk}/seat/").status_code == 404
    for wrong in ("x", "%00", f"{table.token}x"):
        assert two.get(f"/invitations/{wrong}/").status_code == two.post(f"/invitations/{wrong}/seat/").status_code == 404
    assert "Log in to take a seat" in text_of(Client().get(link))
    assert table.token is not None and table.token not in text_of(Client().get("/lobby/tics/"))
    assert "Sit down" in text_of(two.get(link))
    assert two.post(f"{link}seat/")["Location"] == Match.objects.get().get_absolute_url()
    assert Match.objects.get().kind == "invitation"


def test_a_rematch_from_the_page_of_the_match() -> None:
    vera, didrik, inger = people(3)
    [match] = complete(pool_of("fibs"), won(vera, didrik, NOW))
    one, two, three = login_of(vera), login_of(didrik), login_of(inger)
    assert "Rematch" in text_of(one.get(match.get_absolute_url()))
    for stranger in (three, Client()):
        assert "Rematch" not in text_of(stranger.get(match.get_absolute_url()))
    assert "Only those who played" in text_of(three.post(f"/matches/{match.pk}/rematch/", follow=True))
    one.post(f"/matches/{match.pk}/rematch/")
    assert "Player 1 offers you a rematch." in text_of(two.get("/lobby/fibs/"))
    two.post(f"/matches/{match.pk}/rematch/")
    started = Match.objects.latest("pk")
    assert started.kind == "rematch" and started.status == "open"
    assert "when the match is finished" in text_of(two.post(f"/matches/{started.pk}/rematch/", follow=True))
    assert two.post("/matches/99999999999999999999/rematch/").status_code == 404


def test_a_player_gets_up() -> None:
    vera, didrik = people(2)
    table = open_table(pool_of("freewhist"), vera, DEALS)
    take_seat(table.pk, didrik)
    reader = login_of(didrik)
    reader.post(f"/tables/{table.pk}/leave/")
    assert not didrik.table_seats.exists() and vera.table_seats.exists()
    reader.post(f"/tables/{table.pk}/leave/")  # a second click
    assert vera.table_seats.exists()


def test_who_is_asked_is_told_in_every_lobby_and_by_a_message() -> None:
    vera, didrik = people(2)
    one, two = login_of(vera), login_of(didrik)
    assert 'href="/lobby/fibs/challenge/player-2/"' in one.get("/players/player-2/fibs/").content.decode()
    one.post("/lobby/fibs/challenge/player-2/", {"length": "5"})
    table = Table.objects.get()
    assert "Player 1 challenges you. FIBS · to 5 points" in text_of(two.get("/lobby/tics/"))
    page = two.get("/cashier/messages/")
    assert "FIBS: you are challenged" in text_of(page)
    message = didrik.messages.get()
    assert two.post(f"/cashier/messages/{message.pk}/")["Location"] == f"/tables/{table.pk}/"
    [match] = complete(pool_of("tics"), won(vera, didrik, NOW, length=None))
    one.post(f"/matches/{match.pk}/rematch/")
    assert "TICS: you are asked for a rematch" in text_of(two.get("/cashier/messages/"))
    assert not vera.messages.filter(kind="asked").exists()


def test_who_has_no_login_is_not_challenged() -> None:
    vera, inger = people(2)
    reader, why = login_of(vera), "This player has no login here, and could not answer."
    assert why in text_of(reader.get("/lobby/fibs/challenge/player-2/"))
    assert why in text_of(reader.post("/lobby/fibs/challenge/player-2/", {"length": "5"}, follow=True))
    assert "/challenge/" not in reader.get("/players/player-2/fibs/").content.decode()
    assert not Table.objects.exists() and not inger.challenges.exists()


# --- What nobody can do ---

ACTS = (
    "/lobby/fibs/open/",
    "/lobby/fibs/pairing/",
    "/lobby/fibs/pairing/stop/",
    "/lobby/fibs/invite/",
    "/tables/{table}/seat/",
    "/tables/{table}/leave/",
    "/tables/{table}/decline/",
    "/invitations/{token}/seat/",
    "/matches/{match}/rematch/",
)


@pytest.mark.parametrize("act", [*ACTS, "/lobby/fibs/challenge/player-2/"])
def test_acts_are_posts_of_a_player_with_a_token(act: str) -> None:
    vera, didrik, inger = people(3)
    pool = pool_of("fibs")
    table, link = open_table(pool, vera, FIVE), invite(pool, vera, FIVE)
    [match] = complete(pool, won(vera, inger, NOW))
    act = act.format(table=table.pk, token=link.token, match=match.pk)
    terms = {"length": "5", "player": vera.pk, "host": vera.pk, "reader": vera.pk}
    before = list(Table.objects.values()), list(TableSeat.objects.values()), PairingRequest.objects.count()

    def nothing_happened() -> bool:
        return before == (list(Table.objects.values()), list(TableSeat.objects.values()), PairingRequest.objects.count())

    stranger = Client()
    response = stranger.post(act, terms)
    assert response.status_code == 302 and response["Location"].startswith("/accounts/login/?next=/")
    assert nothing_happened()
    stranger.force_login(get_user_model().objects.create_user("nobody"))
    assert stranger.post(act, terms).status_code == 403 and nothing_happened()
    reader = login_of(didrik)
    if "challenge" not in act:
        assert reader.get(act).status_code == 405 and nothing_happened()
    forged = Client(enforce_csrf_checks=True)
    assert didrik.user is not None
    forged.force_login(didrik.user)
    assert forged.post(act, terms).status_code == 403 and nothing_happened()
    reader.post(act, terms)  # whatever it does, it does for himself
    assert set(Table.objects.filter(host=vera)) == {table, link}
    assert not vera.pairing_requests.exists()


@pytest.mark.parametrize("act", ["open", "pairing", "invite", "challenge/player-2"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("length", "0"),
        ("length", "100"),
        ("length", "\0"),
        ("length", "9" * 5000),
        ("length", "5.5"),
        ("stake", "0"),
        ("stake", "-1"),
        ("stake", "NaN"),
        ("stake", "Infinity"),
        ("stake", "1e400"),
        ("stake", "1.001"),
        ("stake", ""),
        ("real_money", ""),
        ("real_money", "perhaps"),
    ],
)
def test_terms_that_make_no_sense_are_refused_beside_their_field(act: str, field: str, value: str) -> None:
    reader, _ = map(login_of, people(2))
    terms = {"length": "5", "stake": "10", "real_money": "real", field: value}
    response = reader.post(f"/lobby/crowns-cup/{act}/", terms)
    assert response.status_code == 400 and f'id="id_{field}_error"' in response.content.decode()
    assert not Table.objects.exists() and not PairingRequest.objects.exists()


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"max_difference": "-1"}, "max_difference"),
        ({"max_difference": "100001"}, "max_difference"),
        ({"min_experience": "x"}, "min_experience"),
        ({"max_experience": "99999999999"}, "max_experience"),
        ({"min_experience": "5", "max_experience": "4"}, "max_experience"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, str], field: str) -> None:
    response = login_of(people(1)[0]).post("/lobby/fibs/open/", {"length": "5", **limits})
    assert response.status_code == 400 and f'id="id_{field}_error"' in response.content.decode()
    assert not Table.objects.exists()


def test_addresses_that_lead_nowhere() -> None:
    reader = login_of(people(1)[0])
    for address in ("/lobby/none/", "/lobby/none/tables/", "/tables/1/", "/tables/99999999999999999999/"):
        assert reader.get(address).status_code == 404, address
    for address in ("/lobby/none/open/", "/tables/1/seat/", "/tables/99999999999999999999/leave/", "/invitations/x/seat/"):
        assert reader.post(address, {"length": "5"}).status_code == 404, address
    assert reader.get("/lobby/fibs/challenge/nobody/").status_code == 404


# --- The poll ---


class Viewer:
    """A browser that has the tables as they were when it last asked."""

    def __init__(self, client: Client, address: str = "/lobby/fibs/tables/") -> None:
        self.client, self.address = client, address
        self.etag = client.get(address)["ETag"]

    def ask(self, **headers: str) -> int:
        response = self.client.get(self.address, headers={"if-none-match": self.etag, **headers})
        if response.status_code == 200:
            self.etag = response["ETag"]
        else:
            assert response.content == b""
        return int(response.status_code)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No minute passes while a test looks."""
    monkeypatch.setattr(reads, "SHOWN_FOR", 10**12)


@pytest.mark.usefixtures("still")
def test_an_unchanged_lobby_is_not_sent_again() -> None:
    pool, (vera, didrik, inger, rune) = pool_of("fibs"), people(4)
    viewers = [Viewer(Client()), Viewer(login_of(vera)), Viewer(login_of(didrik))]

    def asked() -> list[int]:
        return [viewer.ask() for viewer in viewers]

    assert asked() == [304, 304, 304]
    table = open_table(pool, inger, FIVE)
    assert asked() == [200, 200, 200] and asked() == [304, 304, 304]
    open_table(pool_of("tics"), inger, Result())  # another lobby
    assert asked() == [304, 304, 304]
    complete(pool, won(vera, rune, NOW))  # her own rating moves, and nobody's who is seen
    assert asked() == [304, 200, 304]
    for _ in range(2):
        complete(pool, won(inger, rune, NOW))  # the host's does, her first and the next
        assert asked() == [200, 200, 200] and asked() == [304, 304, 304]
    take_seat(table.pk, didrik)
    assert asked() == [200, 200, 200] and asked() == [304, 304, 304]
    assert viewers[0].ask(**{"accept-language": "de"}) == 200


@pytest.mark.usefixtures("still")
def test_the_page_and_its_part_agree_on_what_was_seen() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    open_table(pool, vera, FIVE)
    reader = login_of(didrik)
    page = reader.get("/lobby/fibs/?length=5").content.decode()
    [headers] = re.findall(r"hx-headers='([^']+)'", page)
    seen = {"if-none-match": json.loads(html.unescape(headers))["If-None-Match"]}
    assert reader.get("/lobby/fibs/tables/?length=5", headers=seen).status_code == 304
    assert reader.get("/lobby/fibs/tables/?length=7", headers=seen).status_code == 200


def test_how_long_a_table_waits_is_told_anew_each_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    viewer, now = Viewer(Client()), timezone.now().replace(second=30)
    monkeypatch.setattr(timezone, "now", lambda: now)
    viewer.ask()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(seconds=10))
    assert viewer.ask() == 304
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(seconds=61))
    assert viewer.ask() == 200


def test_who_waits_is_led_to_the_match_when_it_starts() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    table = open_table(pool, vera, FIVE)
    host, viewer = login_of(vera), login_of(inger)
    [poll] = re.findall(r'hx-get="([^"]+)"', host.get("/lobby/fibs/").content.decode())
    assert "since=" in poll and "since" not in viewer.get("/lobby/fibs/").content.decode()
    assert "HX-Redirect" not in host.get(poll)
    match = take_seat(table.pk, didrik).match
    assert match is not None and host.get(poll)["HX-Redirect"] == match.get_absolute_url()
    assert "HX-Redirect" not in viewer.get(poll)
    later = int((timezone.now() + timedelta(minutes=1)).timestamp())
    assert "HX-Redirect" not in host.get(f"/lobby/fibs/tables/?since={later}")


def test_the_part_is_for_this_reader_and_no_cache() -> None:
    response = Client().get("/lobby/fibs/tables/")
    assert "private" in response["Cache-Control"] and "no-cache" in response["Cache-Control"]
    assert "Cookie" in response["Vary"]


def test_the_numbers_of_queries_are_fixed() -> None:
    pool = pool_of("crowns-cup")
    vera, didrik, *guests = people(24)
    reader = login_of(vera)
    open_table(pool, didrik, EURO_FIVE)
    challenge(pool, didrik, vera, EURO_FIVE)
    open_table(pool, vera, EURO_FIVE)
    [played] = complete(pool, won(vera, didrik, NOW, stake=Decimal(1), real_money=True, kind="table"))
    offer_rematch(played, didrik)
    pages = ("/lobby/crowns-cup/", "/lobby/crowns-cup/tables/", f"/tables/{Table.objects.earliest('pk').pk}/")
    few = [queries_of(reader, page) for page in pages]
    for guest in guests:
        open_table(pool, guest, EURO_FIVE)
        challenge(pool, guest, vera, EURO_FIVE)
    assert [queries_of(reader, page) for page in pages] == few and max(few) <= 23


def test_a_poll_without_a_change_takes_four_queries(django_assert_num_queries: Any) -> None:
    viewer = Viewer(login_of(people(1)[0]))
    with django_assert_num_queries(4):  # session, login, player, state
        assert viewer.ask() == 304
    stranger = Viewer(Client())
    with django_assert_num_queries(1):
        assert stranger.ask() == 304


def test_left_tables_are_gone() -> None:
    [vera] = people(1)
    table = open_table(pool_of("fibs"), vera, FIVE)
    leave_table(table.pk, vera)
    assert rows_of(Client().get("/lobby/fibs/"), "lobby") == []
