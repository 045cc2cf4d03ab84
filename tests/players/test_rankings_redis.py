"""The rankings in Redis: kept current, never by an older value, rebuilt where they are missing or wrong."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.models import Match
from players import ledger, rankings, tasks
from players.models import LAST, Player, Pool, Rating
from players.rankings import cached, filling, scripts, sql, store
from ratings_site.celery import app
from tests.building import NOW, at, people, pool_of, won
from tests.players.ranking_sets import fill, plain_order, random_set

if not site.REDIS_URL:
    pytest.skip("needs Redis: --on postgres", allow_module_level=True)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int]]]:
    """The tasks that were sent, as name and arguments. No worker hears of them."""
    sent: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **options: sent.append((name, args)))
    return sent


@pytest.fixture
def server() -> store.Store:
    return store.store()


def by_redis(pool: Pool) -> list[tuple[int, int]]:
    """Rank and player of all listed, by Redis. Raises Unavailable."""
    return [(line.rank, line.rating.player_id) for line in cached.rows(pool, 0, 10_000).rows]


def by_sql(pool: Pool) -> list[tuple[int, int]]:
    return [(line.rank, line.rating.player_id) for line in sql.rows(pool, 0, 10_000).rows]


def in_redis(server: store.Store, pool: Pool) -> list[tuple[int, float]]:
    """Player and rank points of all listed, whatever the database has."""
    _, _, answer = server.run(scripts.ROWS, pool.pk, 0, -1)
    return [(store.unpack(member)[1], int(score)) for member, score in zip(answer[::2], answer[1::2], strict=True)]


def entry(player_id: int, version: int, points: int | None) -> store.Entry:
    return store.entry_of(player_id, version, points or 0, float(points or 0), points is not None)


def built(pool: Pool, entries: list[store.Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool's set, of entries that the database knows nothing of."""
    with monkeypatch.context() as patch:
        patch.setattr(filling, "stored_entries", lambda pool: iter([entries] if entries else []))
        rankings.rebuild(pool)


# --- Kept current ---


@pytest.mark.django_db
def test_every_writer_of_the_ledger_tells_redis(server: store.Store, django_capture_on_commit_callbacks: Any) -> None:
    pool, players = pool_of("online-backgammon"), people(12)
    rankings.rebuild(pool)
    dice = random.Random(4)

    def same(write: Callable[[], Any]) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            write()
        stored = {(r.player_id, r.rank_points) for r in Rating.objects.filter(pool=pool, matches__gt=0)}
        assert set(in_redis(server, pool)) == stored
        assert by_redis(pool) == by_sql(pool)
        assert rankings.is_right(pool, pause=0)

    for number in range(30):
        one, two = (players[place] for place in sorted(dice.sample(range(8), 2)))  # the first ones climb
        same(lambda: complete_match(pool, won(one, two, at(number), length=25, kind="matchmade"), now=at(number)))  # noqa: B023
    late = won(players[0], players[1], at(0.5), length=25, kind="matchmade")
    same(lambda: complete_match(pool, late, now=at(40)))
    assert max(Rating.objects.filter(pool=pool).values_list("value", flat=True)) > 900
    same(lambda: ledger.update_standings(pool.pk, NOW))
    same(lambda: [pool.tiers.filter(decays=True).update(decays=False), ledger.refresh_standings(pool.pk, NOW)])
    openings = {player.pk: ledger.Opening(1000.0, 5, None) for player in players[:2] + players[9:]}
    same(lambda: ledger.set_openings(pool, openings, NOW))


@pytest.mark.django_db
def test_a_player_who_loses_his_last_match_is_not_listed(django_capture_on_commit_callbacks: Any) -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    _, last = complete_matches(pool, [won(one, two, at(0)), won(two, three, at(1))], now=NOW)
    rankings.rebuild(pool)
    assert len(by_redis(pool)) == 3
    stale = store.entry(Rating.objects.get(pool=pool, player=three))
    with django_capture_on_commit_callbacks(execute=True):
        correct(pool, [Correction(last, void=True)], reason="double", now=NOW)
    assert [player for _, player in by_redis(pool)] == [one.pk, two.pk]
    store.store().put(pool.pk, [stale])
    assert cached.count(pool) == 2
    with django_capture_on_commit_callbacks(execute=True):
        correct(pool, [Correction(Match.objects.get(pk=last.pk), void=False)], reason="no double", now=NOW)
    assert by_redis(pool) == by_sql(pool) and cached.count(pool) == 3


@pytest.mark.django_db
def test_what_is_rolled_back_is_not_told(server: store.Store, django_capture_on_commit_callbacks: Any) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    complete_match(pool, won(one, two, at(0)), now=NOW)
    rankings.rebuild(pool)
    before = in_redis(server, pool)
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        complete_match(pool, won(one, two, at(1)), now=NOW)
        transaction.set_rollback(True)
    assert in_redis(server, pool) == before


@pytest.mark.django_db
def test_an_older_version_that_arrives_late_changes_nothing(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any order of arrival, with repeats, ends with the newest version of each player."""
    pool, dice = pool_of("tics"), random.Random(6)
    for _ in range(30):
        some = (None, 1500, 1501, 1600)
        history = [entry(player, version, dice.choice(some)) for player in range(1, 6) for version in range(1, 7)]
        arriving = dice.choices(history, k=20) + history
        dice.shuffle(arriving)
        built(pool, [], monkeypatch)
        for start in range(0, len(arriving), 7):
            server.put(pool.pk, arriving[start : start + 7])
        newest = [one for one in history if one.version == 6]
        expected = sorted((-one.rank_points, one.player_id) for one in newest if one.member)
        assert [(-points, player) for player, points in in_redis(server, pool)] == expected
        assert server.run(scripts.COUNT, pool.pk) == [len(expected), 30]


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_row_that_redis_was_not_told_of_is_noticed_by_the_page(server: store.Store) -> None:
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, [(1500.0 + n, 1500.0 + n, 1) for n in range(20)]))
    rankings.rebuild(pool)
    # The first falls to the end, the third does not play any more.
    Rating.objects.filter(pk=ordered[0].pk).update(version=2, value=1.0, standing=1.0, rank_points=1)
    Rating.objects.filter(pk=ordered[2].pk).update(version=2, matches=0, **dict.fromkeys(LAST))
    expected = by_sql(pool)
    assert len(expected) == 19 and expected[-1] == (19, ordered[0].player_id)
    with CaptureQueriesContext(connection) as captured:
        assert by_redis(pool) == expected
    assert len(captured) == 2  # asked twice
    assert cached.place(Rating.objects.get(pk=ordered[0].pk)).rank == 19


@pytest.mark.django_db
def test_a_row_that_may_be_rolled_back_is_not_put(server: store.Store) -> None:
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, [(1500.0 + n, 1500.0 + n, 1) for n in range(5)]))
    rankings.rebuild(pool)
    Rating.objects.filter(pk=ordered[0].pk).update(version=2, value=1.0, standing=1.0, rank_points=1)
    assert [(line.rank, line.rating.player_id) for line in rankings.rows(pool, 0, 9).rows] == by_sql(pool)
    assert in_redis(server, pool)[0] == (ordered[0].player_id, ordered[0].rank_points)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_set_that_holds_other_numbers_is_not_trusted(server: store.Store, asked: list[Any]) -> None:
    """Whatever somebody has put there: rows are compared with the database."""
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, [(1500.0 + n, 1500.0 + n, 1) for n in range(5)]))
    rankings.rebuild(pool)
    member = store.entry(ordered[3]).member
    server.client.zadd(store.keys(pool.pk)[0], {member: 9999})
    assert [(line.rank, line.rating.player_id) for line in rankings.rows(pool, 0, 9).rows] == by_sql(pool)
    assert asked == [("players.tasks.rebuild_ranking", [pool.pk])]
    tasks.rebuild_ranking(pool.pk)
    assert by_redis(pool) == by_sql(pool)


# --- Missing, wrong, rebuilt ---


@pytest.mark.django_db
@pytest.mark.parametrize("lost", ["all", "set", "hash", "member"])
def test_after_a_loss_the_database_answers_and_one_rebuild_is_asked_for(server: store.Store, asked: list[Any], lost: str) -> None:
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, random_set(3, 80)))
    rankings.rebuild(pool)
    sorted_set, hashed = store.keys(pool.pk)[:2]
    if lost == "all":
        server.client.flushdb()
    elif lost == "member":
        server.client.zrem(sorted_set, store.entry(ordered[5]).member)
    else:
        server.client.delete(sorted_set if lost == "set" else hashed)
    for _ in range(5):
        with pytest.raises(rankings.Unavailable):
            by_redis(pool)
        assert [line.rating.pk for line in rankings.page(pool, 1, 100).rows] == [rating.pk for rating in ordered]
        assert rankings.count(pool) == len(ordered)
        place = rankings.place(ordered[7])
        assert place is not None and place.position == 7
        assert sum(bin.count for bin in rankings.distribution(pool)) == len(ordered)
    assert asked == [("players.tasks.rebuild_ranking", [pool.pk])]
    tasks.rebuild_ranking(pool.pk)
    assert by_redis(pool) == by_sql(pool)
    # The next loss is asked for anew.
    server.client.delete(sorted_set, hashed)
    rankings.count(pool)
    assert len(asked) == 2


@pytest.mark.django_db
def test_an_empty_pool_is_not_a_missing_one(asked: list[Any]) -> None:
    pool = pool_of("tics")
    with pytest.raises(rankings.Unavailable):
        cached.count(pool)
    assert rankings.rebuild(pool) == 0
    asked.clear()
    assert (cached.count(pool), cached.counts(pool, range), cached.rows(pool, 0, 5).of) == (0, (range(0), []), 0)
    assert asked == []


@pytest.mark.django_db
def test_writes_during_a_rebuild_are_not_lost(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into rows that are read already, and into rows that are read only afterwards, from what was before the write."""
    pool = pool_of("tics")
    before = [entry(player, 1, 1500 + player) for player in range(1, 9)]
    built(pool, before, monkeypatch)
    old = in_redis(server, pool)
    newer = [entry(1, 2, 1700), entry(2, 2, None), entry(7, 2, 1800), entry(8, 2, None), entry(9, 1, 1900)]

    def read(pool: Pool) -> Iterator[list[store.Entry]]:
        yield before[:4]
        server.put(pool.pk, newer)
        seen.append(in_redis(server, pool))
        yield before[4:]

    seen: list[Any] = []
    monkeypatch.setattr(filling, "stored_entries", read)
    assert rankings.rebuild(pool) == 7
    expected = [(9, 1900), (7, 1800), (1, 1700), (6, 1506), (5, 1505), (4, 1504), (3, 1503)]
    assert seen == [expected] != [old]  # the old set answers till the end, and is kept current
    assert in_redis(server, pool) == expected
    assert server.run(scripts.COUNT, pool.pk) == [7, 13]
    assert not server.client.exists(*store.keys(pool.pk)[2:])
    assert server.client.ttl(store.keys(pool.pk)[0]) == server.client.ttl(store.keys(pool.pk)[1]) == -1


@pytest.mark.django_db
def test_one_rebuilds_and_the_others_leave_it_to_him(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of("tics")
    fill(pool, random_set(5, 30))
    monkeypatch.setattr(filling, "BUILD_CHUNK", 10)
    told: list[int] = []

    def second(done: int) -> None:
        told.append(done)
        with pytest.raises(rankings.Busy):
            rankings.rebuild(pool)
        with pytest.raises(CommandError, match="being rebuilt already"):
            call_command("rebuild_rankings", pool="tics", stdout=StringIO())
        tasks.rebuild_ranking(pool.pk)

    rankings.rebuild(pool, second)
    assert len(told) >= 2 and told == sorted(told)
    assert by_redis(pool) == by_sql(pool)


@pytest.mark.django_db
def test_a_rebuild_that_fails_leaves_the_old_set(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of("tics")
    fill(pool, random_set(5, 30))
    rankings.rebuild(pool)
    for error in (RuntimeError, KeyboardInterrupt):

        def fail(done: int) -> None:
            raise error  # noqa: B023

        with pytest.raises(error):
            rankings.rebuild(pool, fail)
        assert by_redis(pool) == by_sql(pool)
        assert not server.client.exists(*store.keys(pool.pk)[2:])
    told: list[int] = []
    # One that is killed leaves its keys, for a minute.
    server.run(scripts.BEGIN, pool.pk, "somebody", 60)
    server.run(scripts.LOAD, pool.pk, "somebody", 60, *entry(1, 1, 99))
    assert all(0 < server.client.ttl(key) <= 60 for key in store.keys(pool.pk)[2:5])
    with pytest.raises(rankings.Busy):
        rankings.rebuild(pool)
    server.client.delete(store.keys(pool.pk)[4])
    rankings.rebuild(pool)
    assert by_redis(pool) == by_sql(pool)
    # Should it wake up again, it does no harm, be it while another is at it.
    rankings.rebuild(pool, lambda done: told.append(server.run(scripts.LOAD, pool.pk, "somebody", 60, *entry(1, 1, 99))))
    assert told == [0]
    assert server.run(scripts.LOAD, pool.pk, "somebody", 60, *entry(1, 1, 99)) == 0
    assert server.run(scripts.FINISH, pool.pk, "somebody") is None
    assert by_redis(pool) == by_sql(pool)


@pytest.mark.django_db
def test_a_rebuild_of_what_turns_out_wrong_starts_again(server: store.Store) -> None:
    pool = pool_of("tics")
    fill(pool, random_set(5, 30))
    told: list[int] = []

    def drop_once(done: int) -> None:
        if not told:
            server.run(scripts.DROP, pool.pk)
        told.append(done)

    rankings.rebuild(pool, drop_once)
    assert len(told) == 2
    assert by_redis(pool) == by_sql(pool)


@pytest.mark.django_db
def test_the_check_finds_what_was_lost(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of("tics")
    ordered = plain_order(fill(pool, random_set(2, 40)))
    monkeypatch.setattr(tasks.rankings, "is_right", lambda pool: filling.is_right(pool, pause=0))
    assert not rankings.is_right(pool)  # missing
    tasks.check_rankings()
    assert rankings.is_right(pool)
    done: list[Pool] = []
    with monkeypatch.context() as patch:
        patch.setattr(tasks.rankings, "rebuild", done.append)
        tasks.check_rankings()
        assert done == []
        tasks.rebuild_rankings()
        assert len(done) == Pool.objects.count()
    # A write that Redis has not heard of: the number of players is the same.
    Rating.objects.filter(pk=ordered[3].pk).update(version=2, value=1.0, standing=1.0, rank_points=1)
    assert not rankings.is_right(pool)
    tasks.check_rankings()
    assert rankings.is_right(pool) and by_redis(pool) == by_sql(pool)
    # A write that arrives while the check looks is no error.
    entries = iter([entry(ordered[0].player_id, 2, 5000), entry(ordered[0].player_id, 3, 5001)])
    numbers = filling._numbers

    def moving(pool: Pool) -> Any:
        server.put(pool.pk, [next(entries)])
        return numbers(pool)

    Rating.objects.filter(pk=ordered[0].pk).update(version=2)
    monkeypatch.setattr(filling, "_numbers", moving)
    assert rankings.is_right(pool)


@pytest.mark.django_db
def test_the_command_fills_the_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    from players.management.commands import rebuild_rankings

    monkeypatch.setattr(rebuild_rankings, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(filling, "BUILD_CHUNK", 25)
    fill(pool_of("tics"), [(1500.0, 1500.0, 1)] * 50)
    out = StringIO()
    call_command("rebuild_rankings", stdout=out)
    told = out.getvalue().splitlines()
    assert [line for line in told if line.startswith("tics")] == [
        "tics: 25 of 50 ratings",
        "tics: 50 of 50 ratings",
        "tics: 50 players listed.",
    ]
    assert "fibs: 0 players listed." in told
    out = StringIO()
    call_command("rebuild_rankings", pool="tics", stdout=out)
    assert out.getvalue().splitlines()[-1] == "tics: 50 players listed." and "fibs" not in out.getvalue()
    with pytest.raises(CommandError, match="Known: crowns-cup, fibs"):
        call_command("rebuild_rankings", pool="chess", stdout=out)
    assert by_redis(pool_of("tics")) == by_sql(pool_of("tics"))


# --- Redis comes and goes ---


class Outage:
    """Lets calls to Redis fail without asking it."""

    def __init__(self, server: store.Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.on, self.calls, run = False, 0, server.run

        def sometimes(script: str, pool_id: int, *args: Any) -> Any:
            self.calls += 1
            if self.on:
                raise store.Unavailable
            return run(script, pool_id, *args)

        monkeypatch.setattr(server, "run", sometimes)


@pytest.fixture
def outage(server: store.Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    yield Outage(server, monkeypatch)
    server._kept.clear()
    server._wrong.clear()


@pytest.mark.django_db
def test_what_could_not_be_told_is_told_later(
    server: store.Store, outage: Outage, django_capture_on_commit_callbacks: Any
) -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    complete_match(pool, won(one, two, at(0)), now=NOW)
    rankings.rebuild(pool)
    outage.on = True
    with django_capture_on_commit_callbacks(execute=True):
        complete_match(pool, won(three, one, at(1)), now=NOW)
        complete_match(pool, won(three, one, at(2)), now=NOW)
    assert rankings.count(pool) == 3
    outage.on = False
    assert cached.count(pool) == 3
    assert by_redis(pool) == by_sql(pool)


@pytest.mark.django_db
def test_what_is_too_much_to_keep_is_left_to_a_rebuild(
    server: store.Store, outage: Outage, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_KEPT", 50)
    pool = pool_of("tics")
    ratings = fill(pool, [(1500.0 + n, 1500.0 + n, 1) for n in range(30)])
    rankings.rebuild(pool)
    outage.on = True
    for version in (2, 3, 4):
        server.put(pool.pk, [store.entry(rating)._replace(version=version) for rating in ratings])
    assert server._kept == {}
    outage.on = False
    with pytest.raises(rankings.Unavailable):
        cached.count(pool)
    assert asked == [("players.tasks.rebuild_ranking", [pool.pk])]
    rankings.rebuild(pool)
    assert by_redis(pool) == by_sql(pool)


@pytest.mark.django_db
def test_a_redis_that_is_slow_does_not_hold_up_a_big_write(
    server: store.Store, outage: Outage, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pool_of("tics")
    ratings = fill(pool, [(1500.0 + n, 1500.0 + n, 1) for n in range(30)])
    rankings.rebuild(pool)
    clock = iter(range(1000))
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=lambda: next(clock) * 0.4))
    monkeypatch.setattr(store, "CHUNK", 1)
    outage.calls = 0
    server.put(pool.pk, [store.entry(rating)._replace(version=2) for rating in ratings])
    assert outage.calls == 3  # two chunks, and the set is dropped
    with pytest.raises(rankings.Unavailable):
        cached.count(pool)
    assert asked == [("players.tasks.rebuild_ranking", [pool.pk])]


# --- All at once ---


@pytest.mark.concurrency
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_completions_decay_rebuilds_and_pages_at_once(server: store.Store, asked: list[Any]) -> None:
    pool, players = pool_of("online-backgammon"), people(30)
    complete_matches(pool, [won(players[n], players[n + 1], at(n), kind="matchmade") for n in range(0, 30, 2)], now=NOW)
    rankings.rebuild(pool)
    over, errors = threading.Event(), []

    def thread(work: Callable[[random.Random], None], seed: int) -> threading.Thread:
        def run() -> None:
            try:
                work(random.Random(seed))
            except Exception as error:
                errors.append(error)
            finally:
                connections.close_all()

        return threading.Thread(target=run)

    def completing(dice: random.Random) -> None:
        for number in range(12):
            one, two = dice.sample(players, 2)
            complete_match(pool, won(one, two, at(100 + number + dice.random()), length=25, kind="matchmade"), now=NOW)

    def decaying(dice: random.Random) -> None:
        while not over.is_set():
            ledger.update_standings(pool.pk, NOW)

    def rebuilding(dice: random.Random) -> None:
        while not over.is_set():
            with suppress(rankings.Busy):
                rankings.rebuild(pool)

    def reading(dice: random.Random) -> None:
        while not over.is_set():
            listing = rankings.rows(pool, dice.randrange(25), 8)
            points = [line.rating.rank_points for line in listing.rows]
            assert points == sorted(points, reverse=True) and listing.of == 30
            for first, second in zip(listing.rows, listing.rows[1:], strict=False):
                assert (first.rank == second.rank) == (first.rating.rank_points == second.rating.rank_points)
            rankings.place(Rating.objects.get(pool=pool, player=dice.choice(players)))

    writers = [thread(completing, seed) for seed in range(4)]
    others = [thread(work, 9) for work in (decaying, rebuilding, rebuilding, reading, reading)]
    for one in writers + others:
        one.start()
    for one in writers:
        one.join()
    over.set()
    for one in others:
        one.join()
    assert errors == []
    assert rankings.is_right(pool)
    stored = Rating.objects.filter(pool=pool, matches__gt=0).order_by(*sql.ORDER).values_list("player_id", "rank_points")
    assert in_redis(server, pool) == list(stored)
    assert Player.objects.count() == 30


# --- With lines left out ---


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_the_ranks_of_some_are_the_same_by_redis_and_by_sql(seed: int) -> None:
    pool = pool_of("fibs")
    ratings = fill(pool, random_set(seed, 90))
    rankings.rebuild(pool)
    ordered = plain_order(ratings)
    points = sorted({rating.rank_points for rating in ordered[:: 1 + seed]}, reverse=True)
    above = [sum(other.rank_points > own for other in ordered) for own in points]
    assert cached.above(pool, points) == sql.above(pool, points) == rankings.above(pool, points) == above
    # The rows come from the database, the ranks from Redis: one query.
    with CaptureQueriesContext(connection) as queries:
        found = rankings.filtered(pool, [], rankings.Criteria(name="9"), size=50, long=False)
    assert len(queries) == 1 and found.rows
    for row in found.rows:
        assert row.rank == 1 + sum(other.rank_points > row.rating.rank_points for other in ordered)
