"""The fast way to rate two players gives the bits of `rate`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players import systems
from players.systems.base import Rated
from tests.players.systems.strategies import BACKGAMMON, parameters, results, seats


def bits(*numbers: float) -> list[str]:
    """Equal only where the doubles are the same, zeros by sign included."""
    return [float(number).hex() for number in numbers]


@pytest.mark.parametrize("key", BACKGAMMON)
@given(data=st.data())
def test_a_pair_is_rated_bit_for_bit_as_by_rate(key: str, data: st.DataObject) -> None:
    system = systems.get(key).from_json(data.draw(parameters(key)))
    one, two, result = data.draw(seats), data.draw(seats), data.draw(results(key))
    pair = system.pair_rater()
    assert pair is not None
    for _ in range(2):  # the second time from what the first one remembered
        *numbers, gained = pair(one.rating, one.experience, two.rating, two.experience, result)
        rated: Rated = system.rate((one, two), result)
        assert bits(*numbers) == bits(*rated.changes, *rated.expected, *rated.scores)
        assert gained == rated.gained


def test_systems_without_a_fast_way_say_so() -> None:
    assert systems.get("freewhist")().pair_rater() is None
