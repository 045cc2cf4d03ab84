"""The calculation sheet: every match opens into the sum that gave the stored changes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from matches.completion import Entry
from matches.models import Match, Participant
from matches.sheet import sheet
from players.ledger import Opening, set_openings
from players.models import Player, Pool, RatingChange
from players.services import create_players
from players.systems.base import Result
from tests.building import DAY_ONE, NOW, at, complete, people, pool_of, won
from tests.pages import login_of, queries_of, text_of

pytestmark = pytest.mark.django_db

CROWNS: dict[str, Any] = {"stake": Decimal(10), "real_money": True, "kind": "table"}
RESULTS: dict[str, tuple[str, Result]] = {
    "fibs": ("fibs", Result(scores=(1.0, 0.0), length=7)),
    "crowns cup": ("crowns-cup", Result(scores=(0.0, 1.0), length=5, **CROWNS)),
    "money game": ("crowns-cup", Result(scores=(1.0, 0.0), points=4, **CROWNS)),
    "broken off": ("crowns-cup", Result(chance=0.623, length=9, **CROWNS)),
    "capped": ("online-backgammon", Result(scores=(1.0, 0.0), length=99, kind="matchmade")),
    "whist": ("freewhist", Result(places=(3, 1, 2, 4), deals=24)),
    "shared places": ("freewhist", Result(places=(2, 2, 1, 4), deals=8)),
    "win": ("tics", Result(scores=(0.0, 1.0))),
    "draw": ("tics", Result(scores=(0.5, 0.5))),
}


def played(slug: str, *results: Result) -> list[Match]:
    """Matches of the same players, one after the other."""
    pool = pool_of(slug)
    table = people(pool.rating_system.seats)
    return complete(pool, *(Entry(players=table, result=result, ended_at=at(hours)) for hours, result in enumerate(results)))


@pytest.mark.parametrize("name", RESULTS)
def test_the_last_line_is_the_stored_change(name: str, client: Client) -> None:
    slug, result = RESULTS[name]
    for match in played(slug, result, result, result):
        found = sheet(match.pk, None)
        assert found.counted and found.explained and len(found.columns) == match.pool.rating_system.seats
        for column in found.columns:
            assert column.line is not None and column.sum is not None
            assert column.sum.last.term.value == column.line.change
            assert column.line == RatingChange.objects.get(match=match, player=column.seat.player)
        text = text_of(client.get(match.get_absolute_url()))
        assert text.count("Change, shown as") == len(found.columns)


def between(slug: str, ratings: tuple[float, ...], experience: int, result: Result) -> Match:
    """A match of players who bring these ratings along."""
    pool, table = pool_of(slug), people(len(ratings))
    with transaction.atomic():
        openings = {player.pk: Opening(rating, experience, None) for player, rating in zip(table, ratings, strict=True)}
        set_openings(pool, openings, NOW)
    return complete(pool, Entry(players=table, result=result, ended_at=at(1)))[0]


def test_the_sheet_gives_the_published_figure_line_by_line(client: Client) -> None:
    match = between("crowns-cup", (1650.0, 1500.0), 400, Result(scores=(1.0, 0.0), length=5, **CROWNS))
    text = text_of(client.get(match.get_absolute_url()))
    for line in (
        "Rating before 1650.00",
        "Opponent's rating 1500.00",
        "D, difference of the ratings |1650 − 1500| 150",
        "Square root of the match length √5 2.236068",
        "S, score: won 1",
        "Stake €10.00",
        "Stake factor log10(1 + 10) 1.041393",
        "K, experience factor max(1, 5 − 400 / 100) 1",
        "Change, shown as",
        "+3.77",
        "−3.77",
    ):
        assert line in text
    assert "Before 1650.00 Change +3.77 After 1653.77 Experience 400 → 405" in text
    assert "Before 1500.00 Change −3.77 After 1496.23 Experience 400 → 405" in text


def test_numbers_that_do_not_add_up_are_said_to_be_rounded(client: Client) -> None:
    match = between("tics", (1510.3, 1500.0), 60, Result(scores=(1.0, 0.0)))
    text = text_of(client.get(match.get_absolute_url()))
    # 1510.3 + 24.41 = 1534.71, but 1500 - 24.41 = 1475.59
    assert "Before 1510 Change +24 After 1535 rounded Experience" in text
    assert "Before 1500 Change −24 After 1476 Experience" in text
    assert "Rating before rounded from 1510.3 1510" in text and "Rating before 1500" in text


def test_a_match_that_does_not_count_prints_its_result_and_why(client: Client) -> None:
    [match] = played("crowns-cup", Result(scores=(0.0, 1.0), length=5, **CROWNS | {"kind": "tournament"}))
    response = client.get(match.get_absolute_url())
    text = text_of(response)
    assert "Player 2 won against Player 1, match to 5" in text
    assert "Not rated. Tournament matches do not count in this pool." in text and text.count("Rating unchanged.") == 2
    assert "shown as" not in text and '<ol class="sheet">' not in response.content.decode()


def test_the_reason_is_the_one_that_held_when_the_rules_have_changed_since(client: Client) -> None:
    [match] = played("crowns-cup", Result(scores=(0.0, 1.0), length=5, **CROWNS | {"kind": "tournament"}))
    Pool.objects.filter(pk=match.pool_id).update(parameters={"real_money_only": False})
    Match.objects.filter(pk=match.pk).update(not_counted="too_few_deals")
    assert "Not rated. This match does not count in this pool." in text_of(client.get(match.get_absolute_url()))


def test_no_sum_is_shown_that_does_not_give_the_stored_change(client: Client) -> None:
    [match] = played("fibs", Result(scores=(1.0, 0.0), length=5))
    Pool.objects.filter(pk=match.pool_id).update(parameters={"factor": 8})
    text = text_of(client.get(match.get_absolute_url()))
    assert "The rules of this pool have changed since" in text and "shown as" not in text and "+22.36" in text


def open_match(players: list[Player], **fields: Any) -> Match:
    match = Match.objects.create(pool=pool_of("fibs"), length=5, **fields)
    for number, player in enumerate(players, start=1):
        Participant.objects.create(match=match, player=player, seat=number)
    return match


def test_a_match_that_is_not_finished_says_so(client: Client) -> None:
    text = text_of(client.get(open_match(people(2)).get_absolute_url()))
    assert "Player 1 and Player 2, match to 5" in text and "This match is not finished." in text and "No result yet." in text


def test_who_may_use_the_administration_gets_there_from_the_match(client: Client, admin_client: Client) -> None:
    match = open_match(people(2))
    there = f'href="/admin/matches/match/{match.pk}/change/"'
    assert there in admin_client.get(match.get_absolute_url()).content.decode()
    assert there not in client.get(match.get_absolute_url()).content.decode()


def test_a_voided_match_says_so(client: Client) -> None:
    match = open_match(people(2), status="voided", ended_at=DAY_ONE, completed_at=DAY_ONE)
    match.participants.filter(seat=1).update(score=1)
    match.participants.filter(seat=2).update(score=0)
    text = text_of(client.get(match.get_absolute_url()))
    assert "Player 1 won against Player 2, match to 5" in text and "This match was voided: it moves no rating." in text
    assert "Voided: it does not count." in text_of(client.get("/players/player-1/fibs/"))


@pytest.mark.parametrize("number", ["0", "999999", str(2**63 - 1), str(2**63), "9" * 40, "9" * 4500, "-1", "x", "1.0"])
def test_what_is_no_match_is_not_found(number: str, client: Client) -> None:
    assert client.get(f"/matches/{number}/").status_code == 404


def test_the_readers_own_column_comes_first() -> None:
    match = played("freewhist", Result(places=(1, 2, 3, 4), deals=8))[0]
    third = match.participants.get(seat=3).player
    text = text_of(login_of(third).get(match.get_absolute_url()))
    assert text.index("Player 3 you Before") < text.index("Player 1 Before")


def test_what_was_expected_is_told_in_a_sentence(client: Client) -> None:
    [won_] = played("fibs", Result(scores=(1.0, 0.0), length=5))
    text = text_of(client.get(won_.get_absolute_url()))
    assert "Expected to win with a chance of 50%, and won." in text and "of 50%, and lost." in text


def test_the_number_of_queries_is_the_same_for_two_and_for_four(client: Client) -> None:
    ([two],) = [played("tics", Result(scores=(1.0, 0.0)))]
    table = [*Player.objects.order_by("pk"), *create_players(["Guest 1", "Guest 2"])]
    [four] = complete(pool_of("freewhist"), Entry(players=table, result=Result(places=(1, 2, 3, 4), deals=8), ended_at=DAY_ONE))
    assert queries_of(client, two.get_absolute_url()) == queries_of(client, four.get_absolute_url()) == 6


def test_a_date_alone_is_shown_as_that_date_to_every_reader() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    [match] = complete(pool, won(vera, didrik, DAY_ONE, timed=False))
    for player, zone in ((vera, "Pacific/Auckland"), (didrik, "Pacific/Honolulu")):
        page = login_of(player, time_zone=zone).get(match.get_absolute_url()).content.decode()
        assert '<time datetime="2026-03-01">1 Mar 2026</time>' in page


@pytest.mark.parametrize("name", RESULTS)
def test_a_part_of_the_sheet_says_what_the_sheet_says_of_that_player(name: str, client: Client) -> None:
    slug, result = RESULTS[name]
    *_, match = played(slug, result, result)
    whole = text_of(client.get(match.get_absolute_url()))
    for seat in match.participants.all():
        part = text_of(client.get(f"/matches/{match.pk}/seats/{seat.seat}/"))
        told, links = part.split(" Go to the match")
        assert told in whole and told.count("Change, shown as") == 1 and links == " The rules in words"


def test_a_part_of_the_sheet_that_no_longer_gives_the_change_says_so(client: Client) -> None:
    [match] = played("fibs", Result(scores=(1.0, 0.0), length=5))
    Pool.objects.filter(pk=match.pool_id).update(parameters={"factor": 8})
    text = text_of(client.get(f"/matches/{match.pk}/seats/1/"))
    assert "The rules of this pool have changed since" in text and "shown as" not in text and "+22.36" in text


def test_a_part_of_the_sheet_takes_as_many_queries_as_the_sheet(client: Client) -> None:
    [four] = played("freewhist", Result(places=(1, 2, 3, 4), deals=8))
    assert queries_of(client, f"/matches/{four.pk}/seats/4/") == queries_of(client, four.get_absolute_url()) == 6


@pytest.mark.parametrize("rest", ["0", "3", str(2**63), "9" * 40, "-1", "x"])
def test_what_is_no_seat_is_not_found(rest: str, client: Client) -> None:
    [match] = played("fibs", Result(scores=(1.0, 0.0), length=5))
    assert client.get(f"/matches/{match.pk}/seats/{rest}/").status_code == 404
    assert client.get(f"/matches/{2**63}/seats/1/").status_code == 404
    assert client.post(f"/matches/{match.pk}/seats/1/").status_code == 405
