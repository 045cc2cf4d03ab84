"""What holds for every rating, experience, result and parameter that the systems accept."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from players import systems
from players.systems.base import Rated, RatingSystem, Refused, Result, Seat
from tests.players.systems.results import LOST, WON, for_money, system, won
from tests.players.systems.strategies import (
    BACKGAMMON,
    TWO_PLAYERS,
    chances,
    lengths,
    parameters,
    ratings,
    results,
    seats,
    stakes,
    usual_ratings,
)

ALL = (*TWO_PLAYERS, "freewhist")


def draw_match(key: str, data: st.DataObject) -> tuple[RatingSystem, list[Seat], Result]:
    of = systems.get(key).from_json(data.draw(parameters(key)))
    result = data.draw(results(key))
    if key == "freewhist":
        assume(of.not_counted(replace(result, kind="")) is None)
    return of, [data.draw(seats) for _ in range(of.seats)], result


def swapped(result: Result) -> Result:
    """The same match with the seats the other way round."""
    if result.chance is not None:
        return replace(result, chance=1.0 - result.chance)
    return replace(result, scores=result.scores[::-1] if result.scores else None)


def bits(numbers: tuple[float, ...]) -> list[str]:
    """Equal only where the doubles are the same to the last bit, the sign of zero included."""
    return [number.hex() for number in numbers]


@pytest.mark.parametrize("key", ALL)
@given(data=st.data())
def test_no_overflow_and_no_nan(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    of.check(result)
    rated = of.rate(players, result)
    for numbers in (rated.changes, rated.expected, rated.scores, rated.k):
        assert len(numbers) == of.seats
        assert all(isinstance(number, float) and math.isfinite(number) for number in numbers)
        assert "-0.0" not in map(repr, numbers)
    assert all(0 <= number <= 1 for number in (*rated.expected, *rated.scores))
    assert all(k > 0 for k in rated.k)
    assert rated.gained >= 0


@pytest.mark.parametrize("key", ALL)
@given(data=st.data())
def test_the_explanation_ends_with_the_change(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    lines = of.explain(players, result)
    assert bits(tuple(float(seat[-1].value) for seat in lines)) == bits(of.rate(players, result).changes)
    assert all(seat[-1].code == "change" for seat in lines)
    assert all(math.isfinite(term.value) for seat in lines for term in seat)


@pytest.mark.parametrize("key", TWO_PLAYERS)
@given(data=st.data())
def test_the_order_of_two_seats_does_not_matter(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    one, other = of.rate(players, result), of.rate(players[::-1], swapped(result))
    assert bits(one.changes) == bits(other.changes[::-1])
    assert bits(one.expected) == bits(other.expected[::-1])
    assert bits(one.k) == bits(other.k[::-1])


@pytest.mark.parametrize("key", TWO_PLAYERS)
@given(data=st.data())
def test_with_equal_k_the_changes_cancel_exactly(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    equal = [replace(player, experience=players[0].experience) for player in players]
    changes = of.rate(equal, result).changes
    assert changes[0] + changes[1] == 0.0
    assert math.fsum(of.rate(equal, result).expected) == pytest.approx(1, abs=1e-15)


@given(one=seats, other=seats, length=lengths, stake=stakes, chance=chances)
def test_a_chance_gives_the_weighted_mean_of_winning_and_losing(
    one: Seat, other: Seat, length: int, stake: Decimal, chance: float
) -> None:
    crowns = system("crowns_cup")
    broken, win, loss = (
        crowns.rate([one, other], for_money(str(stake), length=length, **ended)).changes
        for ended in ({"scores": None, "chance": chance}, {"scores": WON}, {"scores": LOST})
    )
    for seat in (0, 1):
        mean = math.fsum((chance * win[seat], (1 - chance) * loss[seat]))
        assert broken[seat] == pytest.approx(mean, abs=1e-12 * max(abs(win[seat]), abs(loss[seat])))


@pytest.mark.parametrize("key", BACKGAMMON)
@given(high=usual_ratings, low=usual_ratings, length=lengths, experience=st.integers(0, 500))
def test_the_favourite_gains_less_than_the_underdog_would(
    key: str, high: float, low: float, length: int, experience: int
) -> None:
    assume(high - low > 1e-6)
    of = system(key, cap=200_000) if key == "online_backgammon" else system(key)
    players = [Seat(high, experience), Seat(low, experience)]
    result = for_money("10", length=length) if key == "crowns_cup" else won(length=length)
    favourite = of.rate(players, result).changes[0]
    underdog = of.rate(players, swapped(result)).changes[1]
    assert 0 <= favourite < underdog


@given(one=usual_ratings, other=usual_ratings, length=lengths, low=stakes, high=stakes)
def test_more_stake_more_change(one: float, other: float, length: int, low: Decimal, high: Decimal) -> None:
    assume(low < high)
    players = [Seat(one), Seat(other)]

    def moved(stake: Decimal) -> tuple[float, ...]:
        return tuple(map(abs, system("crowns_cup").rate(players, for_money(str(stake), length=length)).changes))

    less, more = moved(low), moved(high)
    assert less[0] <= more[0] and less[1] <= more[1]
    # Neighbouring stakes in the billions can share the last bit.
    if high < 1_000_000 and less[0] > 1e-290:
        assert less[0] < more[0] and less[1] < more[1]


@given(data=st.data())
def test_the_cap_holds(data: st.DataObject) -> None:
    of, players, result = draw_match("online_backgammon", data)
    uncapped = systems.get("fibs").from_json(
        {name: value for name, value in of.params.to_json().items() if name in systems.get("fibs")().params.to_json()}
    )
    cap = of.params.cap
    for change, free in zip(of.rate(players, result).changes, uncapped.rate(players, result).changes, strict=True):
        assert abs(change) <= cap
        assert change == (free if abs(free) <= cap else math.copysign(cap, free))


@given(one=ratings, other=ratings, experience=st.integers(0, 500), result=results("fibs"))
def test_online_backgammon_is_fibs_doubled(one: float, other: float, experience: int, result: Result) -> None:
    players = [Seat(one, experience), Seat(other, experience)]
    fibs = system("fibs", experience_counts="after").rate(players, result)
    online = system("online_backgammon", cap=200_000).rate(players, result)
    assert online.changes == (2 * fibs.changes[0], 2 * fibs.changes[1])


@given(players=st.lists(seats, min_size=4, max_size=4), order=st.permutations(range(4)), data=st.data())
def test_freewhist_does_not_depend_on_the_seats(players: list[Seat], order: list[int], data: st.DataObject) -> None:
    whist = systems.get("freewhist").from_json(data.draw(parameters("freewhist")))
    result = data.draw(results("freewhist"))
    assume(whist.not_counted(replace(result, kind="")) is None)
    assert result.places is not None
    moved = replace(result, places=tuple(result.places[seat] for seat in order))
    one, other = whist.rate(players, result), whist.rate([players[seat] for seat in order], moved)
    for name in ("changes", "expected", "scores", "k"):
        numbers = getattr(one, name)
        assert bits(getattr(other, name)) == bits(tuple(numbers[seat] for seat in order))


@given(difference=st.floats(0, 150_000), data=st.data())
def test_freewhists_places_add_up_to_one_and_are_mirrored(difference: float, data: st.DataObject) -> None:
    whist = systems.get("freewhist").from_json(data.draw(parameters("freewhist")))
    # Three at -size and one at +3 size: the mean is 0 exactly.
    size = difference / 3
    above = whist.place_chances([Seat(size * 2), Seat(0.0), Seat(-size), Seat(-size)])
    below = whist.place_chances([Seat(-size * 2), Seat(0.0), Seat(size), Seat(size)])
    for row, mirrored in zip(above, below, strict=True):
        assert math.fsum(row) == pytest.approx(1, abs=1e-15)
        assert all(0 <= chance <= 1 for chance in row)
        assert row == mirrored[::-1]


@pytest.mark.parametrize("key", ALL)
@given(data=st.data())
def test_what_is_rated_does_not_depend_on_the_kind(key: str, data: st.DataObject) -> None:
    of, players, result = draw_match(key, data)
    plain: Rated = of.rate(players, replace(result, kind="", real_money=None))
    assert of.rate(players, result) == plain


@pytest.mark.parametrize("key", ALL)
@given(data=st.data())
def test_anything_else_is_refused_and_never_an_error(key: str, data: st.DataObject) -> None:
    junk = (
        st.none()
        | st.integers()
        | st.floats()
        | st.text(max_size=3)
        | st.booleans()
        | st.decimals()
        | st.lists(st.integers(-1, 5))
    )
    result = Result(
        **data.draw(
            st.fixed_dictionaries(
                {}, optional={name: junk | st.tuples(junk, junk) for name in ("scores", "places", "chance", "length", "deals")}
            )
        ),
        **data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(("points", "stake", "real_money", "kind"), junk))),
    )
    of = system(key)
    players = [Seat(1500.0)] * of.seats
    with suppress(Refused):
        of.check(result)
        assert of.not_counted(result) is not None or math.isfinite(of.rate(players, result).changes[0])
