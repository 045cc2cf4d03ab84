"""FreeWhist: the chances of the places, the factors, shared places."""

from __future__ import annotations

import pytest

from players.systems.base import NotCounted, Refused, Result, Seat
from players.systems.freewhist import FreeWhist, normal_places
from tests.players.systems.results import rate, system

WHIST = FreeWhist()
EQUALS = (1200.0,) * 4
ORDERED = Result(places=(1, 2, 3, 4), deals=24)


def test_four_equals() -> None:
    assert WHIST.place_chances([Seat(rating) for rating in EQUALS]) == ((0.25,) * 4,) * 4
    rated = rate(WHIST, EQUALS, ORDERED)
    assert rated.expected == (0.5,) * 4
    assert rated.changes == (100.0, 50.0, -50.0, -100.0)
    assert rated.gained == 1


def test_1100_with_three_1500s() -> None:
    seats = [Seat(1100.0), Seat(1500.0), Seat(1500.0), Seat(1500.0)]
    assert [round(100 * chance) for chance in WHIST.place_chances(seats)[0]] == [3, 15, 31, 51]
    assert round(WHIST.rate(seats, ORDERED).expected[0], 2) == 0.22


@pytest.mark.parametrize(("seat", "place", "change"), [(0, 1, 78), (0, 4, -122), (1, 1, 78), (2, 1, 122), (3, 4, -78)])
def test_two_1400s_and_two_1200s(seat: int, place: int, change: int) -> None:
    places = [place % 4 + 1, (place + 1) % 4 + 1, (place + 2) % 4 + 1]
    places.insert(seat, place)
    rated = rate(WHIST, (1400.0, 1400.0, 1200.0, 1200.0), Result(places=tuple(places), deals=24))
    assert round(rated.changes[seat]) == change


@pytest.mark.parametrize(
    ("deals", "k"), [(8, 20), (11, 20), (12, 33), (15, 33), (16, 55), (19, 55), (20, 78), (23, 78), (24, 100), (999, 100)]
)
def test_the_factor_by_deals(deals: int, k: float) -> None:
    assert rate(WHIST, EQUALS, Result(places=(1, 2, 3, 4), deals=deals)).changes == (k, k / 2, -k / 2, -k)


@pytest.mark.parametrize(("experience", "k"), [(0, 1.0), (50, 0.7), (150, 0.55), (2_000_000_000, 0.4)])
def test_the_factor_by_experience(experience: int, k: float) -> None:
    rated = rate(WHIST, EQUALS, ORDERED, (experience, 0, 0, 0))
    assert rated.k == pytest.approx((k, 1.0, 1.0, 1.0))
    assert rated.changes == pytest.approx((100 * k, 50.0, -50.0, -100.0))


@pytest.mark.parametrize(
    ("places", "ranks", "scores"),
    [
        ((1, 1, 3, 4), (1, 1, 3, 4), (0.875, 0.875, 0.25, 0.0)),
        ((1, 1, 2, 3), (1, 1, 3, 4), (0.875, 0.875, 0.25, 0.0)),
        ((3, 2, 1, 2), (4, 2, 1, 2), (0.0, 0.5, 1.0, 0.5)),
        ((1, 1, 2, 2), (1, 1, 3, 3), (0.875, 0.875, 0.125, 0.125)),
        ((1, 2, 3, 3), (1, 2, 3, 3), (1.0, 0.75, 0.125, 0.125)),
        ((1, 2, 2, 2), (1, 2, 2, 2), (1.0, 1 / 3, 1 / 3, 1 / 3)),
        ((2, 1, 1, 1), (4, 1, 1, 1), (0.0, 2 / 3, 2 / 3, 2 / 3)),
        ((1, 1, 1, 1), (1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5)),
        ((4, 3, 2, 1), (4, 3, 2, 1), (0.0, 0.25, 0.75, 1.0)),
    ],
)
def test_shared_places_share_the_mean(places: tuple[int, ...], ranks: tuple[int, ...], scores: tuple[float, ...]) -> None:
    assert normal_places(places) == ranks
    assert rate(WHIST, EQUALS, Result(places=places, deals=24)).scores == pytest.approx(scores)


@pytest.mark.parametrize("places", [(2, 2, 3, 4), (1, 1, 2, 4), (1, 3, 3, 4), (1, 3, 4, 4), (4, 4, 4, 4), (1, 2, 4, 4)])
def test_other_places_are_refused(places: tuple[int, ...]) -> None:
    with pytest.raises(Refused) as refused:
        WHIST.check(Result(places=places, deals=24))
    assert (refused.value.field, refused.value.code) == ("places", "not_places")


def test_fewer_than_eight_deals_do_not_count() -> None:
    short = Result(places=(1, 2, 3, 4), deals=7)
    WHIST.check(short)
    assert WHIST.not_counted(short) == NotCounted("too_few_deals", {"deals": 7, "lowest": 8})
    assert WHIST.not_counted(Result(places=(1, 2, 3, 4), deals=8)) is None
    with pytest.raises(Refused) as refused:
        WHIST.rate([Seat(1200.0)] * 4, short)
    assert (refused.value.field, refused.value.code, refused.value.values) == ("deals", "too_few", {"lowest": 8})


@pytest.mark.parametrize("missing", ["places", "deals"])
def test_rating_needs_places_and_deals(missing: str) -> None:
    with pytest.raises(Refused) as refused:
        WHIST.rate([Seat(1200.0)] * 4, Result(**{"places": (1, 2, 3, 4), "deals": 24} | {missing: None}))
    assert refused.value.field == {"places": "result", "deals": "deals"}[missing]


def test_a_clubs_own_steps() -> None:
    club = system("freewhist", deal_steps=[[4, 10], [16, 60]], place_scores=[1, 0.5, 0.5, 0], factor=4, kc_span=0)
    assert rate(club, EQUALS, Result(places=(1, 2, 3, 4), deals=4)).changes == pytest.approx((8.0, 0.0, 0.0, -8.0))


def test_what_a_pool_starts_with() -> None:
    assert (WHIST.start, WHIST.shown_decimals, WHIST.provisional_below, WHIST.seats) == (1200.0, 0, 50, 4)
    assert WHIST.game == "whist"
