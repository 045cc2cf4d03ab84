"""The statistics of a player, and two players against each other."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from matches.completion import Entry
from players.models import Player, Pool, Rating, RatingChange
from players.pages.pools import ratings_of
from players.pages.statistics import Statistics, Streaks, Tally, _periods, statistics, streaks, widened
from players.services import rename_player
from players.systems.base import Result
from tests.building import at, complete, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db
TODAY = date(2026, 6, 1)


def of(player: Player, pool: Pool) -> Statistics:
    return statistics(player, pool, ratings_of(player)[pool.pk], TODAY)


def test_every_counted_match_is_told_once_in_each_part() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    entries = [won(*((vera, didrik) if n % 3 else (didrik, vera)), at(24 * n), length=1 + n % 4) for n in range(30)]
    complete(pool, *entries, won(vera, inger, at(1000), length=5), won(vera, didrik, at(1001), length=None))
    found = of(vera, pool)
    assert (found.total.matches, found.total.won, found.total.lost) == (31, 21, 10)
    rating = Rating.objects.get(player=vera, pool=pool)
    for part in (found.lengths, found.periods, found.bands, found.opponents):
        assert sum(tally.matches for _, tally in part) == 31
        assert sum(tally.change for _, tally in part) == pytest.approx(rating.value - 1500)
    assert [length for length, _ in found.lengths] == [1, 2, 3, 4, 5]
    assert [(one.name, tally.matches) for one, tally in found.opponents] == [("Player 2", 30), ("Player 3", 1)]


def test_the_best_win_is_over_the_strongest_before_the_match() -> None:
    pool, (vera, didrik, inger) = pool_of("fibs"), people(3)
    weak, strong, lost = complete(
        pool, won(vera, inger, at(1)), won(vera, didrik, at(2), length=1), won(didrik, vera, at(3), length=99)
    )
    RatingChange.objects.filter(match=strong, player=didrik).update(before=1700.5)
    RatingChange.objects.filter(match=lost, player=didrik).update(before=1900.0)
    best = of(vera, pool).best_win
    assert best and (best.match_id, best.opponent.name, best.rating) == (strong.pk, "Player 2", 1700.5)
    assert of(inger, pool).best_win is None and weak.pk != strong.pk


def test_broken_off_matches_are_neither_won_nor_lost() -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    terms: dict[str, Any] = {"stake": Decimal(5), "real_money": True, "kind": "table"}
    # A chance of 1 is a score of 1, and still no win.
    results = [Result(chance=chance, length=5, **terms) for chance in (1.0, 0.4)]
    complete(pool, *(Entry(players=(vera, didrik), result=result, ended_at=at(n)) for n, result in enumerate(results)))
    complete(pool, won(vera, didrik, at(5), length=None, points=4, **terms))
    found = of(vera, pool)
    assert (found.total.won, found.total.lost, found.total.broken_off) == (1, 0, 2)
    assert found.total.score == 1.0 and found.streaks == Streaks(1, 0, 1)
    assert [length for length, _ in found.lengths] == [5, None]


def test_a_table_of_four_is_told_by_places_and_by_who_was_ahead(client: Client) -> None:
    pool, table = pool_of("freewhist"), people(4)
    games = [(1, 2, 3, 4), (2, 2, 1, 4), (4, 1, 2, 3)]
    complete(pool, *(Entry(players=table, result=Result(places=p, deals=16), ended_at=at(n)) for n, p in enumerate(games)))
    found = of(table[0], pool)
    assert found.total.places == (1, 1, 0, 1) and found.total.score is None
    ahead = {one.name: (tally.won, tally.drawn, tally.lost) for one, tally in found.opponents}
    assert ahead == {"Player 2": (1, 1, 1), "Player 3": (1, 0, 2), "Player 4": (2, 0, 1)}
    text = text_of(client.get("/players/player-1/statistics/freewhist/"))
    assert "1 first, 1 second, 0 third, 1 last" in text and "placed ahead of him, level or behind" in text


@given(st.lists(st.sampled_from([1.0, 0.5, 0.0, None])))
def test_streaks_by_a_plain_count(scores: list[float | None]) -> None:
    runs = [0]
    for score in scores:
        runs.append(runs[-1] + 1 if score == 1 else 0)
    losing = next((n for n, score in enumerate(reversed(scores)) if score != 0), len(scores))
    assert streaks((score, None) for score in scores) == Streaks(runs[-1], losing, max(runs))


@given(st.dictionaries(st.integers(-10_000, 10_000), st.integers(1, 5), max_size=60))
def test_bands_lose_nobody_and_are_few(fine: dict[int, int]) -> None:
    bands = widened({number: Tally(matches=count) for number, count in fine.items()})
    assert sum(tally.matches for _, tally in bands) == sum(fine.values())
    assert len(bands) <= 10
    assert all(two.high <= one.low for (one, _), (two, _) in pairwise(bands))


@pytest.mark.parametrize("today", [date(2026, 1, 31), date(2026, 6, 1), date(2026, 12, 31), date(2024, 2, 29)])
@pytest.mark.parametrize("years", [0, 1, 7])
def test_periods_are_years_and_then_twelve_months(today: date, years: int) -> None:
    periods = _periods(date(today.year - years, 3, 5), today)
    days = [period.day for period in periods]
    assert days == sorted(set(days))
    assert [period.unit for period in periods[-12:]] == ["month"] * 12 and periods[-1].day == today.replace(day=1)
    assert all(period.unit == "year" for period in periods[:-12])


def test_a_month_is_the_readers() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete(pool, won(vera, didrik, datetime(2026, 2, 28, 23, 30, tzinfo=UTC)))
    complete(pool, won(vera, didrik, datetime(2026, 3, 1, tzinfo=UTC), timed=False))
    for zone, months in (("UTC", [3, 2]), ("Europe/Copenhagen", [3]), ("America/New_York", [3, 2])):
        reader = login_of(vera, time_zone=zone) if vera.user is None else client_in(vera, zone)
        periods = reader.get("/cashier/statistics/fibs/").context["statistics"].periods
        assert [period.day.month for period, _ in periods] == months, zone


def client_in(player: Player, zone: str) -> Client:
    Player.objects.filter(pk=player.pk).update(time_zone=zone)
    client = Client()
    assert player.user
    client.force_login(player.user)
    return client


def test_without_a_counted_match_there_is_a_way_to_the_lobby(client: Client) -> None:
    people(1)
    response = client.get("/players/player-1/statistics/fibs/")
    assert "statistics begin with the first one" in text_of(response) and "/lobby/fibs/" in response.content.decode()


def test_the_number_of_queries_of_the_statistics_is_fixed(client: Client) -> None:
    pool, (vera, *others) = pool_of("fibs"), people(6)
    complete(pool, won(vera, others[0], at(0)))
    reader, public, own = login_of(vera), "/players/player-1/statistics/fibs/", "/cashier/statistics/fibs/"
    few = queries_of(client, public), queries_of(reader, public), queries_of(reader, own)
    complete(pool, *(won(vera, other, at(n), length=1 + n % 9) for n, other in enumerate(others * 6, start=1)))
    assert (queries_of(client, public), queries_of(reader, public), queries_of(reader, own)) == few
    assert max(few) <= 12


# --- Two players ---


def test_two_players_pool_by_pool(client: Client) -> None:
    fibs, tics, (vera, didrik, inger) = pool_of("fibs"), pool_of("tics"), people(3)
    complete(fibs, won(vera, didrik, at(1)), won(didrik, vera, at(2)), won(vera, didrik, at(3)), won(vera, inger, at(4)))
    complete(tics, Entry(players=(didrik, vera), result=Result(scores=(0.5, 0.5)), ended_at=at(5)))
    response = client.get("/players/player-1/vs/player-2/")
    met = {each.pool.slug: each.tally for each in response.context["met"]}
    assert {slug: (tally.won, tally.drawn, tally.lost) for slug, tally in met.items()} == {"fibs": (2, 0, 1), "tics": (0, 1, 0)}
    moved = RatingChange.objects.filter(player=vera, rating__pool=fibs).exclude(match__players=inger)
    assert met["fibs"].change == pytest.approx(sum(line.change for line in moved))
    assert len(rows_of(response, "changes")) == 4
    other = {each.pool.slug: each.tally for each in client.get("/players/player-2/vs/player-1/").context["met"]}
    assert (other["fibs"].won, other["fibs"].lost) == (1, 2)


@pytest.mark.parametrize(
    "address",
    [
        "/players/player-1/vs/player-1/",
        "/players/player-1/vs/nobody/",
        "/players/nobody/vs/player-1/",
        "/players/player-1/vs/%00/",
        "/players/player-1/vs/player-2/?older=x",
        "/players/player-1/vs/player-2/?older=99999",
    ],
)
def test_no_such_pair(address: str, client: Client) -> None:
    people(2)
    assert client.get(address).status_code == 404


def test_two_who_have_not_met(client: Client) -> None:
    people(2)
    assert "The two have not played each other yet." in text_of(client.get("/players/player-1/vs/player-2/"))


def test_old_addresses_of_either_lead_on(client: Client) -> None:
    vera, didrik = people(2)
    rename_player(vera, "Vera Holm")
    rename_player(didrik, "Didrik Holm")
    response = client.get("/players/player-1/vs/player-2/", follow=True)
    assert response.redirect_chain[-1][0] == "/players/vera-holm/vs/didrik-holm/" and response.status_code == 200
    response = client.get("/players/player-1/statistics/fibs/?x=1")
    assert response["Location"] == "/players/vera-holm/statistics/fibs/?x=1"


def test_the_number_of_queries_of_two_players_is_fixed(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete(pool, won(vera, didrik, at(0)))
    reader, address = login_of(vera), "/players/player-1/vs/player-2/"
    few = queries_of(client, address), queries_of(reader, address)
    matches = complete(pool, *(won(vera, didrik, at(n)) for n in range(1, 40)))
    assert (queries_of(client, address), queries_of(reader, address)) == few
    assert queries_of(reader, f"{address}?older={matches[30].pk}") == few[1] + 1 <= 12


def test_draws_have_a_column_where_there_are_some(client: Client) -> None:
    (vera, didrik), tics = people(2), pool_of("tics")
    complete(tics, Entry(players=(vera, didrik), result=Result(scores=(1.0, 0.0)), ended_at=at(1)))
    address = "/players/player-1/statistics/tics/"
    assert "Won Lost Share" in text_of(client.get(address))
    complete(tics, *(Entry(players=(vera, didrik), result=Result(scores=(0.5, 0.5)), ended_at=at(hour)) for hour in (2, 3)))
    response = client.get(address)
    assert "Won Drawn Lost Share" in text_of(response)
    assert "Player 2 3 1 2 0 67%" in text_of(response)
