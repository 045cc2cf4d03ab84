"""Players at the lobby's tables at the same time, on PostgreSQL."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from matches.lobby import matchmaking, tables
from matches.lobby.matchmaking import give_up, pair, seek
from matches.lobby.tables import invite, leave_table, offer_rematch, open_table, take_seat
from matches.models import Event, Match, PairingRequest, Participant, Table, TableSeat
from players.systems.base import Result
from tests.building import NOW, complete, people, pool_of, won
from tests.concurrency.running import at_once

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

FIVE, DEALS = Result(length=5), Result(deals=16)


def test_of_ten_who_take_the_last_seat_one_gets_it_and_the_others_are_told() -> None:
    vera, *others = people(11)
    table = open_table(pool_of("fibs"), vera, FIVE)
    answers = at_once([lambda player=player: take_seat(table.pk, player) for player in others])
    got = [answer for answer in answers if isinstance(answer, Table)]
    told = [answer for answer in answers if isinstance(answer, ValidationError)]
    assert len(got) == 1 and len(told) == 9 and {error.code for error in told} == {"full"}
    assert Match.objects.count() == 1 and Participant.objects.count() == 2 and not TableSeat.objects.exists()


def test_without_the_lock_two_matches_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race that it is there for."""
    vera, didrik, inger = people(3)
    table = open_table(pool_of("fibs"), vera, FIVE)
    both_have_read = threading.Barrier(2)

    def unlocked(player_ids: Any, *table_ids: int) -> dict[int, Table]:
        found = {one.pk: one for one in Table.objects.select_related("pool").filter(pk__in=table_ids)}
        both_have_read.wait(timeout=60)
        return found

    monkeypatch.setattr(tables, "lock_tables", unlocked)
    at_once([lambda: take_seat(table.pk, didrik), lambda: take_seat(table.pk, inger)])
    assert Match.objects.count() == 2


def test_eight_at_a_table_of_four() -> None:
    players = people(9)
    table = open_table(pool_of("freewhist"), players[0], DEALS)
    answers = at_once([lambda player=player: take_seat(table.pk, player) for player in players[1:]])
    assert sum(isinstance(answer, Table) for answer in answers) == 3
    assert {answer.code for answer in answers if isinstance(answer, Exception)} == {"full"}  # type: ignore[attr-defined]
    assert Match.objects.get().participants.count() == 4


def test_the_same_click_ten_times_at_once() -> None:
    vera, didrik = people(2)
    opened = at_once([lambda: open_table(pool_of("freewhist"), vera, DEALS) for _ in range(10)])
    [table] = [answer for answer in opened if isinstance(answer, Table)]
    assert {answer.code for answer in opened if answer != table} == {"already"}
    answers = at_once([lambda: take_seat(table.pk, didrik) for _ in range(10)])
    assert [answer for answer in answers if answer != table] == []
    assert TableSeat.objects.filter(table=table).count() == 2
    told = [event.table["players"] for event in Event.objects.order_by("pk")]
    assert told == [[vera.pk], [vera.pk, didrik.pk]]
    links = at_once([lambda: invite(pool_of("fibs"), vera, FIVE) for _ in range(5)])
    assert sum(isinstance(answer, Table) for answer in links) == 1
    assert {answer.code for answer in links if isinstance(answer, Exception)} == {"already"}  # type: ignore[attr-defined]


def test_two_hosts_who_sit_down_at_each_others_tables_play_one_match() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    for _ in range(5):
        one, two = open_table(pool, vera, FIVE), open_table(pool, didrik, FIVE)
        before = Match.objects.count()
        answers = at_once([lambda: take_seat(two.pk, vera), lambda: take_seat(one.pk, didrik)])  # noqa: B023
        assert Match.objects.count() == before + 1
        assert sum(isinstance(answer, Table) for answer in answers) == 1
        assert not TableSeat.objects.exists()


def test_joining_and_leaving_at_once_leaves_no_half_table() -> None:
    pool, players = pool_of("freewhist"), people(6)
    table = open_table(pool, players[0], DEALS)
    jobs = [lambda player=player: (take_seat(table.pk, player), leave_table(table.pk, player)) for player in players[1:4]]
    answers = at_once([*jobs, lambda: leave_table(table.pk, players[0])])
    assert all(not isinstance(answer, Exception) or isinstance(answer, ValidationError) for answer in answers)
    table.refresh_from_db()
    seats = set(TableSeat.objects.filter(table=table).values_list("player", flat=True))
    match table.status:
        case "waiting":
            assert table.host_id in seats
        case "closed":
            assert seats == set() and not Match.objects.exists()
        case "started":
            assert seats == set() and Match.objects.get().participants.count() == 4


def test_both_press_the_button_for_a_rematch() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    [played] = complete(pool, won(vera, didrik, NOW))
    answers = at_once([lambda player=player: offer_rematch(played, player) for player in (vera, didrik, vera, didrik)])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert Table.objects.get().status == "started" and Match.objects.filter(kind="rematch").count() == 1


# --- Matchmaking ---


def test_several_workers_pair_each_player_once() -> None:
    pool, players = pool_of("fibs"), people(21)
    for player in players:
        seek(pool, player, FIVE)
    answers = at_once([lambda: pair(pool) for _ in range(4)])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert Match.objects.count() == sum(map(len, answers)) == 10
    seats = list(Participant.objects.values_list("player", flat=True))
    assert len(seats) == len(set(seats)) == 20 and PairingRequest.objects.count() == 1


def test_without_the_lock_a_player_is_paired_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race that it is there for."""
    pool, players = pool_of("fibs"), people(2)
    for player in players:
        seek(pool, player, FIVE)
    both_have_read = threading.Barrier(2)

    def unlocked(request_ids: Any) -> list[PairingRequest]:
        rows = list(PairingRequest.objects.filter(pk__in=request_ids).select_related("player").order_by("pk"))
        both_have_read.wait(timeout=60)
        return rows

    monkeypatch.setattr(matchmaking, "lock_requests", unlocked)
    at_once([lambda: pair(pool), lambda: pair(pool)])
    assert Match.objects.count() == 2


def test_who_is_paired_and_sits_down_at_once_plays_one_match() -> None:
    pool, tics = pool_of("fibs"), pool_of("tics")
    vera, didrik, inger, rune = people(4)
    for _ in range(5):
        before = Match.objects.count()
        Match.objects.update(kind="table", status="voided", ended_at=NOW, completed_at=NOW)  # so that they can be paired again
        table = open_table(tics, inger, Result())
        open_table(pool, vera, FIVE)
        for player in (vera, didrik):
            seek(pool, player, FIVE)
        own = Table.objects.get(pool=pool, status="waiting")
        at_once([lambda: pair(pool), lambda: take_seat(own.pk, rune), lambda: take_seat(table.pk, didrik)])  # noqa: B023
        sweep = Match.objects.filter(status="open").count()
        assert sweep <= 2 and Match.objects.count() > before
        playing = list(Participant.objects.filter(match__status="open", player=vera))
        assert len(playing) == 1
        for player in (vera, didrik, inger, rune):
            give_up(pool, player)
            for seat in TableSeat.objects.filter(player=player):
                leave_table(seat.table_id, player)
