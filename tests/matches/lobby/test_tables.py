"""Tables: opening, sitting down, getting up, and the match that starts when the last seat is taken."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from matches.completion import Entry, complete_match, save_open
from matches.lobby.row import lobby_of
from matches.lobby.tables import challenge, close_stale, decline, invite, leave_table, offer_rematch, open_table, take_seat
from matches.models import Lobby, Match, PairingRequest, Table, TableSeat
from players import ledger
from players.ledger import Opening
from players.models import Player, Pool
from players.systems.base import Refused, Result
from tests.building import NOW, complete, people, pool_of, won

pytestmark = pytest.mark.django_db

FIVE, DEALS = Result(length=5), Result(deals=16)


def seated(table: Table) -> list[Player]:
    return [seat.player for seat in table.seats.order_by("number")]


def refused(code: str, job: Callable[[], Any]) -> str:
    """The sentence with which the job is refused."""
    with pytest.raises(ValidationError) as error:
        job()
    assert error.value.code == code
    return str(error.value.messages[0])


def rated(pool: Pool, player: Player, rating: float, experience: int) -> None:
    with transaction.atomic():
        ledger.set_openings(pool, {player.pk: Opening(rating, experience, None)}, NOW)


# --- The match starts ---


def test_the_second_player_starts_the_match_of_two() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    terms = Result(length=5, stake=Decimal(10), real_money=True)
    table = open_table(pool, vera, terms)
    assert seated(table) == [vera] and table.status == "waiting" and not Match.objects.exists()
    table = take_seat(table.pk, didrik)
    match = Match.objects.get()
    assert table.status == "started" and table.match == match and match.status == "open" and match.kind == "table"
    assert [seat.player for seat in match.participants.all()] == [vera, didrik]
    assert match.result() == Result(length=5, stake=Decimal(10), real_money=True, kind="table")
    assert not TableSeat.objects.exists()


def test_a_table_of_four_starts_with_the_fourth() -> None:
    players = people(5)
    table = open_table(pool_of("freewhist"), players[0], DEALS)
    for player in players[1:3]:
        assert take_seat(table.pk, player).status == "waiting"
    leave_table(table.pk, players[1])
    take_seat(table.pk, players[3])  # gets the seat that became free
    match = take_seat(table.pk, players[4]).match
    assert match is not None and [seat.player for seat in match.participants.all()] == [players[n] for n in (0, 3, 2, 4)]


def test_asking_again_changes_nothing() -> None:
    players = people(4)
    table = open_table(pool_of("freewhist"), players[0], DEALS)
    for _ in range(3):
        take_seat(table.pk, players[1])
    assert seated(table) == players[:2]
    for player in players[2:]:
        take_seat(table.pk, player)
    started = take_seat(table.pk, players[1])
    assert started.match == Match.objects.get()


def test_nobody_plays_himself() -> None:
    [vera] = people(1)
    table = open_table(pool_of("fibs"), vera, FIVE)
    assert take_seat(table.pk, vera).status == "waiting"
    assert seated(table) == [vera] and not Match.objects.exists()


def test_who_comes_too_late_is_told() -> None:
    vera, didrik, inger = people(3)
    table = open_table(pool_of("fibs"), vera, FIVE)
    take_seat(table.pk, didrik)
    assert "Somebody else took the last seat" in refused("full", lambda: take_seat(table.pk, inger))
    other = open_table(pool_of("fibs"), vera, FIVE)
    leave_table(other.pk, vera)
    assert "closed" in refused("closed", lambda: take_seat(other.pk, inger))
    with pytest.raises(Table.DoesNotExist):
        take_seat(10**9, inger)


def test_who_plays_waits_nowhere() -> None:
    fibs, whist, tics = pool_of("fibs"), pool_of("freewhist"), pool_of("tics")
    vera, didrik, inger = people(3)
    own, others = open_table(tics, vera, Result()), open_table(whist, inger, DEALS)
    take_seat(others.pk, vera)
    asked, link = challenge(fibs, vera, inger, FIVE), invite(fibs, vera, FIVE)
    PairingRequest.objects.create(pool=fibs, player=vera, length=5)
    PairingRequest.objects.create(pool=fibs, player=inger, length=5)
    take_seat(open_table(fibs, didrik, FIVE).pk, vera)
    own.refresh_from_db()
    assert (own.status, own.closed_because) == ("closed", "playing") and seated(others) == [inger]
    assert [request.player for request in PairingRequest.objects.all()] == [inger]
    assert set(Table.objects.filter(status="waiting")) == {others, asked, link}


def test_an_unfinished_match_keeps_nobody_from_the_next() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    take_seat(open_table(pool, vera, FIVE).pk, didrik)
    take_seat(open_table(pool, vera, FIVE).pk, inger)
    assert Match.objects.filter(status="open").count() == 2


# --- Who may sit down ---


@pytest.mark.parametrize(
    ("limits", "rating", "experience", "why"),
    [
        ({"max_difference": 100}, 1600, 0, ""),
        ({"max_difference": 100}, 1400, 0, ""),
        ({"max_difference": 100}, 1600.004, 0, ""),  # it is shown as 1600.00
        (
            {"max_difference": 100},
            1600.005,
            0,
            "This table is for ratings from 1400.00 to 1600.00, and yours is 1600.01.",
        ),
        ({"max_difference": 0}, 1499, 0, "This table is for ratings from 1500.00 to 1500.00, and yours is 1499.00."),
        ({"min_experience": 50}, 1500, 50, ""),
        ({"min_experience": 50}, 1500, 49, "This table is for an experience from 50 on, and yours is 49."),
        ({"max_experience": 50}, 1500, 51, "This table is for an experience up to 50, and yours is 51."),
        (
            {"min_experience": 10, "max_experience": 50},
            1500,
            9,
            "This table is for an experience from 10 to 50, and yours is 9.",
        ),
    ],
)
def test_who_may_join_is_told_by_rating_and_experience(limits: dict[str, int], rating: float, experience: int, why: str) -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    rated(pool, didrik, rating, experience)
    table = open_table(pool, vera, Result(length=5, stake=Decimal(1), real_money=True), **limits)
    if why:
        assert refused("not_admitted", lambda: take_seat(table.pk, didrik)) == why
        assert not Match.objects.exists()
    else:
        assert take_seat(table.pk, didrik).match is not None


def test_limits_that_cannot_be_met_are_not_stored() -> None:
    pool, [vera] = pool_of("fibs"), people(1)
    with pytest.raises(IntegrityError), transaction.atomic():
        open_table(pool, vera, FIVE, min_experience=5, max_experience=4)
    assert not Table.objects.exists()


# --- One table in a lobby ---


def test_a_player_has_one_seat_in_a_lobby() -> None:
    whist, tics = pool_of("freewhist"), pool_of("tics")
    vera, didrik, inger = people(3)
    first, second = open_table(whist, vera, DEALS), open_table(whist, didrik, DEALS)
    refused("already", lambda: open_table(whist, vera, DEALS))
    take_seat(first.pk, inger)
    assert "Leave it first" in refused("already", lambda: take_seat(second.pk, inger))
    open_table(tics, inger, Result())  # another lobby
    with pytest.raises(IntegrityError), transaction.atomic():
        TableSeat.objects.create(table=second, player=inger, number=2, lobby=whist)


def test_the_own_table_closes_where_the_other_ones_match_starts() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    own, other = open_table(pool, vera, FIVE), open_table(pool, didrik, FIVE)
    assert take_seat(other.pk, vera).match is not None
    own.refresh_from_db()
    assert own.status == "closed"


@pytest.mark.parametrize("terms", [Result(length=0), Result(length=5, stake=Decimal(1)), Result(deals=8)])
def test_terms_that_could_not_be_completed_open_no_table(terms: Result) -> None:
    with pytest.raises(Refused):
        open_table(pool_of("fibs"), people(1)[0], terms)
    assert not Table.objects.exists()


# --- Getting up ---


def test_a_table_that_its_host_leaves_passes_on_to_who_has_sat_there_longest() -> None:
    vera, didrik, inger, rune = people(4)
    table = open_table(pool_of("freewhist"), vera, DEALS)
    for minutes, player in enumerate((didrik, inger, rune)):
        if player != rune:
            take_seat(table.pk, player, now=timezone.now() + timedelta(minutes=minutes))
    leave_table(table.pk, didrik)
    take_seat(table.pk, didrik, now=timezone.now() + timedelta(minutes=9))
    leave_table(table.pk, vera)
    table.refresh_from_db()
    assert table.host == inger and table.status == "waiting"
    leave_table(table.pk, rune)  # has no seat: nothing happens
    leave_table(table.pk, inger)
    leave_table(table.pk, didrik)
    table.refresh_from_db()
    assert (table.status, table.closed_because) == ("closed", "left") and not TableSeat.objects.exists()


def test_nobody_leaves_a_match_that_has_started() -> None:
    vera, didrik, inger = people(3)
    table = open_table(pool_of("fibs"), vera, FIVE)
    take_seat(table.pk, didrik)
    refused("started", lambda: leave_table(table.pk, vera))
    leave_table(table.pk, inger)
    assert Match.objects.get().participants.count() == 2


def test_stale_tables_close_and_others_stay() -> None:
    whist, now = pool_of("freewhist"), timezone.now()
    Lobby.objects.create(pool=whist, table_minutes=30, invitation_hours=2)
    vera, didrik, inger, rune = people(4)
    stale = open_table(whist, vera, DEALS, now=now - timedelta(minutes=31))
    came = open_table(whist, didrik, DEALS, now=now - timedelta(minutes=31))
    take_seat(came.pk, inger, now=now - timedelta(minutes=29))
    link = invite(whist, rune, DEALS, now=now - timedelta(minutes=119))
    old_link = invite(whist, vera, DEALS, now=now - timedelta(minutes=121))
    assert close_stale(now) == 2 and close_stale(now) == 0
    assert set(Table.objects.filter(status="waiting")) == {came, link}
    assert set(Table.objects.filter(closed_because="stale")) == {stale, old_link}
    assert set(TableSeat.objects.values_list("player", flat=True)) == {didrik.pk, inger.pk, rune.pk}
    close_stale(now + timedelta(days=31))
    close_stale(now + timedelta(days=62))
    assert not Table.objects.exists()


def test_who_sat_down_at_the_moment_when_his_match_started_is_freed() -> None:
    fibs, tics, (vera, didrik) = pool_of("fibs"), pool_of("tics"), people(2)
    table = open_table(tics, vera, Result(), now=timezone.now() - timedelta(minutes=1))
    save_open(fibs, players=[vera, didrik], terms=FIVE)
    later = open_table(fibs, vera, FIVE)  # opened with the match going on
    close_stale(timezone.now())
    table.refresh_from_db()
    assert (table.status, table.closed_because) == ("closed", "playing") and seated(later) == [vera]


# --- Challenges, invitations, rematches ---


def test_a_challenge_is_for_one_player() -> None:
    pool, (vera, didrik, inger) = pool_of("online-backgammon"), people(3)
    table = challenge(pool, vera, didrik, FIVE)
    refused("already", lambda: challenge(pool, vera, didrik, Result(length=7)))
    with pytest.raises(Table.DoesNotExist):
        take_seat(table.pk, inger)
    with pytest.raises(Table.DoesNotExist):
        decline(table.pk, inger)
    with pytest.raises(Table.DoesNotExist):
        decline(table.pk, vera)
    match = take_seat(table.pk, didrik).match
    assert match is not None and match.kind == "challenge"
    assert pool.rating_system.not_counted(match.result()) is not None
    with pytest.raises(Refused, match="same_player"):
        challenge(pool, vera, vera, FIVE)
    with pytest.raises(ValidationError, match="for two"):
        challenge(pool_of("freewhist"), vera, didrik, DEALS)


def test_a_challenge_is_declined_or_withdrawn_once() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    table = challenge(pool, vera, didrik, FIVE)
    decline(table.pk, didrik)
    decline(table.pk, didrik)
    table.refresh_from_db()
    assert (table.status, table.closed_because) == ("closed", "declined")
    refused("closed", lambda: take_seat(table.pk, didrik))
    again = challenge(pool, vera, didrik, FIVE)
    leave_table(again.pk, vera)
    again.refresh_from_db()
    assert again.closed_because == "left"


def test_an_invitation_is_for_whoever_has_the_link() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    table = invite(pool, vera, FIVE)
    assert table.token is not None and len(table.token) == 32
    refused("already", lambda: invite(pool, vera, FIVE))
    for token in ("", "x", table.token[:-1], table.token + "x"):
        with pytest.raises(Table.DoesNotExist):
            take_seat(table.pk, didrik, token=token)
    match = take_seat(table.pk, didrik, token=table.token).match
    assert match is not None and match.kind == "invitation"
    assert invite(pool, vera, FIVE).token != table.token


def test_an_invitation_to_a_table_of_four_goes_with_its_host() -> None:
    vera, didrik = people(2)
    table = invite(pool_of("freewhist"), vera, DEALS)
    take_seat(table.pk, didrik, token=table.token or "")
    leave_table(table.pk, vera)
    table.refresh_from_db()
    assert table.status == "closed" and not TableSeat.objects.exists()


def test_the_same_is_not_asked_again_and_again() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    now = timezone.now()
    for _ in range(2):
        leave_table(challenge(pool, one, two, FIVE, now=now).pk, one, now=now)
    decline(challenge(pool, one, two, FIVE, now=now).pk, two, now=now)
    assert "tomorrow" in refused("too_often", lambda: challenge(pool, one, two, FIVE, now=now))
    refused("too_often", lambda: challenge(pool_of("tics"), one, two, Result(), now=now))  # nor elsewhere
    assert challenge(pool, one, three, FIVE, now=now) and challenge(pool, two, one, FIVE, now=now)
    assert challenge(pool, one, two, FIVE, now=now + timedelta(days=1))
    [match] = complete(pool, won(one, two, NOW))
    for _ in range(3):
        decline(offer_rematch(match, one, now=now).pk, two, now=now)
    refused("too_often", lambda: offer_rematch(match, one, now=now))
    assert offer_rematch(match, two, now=now).status == "waiting"


def test_a_rematch_is_between_those_who_played() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    [played] = complete(pool, won(vera, didrik, NOW, length=7, kind="table"))
    refused("not_a_player", lambda: offer_rematch(played, inger))
    offered = offer_rematch(played, didrik)
    assert offered.kind == "rematch" and offered.length == 7 and seated(offered) == [didrik]
    assert offer_rematch(played, didrik) == offered
    with pytest.raises(Table.DoesNotExist):
        take_seat(offered.pk, inger)
    match = offer_rematch(played, vera).match  # both press the button
    assert match is not None and match.kind == "rematch" and match.length == 7
    assert [seat.player for seat in match.participants.all()] == [didrik, vera]
    assert offer_rematch(played, vera).match == match  # there is one rematch of a match
    refused("unfinished", lambda: offer_rematch(match, vera))


def test_a_rematch_that_was_declined_can_be_offered_again() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    [played] = complete(pool, won(vera, didrik, NOW))
    decline(offer_rematch(played, vera).pk, didrik)
    assert offer_rematch(played, didrik).status == "waiting"


def test_four_play_again() -> None:
    pool, players = pool_of("freewhist"), people(4)
    played = complete_match(pool, Entry(players=players, result=Result(places=(1, 2, 3, 4), deals=16), ended_at=NOW), now=NOW)
    for player in reversed(players):
        table = offer_rematch(played, player)
    assert table.match is not None and table.match.kind == "rematch" and table.match.deals == 16


# --- The lobby's version ---


def test_the_version_rises_with_whatever_the_lobby_shows() -> None:
    pool, other, (vera, didrik, inger) = pool_of("freewhist"), pool_of("fibs"), people(3)
    seen = []

    def version() -> int:
        return lobby_of(pool).version

    table = open_table(pool, vera, DEALS)
    seen.append(version())
    take_seat(table.pk, didrik)
    seen.append(version())
    leave_table(table.pk, vera)
    seen.append(version())
    take_seat(open_table(other, inger, FIVE).pk, didrik)  # his seat here goes
    seen.append(version())
    assert seen == [1, 2, 3, 4]
    invite(pool, vera, DEALS)
    leave_table(table.pk, inger)  # where he has no seat
    assert version() == 5
