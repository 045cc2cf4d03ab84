"""Correcting in the admin: what a correction would move is shown first, and done only as it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest import mock

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches import corrections
from matches.admin import correcting
from matches.completion import complete_match, complete_matches
from matches.corrections import Correction
from matches.entries import Entry
from matches.merging import merge
from matches.models import Match, Participant, Revision
from matches.replay import Overtaken
from matches.verify import verify
from players.formatting import format_rating
from players.models import Player, Pool, PublishedChange, Rating, RatingChange
from players.services import create_players
from players.systems.base import Result
from tests.building import NOW, at, complete, people, pool_of, values, won
from tests.matches.entering import (
    SOUND,
    change_url,
    correct_url,
    ended,
    errors,
    opened_form,
    press,
    queries,
    seated,
    shown_preview,
    staff,
    void_url,
)
from tests.matches.test_corrections import a_season, everything, fresh

pytestmark = pytest.mark.django_db
LIST = "admin:matches_match_changelist"


@pytest.fixture
def organiser() -> User:
    return staff("view_match", "change_match", "view_player")


@pytest.fixture(autouse=True)
def _logged_in(client: Client, organiser: User) -> None:
    client.force_login(organiser)


@pytest.fixture
def colleague() -> Client:
    client = Client()
    client.force_login(staff("view_match", "change_match", "view_player", name="colleague"))
    return client


@pytest.fixture
def season() -> tuple[Pool, list[Player], list[Match]]:
    pool, players = pool_of("fibs"), people(6)
    return pool, players, complete_matches(pool, a_season(players, 30), now=NOW)


@contextmanager
def untouched() -> Iterator[None]:
    """What happens inside leaves nothing behind."""

    def stored() -> Any:
        models = (Match, Participant, Rating, RatingChange, Revision, PublishedChange, LogEntry)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = stored()
    yield
    assert stored() == before


def a_match(slug: str, **more: Any) -> tuple[Match, list[Player]]:
    """A counted match of the pool, with an odd number of microseconds, and one after it."""
    pool = pool_of(slug)
    players = people(pool.rating_system.seats)
    result: dict[str, Any] = {
        "fibs": {"scores": (1.0, 0.0), "length": 5, "kind": "table"},
        "crowns-cup": {"scores": (1.0, 0.0), "length": 5, "stake": Decimal(10), "real_money": True, "kind": "table"},
        "online-backgammon": {"scores": (0.0, 1.0), "length": 5, "kind": "matchmade"},
        "freewhist": {"places": (1, 2, 2, 4), "deals": 24, "kind": "table"},
        "tics": {"scores": (0.5, 0.5)},
    }[slug]
    entry: dict[str, Any] = {"ended_at": at(0) + timedelta(microseconds=123_456)}
    for name, value in more.items():
        (result if name in Result.__slots__ else entry)[name] = value
    match = complete_match(pool, Entry(players=players, result=Result(**result), **entry), now=NOW)
    later = {name: value for name, value in result.items() if name not in ("chance", "points")}
    if "places" not in later:
        later |= {"scores": (0.0, 1.0), "length": None if slug == "tics" else 7}
    complete_match(pool, Entry(players=players, result=Result(**later), ended_at=at(3)), now=NOW)
    return match, players


def corrected(client: Client, match: Match, reason: str = "the card says so", **changes: Any) -> Any:
    """The page that answers the form with these fields changed."""
    return client.post(correct_url(match), {**opened_form(client, correct_url(match)), "reason": reason, **changes})


def voided(client: Client, *matches: Match, void: bool = True, reason: str = "annulled by the jury") -> Any:
    page = client.get(void_url(*matches, void=void))
    assert page.status_code == 200
    sent = [f"{match.pk}:{match.version}" for match in page.context["matches"]]
    return client.post(page.context["action"], {"match": sent, "reason": reason})


def said(client: Client) -> str:
    return " | ".join(map(str, client.get(reverse(LIST)).context["messages"]))


# --- Edit ---


def test_what_is_edited_is_previewed_and_done_on_confirmation(client: Client, season: Any, organiser: User) -> None:
    pool, _, matches = season
    before = everything(pool)
    page = corrected(client, matches[10], length="11", outcome="2")
    preview = shown_preview(page)
    assert everything(pool) == before and not Revision.objects.exists() and fresh(matches[10]).version == 1
    moves = {move.player.pk: move for move in preview.moves}
    for text in (
        "Nothing is written yet",
        "the card says so",
        f"Match length: {matches[10].length} → <strong>11</strong>",
        "won against",
        f"{preview.moved} players move",
    ):
        assert text in page.text, text
    response = press(client, page)
    assert response.status_code == 302 and response["Location"] == change_url(matches[10])
    revision = Revision.objects.get()
    assert (revision.kind, revision.reason, revision.made_by, revision.changes) == (
        "edit",
        "the card says so",
        organiser,
        preview.lines,
    )
    for rating in Rating.objects.filter(pool=pool):
        if rating.player_id in moves:
            assert moves[rating.player_id].rating[1] == rating.value
    assert verify(pool) == (30, None) and everything(pool) != before
    text = said(client)
    assert "is corrected" in text and reverse("admin:matches_revision_change", args=[revision.pk]) in text
    line = LogEntry.objects.get()
    assert (line.user, line.object_id, line.action_flag) == (organiser, str(matches[10].pk), CHANGE)
    assert line.change_message == "result corrected: the card says so"


def test_the_preview_shows_ratings_changes_and_ranks(client: Client, season: Any) -> None:
    pool, _, matches = season
    page = corrected(client, matches[3], outcome="2")
    for move in shown_preview(page).moves:
        for value in (*move.rating,):
            assert format_rating(value, pool.shown_decimals) in page.text
    assert any(move.rank[0] != move.rank[1] for move in shown_preview(page).moves)


@pytest.mark.parametrize(
    ("slug", "more"),
    [
        *((slug, {}) for slug in SOUND),
        ("fibs", {"timed": False, "ended_at": at(0), "sequence": 7}),
        ("crowns-cup", {"scores": None, "chance": 0.123456789}),
        ("crowns-cup", {"length": None, "points": 4}),
        ("crowns-cup", {"kind": "tournament", "real_money": False, "stake": None}),
        ("freewhist", {"places": (1, 1, 3, 4)}),
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_a_form_that_is_sent_as_it_came_changes_nothing(
    client: Client, organiser: User, slug: str, more: dict[str, Any], zone: str
) -> None:
    """Whatever the match is, the form shows all of it, to the microsecond and to the last digit."""
    match, players = a_match(slug, **more)
    Player.objects.filter(pk=players[0].pk).update(user=organiser, time_zone=zone)
    with untouched():
        found = errors(corrected(client, match))
    assert list(found) == ["form"] and "nothing would change" in found["form"][0]


def test_an_hour_that_the_clocks_show_twice_is_kept(client: Client, organiser: User) -> None:
    match, (one, _) = a_match("fibs", ended_at=datetime(2025, 10, 26, 1, 30, tzinfo=UTC))
    Player.objects.filter(pk=one.pk).update(user=organiser, time_zone="Europe/Copenhagen")
    assert press(client, corrected(client, match, length="7")).status_code == 302
    assert (fresh(match).length, fresh(match).ended_at) == (7, match.ended_at)


DATE_ONLY = {"timed": False, "ended_at": at(0)}


def places(*given: int) -> dict[str, str]:
    return {f"participants-{row}-place": str(place) for row, place in enumerate(given)}


EDITS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("fibs", {}, {"outcome": "2"}, {"scores": [0.0, 1.0]}),
    ("fibs", {}, {"length": "9"}, {"length": 9}),
    ("fibs", {}, {"kind": "challenge"}, {"kind": "challenge"}),
    ("fibs", {}, {"sequence": "-3"}, {"sequence": -3}),
    ("fibs", {}, {"ended_at_1": "21:30:00"}, {"ended_at": "2026-03-01T21:30:00+00:00"}),
    ("fibs", {}, {"ended_at_0": "2026-02-11"}, {"ended_at": "2026-02-11T20:00:00+00:00"}),
    ("fibs", {}, {"timed": None, "ended_at_1": ""}, {"ended_at": "2026-03-01"}),
    ("fibs", DATE_ONLY, {"timed": "on", "ended_at_1": "19:00"}, {"ended_at": "2026-03-01T19:00:00+00:00"}),
    ("fibs", DATE_ONLY, {"ended_at_0": "2026-02-28"}, {"ended_at": "2026-02-28"}),
    ("crowns-cup", {}, {"stake": "2.50"}, {"stake": "2.50"}),
    ("crowns-cup", {}, {"real_money": "false", "stake": ""}, {"real_money": False, "stake": None}),
    ("crowns-cup", {}, {"length": "", "points": "6"}, {"length": None, "points": 6}),
    ("crowns-cup", {}, {"outcome": "broken_off", "chance": "0.75"}, {"scores": None, "chance": 0.75}),
    ("crowns-cup", {"scores": None, "chance": 0.3}, {"chance": "0.4"}, {"chance": 0.4}),
    ("crowns-cup", {"scores": None, "chance": 0.3}, {"outcome": "1", "chance": ""}, {"scores": [1.0, 0.0], "chance": None}),
    ("freewhist", {}, {"deals": "16"}, {"deals": 16}),
    ("freewhist", {}, places(4, 3, 2, 1), {"places": [4, 3, 2, 1]}),
    ("freewhist", {}, places(1, 1, 2, 3), {"places": [1, 1, 3, 4]}),
    ("tics", {}, {"outcome": "2"}, {"scores": [0.0, 1.0]}),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "more", "changes", "wanted"), EDITS)
def test_every_field_can_be_corrected(
    client: Client, slug: str, more: dict[str, Any], changes: dict[str, Any], wanted: dict[str, Any]
) -> None:
    match, _ = a_match(slug, **more)
    data = {**opened_form(client, correct_url(match)), "reason": "the card", **changes}
    page = client.post(correct_url(match), {name: value for name, value in data.items() if value is not None})
    [changed] = shown_preview(page).changes
    assert changed.match == match and changed.fields
    assert press(client, page).status_code == 302
    [details] = Revision.objects.get().details.values()
    assert {name: pair[1] for name, pair in details.items() if name in wanted} == wanted
    assert set(details) - set(wanted) <= {"players", "not_counted"}
    # Read back, the form shows what is stored now.
    assert "nothing would change" in errors(corrected(client, match))["form"][0]
    verify(match.pool)


def test_the_players_can_be_corrected(client: Client) -> None:
    match, (one, _) = a_match("fibs")
    [three] = create_players(["Three"])
    page = corrected(client, match, **seated([one, three]))
    assert "Players: Player 1 and Player 2 → <strong>Player 1 and Three</strong>" in page.text
    assert press(client, page).status_code == 302
    assert [seat.player for seat in fresh(match).participants.all()] == [one, three]
    assert verify(match.pool) == (2, None)


@pytest.mark.parametrize(
    ("slug", "changes", "field", "words"),
    [
        ("fibs", {"reason": ""}, "reason", "The players will ask why"),
        ("fibs", {"reason": "  \n "}, "reason", "The players will ask why"),
        ("fibs", {"reason": "x" * 1001}, "reason", "at most 1000 characters"),
        ("fibs", {"reason": "nul\x00"}, "reason", "Null characters"),
        ("fibs", {"length": "0"}, "length", "Must be from 1 to 99."),
        ("fibs", {"length": "NaN"}, "length", "Enter a"),
        ("fibs", {"outcome": ""}, "outcome", "Say how the match ended."),
        ("fibs", {"outcome": "draw"}, "outcome", "not one of the available choices"),
        ("fibs", {"ended_at_0": "2999-01-01"}, "ended_at", "Lies in the future."),
        ("fibs", {"ended_at_0": "1850-01-01"}, "ended_at", "Must not be before"),
        ("fibs", {"ended_at_1": ""}, "ended_at", "Give the time too"),
        ("fibs", {"ended_at_0": "x"}, "ended_at", "Enter a valid date."),
        ("fibs", {"sequence": str(2**53)}, "sequence", "Must be from"),
        ("fibs", {"version": ""}, "version", "required"),
        ("fibs", {"version": "x"}, "version", "Enter a"),
        ("fibs", {"participants-1-player": ""}, "player 2", "required"),
        ("crowns-cup", {"stake": "-1"}, "stake", "Must be above 0."),
        ("crowns-cup", {"stake": ""}, "stake", "It is missing"),
        ("crowns-cup", {"kind": ""}, "kind", "It is missing"),
        ("crowns-cup", {"length": ""}, "points", "a money game"),
        ("crowns-cup", {"outcome": "broken_off"}, "chance", "It is missing"),
        ("crowns-cup", {"chance": "0.5"}, "chance", "Only a match that was broken off has one."),
        ("freewhist", {"deals": "0"}, "deals", "Must be from 1 to 999."),
        ("freewhist", {"participants-3-place": "5"}, "place 4", ""),
        ("freewhist", {f"participants-{row}-place": "2" for row in range(4)}, "players", ""),
    ],
)
def test_what_is_no_possible_result_is_refused_on_its_field(
    client: Client, slug: str, changes: dict[str, str], field: str, words: str
) -> None:
    match, _ = a_match(slug)
    with untouched():
        found = errors(corrected(client, match, **changes))
    assert list(found) == [field], found
    assert words.lower() in " ".join(found[field]).lower()


def test_a_player_against_himself_is_refused_on_his_row(client: Client) -> None:
    match, (one, _) = a_match("fibs")
    with untouched():
        assert list(errors(corrected(client, match, **seated([one, one])))) == ["player 2"]


def test_a_rating_that_would_leave_its_range_is_refused(client: Client) -> None:
    match, _ = a_match("fibs")
    with untouched(), mock.patch("players.systems.backgammon.RATING_LIMIT", 1503.0):
        found = errors(corrected(client, match, length="99"))
    assert list(found) == ["form"] and "Rating: must be from" in found["form"][0]


def test_back_to_the_form_keeps_what_was_typed(client: Client, season: Any) -> None:
    _, _, matches = season
    with untouched():
        page = press(client, corrected(client, matches[4], length="11", reason="eleven"), "_back")
    assert errors(page) == {}
    form = page.context["adminform"].form
    assert (form["length"].value(), form["reason"].value()) == ("11", "eleven")
    page = press(client, voided(client, matches[4], reason="annulled"), "_back")
    assert page.context["form"]["reason"].value() == "annulled" and not page.context["form"].errors


def test_an_edit_of_a_voided_match_moves_nobody_and_leaves_it_voided(client: Client, season: Any) -> None:
    pool, _, matches = season
    press(client, voided(client, matches[4]))
    before = everything(pool)
    page = corrected(client, matches[4], length="12")
    assert "No rating moves." in page.text
    press(client, page)
    assert (fresh(matches[4]).status, fresh(matches[4]).length) == ("voided", 12)
    assert everything(pool) == before and verify(pool) == (29, None)
    press(client, voided(client, matches[4], void=False))
    assert verify(pool) == (30, None)


# --- Void, and take it back ---


def test_void_and_take_back_restores_every_bit_and_clears_the_marks(client: Client, season: Any, organiser: User) -> None:
    pool, _, matches = season
    before = everything(pool)
    page = voided(client, matches[7])
    assert everything(pool) == before
    assert "Status: completed → <strong>voided</strong>" in page.text
    assert press(client, page).status_code == 302
    assert fresh(matches[7]).status == "voided" and verify(pool) == (29, None) and PublishedChange.objects.exists()
    assert "is voided" in said(client)
    change_page = client.get(change_url(matches[7]))
    assert void_url(matches[7], void=False) in change_page.text and void_url(matches[7]) not in change_page.text
    page = voided(client, matches[7], void=False, reason="it was played after all")
    assert press(client, page).status_code == 302
    assert "counts again" in said(client)
    assert everything(pool) == before and not PublishedChange.objects.exists() and verify(pool) == (30, None)
    assert [(one.kind, one.reason) for one in Revision.objects.order_by("pk")] == [
        ("void", "annulled by the jury"),
        ("unvoid", "it was played after all"),
    ]
    assert [line.change_message for line in LogEntry.objects.order_by("pk")] == [
        "voided: annulled by the jury",
        "void taken back: it was played after all",
    ]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
def test_a_void_needs_a_reason(client: Client, season: Any, reason: str) -> None:
    _, _, matches = season
    with untouched():
        page = voided(client, matches[7], reason=reason)
    assert page.status_code == 200 and list(page.context["form"].errors) == ["reason"]
    assert "errorlist" in page.text


def test_a_match_that_never_counted_can_be_voided(client: Client) -> None:
    match, _ = a_match("crowns-cup", kind="tournament")
    page = voided(client, match)
    assert "No rating moves." in page.text and press(client, page).status_code == 302
    assert fresh(match).status == "voided"
    press(client, voided(client, match, void=False))
    assert (fresh(match).status, fresh(match).not_counted) == ("completed", "kind_not_counted")


def choose(client: Client, action: str, matches: list[Match]) -> Any:
    data = {"action": action, "_selected_action": [match.pk for match in matches]}
    return client.post(reverse(LIST), data, follow=True)


def test_several_matches_are_voided_and_taken_back_together(client: Client, season: Any) -> None:
    pool, _, matches = season
    before = everything(pool)
    page = choose(client, "void_selected", matches[5:9])
    assert {match.pk for match in page.context["matches"]} == {match.pk for match in matches[5:9]}
    sent = [f"{match.pk}:{match.version}" for match in matches[5:9]]
    page = client.post(page.context["action"], {"match": sent, "reason": "a cheat"})
    assert len(shown_preview(page).changes) == 4 and everything(pool) == before
    assert press(client, page)["Location"] == reverse(LIST)
    assert verify(pool) == (26, None) and Revision.objects.get().matches.count() == 4
    assert "4 matches are voided" in said(client)
    assert LogEntry.objects.count() == 4 and LogEntry.objects.values("object_id").distinct().count() == 4
    page = choose(client, "unvoid_selected", matches[5:9])
    sent = [f"{match.pk}:2" for match in matches[5:9]]
    press(client, client.post(page.context["action"], {"match": sent, "reason": "no cheat"}))
    assert everything(pool) == before and not PublishedChange.objects.exists()


def test_an_unfit_choice_is_named(client: Client, season: Any) -> None:
    _, players, matches = season
    opened = Match.objects.create(pool=pool_of("fibs"))
    [other] = complete(pool_of("tics"), won(players[0], players[1], at(1), length=None))
    for action, chosen, words in (
        ("void_selected", [matches[0], other], "must be of one pool"),
        ("void_selected", [matches[0], opened], f"cannot be voided: #{opened.pk}."),
        ("unvoid_selected", [matches[0]], f"Not voided: #{matches[0].pk}."),
    ):
        with untouched():
            page = choose(client, action, chosen)
        assert words in page.text and "errornote" not in page.text
    with mock.patch.object(correcting, "MOST", 3):
        assert "At most 3 matches at once." in choose(client, "void_selected", matches[:4]).text
    assert "delete_selected" not in client.get(reverse(LIST)).text


@pytest.mark.parametrize(
    "query", ["", "match=", "match=0", "match=x", "match=999999", "match=%C2%B2", "match=1:x", "match=" + "9" * 40]
)
def test_a_match_that_there_is_not_leads_back_to_the_list(client: Client, query: str) -> None:
    for way in ("void", "unvoid"):
        url = reverse(f"admin:matches_match_{way}")
        assert client.get(f"{url}?{query}")["Location"] == reverse(LIST)
        assert client.post(url, {"match": query.removeprefix("match="), "reason": "x"})["Location"] == reverse(LIST)
    assert client.get(reverse("admin:matches_match_correct", args=["999999"])).status_code == 302
    assert client.get(reverse("admin:matches_match_correct", args=["x"])).status_code == 302


# --- What happened meanwhile ---


def test_a_pool_that_moved_shows_the_new_preview_and_writes_nothing(client: Client, season: Any) -> None:
    pool, players, matches = season
    for page in (corrected(client, matches[4], length="12"), voided(client, matches[5])):
        seen = shown_preview(page)
        ends = 50 + Match.objects.count()
        complete_match(pool, won(players[0], players[1], at(ends)), now=NOW)
        before = everything(pool)
        again = press(client, page)
        assert "have moved since the preview, so nothing was written" in again.text
        assert shown_preview(again).token != seen.token
        assert everything(pool) == before
        assert press(client, again).status_code == 302 and everything(pool) != before
    assert verify(pool) == (31, None) and Revision.objects.count() == 2


def test_a_made_up_token_shows_the_preview(client: Client, season: Any) -> None:
    _, _, matches = season
    for token in ("", "x", "0" * 64):
        with untouched():
            page = corrected(client, matches[4], length="12", _confirm="1", token=token)
        assert "nothing was written" in page.text


def test_who_was_overtaken_reads_by_whom_and_with_what(client: Client, colleague: Client, season: Any) -> None:
    pool, _, matches = season
    match = matches[4]
    mine, theirs = corrected(client, match, length="9"), corrected(colleague, match, length="12", reason="twelve, says the card")
    stale_form = opened_form(client, correct_url(match)) | {"reason": "nine", "length": "9"}
    stale_void = voided(client, match)
    assert press(colleague, theirs).status_code == 302
    before, log = everything(pool), LogEntry.objects.count()
    for answer in (press(client, mine), client.post(correct_url(match), stale_form)):
        [sentence] = errors(answer)["form"]
        assert f"colleague changed match {match.pk} meanwhile" in sentence
        assert "→ 12" in sentence and "twelve, says the card" in sentence and "Nothing of yours was written" in sentence
    [sentence] = press(client, stale_void).context["form"].non_field_errors()
    assert "colleague changed match" in sentence
    assert everything(pool) == before and Revision.objects.count() == 1 and LogEntry.objects.count() == log


def test_the_same_match_voided_by_both_is_voided_once(client: Client, colleague: Client, season: Any) -> None:
    _, _, matches = season
    mine, theirs = voided(client, matches[4]), voided(colleague, matches[4])
    assert press(colleague, theirs).status_code == 302
    assert "colleague changed match" in press(client, mine).context["form"].non_field_errors()[0]
    assert Revision.objects.count() == 1


def test_a_second_click_finds_what_the_first_one_did(client: Client, season: Any) -> None:
    pool, _, matches = season
    pages = (
        lambda: corrected(client, matches[4], length="12"),
        lambda: voided(client, *matches[8:11]),
        lambda: voided(client, matches[5]),
    )
    for page in (open_page() for open_page in pages):
        first, second = press(client, page), press(client, page)
        assert (first.status_code, second.status_code) == (302, 302) and first["Location"] == second["Location"]
    assert Revision.objects.count() == 3 and LogEntry.objects.count() == 5 and verify(pool) == (26, None)


def test_who_is_overtaken_each_time_is_asked_to_try_again(client: Client, season: Any) -> None:
    _, _, matches = season
    for page in (corrected(client, matches[4], length="12"), voided(client, matches[4])):
        with untouched(), mock.patch.object(correcting, "correct", side_effect=Overtaken):
            assert "Others were writing all the time. Nothing was changed" in press(client, page).text


# --- Entered late ---


def late_form(client: Client, pool: Pool, players: list[Player], hours: float, **more: str) -> dict[str, Any]:
    url = f"{reverse('admin:matches_match_add')}?pool={pool.pk}"
    return {**opened_form(client, url), **SOUND["fibs"], **ended(at(hours)), **seated(players), **more}


@pytest.fixture
def enters(client: Client, organiser: User) -> str:
    """The address at which the organiser, who may now, enters a match at FIBS."""
    client.force_login(staff("view_match", "add_match", "change_match", "view_player", name="enters"))
    return f"{reverse('admin:matches_match_add')}?pool={pool_of('fibs').pk}"


def test_a_late_match_is_previewed_with_what_was_typed_and_back(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    before = everything(pool)
    page = client.post(enters, late_form(client, pool, players[:2], 3.5, length="9", _addanother="1"))
    assert shown_preview(page).moved and everything(pool) == before and Match.objects.count() == 30
    back = press(client, page, "_back")
    assert errors(back) == {} and back.context["adminform"].form["length"].value() == "9"
    response = press(client, page)
    assert response["Location"] == enters  # for another one
    assert verify(pool) == (31, None)
    late = Match.objects.latest("pk")
    revision = Revision.objects.get()
    assert (revision.kind, list(revision.matches.all()), revision.made_by, late.length) == ("late", [late], late.entered_by, 9)
    # A second click.
    assert press(client, page).status_code == 302
    assert Match.objects.count() == 31 and LogEntry.objects.count() == 1


def test_what_moved_since_the_preview_of_a_late_match_is_shown(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    page = client.post(enters, late_form(client, pool, players[:2], 3.5))
    complete_match(pool, won(players[0], players[1], at(60)), now=NOW)
    before = everything(pool)
    again = press(client, page)
    assert "nothing was written" in again.text and everything(pool) == before and Match.objects.count() == 31
    assert press(client, again).status_code == 302 and verify(pool) == (32, None)


def test_what_moves_nothing_published_needs_no_preview(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    in_order = late_form(client, pool, players[:2], 40)
    open_still = late_form(client, pool, players[:2], 3.5, status="open", outcome="")
    of_others = late_form(client, pool, create_players(["New 1", "New 2"]), -2000)
    for form in (in_order, open_still, of_others):
        assert client.post(enters, form).status_code == 302
    assert Match.objects.count() == 33 and not Revision.objects.exists()


def test_late_by_less_than_an_hour_needs_no_preview(client: Client, enters: str) -> None:
    pool, players = pool_of("fibs"), people(2)
    now = datetime.now(UTC)
    complete(pool, won(*players, now - timedelta(minutes=5)), now=now)
    form = late_form(client, pool, players, 0) | ended(now - timedelta(minutes=50))
    assert client.post(enters, form).status_code == 302
    assert client.post(enters, late_form(client, pool, players, 0) | ended(now - timedelta(minutes=70))).status_code == 200
    assert Match.objects.count() == 2 and verify(pool) == (2, None)


def test_a_late_match_that_is_impossible_is_refused_on_its_field(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    with untouched():
        assert list(errors(client.post(enters, late_form(client, pool, players[:2], 3.5, length="0")))) == ["length"]
        assert list(errors(client.post(enters, late_form(client, pool, [players[0], players[0]], 3.5)))) == ["player 2"]


def test_a_late_match_of_a_merged_player_is_previewed_as_that_of_the_player_he_is(
    client: Client, enters: str, season: Any
) -> None:
    pool, players, _ = season
    [duplicate] = create_players(["Player 1 again"])
    form = late_form(client, pool, [duplicate, players[1]], 3.5)
    merge(players[0], duplicate, reason="one person", now=NOW)
    page = client.post(enters, form)
    moves = {move.player: move.rating[1] for move in shown_preview(page).moves}
    assert duplicate not in moves
    assert press(client, page).status_code == 302 and verify(pool) == (31, None)
    assert {player: Rating.objects.get(pool=pool, player=player).value for player in moves} == moves


def test_an_open_match_that_is_completed_late_is_previewed(client: Client, enters: str, season: Any) -> None:
    pool, players, _ = season
    form = late_form(client, pool, players[:2], 3.5, status="open", outcome="")
    client.post(enters, form)
    match = Match.objects.get(status="open")
    data = opened_form(client, change_url(match)) | {"status": "completed", "outcome": "1", **ended(at(3.5))}
    page = client.post(change_url(match), data)
    assert shown_preview(page).moved and fresh(match).status == "open"
    assert press(client, page).status_code == 302 and fresh(match).status == "completed" and verify(pool) == (31, None)
    assert press(client, page).status_code == 302 and LogEntry.objects.count() == 2


# --- Who may ---


@pytest.mark.parametrize("rights", [(), ("view_match",), ("add_match",), ("delete_match", "view_match")])
def test_who_may_not_correct_cannot(season: Any, rights: tuple[str, ...]) -> None:
    pool, _, matches = season
    client = Client()
    client.force_login(staff(*rights, name="other"))
    before = everything(pool)
    form = {"match": f"{matches[3].pk}:1", "reason": "x", "_confirm": "1", "token": "x"}
    for url in (correct_url(matches[3]), void_url(matches[3]), void_url(matches[3], void=False)):
        assert client.get(url).status_code == client.post(url, form).status_code == 403
    if "view_match" in rights:
        page = client.get(change_url(matches[3]))
        assert correct_url(matches[3]) not in page.text and "matches/match/void" not in page.text
        assert "void_selected" not in client.get(reverse(LIST)).text
        choose(client, "void_selected", matches[:2])
        page = client.get(reverse("admin:matches_match_delete", args=[matches[3].pk]))
        assert page.status_code == 403 and "does not have the rights to void it" in page.text
    assert everything(pool) == before and not Revision.objects.exists()


def test_who_is_no_staff_is_sent_to_the_login(client: Client, season: Any) -> None:
    _, _, matches = season
    client.force_login(User.objects.create_user("player"))
    for url in (correct_url(matches[3]), void_url(matches[3])):
        assert client.get(url).status_code == client.post(url).status_code == 302
    client.logout()
    assert client.get(void_url(matches[3])).status_code == 302


def test_an_open_match_is_not_corrected(client: Client) -> None:
    opened = Match.objects.create(pool=pool_of("fibs"))
    assert client.get(correct_url(opened))["Location"] == change_url(opened)
    assert client.post(correct_url(opened), {"reason": "x"})["Location"] == change_url(opened)


# --- Pages ---


def test_a_preview_of_many_names_those_who_move_most(client: Client) -> None:
    pool, players = pool_of("fibs"), people(70)
    matches = complete_matches(pool, a_season(players, 300), now=NOW)
    page = voided(client, matches[0])
    preview = shown_preview(page)
    assert preview.moved > len(preview.moves) == 50 and preview.more_moves == preview.moved - 50
    assert f"… and {preview.more_moves} more, who move less." in page.text
    moves = [abs(move.difference) for move in preview.moves]
    assert moves == sorted(moves, reverse=True)


def test_the_pages_have_a_fixed_number_of_queries(client: Client, season: Any) -> None:
    pool, players, matches = season

    def count() -> list[int]:
        form = opened_form(client, correct_url(matches[3])) | {"reason": "x", "length": "17"}
        chosen = {"match": f"{matches[3].pk}:1", "reason": "x"}
        return [
            queries(lambda: client.get(change_url(matches[3]))),
            queries(lambda: client.get(correct_url(matches[3]))),
            queries(lambda: client.get(void_url(matches[3]))),
            queries(lambda: client.post(correct_url(matches[3]), form)),
            queries(lambda: client.post(void_url(matches[3]), chosen)),
        ]

    few = count()
    complete_matches(pool, [won(*players[:2], at(100 + number)) for number in range(40)], now=NOW)
    complete_matches(
        pool,
        [
            won(*pair, at(90))
            for pair in zip(create_players(map(str, range(20))), create_players(map(str, range(20, 40))), strict=True)
        ],
        now=NOW,
    )
    assert count() == few and max(few) <= 45, few
    assert values(pool)


def test_names_and_reasons_are_escaped(client: Client) -> None:
    pool, players = pool_of("fibs"), create_players(["<b>Vera</b>", "Didrik"])
    [match] = complete(pool, won(*players, at(0)))
    for page in (corrected(client, match, reason="<script>1</script>", outcome="2"), voided(client, match, reason="<script>1")):
        assert "<b>Vera" not in page.text and "<script>1" not in page.text and "&lt;script&gt;1" in page.text
        press(client, page)
    assert "<script>1" not in client.get(reverse("admin:matches_revision_changelist")).text


def test_a_correction_made_with_the_service_alone_counts_as_well(client: Client, season: Any) -> None:
    _, _, matches = season
    corrections.correct(matches[0].pool, [Correction(matches[0], void=True)], reason="from the terminal", now=NOW)
    page = client.get(change_url(matches[0]))
    assert "q=%23" in page.text and "voided" in page.text
