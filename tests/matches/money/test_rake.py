"""The rake: computed exactly, stored when a match completes, and left alone from then on."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import Entry, entry_of
from matches.lobby import tables
from matches.merging import merge
from matches.models import Match, Participant, RakeBand
from matches.money.rake import bands_of, check_bands, difference_of, money_result, rake_for
from matches.verify import verify
from players.ledger import Opening, set_openings
from players.models import Player, Pool
from players.systems.base import Result
from tests.building import NOW, at, people, pool_of, won
from tests.matches.entering import Filled
from tests.pages import login_of, text_of

pytestmark = pytest.mark.django_db

REAL: dict[str, Any] = {"real_money": True, "kind": "table"}


def band(difference: int, percent: str, minimum: str = "0", cap: str | None = None, lengths: Any = (None, None)) -> RakeBand:
    top = None if cap is None else Decimal(cap)
    low, high = lengths
    return RakeBand(
        difference=difference, percent=Decimal(percent), minimum=Decimal(minimum), cap=top, length_from=low, length_to=high
    )


def rake(bands: list[RakeBand], difference: float = 0, **match: Any) -> Decimal | None:
    known = {"length": 5, "stake": Decimal(10), "real_money": True} | match
    return rake_for(bands, ratings=(1500.0 + difference, 1500.0), **known)


# --- The sum ---

STEPS = [band(0, "2.5", "0.05", "10"), band(100, "3", "0.05", "15"), band(200, "3.5", "0.10")]


@pytest.mark.parametrize(
    ("difference", "match", "euros"),
    [
        (0, {}, "0.25"),
        (-99.99, {}, "0.25"),
        (100, {}, "0.30"),
        (-100, {}, "0.30"),
        (199.99, {}, "0.30"),
        (200, {}, "0.35"),
        (5000, {}, "0.35"),
        (0, {"stake": Decimal("0.01")}, "0.05"),  # the minimum
        (0, {"stake": Decimal(1000)}, "10.00"),  # the cap
        (100, {"stake": Decimal(1000)}, "15.00"),
        (200, {"stake": Decimal("9999999999.99")}, "350000000.00"),  # without a cap
        (200, {"stake": Decimal("9999999999.99"), "length": None, "points": 9999}, "3499649999996.50"),
        (0, {"length": None, "points": 8, "stake": Decimal("2.50")}, "0.50"),
        (0, {"length": None, "stake": Decimal("2.50")}, "0.06"),  # before its end: one point, 0.0625
        (0, {"stake": Decimal("4.20")}, "0.11"),  # 0.105, half up
        (0, {"stake": Decimal("2.60")}, "0.07"),  # 0.065, half up, where a double is below it
    ],
)
def test_percent_minimum_and_cap(difference: float, match: dict[str, Any], euros: str) -> None:
    assert str(rake(STEPS, difference, **match)) == euros


@pytest.mark.parametrize("match", [{"real_money": False}, {"real_money": None}, {"stake": None}])
def test_nothing_is_taken_of_play_money_or_without_a_stake(match: dict[str, Any]) -> None:
    assert rake(STEPS, **match) is None


def test_nothing_is_taken_without_bands() -> None:
    assert rake([]) is None


def test_differences_are_those_of_the_shown_digits_and_not_of_the_doubles() -> None:
    assert 1025.1 - 925.1 < 100
    assert difference_of((1025.1, 925.1)) == 100
    assert str(rake_for(STEPS, ratings=(1025.1, 925.1), length=5, stake=Decimal(10), real_money=True)) == "0.30"


def test_bands_for_lengths_go_before_those_for_all() -> None:
    bands = [
        band(0, "2"),
        band(200, "6"),
        band(0, "3", lengths=(1, 3)),
        band(100, "4", lengths=(1, 3)),
        band(0, "1", lengths=(9, 99)),
    ]
    for length, difference, percent in ((5, 150, 2), (5, 250, 6), (3, 50, 3), (1, 250, 4), (9, 250, 1), (99, 0, 1), (None, 0, 2)):
        assert rake(bands, difference, length=length, stake=Decimal(100)) == percent


# --- What a set of bands must be ---


@pytest.mark.parametrize(
    ("bands", "found"),
    [
        (STEPS, []),
        ([], []),
        (STEPS[::-1], []),
        ([band(0, "2"), band(100, "2"), band(200, "2")], []),
        ([band(1, "2")], [(0, "difference", "not_from_0")]),
        ([band(0, "2"), band(0, "3")], [(1, "difference", "twice")]),
        ([band(0, "2"), band(100, "1.99")], [(1, "percent", "falls")]),
        ([band(100, "1.99"), band(0, "2")], [(0, "percent", "falls")]),
        ([band(0, "2", "0.10"), band(100, "3", "0.09")], [(1, "minimum", "falls")]),
        ([band(0, "2", "0", "10"), band(100, "3", "0", "9")], [(1, "cap", "falls")]),
        ([band(0, "2"), band(100, "3", "0", "9")], [(1, "cap", "falls")]),
        ([band(0, "2", "0", "0"), band(100, "3", "0", "0")], []),
        ([band(0, "2", lengths=(1, 5))], [(0, "length_from", "no_other_lengths")]),
        ([band(0, "2"), band(0, "2", lengths=(1, 5)), band(0, "2", lengths=(5, 9))], [(2, "length_from", "crosses")]),
        ([band(0, "2"), band(0, "2", lengths=(1, 9)), band(0, "2", lengths=(3, 5))], [(2, "length_from", "crosses")]),
        ([band(0, "2"), band(0, "2", lengths=(1, 9)), band(0, "2", lengths=(1, 5))], [(1, "length_from", "crosses")]),
        ([band(0, "2"), band(0, "9", lengths=(1, 5)), band(0, "1", lengths=(6, 9))], []),
        ([band(0, "2"), band(50, "2", lengths=(1, 5))], [(1, "difference", "not_from_0")]),
    ],
)
def test_gaps_and_falls_are_found(bands: list[RakeBand], found: list[tuple[int, str, str]]) -> None:
    assert [(bad.index, bad.field, bad.code) for bad in check_bands(bands)] == found


@pytest.mark.parametrize(
    "wrong",
    [
        {"percent": "-0.01"},
        {"percent": "100.01"},
        {"minimum": "-1"},
        {"cap": "0.01"},
        {"difference": 200_001},
        {"difference": -1},
        {"length_from": 3},
        {"length_to": 3},
        {"length_from": 5, "length_to": 3},
        {"length_from": 0, "length_to": 3},
        {"length_from": 3, "length_to": 100},
        {},  # once more the same difference
        {"length_from": 1, "length_to": 7},
    ],
)
def test_the_database_refuses_bands_that_cannot_be(wrong: dict[str, Any]) -> None:
    sound = {"pool": pool_of("fibs"), "difference": 0, "percent": "2", "minimum": "0.05", "cap": "10"}
    RakeBand.objects.create(**sound)
    RakeBand.objects.create(**sound, length_from=1, length_to=5)
    with pytest.raises(IntegrityError), transaction.atomic():
        RakeBand.objects.create(**{**sound, **wrong})


def test_the_shipped_bands_are_a_sound_example_and_say_so() -> None:
    bands = bands_of(pool_of("crowns-cup"))
    assert len(bands) > 1 and check_bands(bands) == [] and all(each.example for each in bands)
    assert bands_of(pool_of("fibs")) == []


# --- Stored with the match ---


def use(*bands: RakeBand, slug: str = "crowns-cup") -> Pool:
    pool = pool_of(slug)
    RakeBand.objects.filter(pool=pool).delete()
    for each in bands:
        each.pk, each.pool = None, pool
        each._state.adding = True
        each.save()
    return pool


def apart(pool: Pool, *ratings: float) -> list[Player]:
    players = people(len(ratings))
    with transaction.atomic():
        openings = {player.pk: Opening(rating, 400, None) for player, rating in zip(players, ratings, strict=True)}
        set_openings(pool, openings, NOW)
    return players


def broken_off(one: Player, two: Player, ended_at: Any) -> Entry:
    return Entry(players=(one, two), result=Result(chance=0.25, length=5, stake=Decimal(10), **REAL), ended_at=ended_at)


def rakes(match: Match) -> list[str | None]:
    stored = Participant.objects.filter(match=match).order_by("seat").values_list("rake", flat=True)
    return [None if rake is None else f"{rake:.2f}" for rake in stored]


def test_a_match_for_real_money_costs_both_players() -> None:
    pool = use(*STEPS)
    one, two, three = apart(pool, 1650, 1500, 1400)
    for entry, euros in (
        (won(one, two, at(0), stake=Decimal(10), **REAL), "0.30"),
        (won(three, one, at(1), stake=Decimal(10), **REAL), "0.35"),
        (won(two, three, at(2), length=None, points=4, stake=Decimal(5), **REAL), "0.50"),
        (broken_off(two, one, at(3)), "0.30"),
        # A tournament moves no rating; its stake is real.
        (won(two, one, at(4), stake=Decimal(10), real_money=True, kind="tournament"), "0.30"),
        (won(two, one, at(5), stake=Decimal(10), real_money=False, kind="table"), None),
        (won(two, one, at(6), real_money=False, kind="table"), None),
    ):
        assert rakes(complete_match(pool, entry, now=NOW)) == [euros, euros]
    assert verify(pool)[1] is None


def test_the_ratings_are_those_before_the_match_within_a_batch_too() -> None:
    pool = use(band(0, "1"), band(25, "2"))
    one, two = people(2)  # 23.29 points each for the first match: 46.57 apart from the second on
    entries = [won(one, two, at(n), stake=Decimal(10), **REAL) for n in range(3)]
    matches = complete_matches(
        pool, [*entries, won(one, two, at(2.5), stake=Decimal(10), real_money=True, kind="tournament")], now=NOW
    )
    assert [rakes(match)[0] for match in matches] == ["0.10", "0.20", "0.20", "0.20"]
    late = complete_match(pool, won(one, two, at(-1), stake=Decimal(10), **REAL), now=NOW)
    late_tournament = complete_match(pool, won(one, two, at(-2), stake=Decimal(10), real_money=True, kind="tournament"), now=NOW)
    assert rakes(late) == rakes(late_tournament) == ["0.10", "0.10"]
    # The late match moved the others, and what they had cost stays.
    assert [rakes(match)[0] for match in matches] == ["0.10", "0.20", "0.20", "0.20"] and verify(pool)[1] is None


def test_a_large_batch_is_charged_set_based() -> None:
    pool, players = use(*STEPS), people(6)

    def batch(count: int, start: int) -> int:
        entries = [won(players[n % 6], players[(n + 1) % 6], at(start + n / 60), stake=Decimal(10), **REAL) for n in range(count)]
        with CaptureQueriesContext(connection) as captured:
            complete_matches(pool, entries, now=NOW)
        return len(captured)

    batch(6, 0)
    assert batch(24, 10) == batch(96, 20)
    assert Participant.objects.filter(rake=None).count() == 0


def test_a_pool_without_bands_pays_nothing_for_them() -> None:
    """No statement more without real money, and one that goes along with others where there are no bands."""
    pool, (one, two) = use(), people(2)
    complete_match(pool, won(one, two, at(0), stake=Decimal(10), **REAL), now=NOW)

    def statements(hours: int, **match: Any) -> tuple[int, str]:
        with CaptureQueriesContext(connection) as captured:
            complete_match(pool, won(one, two, at(hours), **match), now=NOW)
        return len(captured), "".join(query["sql"] for query in captured)

    play, text = statements(1, real_money=False, kind="table")
    assert "matches_rakeband" not in text
    real, text = statements(2, stake=Decimal(10), real_money=True, kind="tournament")
    assert "matches_rakeband" in text and "FROM matches_rakeband" in text
    assert real - play == (0 if connection.vendor == "postgresql" else 1)
    use(*STEPS)
    charged, _ = statements(3, stake=Decimal(10), real_money=True, kind="tournament")
    assert charged - real == 2


def test_replays_other_bands_and_corrections_leave_it() -> None:
    pool = use(*STEPS)
    one, two, three = apart(pool, 1599, 1500, 1500)
    first = complete_match(pool, won(one, three, at(0), length=25, stake=Decimal(100), **REAL), now=NOW)
    second = complete_match(pool, won(one, two, at(1), stake=Decimal(10), **REAL), now=NOW)
    assert rakes(second) == ["0.30", "0.30"]
    # Without the first match the difference were 99.
    correct(pool, [Correction(first, void=True)], reason="x", now=NOW)
    use(band(0, "50"))
    assert rakes(second) == ["0.30", "0.30"] and rakes(first) == ["2.50", "2.50"]
    second.refresh_from_db()
    seats = list(second.participants.select_related("player"))
    edited = Entry(
        players=[two, one],
        result=Result(scores=(0.0, 1.0), length=7, stake=Decimal(1000), real_money=True, kind="table"),
        ended_at=entry_of(second, seats).ended_at,
    )
    correct(pool, [Correction(second, entry=edited)], reason="x", now=NOW)
    assert rakes(second) == ["0.30", "0.30"]
    second.refresh_from_db()
    correct(pool, [Correction(second, void=True)], reason="x", now=NOW)
    second.refresh_from_db()
    correct(pool, [Correction(second, void=False)], reason="x", now=NOW)
    assert rakes(second) == ["0.30", "0.30"] and verify(pool)[1] is None


def test_a_merged_player_takes_what_he_has_paid_along() -> None:
    pool = use(*STEPS)
    one, two, three = people(3)
    match = complete_match(pool, won(one, two, at(0), stake=Decimal(10), **REAL), now=NOW)
    merge(three, one, reason="x", now=NOW)
    assert Participant.objects.get(match=match, player=three).rake == Decimal("0.25")


# --- In the admin ---


def pool_url(pool: Pool) -> str:
    return reverse("admin:players_pool_change", args=[pool.pk])


def sent(client: Client, pool: Pool, bands: list[dict[str, str]]) -> Any:
    data = Filled(client.get(pool_url(pool)).text, "pool_form").data
    data = {name: value for name, value in data.items() if not name.startswith("rake_bands-") or "_FORMS" in name}
    data["rake_bands-TOTAL_FORMS"], data["rake_bands-INITIAL_FORMS"] = str(len(bands)), "0"
    for row, values in enumerate(bands):
        sound = {"difference": "0", "percent": "2", "minimum": "0", "cap": "", "length_from": "", "length_to": "", **values}
        data |= {f"rake_bands-{row}-{name}": value for name, value in sound.items()}
    return client.post(pool_url(pool), data)


@pytest.fixture
def chief(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("chief"))
    return client


def found(response: Any) -> dict[str, str]:
    assert response.status_code == 200
    [formset] = [one.formset for one in response.context["inline_admin_formsets"] if one.formset.model is RakeBand]
    errors = {f"{name} {row}": texts[0] for row, form in enumerate(formset.forms) for name, texts in form.errors.items()}
    return errors | ({"all": formset.non_form_errors()[0]} if formset.non_form_errors() else {})


def test_bands_are_edited_on_the_page_of_their_pool(chief: Client) -> None:
    pool = use()
    rows = [{"percent": "2.50", "cap": "10"}, {"difference": "100", "percent": "3", "minimum": "0.05"}]
    assert sent(chief, pool, rows).status_code == 302
    stored = [(each.difference, each.percent, each.minimum, each.cap, each.example) for each in bands_of(pool)]
    assert stored == [(0, Decimal("2.50"), 0, Decimal(10), False), (100, Decimal(3), Decimal("0.05"), None, False)]
    data = Filled(chief.get(pool_url(pool)).text, "pool_form").data
    assert chief.post(pool_url(pool), {**data, "rake_bands-1-DELETE": "on"}).status_code == 302
    assert [each.difference for each in bands_of(pool)] == [0]
    data = Filled(chief.get(pool_url(pool)).text, "pool_form").data
    assert "difference 0" in found(chief.post(pool_url(pool), {**data, "rake_bands-0-difference": "5"}))


@pytest.mark.parametrize(
    ("rows", "field", "words"),
    [
        ([{"difference": "1"}], "difference 0", "must begin at 0"),
        ([{}, {}], "difference 1", "begins at this difference already"),
        ([{}, {"difference": "100", "percent": "1"}], "percent 1", "never falls"),
        ([{"cap": "5"}, {"difference": "100", "cap": "4"}], "cap 1", "never falls"),
        ([{"minimum": "5", "cap": "4"}], "cap 0", "below the minimum"),
        ([{"percent": "101"}], "percent 0", "less than or equal to 100"),
        ([{"percent": "-1"}], "percent 0", "greater than or equal to 0"),
        ([{"percent": "NaN"}], "percent 0", "Enter a number"),
        ([{"percent": "1e400"}], "percent 0", "no more than"),
        ([{"percent": "2.505"}], "percent 0", "decimal places"),
        ([{"percent": "\x00"}], "percent 0", "Enter a number"),
        ([{"cap": "9" * 400}], "cap 0", "no more than"),
        ([{"difference": "9" * 400}], "difference 0", "less than or equal to 200000"),
        ([{"difference": "-1"}], "difference 0", "greater than or equal to 0"),
        ([{"difference": ""}], "difference 0", "required"),
        ([{}, {"length_from": "3"}], "length_to 1", "Give both lengths"),
        ([{}, {"length_from": "5", "length_to": "3"}], "length_to 1", "must not be below"),
        ([{}, {"length_from": "5", "length_to": "100"}], "length_to 1", "less than or equal to 99"),
        ([{"length_from": "1", "length_to": "5"}], "length_from 0", "bands without lengths"),
    ],
)
def test_bands_that_cannot_be_are_refused_on_their_field(
    chief: Client, rows: list[dict[str, str]], field: str, words: str
) -> None:
    pool = use()
    errors = found(sent(chief, pool, rows))
    assert words in errors[field] and bands_of(pool) == []


def test_bands_that_somebody_added_meanwhile_are_not_overlooked(chief: Client) -> None:
    pool = use(band(0, "5"))
    assert "meanwhile" in found(sent(chief, pool, [{"difference": "300"}]))["all"]
    assert [each.percent for each in bands_of(pool)] == [5]


def test_a_band_that_is_gone_is_no_error_of_the_site(chief: Client) -> None:
    pool = use(band(0, "5"))
    data = Filled(chief.get(pool_url(pool)).text, "pool_form").data
    RakeBand.objects.filter(pool=pool).delete()
    assert chief.post(pool_url(pool), data).status_code == 200


def test_pools_without_stakes_have_no_bands(chief: Client) -> None:
    assert "rake_bands" not in chief.get(pool_url(pool_of("fibs"))).text
    assert "rake_bands" in chief.get(pool_url(pool_of("crowns-cup"))).text


# --- On the sheet ---


def test_wherever_an_example_is_shown_it_says_so(chief: Client) -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    reader, terms = login_of(vera), Result(length=5, stake=Decimal(10), real_money=True)
    waits = tables.open_table(pool, didrik, terms)
    playing = tables.start_match(pool, terms, [vera, didrik], "table")
    over = complete_match(pool, won(vera, didrik, at(0), stake=Decimal(10), **REAL), now=NOW)
    free = complete_match(pool, won(vera, didrik, at(1), real_money=False, kind="table"), now=NOW)
    shown = ["/lobby/crowns-cup/", f"/tables/{waits.pk}/", f"/matches/{playing.pk}/report/", f"/matches/{over.pk}/"]
    shown += ["/cashier/statement/", "/rules/crowns-cup/"]

    def saying(*pages: str) -> list[str]:
        said = ("The figures of the rake are an example.", "These figures are an example.")
        return [page for page in pages if any(sentence in text_of(reader.get(page)) for sentence in said)]

    assert saying(*shown, f"/matches/{free.pk}/", "/lobby/fibs/") == shown
    assert "Rake bands: These figures are an example." in text_of(chief.get(pool_url(pool)))
    RakeBand.objects.filter(pool=pool).update(example=False)
    assert saying(*shown) == [] and "an example." not in text_of(chief.get(pool_url(pool)))


def test_the_sheet_shows_it(client: Client) -> None:
    pool = use(*STEPS)
    one, two = people(2)
    match = complete_match(pool, won(one, two, at(0), stake=Decimal(10), **REAL), now=NOW)
    text = text_of(client.get(match.get_absolute_url()))
    assert text.count("Rake €0.25") == 2 and "This site moves no money." in text
    uncounted = complete_match(pool, won(one, two, at(1), stake=Decimal(10), real_money=True, kind="tournament"), now=NOW)
    assert text_of(client.get(uncounted.get_absolute_url())).count("Rake: €0.25.") == 2
    use()
    free = complete_match(pool, won(one, two, at(2), stake=Decimal(10), **REAL), now=NOW + timedelta(hours=1))
    assert "Rake" not in text_of(client.get(free.get_absolute_url()))


# --- What was won ---


@pytest.mark.parametrize(
    ("score", "chance", "euros"),
    [
        (1.0, None, "10.01"),
        (0.0, None, "-10.01"),
        (0.5, None, "0.00"),
        (None, 0.75, "5.01"),
        (None, 0.25, "-5.01"),
        (None, None, None),
    ],
)
def test_what_was_won_or_lost(score: float | None, chance: float | None, euros: str | None) -> None:
    result = money_result(amount=Decimal("10.01"), score=score, chance=chance)
    assert (None if result is None else str(result)) == euros
