"""Entering a match in the admin: what moves, what is refused and on which field, and that it happens once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from matches.models import Match, Participant
from matches.verify import verify
from players.formatting import format_change, format_rating
from players.models import Player, Rating, RatingChange
from players.systems.base import Seat
from tests.building import DAY_ONE, complete, people, pool_of, values, won
from tests.matches.entering import (
    SOUND,
    add_url,
    change_url,
    correct_url,
    ended,
    errors,
    opened_form,
    press,
    seated,
    shown_preview,
    staff,
    void_url,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def organiser() -> User:
    return staff("view_match", "add_match", "change_match", "delete_match", "view_player", "add_player")


@pytest.fixture(autouse=True)
def _logged_in(client: Client, organiser: User) -> None:
    client.force_login(organiser)


def entry(client: Client, slug: str, players: list[Player | None] | None = None, **more: Any) -> dict[str, Any]:
    """A sound form for the pool, ended on the first evening, with what is different in `more`."""
    pool = pool_of(slug)
    seats = players if players is not None else list(people(pool.rating_system.seats))
    places = (1, 2, 3, 4) if slug == "freewhist" else ()
    return {**opened_form(client, add_url(pool)), **SOUND[slug], **ended(DAY_ONE), **seated(seats, places), **more}


def send(client: Client, slug: str, data: dict[str, Any]) -> Any:
    return client.post(add_url(pool_of(slug)), data)


def shown_messages(client: Client) -> str:
    return " | ".join(map(str, client.get(reverse("admin:matches_match_changelist")).context["messages"]))


def nothing_stored() -> bool:
    return not any(model.objects.exists() for model in (Match, Participant, Rating, RatingChange, LogEntry))


# --- The form ---


def test_the_first_step_lists_the_pools(client: Client) -> None:
    page = client.get(reverse("admin:matches_match_add"))
    for slug in SOUND:
        assert f'href="{add_url(pool_of(slug))}"' in page.text
    assert "participants" not in page.text


@pytest.mark.parametrize("named", ["", "0", "999999", "x", "-1", "1e3", "²", "9" * 30])
def test_a_pool_that_there_is_not_leads_back_to_the_first_step(client: Client, named: str) -> None:
    for send_it in (client.get, client.post):
        page = send_it(f"{reverse('admin:matches_match_add')}?pool={named}")
        assert page.status_code == 200 and add_url(pool_of("fibs")) in page.text


@pytest.mark.parametrize(
    ("slug", "fields", "rows"),
    [
        ("fibs", {"outcome", "length", "kind"}, {"player"}),
        ("crowns-cup", {"outcome", "chance", "length", "points", "stake", "real_money", "kind"}, {"player"}),
        ("online-backgammon", {"outcome", "length", "kind"}, {"player"}),
        ("freewhist", {"deals", "kind"}, {"player", "place"}),
        ("tics", {"outcome", "kind"}, {"player"}),
    ],
)
def test_the_form_has_what_the_system_uses_and_a_row_for_each_seat(
    client: Client, slug: str, fields: set[str], rows: set[str]
) -> None:
    pool = pool_of(slug)
    context = client.get(add_url(pool)).context
    always = {"status", "ended_at", "timed", "sequence", "version", "entry_token"}
    assert set(context["adminform"].form.fields) == always | fields
    shown = {name for _, options in context["adminform"].fieldsets for name in options["fields"]}
    assert shown == always | fields
    [inline] = context["inline_admin_formsets"]
    assert len(inline.formset.forms) == pool.rating_system.seats == inline.formset.max_num
    assert set(inline.formset.forms[0].fields) - {"id", "match"} == rows
    assert not inline.formset.can_delete
    assert "delete-related" not in client.get(add_url(pool)).content.decode()


def test_only_systems_with_draws_and_chances_offer_them(client: Client) -> None:
    def offered(slug: str) -> list[str]:
        return [key for key, _ in client.get(add_url(pool_of(slug))).context["adminform"].form.fields["outcome"].choices]

    assert offered("fibs") == offered("online-backgammon") == ["1", "2"]
    assert offered("tics") == ["1", "2", "draw"]
    assert offered("crowns-cup") == ["1", "2", "broken_off"]


# --- Completing ---


@pytest.mark.parametrize("slug", SOUND)
def test_a_match_moves_ratings_by_what_the_system_says(client: Client, slug: str) -> None:
    pool = pool_of(slug)
    players = people(pool.rating_system.seats)
    for number in (1, 2):
        before = [Rating.objects.filter(pool=pool, player=player).first() for player in players]
        seats = [Seat(rating.value, rating.experience) if rating else Seat(pool.rating_system.start) for rating in before]
        response = send(client, slug, entry(client, slug, list(players), **ended(DAY_ONE + timedelta(hours=number))))
        assert response.status_code == 302, errors(response)
        match = Match.objects.latest("pk")
        rated = pool.rating_system.rate(seats, match.result())
        lines = {line.player_id: line for line in RatingChange.objects.filter(match=match)}
        assert [lines[player.pk].change for player in players] == list(rated.changes)
        assert [lines[player.pk].before for player in players] == [seat.rating for seat in seats]
        assert any(rated.changes)
        said = shown_messages(client)
        decimals = pool.shown_decimals
        for player, seat, change in zip(players, seats, rated.changes, strict=True):
            before_and_after = f"{format_rating(seat.rating, decimals)} → {format_rating(seat.rating + change, decimals)}"
            assert f"{player.name} {before_and_after} ({format_change(change, decimals)})" in said
        assert f'href="{reverse("match", args=[match.pk])}"' in said
    verify(pool)


def test_the_figures_of_the_rules_come_out(client: Client) -> None:
    """Two new accounts at Online Backgammon, match to 5: 644 and 556."""
    send(client, "online-backgammon", entry(client, "online-backgammon", outcome="1"))
    assert [(name, round(value)) for name, (value, _) in values(pool_of("online-backgammon")).items()] == [
        ("Player 1", 644),
        ("Player 2", 556),
    ]
    assert "Player 1 600 → 644 (+44), Player 2 600 → 556 (−44)" in shown_messages(client)


def test_who_entered_it_is_recorded(client: Client, organiser: User) -> None:
    send(client, "fibs", entry(client, "fibs"))
    match = Match.objects.get()
    assert match.entered_by == organiser
    line = LogEntry.objects.get()
    assert (line.user, line.object_id, line.action_flag) == (organiser, str(match.pk), ADDITION)


def test_a_match_that_does_not_count_says_why(client: Client) -> None:
    send(client, "crowns-cup", entry(client, "crowns-cup", kind="tournament"))
    said = shown_messages(client)
    assert "moves no rating" in said and "Tournament matches do not count in this pool." in said
    assert not RatingChange.objects.exists()


def test_too_few_deals_are_named(client: Client) -> None:
    send(client, "freewhist", entry(client, "freewhist", deals="6"))
    assert "games of 8 deals or more" in shown_messages(client)


def test_a_match_broken_off_scores_the_chance(client: Client) -> None:
    response = send(client, "crowns-cup", entry(client, "crowns-cup", outcome="broken_off", chance="0.75"))
    assert response.status_code == 302, errors(response)
    assert [line.score for line in RatingChange.objects.order_by("player_id")] == [0.75, 0.25]


def test_a_money_game_is_entered_by_points_and_stake(client: Client) -> None:
    response = send(client, "crowns-cup", entry(client, "crowns-cup", length="", points="4"))
    assert response.status_code == 302, errors(response)
    match = Match.objects.get()
    assert (match.length, match.points, match.stake) == (None, 4, 10)


def test_a_draw_is_half_for_both(client: Client) -> None:
    pool, (one, two) = pool_of("tics"), people(2)
    complete(pool, won(one, two, DAY_ONE - timedelta(hours=1), length=None))
    assert send(client, "tics", entry(client, "tics", [one, two], outcome="draw")).status_code == 302
    line = RatingChange.objects.get(match=Match.objects.latest("pk"), player=one)
    assert line.score == 0.5 and line.change == 50 * (0.5 - line.expected) < 0


def test_shared_places_are_stored_as_ranks(client: Client) -> None:
    players = people(4)
    data = entry(client, "freewhist", list(players)) | seated(players, (1, 1, 2, 3))
    assert send(client, "freewhist", data).status_code == 302
    assert [seat.place for seat in Participant.objects.order_by("seat")] == [1, 1, 3, 4]


def test_only_the_date_is_known(client: Client) -> None:
    data = entry(client, "fibs", sequence="7", ended_at_0="2026-03-04", ended_at_1="")
    del data["timed"]
    response = send(client, "fibs", data)
    assert response.status_code == 302, errors(response)
    match = Match.objects.get()
    assert (match.ended_at, match.timed, match.sequence) == (datetime(2026, 3, 4, tzinfo=UTC), False, 7)


def test_a_match_entered_late_moves_the_later_ones(client: Client) -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    complete(pool, won(one, two, DAY_ONE), won(two, three, DAY_ONE + timedelta(hours=2)))
    data = entry(client, "fibs", [three, one], **ended(DAY_ONE + timedelta(hours=1)))
    before = values(pool)
    page = send(client, "fibs", data)
    moves = {move.player.name: move.rating for move in shown_preview(page).moves}
    assert "what its players have played since is rated anew" in page.text
    assert values(pool) == before and Match.objects.count() == 2 and not LogEntry.objects.exists()
    assert press(client, page).status_code == 302
    assert RatingChange.objects.count() == 6 and verify(pool) == (3, None)
    assert {name: (before[name][0], value) for name, (value, _) in values(pool).items()} == moves
    assert LogEntry.objects.get().action_flag == ADDITION


def test_another_one_is_entered_in_the_same_pool(client: Client) -> None:
    response = send(client, "fibs", entry(client, "fibs", _addanother="1"))
    assert response["Location"] == add_url(pool_of("fibs"))


def test_numbers_and_dates_are_read_as_the_reader_writes_them(client: Client) -> None:
    german = {"HTTP_ACCEPT_LANGUAGE": "de"}
    for stake, chance in (("2,50", "0,75"), ("2.50", "0.75")):
        more = {"stake": stake, "outcome": "broken_off", "chance": chance, "ended_at_0": "01.03.2026", "ended_at_1": "20:00"}
        response = client.post(add_url(pool_of("crowns-cup")), entry(client, "crowns-cup", **more), **german)
        assert response.status_code == 302, errors(response)
        match = Match.objects.latest("pk")
        assert (str(match.stake), match.chance, match.ended_at) == ("2.50", 0.75, DAY_ONE)
    assert "1506,08" in client.get(change_url(Match.objects.first()), **german).text  # type: ignore[arg-type]


# --- Times ---


def test_times_are_read_in_the_zone_of_the_login(client: Client, organiser: User) -> None:
    one, two = people(2)
    Player.objects.filter(pk=one.pk).update(user=organiser, time_zone="America/New_York")
    assert "America/New_York" in client.get(add_url(pool_of("fibs"))).text
    send(client, "fibs", entry(client, "fibs", [one, two], ended_at_0="2026-03-01", ended_at_1="15:00"))
    match = Match.objects.get()
    assert match.ended_at == datetime(2026, 3, 1, 20, 0, tzinfo=UTC)
    assert "15:00" in client.get(change_url(match)).text


def test_a_time_that_the_clocks_skipped_is_refused(client: Client, organiser: User) -> None:
    one, two = people(2)
    Player.objects.filter(pk=one.pk).update(user=organiser, time_zone="Europe/Copenhagen")
    response = send(client, "fibs", entry(client, "fibs", [one, two], ended_at_0="2026-03-29", ended_at_1="02:30"))
    assert list(errors(response)) == ["ended_at"]


def test_a_date_alone_is_not_moved_by_the_zone(client: Client, organiser: User) -> None:
    one, two = people(2)
    Player.objects.filter(pk=one.pk).update(user=organiser, time_zone="Pacific/Auckland")
    data = entry(client, "fibs", [one, two], ended_at_0="2026-03-04", ended_at_1="05:00")
    del data["timed"]
    send(client, "fibs", data)
    assert Match.objects.get().ended_at == datetime(2026, 3, 4, tzinfo=UTC)


def test_the_form_offers_now(client: Client) -> None:
    data = opened_form(client, add_url(pool_of("fibs")))
    offered = datetime.fromisoformat(f"{data['ended_at_0']}T{data['ended_at_1']}+00:00")
    assert abs(timezone.now() - offered) < timedelta(minutes=1)


# --- What is refused ---

NUMBERS = {"crowns-cup": ("length", "points", "stake", "chance"), "freewhist": ("deals",), "fibs": ("length", "sequence")}
NO_NUMBER = ["NaN", "nan", "1e400", "-1e400", "Infinity", "-inf", "five", "1" * 5000]


@pytest.mark.parametrize(
    ("slug", "change", "field", "words"),
    [
        ("fibs", {"outcome": ""}, "outcome", "Say how the match ended."),
        ("tics", {"outcome": ""}, "outcome", "Say how the match ended."),
        ("fibs", {"outcome": "draw"}, "outcome", "not one of the available choices"),
        ("fibs", {"length": "0"}, "length", "Must be from 1 to 99."),
        ("fibs", {"length": "100"}, "length", "Must be from 1 to 99."),
        ("fibs", {"length": "-5"}, "length", "Must be from 1 to 99."),
        ("fibs", {"length": "99999999999999999999"}, "length", "Must be from 1 to 99."),
        ("crowns-cup", {"length": "0"}, "length", "Must be from 1 to 99."),
        ("online-backgammon", {"length": "100"}, "length", "Must be from 1 to 99."),
        ("crowns-cup", {"stake": "-1"}, "stake", "Must be above 0."),
        ("crowns-cup", {"stake": "0"}, "stake", "Must be above 0."),
        ("crowns-cup", {"stake": "0.001"}, "stake", "at most 2 decimals"),
        ("crowns-cup", {"stake": "1e12"}, "stake", "Must not be above"),
        ("crowns-cup", {"stake": ""}, "stake", "It is missing"),
        ("crowns-cup", {"real_money": "unknown"}, "real_money", "It is missing"),
        ("crowns-cup", {"kind": ""}, "kind", "It is missing"),
        ("online-backgammon", {"kind": ""}, "kind", "It is missing"),
        ("fibs", {"kind": "friendly"}, "kind", "not one of the available choices"),
        ("crowns-cup", {"outcome": "broken_off", "chance": "1.2"}, "chance", "Must be from 0 to 1."),
        ("crowns-cup", {"outcome": "broken_off", "chance": "-0.1"}, "chance", "Must be from 0 to 1."),
        ("crowns-cup", {"outcome": "broken_off", "chance": ""}, "chance", "It is missing"),
        ("crowns-cup", {"chance": "0.5"}, "chance", "Only a match that was broken off has one."),
        ("crowns-cup", {"length": ""}, "points", "a money game, which has no match length, needs them"),
        ("crowns-cup", {"points": "2"}, "points", "Only a money game has it."),
        ("freewhist", {"deals": ""}, "deals", "It is missing"),
        ("freewhist", {"deals": "0"}, "deals", "Must be from 1 to 999."),
        ("fibs", {"sequence": str(2**53)}, "sequence", "Must be from"),
        ("fibs", {"ended_at_0": ""}, "ended_at", "It is missing"),
        ("fibs", {"ended_at_0": "2026-02-30"}, "ended_at", "Enter a valid date."),
        ("fibs", {"ended_at_1": "25:00"}, "ended_at", "Enter a valid time."),
        ("fibs", {"ended_at_1": ""}, "ended_at", "Give the time too"),
        ("fibs", {"ended_at_0": "2999-01-01"}, "ended_at", "Lies in the future."),
        ("fibs", {"ended_at_0": "9999-12-31", "ended_at_1": "23:59:59"}, "ended_at", "Lies in the future."),
        ("fibs", {"ended_at_0": "1850-01-01"}, "ended_at", "Must not be before"),
        ("fibs", {"ended_at_0": "0001-01-01", "ended_at_1": "00:00"}, "ended_at", "Must not be before"),
        ("fibs", {"status": "voided"}, "status", "not one of the available choices"),
        ("fibs", {"entry_token": "x"}, "entry_token", "Enter a valid UUID."),
        *(
            (slug, {"outcome": "broken_off", name: text} if name == "chance" else {name: text}, name, "Enter a")
            for slug, names in NUMBERS.items()
            for name in names
            for text in NO_NUMBER
            if (name, text) not in {("stake", "1e400"), ("stake", "-1e400"), ("stake", "1" * 5000)}
        ),
        ("crowns-cup", {"stake": "1e400"}, "stake", "Must not be above"),
        ("crowns-cup", {"stake": "-1e400"}, "stake", "Must be above 0."),
        ("crowns-cup", {"stake": "1" * 5000}, "stake", "Must not be above"),
    ],
)
def test_what_is_no_possible_result_is_refused_on_its_field(
    client: Client, slug: str, change: dict[str, str], field: str, words: str
) -> None:
    response = send(client, slug, entry(client, slug, **change))
    found = errors(response)
    assert list(found) == [field]
    assert words.lower() in " ".join(found[field]).lower()
    assert nothing_stored()


@pytest.mark.parametrize("slug", SOUND)
def test_a_player_against_himself_is_refused_on_the_row_that_repeats_him(client: Client, slug: str) -> None:
    players = list(people(pool_of(slug).rating_system.seats))
    players[-1] = players[0]
    found = errors(send(client, slug, entry(client, slug, list(players))))
    assert list(found) == [f"player {len(players)}"]
    assert "cannot play against himself" in found[f"player {len(players)}"][0]
    assert nothing_stored()


@pytest.mark.parametrize("slug", SOUND)
def test_a_missing_player_is_refused_on_his_row(client: Client, slug: str) -> None:
    players: list[Player | None] = list(people(pool_of(slug).rating_system.seats))
    players[1] = None
    assert list(errors(send(client, slug, entry(client, slug, players)))) == ["player 2"]
    assert nothing_stored()


@pytest.mark.parametrize("key", ["0", "-1", "x", "9" * 40])
def test_a_player_that_there_is_not_is_refused_on_his_row(client: Client, key: str) -> None:
    assert list(errors(send(client, "fibs", entry(client, "fibs") | {"participants-0-player": key}))) == ["player 1"]
    assert nothing_stored()


def test_three_players_are_no_table_of_whist(client: Client) -> None:
    data = entry(client, "freewhist")
    found = errors(send(client, "freewhist", data | {"participants-3-player": "", "participants-3-place": ""}))
    assert list(found) == ["player 4"]
    fewer = {name: value for name, value in data.items() if not name.startswith("participants-3")} | {
        "participants-TOTAL_FORMS": "3"
    }
    found = errors(send(client, "freewhist", fewer))
    assert list(found) == ["players"] and "takes 4 of them" in found["players"][0]
    assert nothing_stored()


@pytest.mark.parametrize(
    ("places", "fields"),
    [
        ((2, 2, 3, 4), ["players"]),
        ((1, 2, 2, 3.5), ["place 4"]),
        ((1, 2, 3, 5), ["place 4"]),
        ((0, 2, 3, 4), ["place 1"]),
        ((1, 2, "", 4), ["place 3"]),
        (("", "", "", ""), ["place 1", "place 2", "place 3", "place 4"]),
        ((1, 2, 3, "NaN"), ["place 4"]),
        ((1, 2, 3, "1e400"), ["place 4"]),
        ((1, 2, 3, 10**30), ["place 4"]),
        ((1, 2, 3, -1), ["place 4"]),
    ],
)
def test_places_that_are_none_are_refused_where_they_stand(client: Client, places: tuple[Any, ...], fields: list[str]) -> None:
    players = people(4)
    data = entry(client, "freewhist", list(players)) | seated(players, places)
    assert list(errors(send(client, "freewhist", data))) == fields
    assert nothing_stored()


@pytest.mark.parametrize(
    "tampered",
    [
        {"participants-TOTAL_FORMS": "0"},
        {"participants-TOTAL_FORMS": "1000000"},
        {"participants-TOTAL_FORMS": "x"},
        {"participants-INITIAL_FORMS": "2"},
        {"participants-0-id": "1"},
        {"participants-0-match": "17"},
        {"version": "x"},
        {"pool": "17"},
        {"_saveasnew": "1"},
    ],
)
def test_a_tampered_form_makes_no_server_error(client: Client, tampered: dict[str, str]) -> None:
    response = send(client, "fibs", entry(client, "fibs", **tampered))
    assert response.status_code in (200, 302, 400)
    assert Match.objects.count() <= 1


def test_an_error_found_while_rating_leaves_nothing_behind(client: Client) -> None:
    """A rating that would leave its range is found when everything is stored already."""
    pool, (one, two) = pool_of("fibs"), people(2)
    complete(pool, won(one, two, DAY_ONE))
    Rating.objects.filter(player=one).update(value=100_000 - 1e-9, peak=100_000 - 1e-9)
    Rating.objects.filter(player=two).update(value=100_000 - 1e-9, peak=100_000 - 1e-9)
    found = errors(send(client, "fibs", entry(client, "fibs", [one, two], **ended(DAY_ONE + timedelta(hours=1)))))
    assert list(found) == ["form"] and "Rating: must be from" in found["form"][0]
    assert Match.objects.count() == 1 and not LogEntry.objects.exists()


def test_a_form_with_an_error_can_be_corrected_and_sent_again(client: Client) -> None:
    data = entry(client, "fibs", length="0")
    response = send(client, "fibs", data)
    token = response.context["adminform"].form["entry_token"].value()
    assert token == data["entry_token"]
    assert send(client, "fibs", data | {"length": "5"}).status_code == 302
    assert RatingChange.objects.count() == 2


# --- Once ---


def test_a_double_click_makes_one_match(client: Client) -> None:
    data = entry(client, "fibs")
    first = send(client, "fibs", data)
    said = shown_messages(client)
    second = send(client, "fibs", data)
    assert (first.status_code, second.status_code) == (302, 302)
    assert shown_messages(client) == said
    assert (Match.objects.count(), RatingChange.objects.count(), LogEntry.objects.count()) == (1, 2, 1)


def test_a_form_that_was_sent_already_cannot_be_sent_with_other_values(client: Client) -> None:
    data = entry(client, "fibs")
    send(client, "fibs", data)
    found = errors(send(client, "fibs", data | {"length": "7", "outcome": "2"}))
    assert list(found) == ["form"]
    assert "organiser saved this match" in found["form"][0]
    assert "Match length: 5" in found["form"][0] and "Result: Player 1 won" in found["form"][0]
    assert (Match.objects.count(), RatingChange.objects.count()) == (1, 2)


def test_two_forms_make_two_matches(client: Client) -> None:
    players: list[Player | None] = list(people(2))
    for _ in range(2):
        send(client, "fibs", entry(client, "fibs", players))
    assert Match.objects.count() == 2


# --- Not finished yet ---


def opened(client: Client, slug: str = "crowns-cup", players: list[Player | None] | None = None) -> Match:
    end = {"outcome": "", "status": "open"} | {f"participants-{row}-place": "" for row in range(4)}
    response = send(client, slug, entry(client, slug, players) | end)
    assert response.status_code == 302, errors(response)
    return Match.objects.latest("pk")


@pytest.mark.parametrize("slug", SOUND)
def test_a_match_that_is_not_finished_is_stored_and_rated_nowhere(client: Client, organiser: User, slug: str) -> None:
    match = opened(client, slug)
    assert (match.status, match.ended_at, match.entered_by, match.version) == (Match.Status.OPEN, None, organiser, 1)
    assert match.participants.count() == match.pool.rating_system.seats
    assert not Rating.objects.exists()
    assert "moves no rating yet" in shown_messages(client)
    assert LogEntry.objects.get().action_flag == ADDITION


@pytest.mark.parametrize("slug", SOUND)
def test_it_is_completed_later(client: Client, slug: str) -> None:
    match = opened(client, slug)
    seats = list(match.participants.all())
    data = opened_form(client, change_url(match)) | {"status": "completed"} | ended(DAY_ONE)
    data |= {"outcome": SOUND[slug].get("outcome", "")}
    data |= {f"participants-{row}-place": str(row + 1) for row in range(4)}
    response = client.post(change_url(match), data)
    assert response.status_code == 302, errors(response)
    match.refresh_from_db()
    assert match.status == Match.Status.COMPLETED
    assert RatingChange.objects.filter(match=match).count() == len(seats)
    assert [seat.player_id for seat in match.participants.all()] == [seat.player_id for seat in seats]
    assert LogEntry.objects.filter(action_flag=CHANGE, object_id=match.pk).count() == 1
    verify(match.pool)
    # And a second click finds what the first one did.
    assert client.post(change_url(match), data).status_code == 302
    assert RatingChange.objects.count() == len(seats) and LogEntry.objects.count() == 2


def test_it_can_be_changed_before(client: Client) -> None:
    match = opened(client)
    one, two = (seat.player for seat in match.participants.all())
    data = opened_form(client, change_url(match))
    assert (data["length"], data["stake"], data["real_money"], data["status"]) == ("5", "10.00", "true", "open")
    response = client.post(change_url(match), data | {"length": "9"} | seated([two, one]))
    assert response.status_code == 302, errors(response)
    match.refresh_from_db()
    assert (match.length, match.version, match.status) == (9, 2, Match.Status.OPEN)
    assert [seat.player for seat in match.participants.all()] == [two, one]
    line = LogEntry.objects.get(action_flag=CHANGE)
    assert line.get_change_message() == "Changed Match length and Players."


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "1"}, "outcome"),
        ({"chance": "0.5"}, "chance"),
        ({"length": "0"}, "length"),
        ({"length": "100"}, "length"),
        ({"stake": "-1"}, "stake"),
        ({"stake": "NaN"}, "stake"),
        ({"real_money": "unknown"}, "real_money"),
        ({"participants-1-player": ""}, "player 2"),
    ],
)
def test_its_terms_are_checked(client: Client, change: dict[str, str], field: str) -> None:
    data = entry(client, "crowns-cup") | {"outcome": "", "status": "open"} | change
    assert list(errors(send(client, "crowns-cup", data))) == [field]
    assert nothing_stored()


def test_a_double_click_on_it_makes_one_match(client: Client) -> None:
    data = entry(client, "fibs") | {"outcome": "", "status": "open"}
    assert [send(client, "fibs", data).status_code for _ in range(2)] == [302, 302]
    assert Match.objects.count() == 1


# --- Two who have the same match open ---


@pytest.fixture
def colleague() -> Client:
    client = Client()
    client.force_login(staff("view_match", "change_match", "view_player", name="colleague"))
    return client


def test_the_second_save_of_an_open_match_is_a_conflict(client: Client, colleague: Client) -> None:
    match = opened(client)
    mine, theirs = opened_form(client, change_url(match)), opened_form(colleague, change_url(match))
    assert colleague.post(change_url(match), theirs | {"length": "9", "stake": "20"}).status_code == 302
    response = client.post(change_url(match), mine | {"length": "7"})
    found = errors(response)
    assert list(found) == ["form"]
    assert "colleague saved this match meanwhile" in found["form"][0]
    assert "Match length: 9" in found["form"][0] and "Stake: €20.00" in found["form"][0]
    match.refresh_from_db()
    assert (match.length, match.version) == (9, 2)
    # Sent again as it is, it is still a conflict.
    assert list(errors(client.post(change_url(match), mine | {"length": "7"}))) == ["form"]


def test_the_second_completion_of_an_open_match_is_a_conflict(client: Client, colleague: Client) -> None:
    match = opened(client)
    mine, theirs = opened_form(client, change_url(match)), opened_form(colleague, change_url(match))
    end = {"status": "completed", **ended(DAY_ONE)}
    assert colleague.post(change_url(match), theirs | end | {"outcome": "2"}).status_code == 302
    before = values(match.pool)
    found = errors(client.post(change_url(match), mine | end | {"outcome": "1"}))
    assert list(found) == ["form"]
    assert "colleague saved this match meanwhile" in found["form"][0] and "Result: Player 2 won" in found["form"][0]
    assert values(match.pool) == before and RatingChange.objects.count() == 2
    assert LogEntry.objects.count() == 2


def test_a_change_of_a_match_that_was_completed_meanwhile_is_a_conflict(client: Client, colleague: Client) -> None:
    match = opened(client)
    mine, theirs = opened_form(client, change_url(match)), opened_form(colleague, change_url(match))
    end = {"status": "completed", "outcome": "2", **ended(DAY_ONE)}
    colleague.post(change_url(match), theirs | end)
    assert list(errors(client.post(change_url(match), mine | {"length": "9"}))) == ["form"]
    match.refresh_from_db()
    assert match.length == 5


def test_a_match_that_was_deleted_meanwhile_says_so(client: Client, colleague: Client) -> None:
    match = opened(client)
    mine = opened_form(colleague, change_url(match))
    client.post(reverse("admin:matches_match_delete", args=[match.pk]), {"post": "yes"})
    response = colleague.post(change_url(match), mine, follow=True)
    assert response.status_code in (200, 403) and not Match.objects.exists()


# --- What is completed ---


def test_a_completed_match_is_only_shown(client: Client) -> None:
    send(client, "crowns-cup", entry(client, "crowns-cup"))
    match = Match.objects.get()
    page = client.get(change_url(match))
    assert page.status_code == 200
    assert 'name="_save"' not in page.text and "<select" not in page.text
    assert "1523.29" in page.text and "+23.29" in page.text
    assert f'href="{reverse("match", args=[match.pk])}"' in page.text
    assert reverse("admin:matches_match_delete", args=[match.pk]) not in page.text
    assert "A match that was completed is not deleted" in page.text
    assert f'href="{correct_url(match)}"' in page.text and f'href="{void_url(match)}"' in page.text


@pytest.mark.parametrize("slug", SOUND)
def test_every_pools_match_can_be_shown(client: Client, slug: str) -> None:
    send(client, slug, entry(client, slug))
    assert client.get(change_url(Match.objects.get())).status_code == 200


def test_a_completed_match_is_not_changed_by_sending_a_form(client: Client) -> None:
    match = opened(client)
    stale = opened_form(client, change_url(match))
    data = stale | {"status": "completed", "outcome": "1", **ended(DAY_ONE)}
    client.post(change_url(match), data)
    stored = values(match.pool)
    for version in ("1", "2", "", "x"):
        again = {name: value for name, value in data.items() if name != "entry_token"} | {"version": version, "outcome": "2"}
        assert errors(client.post(change_url(match), again))
    assert values(match.pool) == stored


@pytest.mark.parametrize("kind", ["table", "tournament"])
def test_a_completed_match_is_not_deleted_counted_or_not(client: Client, kind: str) -> None:
    send(client, "crowns-cup", entry(client, "crowns-cup", kind=kind))
    match = Match.objects.get()
    url = reverse("admin:matches_match_delete", args=[match.pk])
    assert client.get(url).status_code == 403 and client.post(url, {"post": "yes"}).status_code == 403
    assert f'href="{void_url(match)}"' in client.get(url).text
    assert "delete_selected" not in client.get(reverse("admin:matches_match_changelist")).text
    action = {"action": "delete_selected", "_selected_action": str(match.pk), "post": "yes"}
    client.post(reverse("admin:matches_match_changelist"), action)
    assert Match.objects.exists()


def test_an_open_match_is_deleted(client: Client) -> None:
    match = opened(client)
    url = reverse("admin:matches_match_delete", args=[match.pk])
    assert client.get(url).status_code == 200
    assert client.post(url, {"post": "yes"}).status_code == 302
    assert not Match.objects.exists() and not Participant.objects.exists()


# --- Who may ---


@pytest.mark.parametrize(
    ("rights", "may_look", "may_add"),
    [((), False, False), (("view_match",), True, False), (("add_match",), False, True), (("change_match",), True, False)],
)
def test_rights_are_djangos(rights: tuple[str, ...], may_look: bool, may_add: bool) -> None:
    pool, (one, two) = pool_of("fibs"), people(2)
    [match] = complete(pool, won(one, two, DAY_ONE))
    client = Client()
    client.force_login(staff(*rights, name="other"))
    look, add = (200 if may_look else 403), (200 if may_add else 403)
    assert client.get(reverse("admin:matches_match_changelist")).status_code == look
    assert client.get(change_url(match)).status_code == look
    for url in (add_url(pool), reverse("admin:matches_match_add")):
        assert client.get(url).status_code == client.post(url).status_code == add


def test_who_may_only_look_sees_an_open_match_and_changes_nothing(client: Client) -> None:
    match = opened(client)
    looker = Client()
    looker.force_login(staff("view_match", name="looker"))
    page = looker.get(change_url(match))
    assert page.status_code == 200 and 'name="_save"' not in page.text
    assert looker.post(change_url(match), {"length": "9"}).status_code == 403
    assert looker.post(reverse("admin:matches_match_delete", args=[match.pk]), {"post": "yes"}).status_code == 403


def test_who_is_no_staff_is_sent_to_the_login(client: Client) -> None:
    client.force_login(User.objects.create_user("player"))
    assert client.get(add_url(pool_of("fibs"))).status_code == 302
