"""Rankings with lines left out: the ranks are those of the whole, and no page looks at more lines than it may."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches.models import Match
from players import rankings
from players.formatting import format_percent
from players.models import Pool, Rating, Tier
from players.names import name_key
from players.pages import ranking as page_module
from players.rankings import Criteria, Key, Ranked
from players.services import create_players
from tests.building import pool_of
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NAMES = ["Vera", "vera holm", "Didrik", "Inger", "Åse", "100%", "under_score", "Ve", "Holm, Vera"]


@pytest.fixture
def pool() -> Pool:
    """A pool with 120 listed players, many of whom share a standing, and a few who are not listed."""
    pool = pool_of("online-backgammon")
    dice = random.Random(7)
    players = create_players(f"{dice.choice(NAMES)} {number}" for number in range(126))
    match = Match.objects.create(pool=pool)
    ratings = []
    for number, player in enumerate(players):
        standing = float(dice.choice((600, 600, 640, 700, 815, 899, 900, 1000, 1100.4, 1250)))
        played = number >= 6
        ratings.append(
            Rating(
                pool=pool,
                player=player,
                value=standing - dice.choice((0, 0.25, 0.5)),
                standing=standing,
                rank_points=round(standing),
                peak=standing,
                opening=600,
                experience=dice.randrange(200),
                matches=int(played),
                last_match=match if played else None,
                last_ended_at=NOW - timedelta(days=dice.randrange(100)) if played else None,
                last_timed=True if played else None,
                last_sequence=0 if played else None,
            )
        )
    Rating.objects.bulk_create(ratings)
    return pool


def tier(pool: Pool, name: str) -> Tier:
    return pool.tiers.get(name=name)


def criteria(pool: Pool) -> list[Criteria]:
    return [
        Criteria(name=name_key("VERA")),
        Criteria(name=name_key("holm")),
        Criteria(name="%"),
        Criteria(name="_"),
        Criteria(name="nobody"),
        Criteria(experience=120),
        Criteria(experience=199_999),
        Criteria(since=NOW - timedelta(days=20)),
        Criteria(tier=tier(pool, "Silver")),
        Criteria(tier=tier(pool, "Master")),
        Criteria(tier=tier(pool, "Bronze"), experience=100),
        Criteria(name="ve", tier=tier(pool, "Gold"), since=NOW - timedelta(days=50), experience=30),
    ]


def by_hand(pool: Pool, wanted: Criteria, *, beginning: bool = False) -> list[tuple[int, int]]:
    """(rank, player) of those who meet the criteria, by a plain loop over everybody."""
    tiers = list(pool.tiers.order_by("threshold"))
    lines = sorted(
        Rating.objects.filter(pool=pool, matches__gt=0).select_related("player"),
        key=lambda one: (-one.rank_points, -one.value, one.player_id),
    )
    found = []
    for one in lines:
        rank = 1 + sum(other.rank_points > one.rank_points for other in lines)
        reached = [step for step in tiers if one.rank_points >= step.threshold]
        key = one.player.name_key
        if (
            (key.startswith(wanted.name) if beginning else wanted.name in key)
            and (wanted.tier is None or (reached and reached[-1] == wanted.tier))
            and (wanted.since is None or (one.last_ended_at is not None and one.last_ended_at >= wanted.since))
            and one.experience >= wanted.experience
        ):
            found.append((rank, one.player_id))
    return found


def pages(
    pool: Pool, wanted: Criteria, size: int, *, long: bool, most: int = 10_000
) -> Iterator[tuple[tuple[Ranked, ...], Key | None]]:
    """All pages in turn, each with the key after which it begins."""
    after: Key | None = None
    tiers = list(pool.tiers.all())
    for _ in range(200):
        found = rankings.filtered(pool, tiers, wanted, size=size, long=long, after=after, most=most)
        assert len(found.rows) <= size
        yield found.rows
        if found.onward is None:
            return
        after = found.onward
    raise AssertionError("there is no end")


@pytest.mark.parametrize(("long", "most"), [(False, 10_000), (True, 10_000), (True, 11)])
@pytest.mark.parametrize("size", [1, 7, 50])
def test_all_pages_together_are_those_who_meet_the_criteria_with_their_ranks(
    pool: Pool, size: int, long: bool, most: int
) -> None:
    for wanted in criteria(pool):
        found = [(row.rank, row.rating.player_id) for rows in pages(pool, wanted, size, long=long, most=most) for row in rows]
        assert found == by_hand(pool, wanted, beginning=long), wanted


@pytest.mark.parametrize(("long", "most"), [(False, 10_000), (True, 11)])
def test_the_way_back_is_the_same(pool: Pool, long: bool, most: int) -> None:
    tiers = list(pool.tiers.all())
    for wanted in criteria(pool):
        everybody = by_hand(pool, wanted, beginning=long)
        before = Key(-(10**9), -1e5, 0)
        found: list[tuple[int, int]] = []
        for _ in range(200):
            page = rankings.filtered(pool, tiers, wanted, size=7, long=long, before=before, most=most)
            found = [(row.rank, row.rating.player_id) for row in page.rows] + found
            if page.onward is None:
                break
            before = page.onward
        assert found == everybody, wanted


def test_a_page_looks_at_so_many_lines_and_no_more(pool: Pool) -> None:
    tiers = list(pool.tiers.all())
    last = Rating.objects.filter(pool=pool, matches__gt=0).order_by("rank_points", "value", "-player_id")[0]
    Rating.objects.filter(pk=last.pk).update(experience=5000)
    wanted = Criteria(experience=5000)
    first = rankings.filtered(pool, tiers, wanted, size=5, long=True, most=30)
    assert first.rows == () and first.cut and first.onward is not None
    found = list(pages(pool, wanted, 5, long=True, most=30))
    assert [len(rows) for rows in found] == [0, 0, 0, 1, 0]
    assert not rankings.filtered(pool, tiers, wanted, size=5, long=False).cut


def test_who_moves_between_two_pages_does_not_shift_the_others(pool: Pool) -> None:
    tiers = list(pool.tiers.all())
    wanted = Criteria(experience=1)
    one = rankings.filtered(pool, tiers, wanted, size=10, long=False)
    top = one.rows[0].rating
    Rating.objects.filter(pk=top.pk).update(rank_points=1, value=1, standing=1)
    two = rankings.filtered(pool, tiers, wanted, size=10, long=False, after=one.onward)
    shown = {row.rating.player_id for row in one.rows}
    assert not shown & {row.rating.player_id for row in two.rows}
    above = Rating.objects.filter(pool=pool, matches__gt=0, rank_points__gt=two.rows[0].rating.rank_points).count()
    assert two.rows[0].rank == above + 1


@pytest.mark.parametrize(
    "key", [Key(150025, 1500.25, 3), Key(-5, -0.125, 10**17), Key(0, 0.0, 1), Key(1, 1e-05, 2), Key(2, -1e5, 2)]
)
def test_keys_are_written_and_read(key: Key) -> None:
    assert Key.read(str(key)) == key


@pytest.mark.parametrize(
    "text", ["", "1", "1_2", "1_2_3_4", "a_b_c", "1_nan_3", "1_inf_3", "9" * 40 + "_1_1", "1_1_" + "9" * 40, "1_1_\0", "١_1_1"]
)
def test_what_is_no_key_is_the_first_page(text: str, client: Client, pool: Pool) -> None:
    assert Key.read(text) is None
    address = "/rankings/online-backgammon/"
    first = client.get(address, {"experience": "50"})
    for name in ("after", "before"):
        assert rows_of(client.get(address, {"experience": "50", name: text}), "ranking") == rows_of(first, "ranking")


# --- The page ---


def links(response: object, rel: str) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(rf'<a rel="{rel}" href="([^"]+)"', response.content.decode())]  # type: ignore[attr-defined]


@pytest.mark.parametrize("most", [10_000, 23])
def test_the_links_lead_through_all_pages_and_back(
    pool: Pool, client: Client, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(page_module, "PAGE_SIZE", 10)
    monkeypatch.setattr(page_module, "MOST_SCANNED", most)
    filtered = rankings.filtered
    monkeypatch.setattr(rankings, "filtered", lambda *args, **more: filtered(*args, **more, most=most))
    wanted = Criteria(experience=60)
    address, seen, query = "/rankings/online-backgammon/", [], "?experience=60"
    for _ in range(100):
        response = client.get(address + query)
        rows = rows_of(response, "ranking")
        seen.append(rows)
        following = links(response, "next")
        if not following:
            break
        [query] = following
    ranks = [int(row.split()[0]) for rows in seen for row in rows]
    assert ranks == [rank for rank, _ in by_hand(pool, wanted)]
    back = []
    for _ in range(100):
        back.append(rows_of(response, "ranking"))
        preceding = links(response, "prev")
        if not preceding:
            break
        response = client.get(address + preceding[0])
    found = [row for rows in reversed(back) for row in rows]
    assert found == [row for rows in seen for row in rows]


def test_what_was_asked_stays_in_the_form_and_the_links(pool: Pool, client: Client) -> None:
    response = client.get("/rankings/online-backgammon/", {"q": "ve", "tier": "Silver", "days": "5000", "experience": "3"})
    page = response.content.decode()
    for value in ('value="ve"', '<option value="Silver" selected>', 'value="5000"', 'value="3"'):
        assert value in page
    assert 'href="/rankings/online-backgammon.csv?q=ve&amp;tier=Silver&amp;days=5000&amp;experience=3"' in page


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("days", "0", "Must be a whole number from 1 to 36500."),
        ("days", "x", "Must be a whole number from 1 to 36500."),
        ("days", "9" * 70, "Must be a whole number from 1 to 36500."),
        ("days", "1.5", "Must be a whole number from 1 to 36500."),
        ("experience", "-1", "Must be a whole number from 0 to 2147483647."),
        ("experience", "²", "Must be a whole number from 0 to 2147483647."),
        ("experience", "2147483648", "Must be a whole number from 0 to 2147483647."),
        ("experience", "0" * 20 + "9" * 40, "Must be a whole number from 0 to 2147483647."),
        ("tier", "Wood", "There is no such tier in this pool."),
    ],
)
def test_bad_criteria_are_said_beside_their_fields(pool: Pool, client: Client, name: str, value: str, says: str) -> None:
    response = client.get("/rankings/online-backgammon/", {name: value})
    page = response.content.decode()
    assert f'<span class="error" id="{name}-error">{says}</span>' in page and f'aria-describedby="{name}' in page
    # Nothing is left out by what is no criterion.
    assert len(rows_of(response, "ranking")) == 50


@pytest.mark.parametrize("q", ["\0", "\0ve", "  ", "\u200b", "%", "_", "'", '"', "\\", "x" * 10_000])
def test_any_name_can_be_searched_for(pool: Pool, client: Client, q: str) -> None:
    assert client.get("/rankings/online-backgammon/", {"q": q}).status_code == 200


def test_nobody_meets_the_criteria(pool: Pool, client: Client) -> None:
    text = text_of(client.get("/rankings/online-backgammon/", {"q": "nobody at all"}))
    assert "Nobody meets these criteria. Show all" in text and "with their ranks among all 120 who are listed" in text


def test_the_readers_line_is_pinned_and_his_place_drawn(pool: Pool) -> None:
    last = Rating.objects.filter(pool=pool, matches__gt=0).order_by("rank_points", "value")[0]
    reader = login_of(last.player)
    for query in ("", "?experience=199999", "?tier=Master"):
        response = reader.get(f"/rankings/online-backgammon/{query}")
        page = response.content.decode()
        rank = 1 + Rating.objects.filter(pool=pool, matches__gt=0, rank_points__gt=last.rank_points).count()
        assert '<tbody class="pinned"><tr class="own">' in page
        [pinned] = re.findall(r'<tbody class="pinned">(.*?)</tbody>', page, flags=re.DOTALL)
        assert text_of(pinned).startswith(f"{rank} {last.player.name} you ")
        assert f"Your rank: {rank} Jump to me" in text_of(response)
        # Nobody stands lower: there is no share to be proud of.
        assert f"you are {rank} of 120" in text_of(response) and "better than" not in text_of(response)
        assert page.count('class="bar own"') == 1 and 'class="own-line"' in page
    own_page = re.search(r"\?page=(\d+)#you", page)
    assert own_page is not None
    assert 'id="you"' in reader.get(f"/rankings/online-backgammon/?page={own_page[1]}").content.decode()


def test_the_bars_count_everybody(pool: Pool, client: Client) -> None:
    response = client.get("/rankings/online-backgammon/")
    rows = rows_of(response, "figures narrow")
    assert sum(int(row.split()[-1]) for row in rows) == 120
    assert response.content.decode().count('<rect class="bar"') == sum(not row.endswith(" 0") for row in rows)
    assert "own-line" not in response.content.decode()


def test_the_number_of_queries_is_fixed(pool: Pool, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = login_of(Rating.objects.filter(pool=pool, matches__gt=0).order_by("rank_points")[0].player)
    address = "/rankings/online-backgammon/"
    queries = ["", "?page=2", "?page=99", "?experience=10", "?q=ve&tier=Silver&days=30&experience=1", "?q=nobody"]
    key = rankings.key_of(Rating.objects.filter(pool=pool, matches__gt=0).order_by("-rank_points")[40])
    queries += [f"?experience=10&after={key}", f"?experience=10&before={key}"]
    for long in (False, True):
        if long:
            monkeypatch.setattr(page_module, "MOST_SCANNED", 20)
        for who in (client, reader):
            counts = [queries_of(who, address + query) for query in queries]
            assert max(counts) <= 12, (long, counts)


def test_the_picture_of_a_long_ranking_is_counted_once_in_a_while(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    settings.REDIS_URL = ""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    page_module.distribution(pool)
    with CaptureQueriesContext(connection) as queries:
        page_module.distribution(pool)
    assert len(queries) == 2, "a short one is always as it is now"
    monkeypatch.setattr(page_module, "MOST_SCANNED", 20)
    first = page_module.distribution(pool)
    with CaptureQueriesContext(connection) as queries:
        assert page_module.distribution(pool) == first
    assert not queries.captured_queries


def test_days_count_back_from_now(pool: Pool, client: Client) -> None:
    Rating.objects.filter(pool=pool, matches__gt=0).update(last_ended_at=timezone.now() - timedelta(days=40))
    one = Rating.objects.filter(pool=pool, matches__gt=0).select_related("player")[0]
    Rating.objects.filter(pk=one.pk).update(last_ended_at=timezone.now() - timedelta(days=3))
    [row] = rows_of(client.get("/rankings/online-backgammon/", {"days": "30"}), "ranking")
    assert one.player.name in row


def test_criteria_that_ask_nothing_filter_nothing() -> None:
    assert not Criteria() and Criteria(experience=1) and replace(Criteria(), name="x")


def test_the_share_of_those_who_stand_lower_is_said(pool: Pool) -> None:
    best = Rating.objects.filter(pool=pool, matches__gt=0).order_by("-rank_points", "-value", "player_id")[0]
    below = Rating.objects.filter(pool=pool, matches__gt=0, rank_points__lt=best.rank_points).count()
    text = text_of(login_of(best.player).get("/rankings/online-backgammon/"))
    assert f"you are 1 of 120, better than {format_percent(below / 120, 1)}" in text
