"""The rankings, by the database and by Redis: the same answers, and those of a plain sort."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from players import rankings
from players.models import Pool, Rating
from players.rankings import Place, store
from tests.building import pool_of
from tests.players.ranking_sets import fill, plain_order, plain_place, plain_rank, random_set

QUERIES = {
    "sql": {"count": 1, "sizes": 1, "place": 1, "rows": 3, "distribution": 2},
    # Only what is shown of the players. More would say that it was not Redis that answered.
    "redis": {"count": 0, "sizes": 0, "place": 0, "rows": 1, "distribution": 0},
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source" in metafunc.fixturenames:
        both = metafunc.config.getoption("--on") == "postgres"
        metafunc.parametrize("source", ["sql", "redis"] if both else ["sql"], indirect=True)


@pytest.fixture
def source(request: pytest.FixtureRequest, settings: Any) -> str:
    """Which of the two answers."""
    if request.param == "sql":
        settings.REDIS_URL = ""
    return request.param


@pytest.fixture
def ask(source: str) -> Iterator[Callable[..., Any]]:
    """Call one of the rankings' reads and hold the number of its queries against what the source may need."""

    def ask(read: str, *args: Any, **options: Any) -> Any:
        with CaptureQueriesContext(connection) as captured:
            answer = getattr(rankings, read)(*args, **options)
        assert len(captured) <= QUERIES[source][read], captured.captured_queries
        return answer

    return ask


def ready(source: str, pool: Pool, rows: list[tuple[float, float, int]]) -> list[Rating]:
    """The pool with these ratings, in Redis as well where that answers; its listed ratings in plain order."""
    ratings = fill(pool, rows)
    if source == "redis":
        assert rankings.rebuild(pool) == sum(1 for rating in ratings if rating.matches)
    return plain_order(ratings)


def lines(listing: rankings.Listing) -> list[tuple[int, int]]:
    return [(line.rank, line.rating.player_id) for line in listing.rows]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("seed", "size", "slug"), [(1, 3, "tics"), (2, 60, "fibs"), (3, 250, "tics"), (4, 700, "fibs"), (5, 90, "tics")]
)
def test_pages_ranks_and_places_are_those_of_a_plain_sort(source: str, ask: Any, seed: int, size: int, slug: str) -> None:
    pool = pool_of(slug)
    ordered = ready(source, pool, random_set(seed, size))
    expected = [(plain_rank(ordered, rating), rating.player_id) for rating in ordered]
    assert ask("count", pool) == len(ordered)
    for start, count in [(0, size + 5), (0, 1), (size // 3, 7), (size // 2, 50), (max(0, len(ordered) - 2), 10)]:
        listing = ask("rows", pool, start, count)
        assert lines(listing) == expected[start : start + count]
        assert (listing.start, listing.of) == (start, len(ordered))
    paged = [line for number in range(1, len(ordered) // 7 + 2) for line in lines(rankings.page(pool, number, 7))]
    assert paged[: len(expected)] == expected
    assert [(row.rank, row.player_id) for row in rankings.ranked(pool)] == expected
    for rating in random.Random(seed).sample(ordered, min(40, len(ordered))):
        assert ask("place", rating) == plain_place(ordered, rating)


@pytest.mark.django_db
def test_equal_shown_standings_share_a_rank(source: str, ask: Any) -> None:
    pool = pool_of("tics")
    # Shown without decimals: 1502, 1501, 1501, 1500, and one who has not played.
    ready(source, pool, [(1500.4, 1500.4, 1), (1501.0, 1501.0, 1), (1501.4, 1501.4, 1), (1502.0, 1502.0, 1), (1800.0, 1800.0, 0)])
    listing = ask("rows", pool, 0, 10)
    assert [(line.rank, line.rating.value) for line in listing.rows] == [(1, 1502.0), (2, 1501.4), (2, 1501.0), (4, 1500.4)]
    places = [ask("place", line.rating) for line in listing.rows]
    assert places == [Place(1, 4, 0.75, 0), Place(2, 4, 0.25, 1), Place(2, 4, 0.25, 2), Place(4, 4, 0.0, 3)]
    # A page that begins within the tie.
    assert [line.rank for line in ask("rows", pool, 2, 2).rows] == [2, 4]
    assert rankings.place(Rating.objects.get(pool=pool, matches=0)) is None
    assert rankings.neighbours(Rating.objects.get(pool=pool, matches=0)) is None


@pytest.mark.django_db
def test_a_tie_is_listed_by_rating_then_by_player(source: str, ask: Any) -> None:
    """All at the bottom of the ranking, with ratings below and around zero, and equal ones."""
    pool = pool_of("online-backgammon")
    values = [599.0, 0.0, -0.0, -1.5, 598.5, 598.5, -99_000.25, 1e-300, -1e-300, 598.5000000000001, 0.0]
    ordered = ready(source, pool, [(value, 600.0, 2) for value in values])
    listing = ask("rows", pool, 0, 20)
    assert lines(listing) == [(1, rating.player_id) for rating in ordered]
    assert [line.rating.value for line in listing.rows] == sorted(values, reverse=True)
    for first, second in pairwise(line.rating for line in listing.rows):
        assert first.value > second.value or first.player_id < second.player_id


@pytest.mark.django_db
def test_the_page_beyond_the_end_is_the_last_one(source: str, ask: Any) -> None:
    pool = pool_of("tics")
    ordered = ready(source, pool, random_set(8, 45))
    last = rankings.page(pool, 10**6, 10)
    assert last.start == (len(ordered) - 1) // 10 * 10
    assert [row.rating.pk for row in last.rows] == [rating.pk for rating in ordered[last.start :]]
    assert rankings.page(pool, 0, 10) == rankings.page(pool, 1, 10) == rankings.page(pool, -3, 10)
    assert rankings.rows(pool, len(ordered), 10) == rankings.Listing((), len(ordered), len(ordered))


@pytest.mark.django_db
def test_a_pool_without_players(source: str, ask: Any) -> None:
    pool = pool_of("tics")
    ready(source, pool, [(1500.0, 1500.0, 0)])
    assert ask("count", pool) == 0
    assert rankings.page(pool, 3, 50) == rankings.Listing((), 100, 0)
    assert ask("rows", pool, 0, 50) == rankings.Listing((), 0, 0)
    assert ask("distribution", pool, 10) == []


@pytest.mark.django_db
def test_the_sizes_of_several_pools(source: str, ask: Any) -> None:
    pools = [pool_of("tics"), pool_of("fibs"), pool_of("freewhist")]
    sizes = [len(ready(source, pool, random_set(size, size))) for pool, size in zip(pools, (20, 0, 7), strict=True)]
    assert ask("sizes", pools) == dict(zip((pool.pk for pool in pools), sizes, strict=True))
    assert sizes[0] > sizes[2] > sizes[1] == 0


@pytest.mark.django_db
def test_neighbours(source: str, ask: Any) -> None:
    pool = pool_of("tics")
    ordered = ready(source, pool, random_set(9, 40))
    for position in (0, 1, 4, 5, 20, len(ordered) - 2, len(ordered) - 1):
        around = rankings.neighbours(ordered[position], 4)
        assert around is not None
        assert [row.rating.pk for row in around.rows] == [r.pk for r in ordered[max(0, position - 4) : position + 5]]
        assert around.start == max(0, position - 4)


@pytest.mark.django_db
def test_a_rating_that_is_not_stored_has_the_place_that_it_would_have(source: str) -> None:
    pool = pool_of("tics")
    ready(source, pool, [(1500.0, 1500.0, 1), (1510.0, 1510.0, 1), (1520.0, 1520.0, 1)])
    rating = Rating.objects.get(pool=pool, value=1500.0)
    rating.value = rating.standing = 1515.0
    rating.rank_points = 1515
    place = rankings.place(rating)
    assert place is not None and place.rank == 2


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["tics", "fibs"])
@pytest.mark.parametrize("width", [10, 1, 2.5, Decimal("0.25"), 1000, None])
def test_the_distribution_is_that_of_a_plain_count(source: str, ask: Any, slug: str, width: Any) -> None:
    pool = pool_of(slug)
    ready(source, pool, [(value / 4, value / 4, 1) for value in (-81, -80, -40, -1, 0, 1, 1, 2, 39, 40, 41, 161, 400)])
    unit = 10**pool.shown_decimals
    if width is not None and (width * unit) % 1:
        with pytest.raises(ValueError):
            rankings.distribution(pool, width)
        return
    points = Rating.objects.filter(pool=pool, matches__gt=0).values_list("rank_points", flat=True)
    bins = ask("distribution", pool, width)
    wide = Decimal(str(bins[0].high)) - Decimal(str(bins[0].low))
    assert wide == width if width is not None else len(bins) <= 40
    expected = Counter(point // int(wide * unit) for point in points)
    first, last = min(expected), max(expected)
    assert [bin.count for bin in bins] == [expected[number] for number in range(first, last + 1)]
    assert [bin.low for bin in bins] == [float(number * wide) for number in range(first, last + 1)]
    assert all(one.high == two.low for one, two in pairwise(bins))


@pytest.mark.django_db
@pytest.mark.parametrize("width", [0, -5, 0.5, float("nan"), float("inf"), 0.001])
def test_a_width_that_makes_no_bins_is_refused(source: str, width: float) -> None:
    pool = pool_of("tics")
    ready(source, pool, [(1000.0, 1000.0, 1), (9000.0, 9000.0, 1)])
    with pytest.raises(ValueError):
        rankings.distribution(pool, width)
    with pytest.raises(ValueError, match="8001, more than 1000"):
        rankings.distribution(pool, 1)
    assert sum(bin.count for bin in rankings.distribution(pool)) == 2


ratings = st.floats(-100_000, 100_000)
player_ids = st.integers(1, 2**63 - 1)


@given(st.lists(st.tuples(ratings | st.sampled_from([0.0, -0.0, 1500.0]), player_ids), min_size=2, max_size=6))
def test_members_sort_by_rating_then_by_player(pairs: list[tuple[float, int]]) -> None:
    by_member = sorted(pairs, key=lambda pair: store.pack(*pair), reverse=True)
    assert by_member == sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    assert [store.unpack(store.pack(*pair)) for pair in pairs] == pairs


@pytest.mark.django_db
def test_names_are_read_with_the_rows(source: str, ask: Any) -> None:
    pool = pool_of("tics")
    ready(source, pool, random_set(11, 30))
    listing = ask("rows", pool, 0, 30)
    with CaptureQueriesContext(connection) as captured:
        assert all(line.rating.player.name for line in listing.rows)
    assert len(captured) == 0
