"""Pools and players: made by services and by command, with names that tell people apart."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from players import systems
from players.models import Player, Pool, Tier
from players.names import clean_name, name_key
from players.services import create_player, create_players, create_pool, players_by_name

pytestmark = pytest.mark.django_db


def test_five_pools_exist_after_migration() -> None:
    assert list(Pool.objects.values_list("slug", "system")) == [
        ("fibs", "fibs"),
        ("crowns-cup", "crowns_cup"),
        ("online-backgammon", "online_backgammon"),
        ("freewhist", "freewhist"),
        ("tics", "tics"),
    ]
    for pool in Pool.objects.all():
        assert pool.parameters == systems.get(pool.system)().params.to_json()  # every constant is kept with the pool
        pool.full_clean()
    tiers = Tier.objects.filter(pool__slug="online-backgammon").values_list("name", "threshold", "decays")
    assert list(tiers) == [
        ("Bronze", 600, False),
        ("Silver", 700, False),
        ("Gold", 800, False),
        ("Platinum", 900, True),
        ("Diamond", 1000, False),
        ("Master", 1100, False),
    ]


def test_create_pool_makes_a_variant() -> None:
    call_command("create_pool", "club", "--name", "The club", "--system", "fibs", "--set", "start=1800", "--set", "ramp=null")
    pool = Pool.objects.get(slug="club")
    assert (pool.name, pool.rating_system.start, pool.parameters["ramp"]) == ("The club", 1800.0, None)
    assert (pool.shown_decimals, pool.provisional_below, pool.game) == (2, 50, "backgammon")
    call_command("create_pool", "ladder", "--name", "Ladder", "--system", "online_backgammon", "--provisional-below", "20")
    ladder = Pool.objects.get(slug="ladder")
    assert ladder.provisional_below == 20 and ladder.tiers.count() == 6


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"slug": "two words"}, "slug"),
        ({"slug": "fibs"}, "slug"),
        ({"slug": "matches"}, "slug"),
        ({"name": ""}, "name"),
        ({"system": "glicko"}, "glicko"),
        ({"set": "strt=1800"}, "strt"),
        ({"set": "start=NaN"}, "start"),
        ({"set": "start=1e400"}, "start"),
        ({"set": 'start="high"'}, "start"),
        ({"set": "start=true"}, "start"),
        ({"set": "ramp=5"}, "ramp"),
        ({"set": 'ramp={"highest": 1, "lowest": 5}'}, "ramp"),
        ({"set": "counted_kinds=[]"}, "counted_kinds"),
        ({"set": "start"}, "NAME=VALUE"),
        ({"provisional": "-1"}, "provisional"),
        ({"provisional": "9" * 5000}, "provisional"),
        ({"decimals": "9"}, "shown_decimals"),
        ({"decimals": "-1"}, "shown_decimals"),
        ({"provisional": "99999999999999999999"}, "provisional"),
    ],
)
def test_create_pool_names_what_is_wrong_and_makes_nothing(arguments: dict[str, str], named: str) -> None:
    given = {"slug": "club", "name": "Club", "system": "fibs", **arguments}
    words: list[Any] = [given["slug"], "--name", given["name"], "--system", given["system"]]
    for option, name in (("set", "--set"), ("provisional", "--provisional-below"), ("decimals", "--shown-decimals")):
        if option in given:
            words.append(f"{name}={given[option]}")
    with pytest.raises(CommandError, match=named):
        call_command("create_pool", *words)
    assert Pool.objects.count() == 5


def test_namesakes_get_a_number_and_an_address_of_their_own() -> None:
    made = [create_player("Vera"), create_player("vera "), *create_players(["VERA", "Åse", "Ase", "李"])]
    assert [player.name for player in made] == ["Vera", "vera (2)", "VERA (3)", "Åse", "Ase", "李"]
    assert len({player.slug for player in made}) == 6
    assert len({player.name_key for player in made}) == 6


def test_names_are_the_same_in_any_case_and_any_unicode_form() -> None:
    composed, decomposed = "\u00c5se", "A\u030ase"
    assert name_key(composed) == name_key(decomposed) == name_key("åSE")
    player = create_player(decomposed)
    assert player.name == composed
    assert players_by_name(["  åse"]) == {name_key("åse"): player}
    assert clean_name("  Jens\tPeter\x00 \u2028Ib ") == "Jens Peter Ib"
    for hidden in ("\u200b", "\u202e", "\u200c", "\u200d", "\ufe0f", "\u034f", "\u3164", "\ufffe", "\ufdd0", "\U000e0101"):
        assert clean_name(f"{hidden}Ve{hidden}ra{hidden}") == "Vera", ascii(hidden)
    for needed in ("\u0646\u0645\u06cc\u200c\u062e\u0648", "\u0915\u094d\u200d\u0937", "\U0001f469\u200d\U0001f680"):
        assert clean_name(needed) == needed


@pytest.mark.parametrize("name", ["", "   ", "\x00", "\u200b\u200b", "\u200d", "\u3164", "\u2800", "\uffff", "x" * 81])
def test_a_name_has_1_to_80_characters(name: str) -> None:
    with pytest.raises(ValidationError):
        create_player(name)
    assert not Player.objects.exists()


def test_very_long_namesakes_still_fit() -> None:
    first, second = create_player("x" * 80), create_player("x" * 80)
    assert second.name != first.name and len(second.name) <= 80
    second.full_clean()


def test_a_failed_pool_leaves_no_tiers() -> None:
    with pytest.raises(ValidationError):
        create_pool("ladder", name="FIBS", system="online_backgammon")  # the name is taken
    assert Tier.objects.count() == 6
