"""Decay of standing: the pure function, its copy in SQL, and the task that brings standings up to date."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from matches.completion import complete_match, complete_matches
from matches.verify import stale_standings, verify
from players import ledger, tasks
from players.models import Player, Pool, Rating, Tier
from players.services import create_players
from players.standings import StandingRule, elapsed_days, rank_points, standing
from tests.building import DAY_ONE, NOW, at, people, pool_of, won

RULE = StandingRule(floor=600.0, decays_from=900.0, grace_days=14, per_day=1.0)


@pytest.mark.parametrize(
    ("rating", "days", "expected"),
    [
        (950.0, 0, 950.0),
        (950.0, 14, 950.0),
        (950.0, 14.999, 950.0),
        (950.0, 15, 949.0),
        (950.0, 26.3, 938.0),
        (950.0, 64, 900.0),
        (950.0, 1000, 900.0),  # never below the threshold of the tier where decay begins
        (900.0, 500, 900.0),
        (899.9, 500, 899.9),  # below it, time away costs nothing
        (556.0, 0, 600.0),  # the bottom of the ranking, not of the rating
        (556.0, 500, 600.0),
    ],
)
def test_time_away_costs_standing_from_platinum_up(rating: float, days: float, expected: float) -> None:
    assert standing(RULE, rating, DAY_ONE, DAY_ONE + timedelta(days=days)) == expected


def test_without_a_rule_the_standing_is_the_rating() -> None:
    assert standing(None, 1234.5, DAY_ONE, DAY_ONE + timedelta(days=999)) == 1234.5


def test_a_change_of_the_clocks_neither_adds_nor_skips_a_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for start in (datetime(2026, 3, 28, 12, tzinfo=berlin), datetime(2026, 10, 24, 12, tzinfo=berlin)):
        assert elapsed_days(start, start.astimezone(UTC) + timedelta(hours=23, minutes=59)) == 0
        assert elapsed_days(start, start.astimezone(UTC) + timedelta(hours=24)) == 1


def test_a_clock_that_runs_back_gives_no_negative_days() -> None:
    assert elapsed_days(DAY_ONE, DAY_ONE - timedelta(days=3)) == 0
    assert elapsed_days(None, DAY_ONE) == 0


@pytest.mark.parametrize(
    ("value", "decimals", "units"),
    [(1970.995, 2, 197100), (1970.994, 2, 197099), (600.0, 0, 600), (949.5, 0, 950), (-2.5, 0, -3), (-0.4, 0, 0)],
)
def test_rank_points_are_the_shown_standing(value: float, decimals: int, units: int) -> None:
    assert rank_points(value, decimals) == units


@pytest.mark.django_db
def test_sql_gives_the_bits_of_the_function() -> None:
    """The set-based update and `standing` agree bit for bit, for ratings and times of every kind, on either database."""
    pool, players = pool_of("online-backgammon"), create_players(f"Away {number}" for number in range(300))
    dice = random.Random(7)
    entries = []
    for number in range(0, 300, 2):
        ended_at = NOW - timedelta(days=number // 3, seconds=dice.choice((0, -1, 1, dice.uniform(0, 86_400))) + 2)
        entries.append(won(players[number], players[number + 1], ended_at, kind="matchmade"))
    complete_matches(pool, entries, now=NOW)
    for rating in Rating.objects.filter(pool=pool):
        # 15 significant digits and more, around every threshold
        rating.value = dice.choice((dice.uniform(560, 1300), 900.0, 899.9999999999999, 914.5, 600.0, dice.uniform(899, 930)))
        rating.save()
    for per_day, decimals in ((1.0, 0), (0.3, 2), (2.5, 3)):
        pool.parameters = {**pool.parameters, "decay_per_day": per_day}
        pool.shown_decimals = decimals
        pool.save()
        ledger.update_standings(pool.pk, NOW)
        Rating.objects.filter(pool=pool).update(standing=-1.0)
        ledger.update_standings(pool.pk, NOW)
        pool = Pool.objects.get(pk=pool.pk)
        wrong = [
            (rating.value, rating.standing, rating.rank_points)
            for rating in Rating.objects.filter(pool=pool)
            if rating.standing != (fresh := standing(pool.standing_rule, rating.value, rating.last_ended_at, NOW))
            or rating.rank_points != rank_points(fresh, decimals)
        ]
        assert wrong == []
        assert len({rating.standing for rating in Rating.objects.filter(pool=pool)}) > 50  # not all at the floor


def climbed(now: datetime = DAY_ONE + timedelta(days=1)) -> tuple[Pool, Rating, Player]:
    """A player whom 25-point wins against newcomers have brought past Platinum, as of `now`, and his first opponent."""
    pool, (player, *opponents) = pool_of("online-backgammon"), people(21)
    complete_matches(pool, [won(player, other, at(n), length=25, kind="matchmade") for n, other in enumerate(opponents)], now=now)
    return pool, Rating.objects.get(pool=pool, player=player), opponents[0]


@pytest.mark.django_db
def test_the_task_brings_standings_up_to_date_and_a_second_run_writes_nothing() -> None:
    pool, rating, _ = climbed()
    assert rating.value > 1000 and rating.standing == rating.value
    assert stale_standings(pool, NOW) == 1
    assert ledger.update_standings(pool.pk, NOW) == 1
    after = Rating.objects.get(pk=rating.pk)
    days = (NOW - rating.last_ended_at) // timedelta(days=1)
    assert after.standing == max(900.0, rating.value - (days - 14)) and after.value == rating.value
    assert after.rank_points == rank_points(after.standing, 0)
    assert verify(pool) == (20, None)
    stored = list(Rating.objects.order_by("pk").values())
    assert ledger.update_standings(pool.pk, NOW) == 0
    assert list(Rating.objects.order_by("pk").values()) == stored


@pytest.mark.django_db
@pytest.mark.parametrize("step", [1, 2, 3, 20, 21, 22])
def test_a_large_pool_takes_several_transactions(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _, _ = climbed()
    Tier.objects.filter(pool=pool, name="Platinum").update(threshold=500.0)
    monkeypatch.setattr(ledger, "DECAY_STEP", step)
    expected = stale_standings(pool, NOW)
    assert ledger.update_standings(pool.pk, NOW) == expected > 0
    assert stale_standings(pool, NOW) == 0


@pytest.mark.django_db
def test_the_next_counted_match_restores_the_standing() -> None:
    pool, rating, opponent = climbed()
    player = rating.player
    ledger.update_standings(pool.pk, NOW)
    assert Rating.objects.get(pk=rating.pk).standing < rating.value
    complete_match(pool, won(player, opponent, NOW, kind="rematch"), now=NOW)  # does not count
    assert Rating.objects.get(pk=rating.pk).standing < rating.value
    complete_match(pool, won(player, opponent, NOW, kind="matchmade"), now=NOW)
    restored = Rating.objects.get(pk=rating.pk)
    assert restored.standing == restored.value > rating.value


@pytest.mark.django_db
def test_a_match_entered_long_after_its_end_is_decayed_at_once() -> None:
    pool, rating, _ = climbed(now=NOW)
    assert rating.standing == standing(pool.standing_rule, rating.value, rating.last_ended_at, NOW) < rating.value


@pytest.mark.django_db
def test_editing_the_tier_where_decay_begins_moves_standings() -> None:
    pool, rating, _ = climbed()
    Tier.objects.filter(pool=pool, name="Platinum").update(threshold=rating.value - 1)
    ledger.refresh_standings(pool.pk, NOW)
    assert Rating.objects.get(pk=rating.pk).standing == rating.value - 1


@pytest.mark.django_db
def test_the_celery_task_runs_over_all_pools() -> None:
    climbed()
    assert tasks.update_standings() == 1
    assert tasks.update_standings() == 0
