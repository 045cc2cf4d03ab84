"""The figures of the rating systems through `manage.py simulate`, in the pools that a new site has."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line
from django.utils import translation

from players.models import Pool, Rating
from players.services import create_pool

pytestmark = pytest.mark.django_db


def simulate(*arguments: object) -> Any:
    out = StringIO()
    call_command("simulate", *map(str, arguments), stdout=out)
    return json.loads(out.getvalue(), parse_constant=pytest.fail)


def two(pool: str, first: object, second: object, *more: object) -> Any:
    return simulate(pool, "--player", first, "--player", second, *more)


def four(*ratings: object, deals: int = 24) -> Any:
    return simulate("freewhist", *(argument for rating in ratings for argument in ("--player", rating)), "--deals", deals)


def changes(answer: Any) -> list[list[float]]:
    return [outcome["changes"] for outcome in answer["outcomes"]]


@pytest.mark.parametrize(
    ("stake", "favourite_wins", "underdog_wins"),
    [(5, 2.82, 4.14), (10, 3.77, 5.55), (20, 4.79, 7.04), (100, 7.25, 10.67), (1_000_000, 21.72, 31.95)],
)
def test_crowns_cup(stake: int, favourite_wins: float, underdog_wins: float) -> None:
    answer = two("crowns-cup", "1650:400", "1500:400", "--length", 5, "--stake", stake)
    assert answer.keys() == {"expected", "k", "outcomes"}
    assert [outcome["scores"] for outcome in answer["outcomes"]] == [[1, 0], [0, 1]]
    assert answer["k"] == [1, 1]
    assert answer["expected"] == pytest.approx([0.595357, 0.404643], abs=1e-6)
    won, lost = changes(answer)
    assert won == pytest.approx([favourite_wins, -favourite_wins], abs=0.005)
    assert lost == pytest.approx([-underdog_wins, underdog_wins], abs=0.005)


@pytest.mark.parametrize(("experience", "k"), [(0, 5), (100, 4), (200, 3), (300, 2), (400, 1), (5000, 1)])
def test_crowns_cups_k(experience: int, k: int) -> None:
    assert two("crowns-cup", f"1500:{experience}", "1500:400", "--length", 5, "--stake", 5)["k"] == [k, 1]


def test_a_break_and_a_money_game() -> None:
    answer = two("crowns-cup", "1650:400", "1500:400", "--length", 5, "--stake", 10, "--chance", 0.7)
    [outcome] = answer["outcomes"]
    assert outcome["scores"] == pytest.approx([0.7, 0.3])
    # 0.7 of what winning brings (3.7690) less 0.3 of what losing costs (5.5455)
    assert outcome["changes"] == pytest.approx([0.97470, -0.97470], abs=1e-5)
    game = two("crowns-cup", "1650:400", "1500:400", "--stake", "2.50", "--points", 4)
    assert changes(game) == changes(two("crowns-cup", "1650:400", "1500:400", "--stake", 10, "--length", 1))


def test_fibs() -> None:
    won, lost = changes(two("fibs", "1650:400", "1500:400", "--length", 5))
    assert won == pytest.approx([3.62, -3.62], abs=0.005)
    assert lost == pytest.approx([-5.33, 5.33], abs=0.005)
    for length, win, loss in ((1, 2.6, 1.4), (3, 5.1, 1.9), (5, 7.0, 1.9), (7, 8.7, 1.9), (9, 10.2, 1.8)):
        won, lost = changes(two("fibs", "1500:400", "2000:400", "--length", length))
        assert (won[0], -lost[0]) == pytest.approx((win, loss), abs=0.05)


def test_online_backgammon() -> None:
    for length, percent in ((1, 44), (7, 35), (25, 24)):
        assert round(100 * two("online-backgammon", 600, 800, "--length", length)["expected"][0]) == percent
    for length, points in ((1, 4), (5, 9), (25, 20)):
        won, lost = changes(two("online-backgammon", "900:5000", "900:5000", "--length", length))
        assert [round(change) for change in (*won, *lost)] == [points, -points, -points, points]
    new = two("online-backgammon", 600, 600, "--length", 5)
    assert changes(new)[0] == pytest.approx([44.2741, -44.2741], abs=1e-4)
    assert new["k"] == [4.95, 4.95]
    assert changes(two("online-backgammon", 600, 1600, "--length", 99))[0] == [200, -200]


def test_freewhist() -> None:
    equals = four(1200, 1200, 1200, 1200)
    assert equals.keys() == {"expected", "chances", "changes"}
    assert equals["expected"] == [0.5] * 4
    assert equals["chances"] == [[0.25] * 4] * 4
    assert equals["changes"] == [[100, 50, -50, -100]] * 4
    weak = four(1500, 1100, 1500, 1500)
    assert [round(100 * chance) for chance in weak["chances"][1]] == [3, 15, 31, 51]
    assert round(weak["expected"][1], 2) == 0.22
    mixed = [[round(change) for change in row] for row in four(1400, 1200, 1400, 1200)["changes"]]
    assert [(row[0], row[3]) for row in mixed] == [(78, -122), (122, -78), (78, -122), (122, -78)]
    for deals, k in ((8, 20), (12, 33), (16, 55), (20, 78), (24, 100)):
        assert four(1200, 1200, 1200, 1200, deals=deals)["changes"][0][0] == k
    assert four("1200:50", 1200, 1200, 1200)["changes"][0] == pytest.approx([70, 35, -35, -70])


def test_tics() -> None:
    answer = two("tics", 2000, 1500)
    assert [round(100 * expected) for expected in answer["expected"]] == [91, 9]
    assert answer["k"] == [50, 50]
    assert [outcome["scores"] for outcome in answer["outcomes"]] == [[1, 0], [0.5, 0.5], [0, 1]]
    assert changes(answer)[1] == pytest.approx([-225 / 11, 225 / 11])


def test_a_pool_with_parameters_of_its_own() -> None:
    create_pool("chess", name="Chess", system="tics", parameters={"k": 32, "scale": 400}, game="board")
    assert changes(two("chess", 2400, 2000))[0] == pytest.approx([32 / 11, -32 / 11])


def test_ratings_may_be_negative_and_extreme() -> None:
    assert two("fibs", "-500:400", "-500:400", "--length", 1)["expected"] == [0.5, 0.5]
    assert two("fibs", "-.5:3", "+1.5e3", "--length", 1)["k"][1] == 5
    won, lost = changes(two("fibs", "100000:400", "-100000:400", "--length", 99))
    assert won == [pytest.approx(0), pytest.approx(0)] and lost == pytest.approx([-39.799, 39.799], abs=1e-3)


def test_nothing_is_written() -> None:
    two("fibs", 1500, 1500, "--length", 5)
    assert not Rating.objects.exists()


FIBS = ("fibs", "--player", "1500", "--player", "1500")
CROWNS = ("crowns-cup", "--player", "1500", "--player", "1500")
WHIST = ("freewhist", *("--player", "1200") * 4)
TICS = ("tics", "--player", "1500", "--player", "1500")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fips", *FIBS[1:]), "There is no pool “fips”. Known: crowns-cup, fibs, freewhist, online-backgammon, tics."),
        ((*FIBS,), "--length: it is missing, and unlimited play is not rated here."),
        ((*FIBS, "--length", "0"), "--length: must be from 1 to 99."),
        ((*FIBS, "--length", "100"), "--length: must be from 1 to 99."),
        ((*FIBS, "--length", "5.5"), "--length: “5.5” is not a whole number."),
        ((*FIBS, "--length", "five"), "--length: “five” is not a whole number."),
        ((*FIBS, "--length", "1e400"), "--length: “1e400” is not a whole number."),
        ((*FIBS, "--length", "9" * 500), "--length: must be from 1 to 99."),
        ((*FIBS, "--length", "-5"), "--length: must be from 1 to 99."),
        ((*FIBS, "--length", ""), "--length: “” is not a whole number."),
        ((*FIBS, "--length", "5", "--stake", "5"), "--stake: this pool's rating system does not use it."),
        ((*FIBS, "--length", "5", "--points", "5"), "--points: this pool's rating system does not use it."),
        ((*FIBS, "--length", "5", "--deals", "5"), "--deals: this pool's rating system does not use it."),
        ((*FIBS, "--length", "5", "--chance", "0.5"), "--chance: this pool's rating system does not use it."),
        ((*TICS, "--length", "5"), "--length: this pool's rating system does not use it."),
        ((*TICS, "--chance", "0.5"), "--chance: this pool's rating system does not use it."),
        ((*WHIST,), "--deals: it is missing."),
        ((*WHIST, "--deals", "7"), "--deals: must be at least 8, since games with fewer are not rated in this pool."),
        ((*WHIST, "--deals", "1000"), "--deals: must be from 1 to 999."),
        ((*WHIST, "--deals", "24", "--length", "5"), "--length: this pool's rating system does not use it."),
        ((*WHIST, "--deals", "24", "--chance", "0.5"), "--chance: this pool's rating system does not use it."),
        ((*CROWNS, "--length", "5"), "--stake: it is missing, and the change depends on it."),
        ((*CROWNS, "--stake", "5"), "--points: a money game, which has no match length, needs them."),
        ((*CROWNS, "--stake", "5", "--length", "5", "--points", "2"), "--points: only a money game has it."),
        ((*CROWNS, "--stake", "0", "--length", "5"), "--stake: must be above 0."),
        ((*CROWNS, "--stake", "-5", "--length", "5"), "--stake: must be above 0."),
        ((*CROWNS, "--stake", "1.005", "--length", "5"), "--stake: must have at most 2 decimals."),
        ((*CROWNS, "--stake", "1e400", "--length", "5"), "--stake: must not be above"),
        ((*CROWNS, "--stake", "1e999999999", "--length", "5"), "--stake: must not be above"),
        ((*CROWNS, "--stake", "nan", "--length", "5"), "--stake: “nan” is not a number."),
        ((*CROWNS, "--stake", "5", "--length", "5", "--chance", "1.1"), "--chance: must be from 0 to 1."),
        ((*CROWNS, "--stake", "5", "--length", "5", "--chance", "-0.1"), "--chance: must be from 0 to 1."),
        ((*CROWNS, "--stake", "5", "--length", "5", "--chance", "NaN"), "--chance: “NaN” is not a number."),
        ((*CROWNS, "--stake", "5", "--length", "5", "--chance", "1e400"), "--chance: must be from 0 to 1."),
        (("fibs", "--length", "5"), "--player: Players: this pool's rating system takes 2 of them."),
        ((*FIBS[:3], "--length", "5"), "--player: Players: this pool's rating system takes 2 of them."),
        ((*FIBS, "--player", "1500", "--length", "5"), "--player: Players: this pool's rating system takes 2 of them."),
        (("freewhist", *FIBS[1:], "--deals", "24"), "--player: Players: this pool's rating system takes 4 of them."),
    ],
)
def test_what_makes_no_sense_is_said(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as error:
        simulate(*arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("strong", "“strong” is not a number."),
        ("nan", "“nan” is not a number."),
        ("-inf", "“-inf” is not a number."),
        ("1_500", "“1_500” is not a number."),
        ("", "give RATING or RATING:EXPERIENCE"),
        ("1500:", "give RATING or RATING:EXPERIENCE"),
        (":5", "give RATING or RATING:EXPERIENCE"),
        ("1500:5:5", "“5:5” is not a whole number."),
        ("1500:5.5", "“5.5” is not a whole number."),
        ("1500:-1", "Experience: must be from 0 to 2147483647."),
        ("1500:9999999999", "Experience: must be from 0 to 2147483647."),
        ("1e400", "Rating: must be from −100000 to 100000."),
        ("-1e400", "Rating: must be from −100000 to 100000."),
        ("100000.5", "Rating: must be from −100000 to 100000."),
    ],
)
@pytest.mark.parametrize("rest", [FIBS[:1] + FIBS[3:] + ("--length", "5"), WHIST[:1] + WHIST[3:] + ("--deals", "24")])
def test_players_that_make_no_sense(player: str, message: str, rest: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as error:
        simulate(*rest, "--player", player)
    assert str(error.value).startswith("--player: ") and message in str(error.value)


def test_from_the_shell_an_error_is_a_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        execute_from_command_line(["manage.py", "simulate", *FIBS, "--length", "1e400"])
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "CommandError: --length: “1e400” is not a whole number.\n"


def test_the_answer_is_json_in_every_language() -> None:
    with translation.override("de"):
        assert changes(two("fibs", "1650.5:400", "1500:400", "--length", 5))[0][0] == pytest.approx(3.61, abs=0.01)


def test_every_pool_of_a_new_site_is_covered_here() -> None:
    assert set(Pool.objects.values_list("slug", flat=True)) == {"fibs", "crowns-cup", "online-backgammon", "freewhist", "tics"}
