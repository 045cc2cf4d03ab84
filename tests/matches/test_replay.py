"""Replays: whatever the order of entry, every stored number is that of a clean replay."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from matches import replay
from matches.completion import Entry, complete_match, complete_matches
from matches.models import Match
from matches.verify import verify
from players.models import Player, Pool, Rating, RatingChange
from players.systems.base import Result
from players.systems.running import MATCH, MatchKey
from tests.building import DAY_ONE, NOW, at, complete, people, pool_of, values, won

pytestmark = pytest.mark.django_db


def entries_of(slug: str, players: list[Player], count: int, seed: int) -> list[Entry]:
    """Matches of every sort that the pool knows, many at the same instant or on the same date without a time."""
    dice = random.Random(seed)
    entries = []
    for number in range(count):
        ended_at = DAY_ONE + timedelta(hours=6 * dice.randrange(count // 2))
        timed = dice.random() < 0.6
        result = Result(
            scores=dice.choice(((1.0, 0.0), (0.0, 1.0))), length=dice.randrange(1, 26), kind=dice.choice(("matchmade", "rematch"))
        )
        if slug == "freewhist":
            result = Result(places=tuple(dice.choice(((1, 2, 3, 4), (1, 1, 3, 4), (4, 3, 2, 1)))), deals=dice.choice((4, 12, 24)))
        entries.append(
            Entry(
                players=dice.sample(players, pool_of(slug).rating_system.seats),
                result=result,
                ended_at=ended_at,
                timed=timed,
                sequence=number,
                source="test",
                external_id=str(number),
            )
        )
    return entries


@pytest.mark.parametrize("slug", ["fibs", "online-backgammon", "freewhist"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_order_of_entry_gives_a_clean_replay(slug: str, seed: int) -> None:
    pool, players = pool_of(slug), people(7)
    entries = entries_of(slug, players, 36, seed)
    dice = random.Random(seed)
    dice.shuffle(entries)
    cut = dice.randrange(6, 30)
    complete_matches(pool, entries[:cut], now=NOW)
    for number in range(cut, 36, 3):
        complete_matches(pool, entries[number : number + 3], now=NOW)
        agreed, difference = verify(pool)
        assert difference is None and agreed == Match.objects.filter(not_counted="").count()


def test_only_what_differs_is_written() -> None:
    pool, (one, two, three, four) = pool_of("fibs"), people(4)
    complete(pool, won(one, two, at(0)), won(three, four, at(1)), won(one, two, at(3)))
    untouched = Rating.objects.get(player=three)
    complete_match(pool, won(two, one, at(2)), now=NOW + timedelta(days=1))
    assert Rating.objects.get(player=three).version == untouched.version
    assert Rating.objects.get(player=one).version > untouched.version
    before = values(pool)
    with transaction.atomic():
        assert replay.replay(pool, NOW) == 0
    assert values(pool) == before


def test_a_late_match_reads_what_comes_after_it_and_no_more() -> None:
    """A hundred earlier matches cost a late one nothing."""
    pool, players = pool_of("fibs"), people(6)

    def statements(hour: float) -> int:
        with CaptureQueriesContext(connection) as captured:
            complete_match(pool, won(players[0], players[1], at(hour)), now=NOW)
        return len(captured)

    complete(pool, won(players[0], players[1], at(300)))
    statements(299.5)  # from then on there is something published that is revised once more
    few = statements(299)
    complete_matches(pool, [won(players[n % 6], players[(n + 1) % 6], at(n)) for n in range(100)], now=NOW)
    assert statements(298) <= few
    lines = replay.recalculate(pool, MatchKey(at(298), True, 0, 0))
    assert lines.matches == 4 and lines.writes == 0


def corrupted(pool: Pool) -> None:
    line = RatingChange.objects.order_by("id").first()
    assert line is not None
    RatingChange.objects.filter(pk=line.pk).update(after=line.after + 1)


def test_a_full_replay_repairs_what_somebody_changed_by_hand() -> None:
    pool, players = pool_of("fibs"), people(3)
    complete_matches(pool, [won(players[n % 3], players[(n + 1) % 3], at(n)) for n in range(9)], now=NOW)
    corrupted(pool)
    assert verify(pool)[1] is not None
    with transaction.atomic():
        assert replay.replay(pool, NOW) == 1
    assert verify(pool) == (9, None)


def test_recalculating_without_a_match_is_what_never_having_played_it_gives() -> None:
    pool, players = pool_of("fibs"), people(4)
    entries = [won(players[n % 4], players[(n + 1 + n % 2) % 4], at(n), length=n % 11 + 1) for n in range(20)]
    matches = complete_matches(pool, entries, now=NOW)
    gone = matches[7]
    key = MatchKey(at(7), True, 0, gone.pk)
    answer = replay.recalculate(pool, key, instead={gone.pk: None})
    assert {line[MATCH] for _, line in answer.gone} == {gone.pk} and values(pool)  # nothing is written
    ends = {player: (state.value, state.experience, state.peak) for player, state in answer.states.items()}

    other = Pool.objects.create(slug="other", name="Other", system="fibs", parameters=pool.parameters, game=pool.game)
    complete_matches(other, [replace(entry) for number, entry in enumerate(entries) if number != 7], now=NOW)
    clean = {r.player_id: (r.value, r.experience, r.peak) for r in Rating.objects.filter(pool=other)}
    assert ends == {player: clean[player] for player in ends}
