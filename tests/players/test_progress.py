"""The points of the graph out of the database: few, in the reader's days, and none of the numbers lost."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db.models import DateTimeField, Value
from django.test import Client
from django.utils import timezone

from matches.completion import complete_matches
from matches.corrections import Correction, correct
from players.dbfunctions import Stretch
from players.models import Player, Pool, Rating
from players.pages.pools import ratings_of
from players.pages.progress import (
    MATCHES,
    MOST_POINTS,
    TIME,
    Progress,
    away,
    notes_of,
    of_rating,
    standing_beside,
)
from players.standings import StandingRule, standing
from tests.building import complete, history, people, pool_of, won
from tests.pages import login_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 1, 6, 0, tzinfo=UTC)
"""The first of June nearly everywhere."""
RULE = StandingRule(floor=600, decays_from=900, grace_days=14, per_day=1)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def of(player: Player, pool: Pool, chosen: str = "all", axis: str = TIME) -> Progress:
    return of_rating(ratings_of(player)[pool.pk], pool, chosen, NOW, axis=axis)


@pytest.fixture
def busy() -> tuple[Pool, Player]:
    """A player with 1000 matches in 500 days, won and lost in turns of three."""
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    entries = [won(*((vera, didrik) if n % 3 else (didrik, vera)), days_ago(500 - n / 2), length=1) for n in range(1000)]
    complete_matches(pool, entries, now=NOW)
    return pool, vera


@pytest.mark.parametrize("axis", [TIME, MATCHES])
@pytest.mark.parametrize(("chosen", "least"), [("all", 240), ("year", 240), ("month", 55)])
def test_many_matches_are_few_points_that_lose_nothing(axis: str, chosen: str, least: int, busy: tuple[Pool, Player]) -> None:
    pool, vera = busy
    line, lines = of(vera, pool, chosen, axis), history(vera, pool)
    assert least <= len(line.steps) <= MOST_POINTS + 1  # the peak may be one more
    by_match = {change.match_id: (number, change) for number, change in enumerate(lines, start=1)}
    value, before = line.start, line.first_number - 1
    for step in line.steps:
        number, change = by_match[step.match_id]
        assert (step.number, step.rating) == (number, change.after)
        assert step.matches == number - before and step.change == pytest.approx(change.after - value)
        value, before = change.after, number
    assert before == 1000 and value == Rating.objects.get(player=vera).value
    assert line.start == lines[line.first_number - 1].before
    ats = [step.at for step in line.steps]
    assert ats == sorted(ats) and ats[0] > 0 and ats[-1] <= line.span


@pytest.mark.parametrize("axis", [TIME, MATCHES])
def test_the_peak_is_a_point_though_it_fell_within_a_day(axis: str, busy: tuple[Pool, Player]) -> None:
    pool, vera = busy
    rating = Rating.objects.get(player=vera)
    inside = history(vera, pool)[401]
    Rating.objects.filter(pk=rating.pk).update(peak=inside.after, peak_match=inside.match)
    line = of(vera, pool, "all", axis)
    assert line.peak is not None and line.steps[line.peak].match_id == inside.match_id
    assert of(vera, pool, "month", axis).peak is None


def test_as_many_matches_as_points_are_all_points() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete_matches(pool, [won(vera, didrik, days_ago(500 - n), length=1) for n in range(MOST_POINTS)], now=NOW)
    for axis in (TIME, MATCHES):
        line = of(vera, pool, "all", axis)
        assert len(line.steps) == MOST_POINTS and {step.matches for step in line.steps} == {1}


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "Europe/Copenhagen"])
def test_a_point_is_the_end_of_the_readers_day(zone: str) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    # Every six hours, over the change of the clocks in March: more matches than points.
    entries = [won(vera, didrik, days_ago(110 - n / 4), length=1) for n in range(4 * 110)]
    complete_matches(pool, entries, now=NOW)
    there = ZoneInfo(zone)
    last_of = {change.ended_at.astimezone(there).date(): change.match_id for change in history(vera, pool)}
    with timezone.override(there):
        steps = of(vera, pool).steps
    assert [(step.day, step.match_id) for step in steps] == list(last_of.items())


@pytest.mark.parametrize(("zone", "shown"), [("UTC", 2), ("Pacific/Auckland", 2), ("America/New_York", 1)])
def test_a_range_begins_with_the_readers_day(zone: str, shown: int) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    # The month before the first of June begins with the third of May.
    complete(pool, won(vera, didrik, datetime(2026, 4, 1, tzinfo=UTC)))
    complete(pool, won(vera, didrik, datetime(2026, 5, 3, 2, 0, tzinfo=UTC)), won(vera, didrik, days_ago(1)))
    with timezone.override(ZoneInfo(zone)):
        line = of(vera, pool, "month")
    assert len(line.steps) == shown and line.first == date(2026, 5, 3)
    assert line.previous == (datetime(2026, 4, 1, tzinfo=UTC) if shown == 2 else datetime(2026, 5, 3, 2, 0, tzinfo=UTC))


def test_a_match_known_by_its_date_is_in_that_day_for_everybody() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    complete(pool, won(vera, didrik, datetime(2026, 5, 3, tzinfo=UTC), timed=False))
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        with timezone.override(ZoneInfo(zone)):
            assert [step.day for step in of(vera, pool, "month").steps] == [date(2026, 5, 3)]


BOUNDS = [datetime(2026, 3, 1, 22, 30, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 10, 25, 1, 0, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("instant", "number"),
    [
        (datetime(1999, 1, 1, tzinfo=UTC), 0),
        (BOUNDS[0] - timedelta(microseconds=1), 0),
        (BOUNDS[0], 1),
        (BOUNDS[0] + timedelta(microseconds=1), 1),
        (BOUNDS[1], 2),
        (BOUNDS[2] + timedelta(days=900), 3),
    ],
)
def test_a_stretch_of_time_is_the_same_in_the_database(instant: datetime, number: int) -> None:
    def stretch(bounds: list[datetime]) -> Any:
        return Pool.objects.values_list(Stretch(Value(instant, DateTimeField()), bounds), flat=True)[:1].get()

    assert stretch(BOUNDS) == number == sum(bound <= instant for bound in BOUNDS)
    assert stretch([]) == 0


# --- The standing beside it ---


def test_time_away_falls_from_day_to_day_as_the_standing_does() -> None:
    last = days_ago(100)
    for days, value in ((20, 1000.0), (60, 1000.0), (30, 905.5), (200, 905.5), (15, 900.0)):
        corners = away(RULE, value, last, last + timedelta(days=days), 3.0, 3.0 + days)
        assert corners[0] == (17.0, value) and corners[-1] == (
            3.0 + days,
            standing(RULE, value, last, last + timedelta(days=days)),
        )
        held = [x for x, y in corners if y == 900.0]
        assert not held or held[0] == pytest.approx(17.0 + value - 900)


@pytest.mark.parametrize(("value", "days"), [(1000.0, 14.9), (899.9, 300.0)])
def test_nothing_falls_within_the_grace_or_below_the_tier(value: float, days: float) -> None:
    last = days_ago(400)
    assert away(RULE, value, last, last + timedelta(days=days), 0.0, days) == []


def test_what_began_before_the_picture_enters_it_on_its_way_down() -> None:
    corners = away(RULE, 1000.0, days_ago(60), NOW, -30.0, 30.0)
    assert corners == [(0.0, 984.0), (30.0, 954.0)]


def test_the_standing_ends_where_it_is_stored() -> None:
    pool, (vera, didrik) = pool_of("online-backgammon"), people(2)
    complete(pool, *(won(vera, didrik, days_ago(200 - n), kind="matchmade", length=25) for n in range(30)))
    Rating.objects.filter(player=vera).update(standing=931.0)
    rating = ratings_of(vera)[pool.pk]
    for axis in (TIME, MATCHES):
        line = of(vera, pool, "all", axis)
        beside = standing_beside(line, rating, pool.standing_rule, NOW)
        assert (beside[-1].at, beside[-1].standing, beside[-1].apart) == (line.span, 931.0, True)
        ats = [place.at for place in beside]
        assert ats == sorted(ats)
    loser = ratings_of(didrik)[pool.pk]
    beside = standing_beside(of(didrik, pool), loser, pool.standing_rule, NOW)
    assert {place.standing for place in beside[1:]} == {600.0} and all(place.apart for place in beside[1:])


def test_without_decay_and_floor_nothing_is_beside(busy: tuple[Pool, Player]) -> None:
    pool, vera = busy
    assert standing_beside(of(vera, pool), ratings_of(vera)[pool.pk], pool.standing_rule, NOW) == []


# --- Revisions ---


def test_a_revision_is_marked_from_its_first_match_on(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    now = timezone.now()
    matches = complete(pool, *(won(vera, didrik, now - timedelta(days=20 - n)) for n in range(5)), now=now)
    address = "/players/player-1/fibs/"
    assert client.get(address).context["notes"] == []
    correct(pool, [Correction(matches[2], void=True)], reason="Annulled")
    for asked in ("?range=all", "?range=all&by=matches"):
        response = client.get(address + asked)
        [note] = response.context["notes"]
        assert note.match_id == matches[2].pk and len(response.context["graph"].notes) == 1
        page = response.content.decode()
        assert 'class="revised"' in page and f'<a href="{matches[2].get_absolute_url()}">Match</a>' in page
    line = of_rating(ratings_of(vera)[pool.pk], pool, "all", now)
    assert notes_of(line, Rating.objects.get(player=didrik)) != []


# --- What is read out of it ---


def test_the_points_are_read_out_in_the_readers_language() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    matches = complete(pool, won(vera, didrik, days_ago(30)), won(didrik, vera, days_ago(3)))
    reader = login_of(vera)
    reader.post("/i18n/setlang/", {"language": "de"})
    first, second = reader.get("/cashier/fibs/points/?range=all").json()["points"]
    assert (first["rating"], first["change"], first["direction"]) == ("1522,36", "+22,36", "up")
    assert (second["direction"], second["address"]) == ("down", matches[1].get_absolute_url())
    assert first["x"] < second["x"] <= 1000 and first["y"] < second["y"]
    assert "Player 2" in first["what"] and "2026" in first["day"]


def test_points_of_many_matches_say_how_many(busy: tuple[Pool, Player], client: Client) -> None:
    points = client.get("/players/player-1/fibs/points/?range=all").json()["points"]
    assert {point["what"] for point in points[1:-1]} >= {"4 matches"}
    assert all(point["address"] == "" for point in points if point["what"].endswith("matches"))


def test_the_table_has_every_match_once(busy: tuple[Pool, Player], client: Client) -> None:
    _pool, vera = busy
    numbers: list[int] = []
    for page in range(1, 21):
        response = client.get(f"/players/player-1/fibs/history/?page={page}")
        numbers += [row.number for row in response.context["table"].lines]
    assert numbers == list(range(1000, 0, -1))
    assert client.get("/players/player-1/fibs/history/?page=21").status_code == 404
    oldest = response.context["table"].lines[-1].played
    assert oldest.match == history(vera, _pool)[0].match
