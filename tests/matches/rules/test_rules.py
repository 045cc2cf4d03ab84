"""The rules of a pool in words: written from its parameters, with examples that are reckoned."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matches.models import RakeBand
from players import curves
from players.curves import Curve
from players.models import Era, Pool
from tests.building import pool_of
from tests.pages import queries_of, text_of
from tests.players.systems.strategies import parameters

pytestmark = pytest.mark.django_db

POOLS = {
    "fibs": "fibs",
    "crowns_cup": "crowns-cup",
    "online_backgammon": "online-backgammon",
    "freewhist": "freewhist",
    "tics": "tics",
}
BACKGAMMON: dict[str, Any] = {
    "start": 1810,
    "factor": 6.5,
    "spread": 1900,
    "ramp": None,
    "experience_counts": None,  # the other one
    "counted_kinds": ["challenge"],
}
RAMPS = [{"highest": 6}, {"lowest": 2}, {"per": 80}]
OTHER: dict[str, list[dict[str, Any]]] = {
    "fibs": [*({name: value} for name, value in BACKGAMMON.items()), *({"ramp": ramp} for ramp in RAMPS)],
    "crowns_cup": [
        *({name: value} for name, value in BACKGAMMON.items()),
        {"real_money_only": False},
        {"money_game_experience": 3},
    ],
    "online_backgammon": [
        *({name: value} for name, value in BACKGAMMON.items()),
        {"cap": 150},
        {"standing_floor": 610},
        {"decay_after_days": 21},
        {"decay_per_day": 2.5},
    ],
    "freewhist": [
        {"start": 1333},
        {"factor": 3},
        {"place_scores": [1, 0.7, 0.3, 0]},
        {"deal_steps": [[8, 20], [12, 35]]},
        {"kc_lowest": 0.45},
        {"kc_span": 0.55},
        {"kc_halving": 60},
        {"curve_spread": 500},
        {"curve_exponent": 2.5},
        {"counted_kinds": ["table"]},
    ],
    "tics": [{"start": 1400}, {"k": 32}, {"scale": 400}, {"counted_kinds": ["rematch"]}],
}
CASES = [(key, change) for key, changes in OTHER.items() for change in changes]


def page(client: Client, slug: str) -> str:
    return client.get(f"/rules/{slug}/").content.decode()


def prose(html: str) -> str:
    """The page without the list of all parameters."""
    return text_of(re.sub(r'<dl class="parameters">.*?</dl>', "", html, flags=re.DOTALL))


def words(html: str) -> str:
    """What is said in sentences alone: without tables, examples, the picture and the list of all parameters."""
    for tag in ("table", "details", "svg", "dl"):
        html = re.sub(rf"<{tag}\b.*?</{tag}>", "", html, flags=re.DOTALL)
    return text_of(html)


@pytest.mark.parametrize(("key", "change"), CASES, ids=str)
def test_another_parameter_is_another_page(key: str, change: dict[str, Any], client: Client) -> None:
    slug = POOLS[key]
    before = page(client, slug)
    if "experience_counts" in change:
        change = {"experience_counts": "before" if key == "online_backgammon" else "after"}
    pool = pool_of(slug)
    pool.parameters = {**pool.parameters, **change}
    pool.full_clean()
    pool.save()
    after = page(client, slug)
    # What each number of deals is worth stands in a table.
    told = prose if "deal_steps" in change else words
    assert told(after) != told(before)
    listed = [text_of(re.search(r'<dl class="parameters">.*?</dl>', html, flags=re.DOTALL)[0]) for html in (before, after)]  # type: ignore[index]
    assert listed[0] != listed[1]


def test_every_parameter_has_such_a_case() -> None:
    for key, changes in OTHER.items():
        assert {name for change in changes for name in change} == set(pool_of(POOLS[key]).parameters), key


@pytest.mark.parametrize("field", [{"provisional_below": 75}, {"provisional_below": None}, {"shown_decimals": 3}])
def test_so_is_what_the_pool_itself_says(field: dict[str, Any], client: Client) -> None:
    before = page(client, "fibs")
    Pool.objects.filter(slug="fibs").update(**field)
    assert prose(page(client, "fibs")) != prose(before)


def test_the_examples_give_the_published_figures(client: Client) -> None:
    text = text_of(page(client, "crowns-cup"))
    assert "The favourite wins: 1650 beats 1500 over 5 points +3.77" in text
    assert "An upset: 1500 beats 1650 over 5 points +5.55" in text
    assert "1 × 3.619239 × 1.041393 = 3.769049" in text
    assert "Change, shown as" in text and "These figures are an example." in text
    online = text_of(page(client, "online-backgammon"))
    # Equals over 1, 5 and 25 points, and two new players over 5.
    assert " 1 4 " in online and " 5 9 " in online and " 25 20 " in online
    whist = text_of(page(client, "freewhist"))
    assert "25% 25% 25% 25%" in whist
    assert "A new player comes in second at a table of equals, 24 deals +50" in whist


def test_the_chances_are_those_of_the_formula(client: Client) -> None:
    text = text_of(page(client, "fibs"))
    assert "Difference 1 point 3 points 7 points 15 points 25 points" in text
    assert "100 52.9% 55% 57.6%" in text and "300 58.5% 64.5% 71.4%" in text and "500 64% 73% 82.1%" in text


def test_what_it_was_before_the_rules_changed(client: Client) -> None:
    assert "What it was before" not in page(client, "fibs")
    pool = pool_of("fibs")
    old = {**pool.parameters, "factor": 5}
    Era.objects.create(pool=pool, until=datetime(2026, 2, 1, tzinfo=UTC), parameters={**old, "ramp": None})
    Era.objects.create(pool=pool, until=datetime(2026, 5, 1, tzinfo=UTC), parameters=old)
    text = text_of(page(client, "fibs"))
    assert "Until 1 May 2026, 00:00 Factor of every change: it was 5, and then 4" in text
    assert (
        "Until 1 Feb 2026, 00:00 Ramp of the experience factor K: it was off, and then on Highest K: it was –, and then 5" in text
    )
    assert text.index("Until 1 May 2026") < text.index("Until 1 Feb 2026")
    # It says what differs, and nothing else.
    assert "Start rating: it was" not in text


def test_the_rake_is_shown_where_there_is_one(client: Client) -> None:
    text = text_of(page(client, "crowns-cup"))
    assert "The rake" in text and "All matches, and money games" in text
    assert "The rake" not in text_of(page(client, "fibs"))
    RakeBand.objects.all().delete()
    RakeBand.objects.create(pool=pool_of("crowns-cup"), difference=0, percent="2.25", minimum="0.15", cap=None)
    RakeBand.objects.create(pool=pool_of("crowns-cup"), difference=0, percent="1.5", length_from=1, length_to=3)
    text = text_of(page(client, "crowns-cup"))
    assert "0 2.25% €0.15 –" in text and "Matches of 1 to 3 points" in text and "All other matches, and money games" in text
    assert "These figures are an example." not in text
    RakeBand.objects.all().delete()
    assert "The rake" not in text_of(page(client, "crowns-cup"))


def test_tiers_and_time_away(client: Client) -> None:
    text = text_of(page(client, "online-backgammon"))
    assert "Bronze 600" in text and "Master 1100" in text
    assert "a rating of 900 or more and stays away for more than 14 days loses 1 a day" in text and "down to 900" in text
    pool_of("online-backgammon").tiers.update(decays=False)
    assert "Time away costs nothing in this pool." in text_of(page(client, "online-backgammon"))
    assert "Standing and tiers" not in text_of(page(client, "fibs"))


def test_the_index_is_the_first_pool(client: Client) -> None:
    assert client.get("/rules/")["Location"] == "/rules/fibs/"
    assert client.get("/rules/none/").status_code == 404 and client.get("/rules/%00/").status_code == 404
    Pool.objects.all().delete()
    assert "There is no pool yet" in text_of(client.get("/rules/"))


def test_the_number_of_queries_is_fixed(client: Client) -> None:
    few = {slug: queries_of(client, f"/rules/{slug}/") for slug in POOLS.values()}
    pool = pool_of("fibs")
    for month in range(1, 6):
        old = {**pool.parameters, "factor": month + 4}
        Era.objects.create(pool=pool, until=datetime(2026, month, 1, tzinfo=UTC), parameters=old)
    many = queries_of(client, "/rules/fibs/")
    assert many == few["fibs"] + 1
    assert max(many, *few.values()) <= 4


@pytest.mark.parametrize("key", POOLS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=25)
@given(data=st.data(), decimals=st.integers(0, 6))
def test_any_parameters_make_a_page(key: str, data: st.DataObject, decimals: int, client: Client) -> None:
    Pool.objects.filter(slug=POOLS[key]).update(parameters=data.draw(parameters(key)), shown_decimals=decimals)
    response = client.get(f"/rules/{POOLS[key]}/")
    assert response.status_code == 200 and "nan" not in text_of(response).split()


@given(st.lists(st.floats(0.5, 1), min_size=1, max_size=6))
def test_the_names_of_the_curves_stand_apart_and_inside(ends: list[float]) -> None:
    drawn = curves.draw(
        [Curve(str(number), [(0, 0.5), (500, end)]) for number, end in enumerate(ends)], first=0, last=500, lowest=0.5, ticks=5
    )
    places = sorted(float(curve.name_y) for curve in drawn.curves)
    assert all(lower - upper >= curves.TEXT_GAP - 0.11 for upper, lower in pairwise(places))
    assert places[0] >= 0 and places[-1] <= curves.BOTTOM + 4.1


def test_the_numbers_of_the_picture_are_the_same_in_every_language(client: Client) -> None:
    paths = re.findall(r'class="curve c\d" d="(M[^"]+)"', page(client, "fibs"))
    client.cookies["django_language"] = "de"
    assert re.findall(r'class="curve c\d" d="(M[^"]+)"', page(client, "fibs")) == paths and len(paths) == 5
