"""Events: written with what they tell of, put in order once, kept for a while."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import BatchRefused
from matches.lobby import tables
from matches.models import Delivery, Event, Table, Webhook
from matches.push import events
from matches.push.payload import payloads
from players import ledger
from players.models import RatingChange, Tier
from players.systems.base import Result
from tests.building import NOW, at, complete, people, pool_of, won

pytestmark = pytest.mark.django_db


def test_a_completed_match_is_told_of_once_with_its_values() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    entry = won(one, two, at(0), source="server", external_id="7")
    match = complete_match(pool, entry, now=NOW)
    complete_match(pool, entry, now=NOW)
    [event] = Event.objects.all()
    assert (event.kind, event.match_id, event.position) == ("match.rated", match.pk, None)
    assert events.put_in_order() == 1
    assert events.put_in_order() == 0
    [told] = payloads(list(events.after(0, 10)), "server")
    assert told["position"] == 1 and told["pool"] == "fibs"
    assert (told["match"]["external_id"], told["match"]["not_counted"]) == ("7", None)
    assert payloads([event], "another server")[0]["match"]["external_id"] is None
    lines = {line.player_id: line for line in RatingChange.objects.all()}
    assert [(seat["id"], seat["before"], seat["change"]) for seat in told["match"]["players"]] == [
        (player.pk, lines[player.pk].before, lines[player.pk].change) for player in (one, two)
    ]


def test_what_is_refused_is_not_told() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    with pytest.raises(BatchRefused):
        complete_matches(pool, [won(one, two, at(0)), won(one, two, at(1), length=0)], now=NOW)
    assert not Event.objects.exists()


def test_a_match_that_does_not_count_is_told_with_its_reason() -> None:
    pool, (one, two) = pool_of("online-backgammon"), people(2)
    complete_match(pool, won(one, two, at(0), kind="rematch"), now=NOW)
    events.put_in_order()
    [told] = payloads(list(events.after(0, 10)), "server")
    assert told["match"]["not_counted"] == "kind_not_counted" and told["match"]["players"][0]["after"] is None


def test_the_feed_goes_on_where_it_stopped() -> None:
    pool, players = pool_of("fibs"), people(2)
    complete(pool, *(won(*players, at(number)) for number in range(5)))
    events.put_in_order()
    first = list(events.after(0, 2))
    assert [event.position for event in first] == [1, 2]
    assert [event.position for event in events.after(2, 10)] == [3, 4, 5]
    assert list(events.after(5, 10)) == []
    assert list(events.after(0, 10, pool_of("tics"))) == []


def test_the_feed_is_read_by_as_many_queries_whatever_its_length(django_assert_num_queries: object) -> None:
    pool, players = pool_of("fibs"), people(4)
    complete(pool, *(won(players[number % 4], players[(number + 1) % 4], at(number)) for number in range(20)))
    events.put_in_order()
    for count in (1, 20):
        found = list(events.after(0, count))
        with django_assert_num_queries(4):  # type: ignore[operator]
            assert len(payloads(found, None)) == count


def test_standings_that_time_moves_are_told() -> None:
    pool, (player, *opponents) = pool_of("online-backgammon"), people(21)
    complete_matches(
        pool, [won(player, other, at(n), length=25, kind="matchmade") for n, other in enumerate(opponents)], now=at(30)
    )
    Tier.objects.filter(pool=pool, name="Platinum").update(threshold=500.0)
    before = {rating.player_id: rating.standing for rating in pool.ratings.all()}
    moved = ledger.update_standings(pool.pk, NOW)
    event = Event.objects.get(kind="standing.changed")
    after = {rating.player_id: rating.standing for rating in pool.ratings.all()}
    assert len(event.ratings) == moved > 0
    assert event.ratings == [[pk, before[pk], after[pk]] for pk in sorted(before) if before[pk] != after[pk]]
    events.put_in_order()
    told = payloads(list(events.after(20, 5)), None)
    assert told[0]["standings"][0]["after"] == event.ratings[0][2]


def test_many_ratings_make_several_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PIECE", 2)
    with transaction.atomic():
        events.revised(pool_of("fibs"), [(number, 1.0, 2.0) for number in range(5)], NOW, None)
    assert [len(event.ratings) for event in Event.objects.order_by("pk")] == [2, 2, 1]


def test_old_events_are_forgotten_but_not_what_is_still_to_be_sent() -> None:
    pool, players = pool_of("fibs"), people(2)
    webhook = Webhook.objects.create(name="one", url="https://one.example/", kinds=["match.rated"])
    complete(pool, *(won(*players, at(number)) for number in range(6)))
    events.put_in_order()
    Delivery.objects.exclude(event__position=3).update(status="delivered")
    assert Delivery.objects.filter(webhook=webhook).count() == 6
    assert events.forget(NOW + timedelta(days=1)) == 4
    assert sorted(Event.objects.values_list("position", flat=True)) == [3, 6]
    complete(pool, won(*players, at(9)))
    events.put_in_order()
    assert [event.position for event in events.after(5, 10)] == [6, 7]
    with pytest.raises(events.Forgotten):
        events.after(1, 10)
    assert events.forget(NOW - timedelta(days=1)) == 0


def test_webhooks_get_what_they_listen_to() -> None:
    fibs, tics, (one, two) = pool_of("fibs"), pool_of("tics"), people(2)
    everywhere = Webhook.objects.create(name="everywhere", url="https://one.example/", kinds=["match.rated"])
    here = Webhook.objects.create(name="here", url="https://two.example/", kinds=["match.rated", "rating.revised"])
    here.pools.add(tics)
    Webhook.objects.create(name="off", url="https://three.example/", kinds=["match.rated"], active=False)
    Webhook.objects.create(name="other", url="https://four.example/", kinds=["standing.changed"])
    complete(fibs, won(one, two, at(0)))
    complete(tics, won(one, two, at(0), length=None))
    events.put_in_order()
    events.put_in_order()
    made = sorted((delivery.webhook.name, delivery.event.pool.slug) for delivery in Delivery.objects.all())
    assert made == [("everywhere", "fibs"), ("everywhere", "tics"), ("here", "tics")]
    assert everywhere.deliveries.count() == 2


def test_a_correction_tells_whose_rating_it_moved_and_the_readers_of_the_match_what_was_published() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    first, _ = complete(pool, won(one, two, at(0)), won(two, three, at(1)))
    before = {rating.player_id: rating.value for rating in pool.ratings.all()}
    correct(pool, [Correction(first, void=True)], reason="Annulled", made_by=None, now=NOW)
    after = {rating.player_id: rating.value for rating in pool.ratings.all()}
    event = Event.objects.get(kind="rating.revised")
    assert event.revision is not None and event.revision.reason == "Annulled"
    assert {player_id: (was, now) for player_id, was, now in event.ratings} == {
        pk: (before[pk], after[pk]) for pk in before if before[pk] != after[pk]
    }
    events.put_in_order()
    rated = payloads(list(events.after(0, 1)), None)[0]["match"]["players"]
    assert rated[0]["after"] == before[one.pk]  # as it was published, though it is voided now


def test_a_match_that_is_a_little_late_tells_of_the_others_without_a_revision() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    complete(pool, won(two, three, at(1)), now=at(1))
    complete(pool, won(one, two, at(0.9)), now=at(1.1))
    event = Event.objects.get(kind="rating.revised")
    assert event.revision is None
    assert three.pk in {player_id for player_id, *_ in event.ratings}


# --- Tables ---


def told_of_tables() -> list[tuple[int, str, list[int], str]]:
    found = [event.table for event in Event.objects.filter(kind="table.changed").order_by("pk")]
    return [(said["id"], said["status"], said["players"], said["closed_because"]) for said in found]


def test_each_change_of_an_open_table_is_told_once_as_it_was_then() -> None:
    pool, players = pool_of("freewhist"), people(4)
    one, two, three, four = (player.pk for player in players)
    table = tables.open_table(pool, players[0], Result(deals=16), source="server", external_id="t1").pk
    for player in (players[1], players[1], players[2]):
        tables.take_seat(table, player)
    for player in (players[0], players[0]):
        tables.leave_table(table, player)
    tables.take_seat(table, players[3])
    assert told_of_tables() == [
        (table, "waiting", [one], ""),
        (table, "waiting", [one, two], ""),
        (table, "waiting", [one, two, three], ""),
        (table, "waiting", [two, three], ""),
        (table, "waiting", [four, two, three], ""),
    ]
    match = tables.take_seat(table, players[0]).match
    events.put_in_order()
    told = payloads(list(events.after(0, 20)), "server")[-1]
    assert match is not None and told["table"] == {
        "id": table,
        "external_id": "t1",
        "status": "started",
        "closed_because": None,
        "match": match.pk,
        "players": [{"id": player.pk, "name": player.name} for player in (players[3], players[1], players[2], players[0])],
    }
    assert payloads(list(events.after(5, 1)), "another")[0]["table"]["external_id"] is None


def test_a_start_tells_of_the_tables_that_its_players_leave() -> None:
    pool, other, (one, two) = pool_of("fibs"), pool_of("tics"), people(2)
    here, there = tables.open_table(pool, one, Result(length=5)).pk, tables.open_table(other, two, Result()).pk
    tables.take_seat(here, two)
    assert told_of_tables()[2:] == [(there, "closed", [], "playing"), (here, "started", [one.pk, two.pk], "")]
    assert list(Event.objects.order_by("pk").values_list("pool__slug", flat=True)) == ["fibs", "tics", "tics", "fibs"]


def test_a_table_that_closes_is_told_and_the_event_outlives_it() -> None:
    pool, (one,) = pool_of("fibs"), people(1)
    table = tables.open_table(pool, one, Result(length=5), now=NOW)
    tables.close_stale(NOW + timedelta(days=1))
    tables.close_stale(NOW + timedelta(days=60))
    assert not Table.objects.exists()
    assert told_of_tables() == [(table.pk, "waiting", [one.pk], ""), (table.pk, "closed", [], "stale")]


def test_what_is_for_certain_players_is_not_told() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    tables.decline(tables.challenge(pool, one, two, Result(length=5)).pk, two)
    tables.take_seat(tables.challenge(pool, one, two, Result(length=5)).pk, two)
    tables.leave_table(tables.invite(pool, one, Result(length=5)).pk, one)
    [match] = complete(pool, won(one, two, at(0)))
    tables.take_seat(tables.offer_rematch(match, one).pk, two)
    assert told_of_tables() == [] and Event.objects.get().kind == "match.rated"


def test_what_is_refused_at_a_table_is_not_told() -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    table = tables.open_table(pool, one, Result(length=5), min_experience=10)
    with pytest.raises(Exception, match="experience"):
        tables.take_seat(table.pk, two)
    with pytest.raises(Exception, match="seat"):
        tables.open_table(pool, one, Result(length=5))
    assert told_of_tables() == [(table.pk, "waiting", [one.pk], "")]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "match.rated"},
        {"kind": "table.changed"},
        {"kind": "table.changed", "table": {}, "ratings": []},
        {"kind": "rating.revised", "table": {}},
        {"kind": "rating.revised", "table": {}, "ratings": []},
        {"kind": "something", "ratings": []},
    ],
)
def test_an_event_tells_of_just_what_its_kind_says(fields: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Event.objects.create(pool=pool_of("fibs"), **fields)
