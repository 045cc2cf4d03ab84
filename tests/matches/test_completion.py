"""One way for a result: what completing a match stores, what it refuses, and that it does so once."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from matches.completion import BatchRefused, Conflict, Entry, complete_match, complete_matches
from matches.models import Match, Participant
from matches.signals import match_completed
from matches.verify import verify
from players.models import Rating, RatingChange
from players.systems.base import Refused, Result
from tests.building import DAY_ONE, NOW, at, complete, forget, history, people, pool_of, values, won

pytestmark = pytest.mark.django_db


def nothing_stored() -> bool:
    return not any(model.objects.exists() for model in (Match, Participant, Rating, RatingChange))


def test_a_win_moves_both_ratings_at_once() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    entry = won(vera, didrik, DAY_ONE, stake=Decimal(10), real_money=True, kind="table")
    match = complete_match(pool, entry, now=NOW)
    # 4 * sqrt(5) * 0.5 * K 5 * log10(11), both new
    assert values(pool)["Player 1"] == (pytest.approx(1500 + 23.2863, abs=1e-4), 5)
    assert values(pool)["Player 2"] == (pytest.approx(1500 - 23.2863, abs=1e-4), 5)
    [line] = history(vera, pool)
    assert (line.match_id, line.before, line.experience_before, line.experience_after, line.score, line.expected) == (
        match.pk,
        1500.0,
        0,
        5,
        1.0,
        0.5,
    )
    assert line.after == line.before + line.change
    assert match.status == Match.Status.COMPLETED and match.completed_at == NOW and match.not_counted == ""
    rating = Rating.objects.get(player=vera, pool=pool)
    assert (rating.matches, rating.peak, rating.peak_match_id, rating.last_match_id) == (1, line.after, match.pk, match.pk)


def test_a_match_that_does_not_count_keeps_its_result_and_moves_nothing() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    match = complete_match(pool, won(vera, didrik, DAY_ONE, stake=Decimal(10), real_money=True, kind="tournament"), now=NOW)
    assert match.status == Match.Status.COMPLETED and match.not_counted == "kind_not_counted"
    assert [seat.score for seat in match.participants.all()] == [1.0, 0.0]
    assert not Rating.objects.exists() and not RatingChange.objects.exists()


@pytest.mark.parametrize(
    ("slug", "change", "field"),
    [
        ("fibs", {"length": 0}, "length"),
        ("fibs", {"length": 100}, "length"),
        ("fibs", {"length": 5.5}, "length"),
        ("fibs", {"scores": None}, "result"),
        ("fibs", {"scores": (0.5, 0.5)}, "scores"),
        ("fibs", {"scores": (float("nan"), 0.0)}, "scores"),
        ("fibs", {"stake": Decimal(5)}, "stake"),
        ("fibs", {"kind": "friendly"}, "kind"),
        ("crowns-cup", {"stake": Decimal(-1)}, "stake"),
        ("crowns-cup", {"stake": Decimal("NaN")}, "stake"),
        ("crowns-cup", {"stake": Decimal("1e400")}, "stake"),
        ("crowns-cup", {"stake": Decimal("1.005")}, "stake"),
        ("crowns-cup", {"stake": None}, "stake"),
        ("crowns-cup", {"real_money": None}, "real_money"),
        ("crowns-cup", {"kind": ""}, "kind"),
        ("crowns-cup", {"scores": None, "chance": 1.2}, "chance"),
        ("crowns-cup", {"scores": None, "chance": float("nan")}, "chance"),
        ("crowns-cup", {"length": None}, "points"),
        ("online-backgammon", {"kind": ""}, "kind"),
        ("tics", {"length": 5}, "length"),
    ],
)
def test_no_possible_result_is_refused_and_leaves_nothing(slug: str, change: dict[str, object], field: str) -> None:
    sound = {
        "fibs": Result(scores=(1.0, 0.0), length=5),
        "crowns-cup": Result(scores=(1.0, 0.0), length=5, stake=Decimal(10), real_money=True, kind="table"),
        "online-backgammon": Result(scores=(1.0, 0.0), length=5, kind="matchmade"),
        "tics": Result(scores=(1.0, 0.0)),
    }[slug]
    entry = Entry(players=people(2), result=replace(sound, **change), ended_at=DAY_ONE)
    with pytest.raises(Refused) as refused:
        complete_match(pool_of(slug), entry, now=NOW)
    assert refused.value.field == field
    assert nothing_stored()


def test_players_must_be_as_many_as_the_seats_and_different() -> None:
    one, two, three = people(3)
    whist = Result(places=(1, 2, 3, 4), deals=16)
    for pool, players, result in (
        (pool_of("fibs"), (one, one), Result(scores=(1.0, 0.0), length=5)),
        (pool_of("freewhist"), (one, two, three), whist),
        (pool_of("freewhist"), (one, two, three, one), whist),
    ):
        with pytest.raises(Refused) as refused:
            complete_match(pool, Entry(players=players, result=result, ended_at=DAY_ONE), now=NOW)
        assert refused.value.field == "players"
    assert nothing_stored()


def test_no_match_ends_more_than_five_minutes_ahead() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    with pytest.raises(Refused) as refused:
        complete_match(pool, won(one, two, NOW + timedelta(minutes=5, seconds=1)), now=NOW)
    assert (refused.value.field, refused.value.code) == ("ended_at", "in_future")
    assert nothing_stored()
    complete_match(pool, won(one, two, NOW + timedelta(minutes=5)), now=NOW)


def test_a_refused_row_of_a_batch_is_named_and_nothing_is_stored() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    with pytest.raises(BatchRefused) as refused:
        complete_matches(pool, [won(one, two, at(0)), won(one, two, at(1), length=0), won(two, one, at(2))], now=NOW)
    assert refused.value.index == 1 and refused.value.refused.field == "length"
    assert nothing_stored()


def test_the_signal_is_sent_once_with_the_list_and_its_error_rolls_back() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    sent = []

    def fail(**arguments: object) -> None:
        sent.append(arguments["matches"])
        raise RuntimeError("a receiver failed")

    match_completed.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            complete_matches(pool, [won(one, two, at(1)), won(two, one, at(0))], now=NOW)
    finally:
        match_completed.disconnect(fail)
    assert [[match.ended_at for match in matches] for matches in sent] == [[at(0), at(1)]]  # in the order of rating
    assert nothing_stored()


def test_the_same_id_again_answers_the_stored_match() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, DAY_ONE, source="server", external_id="7")
    first = complete_match(pool, entry, now=NOW)
    before = values(pool)
    assert complete_match(pool, entry, now=NOW + timedelta(days=1)).pk == first.pk
    assert [match.pk for match in complete_matches(pool, [entry, entry], now=NOW)] == [first.pk, first.pk]
    assert values(pool) == before and Match.objects.count() == 1
    # The same id of another source is another match.
    assert complete_match(pool, replace(entry, source="other"), now=NOW).pk != first.pk


def test_the_same_id_twice_in_a_batch_makes_one_match() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, DAY_ONE, source="server", external_id="7")
    first, second = complete_matches(pool, [entry, entry], now=NOW)
    assert first is second and Match.objects.count() == 1 and RatingChange.objects.count() == 2


def test_a_different_result_under_the_same_id_is_a_conflict_that_names_the_fields() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, DAY_ONE, source="server", external_id="7")
    match = complete_match(pool, entry, now=NOW)
    changed = replace(entry, players=(two, one), result=replace(entry.result, length=7))
    with pytest.raises(Conflict) as conflict:
        complete_match(pool, changed, now=NOW)
    assert set(conflict.value.fields) == {"players", "length"} and conflict.value.match.pk == match.pk
    with pytest.raises(Conflict) as conflict:
        complete_match(pool_of("tics"), replace(entry, result=Result(scores=(1.0, 0.0))), now=NOW)
    assert "pool" in conflict.value.fields


def test_an_entry_token_is_good_for_one_match() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, DAY_ONE, entry_token=uuid.uuid4())
    assert complete_match(pool, entry, now=NOW).pk == complete_match(pool, entry, now=NOW).pk
    assert Match.objects.count() == 1


def test_a_late_match_rerates_those_after_it() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    in_order = [won(one, two, at(0)), won(two, three, at(1), length=7), won(three, one, at(2), length=1)]
    complete(pool, in_order[0], in_order[2], in_order[1])
    late = values(pool)
    forget()
    complete(pool, *in_order)
    assert late == values(pool)
    assert verify(pool) == (3, None)


def test_a_date_comes_before_the_timed_matches_of_that_date() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    timed = complete_match(pool, won(one, two, midnight), now=NOW)
    second = complete_match(pool, won(one, two, midnight.replace(hour=15), timed=False, sequence=2), now=NOW)
    first = complete_match(pool, won(one, two, midnight, timed=False, sequence=1), now=NOW)
    assert [line.match_id for line in history(one, pool)] == [first.pk, second.pk, timed.pk]
    assert [line.experience_before for line in history(one, pool)] == [0, 5, 10]
    assert second.ended_on == midnight.date() and timed.ended_on is None
    assert verify(pool) == (3, None)


def test_two_matches_at_one_instant_are_rated_in_the_order_of_sequence_then_entry() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    third, first, second = complete(pool, won(one, two, at(0), sequence=2), won(one, two, at(0)), won(two, one, at(0)))
    assert [line.match_id for line in history(one, pool)] == [first.pk, second.pk, third.pk]
    assert verify(pool) == (3, None)


def test_one_by_one_in_a_batch_and_late_give_the_same_bits() -> None:
    pool, players = pool_of("fibs"), people(4)
    entries = [
        won(players[n % 4], players[(n + 1 + n // 4 % 3) % 4], at(n), length=n % 9 + 1, source="s", external_id=str(n))
        for n in range(24)
    ]
    complete_matches(pool, entries, now=NOW)
    batch = values(pool)
    assert verify(pool) == (24, None)
    forget()
    complete(pool, *entries[::2], *entries[1::2])
    assert values(pool) == batch
    assert verify(pool) == (24, None)


def queries(pool_slug: str, entries: list[Entry]) -> int:
    with CaptureQueriesContext(connection) as captured:
        complete_matches(pool_of(pool_slug), entries, now=NOW)
    return len(captured)


def test_a_batch_takes_as_many_statements_whatever_its_size() -> None:
    players = people(6)

    def batch(count: int, start: int) -> list[Entry]:
        return [won(players[n % 6], players[(n + 1) % 6], at(start + n)) for n in range(count)]

    complete_matches(pool_of("fibs"), batch(6, 0), now=NOW)
    one, some, many = queries("fibs", batch(1, 50)), queries("fibs", batch(24, 100)), queries("fibs", batch(96, 200))
    assert some == many
    assert one <= 14
    assert many <= 20


def test_freewhist_shared_places_are_stored_as_competition_ranks() -> None:
    pool, players = pool_of("freewhist"), people(4)
    match = complete_match(pool, Entry(players=players, result=Result(places=(1, 1, 2, 3), deals=16), ended_at=DAY_ONE), now=NOW)
    assert [seat.place for seat in match.participants.all()] == [1, 1, 3, 4]
    assert [line.score for line in RatingChange.objects.order_by("player_id")] == [0.875, 0.875, 0.25, 0.0]
    assert verify(pool) == (1, None)


def test_an_open_match_is_completed_once() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    opened = Match.objects.create(pool=pool, length=5)
    entry = won(one, two, DAY_ONE, match=Match.objects.get(pk=opened.pk))
    assert complete_match(pool, entry, now=NOW).pk == opened.pk
    with pytest.raises(Conflict) as conflict:
        complete_match(pool, won(two, one, DAY_ONE, match=opened), now=NOW)
    assert conflict.value.fields == ("players",)
    assert RatingChange.objects.count() == 2
