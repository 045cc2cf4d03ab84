"""The pages of reports: a match is reported, confirmed and disputed by requests, and nobody gets further than he may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.utils import timezone

from matches.models import Appeal, Evaluation, Match, Report
from matches.reports import adjudication, reporting
from players.ledger import Opening, set_openings
from players.models import Player, RatingChange
from players.simulation import simulate
from players.systems.base import Seat
from tests.building import people, pool_of
from tests.matches.entering import Filled, staff
from tests.matches.reports.reporting import BROKEN_OFF, CALLED_OFF, FIRST_WON, PLACED, SECOND_WON, live, started
from tests.pages import login_of, queries_of, text_of

pytestmark = pytest.mark.django_db


def playing(slug: str = "fibs", ratings: tuple[float, ...] = (), **terms: Any) -> tuple[Match, list[Client], list[Player]]:
    """A match that is being played, and a browser for each of its players."""
    match, players = started(slug, **terms)
    if ratings:
        openings = {player.pk: Opening(rating, 400, None) for player, rating in zip(players, ratings, strict=True)}
        with transaction.atomic():
            set_openings(match.pool, openings, timezone.now())
    return match, [login_of(player) for player in players], players


def page(match: Match) -> str:
    return f"/matches/{match.pk}/report/"


def send(client: Client, match: Match, **values: Any) -> Any:
    """The form of the page as a browser sends it, with what is ticked."""
    return client.post(page(match), {**filled(client, match, page(match)), **values})


def filled(client: Client, match: Match, action: str) -> dict[str, Any]:
    text = client.get(page(match)).text
    assert f'action="{action}"' in text
    return Filled(text.replace(f'action="{action}"', f'id="{action}" action="{action}"'), action).data


# --- By requests, from the start to the sheet ---


def test_one_reports_and_the_other_confirms() -> None:
    match, (one, two), _ = playing("crowns-cup", (1650.0, 1500.0))
    text = text_of(one.get(page(match)))
    assert "What your rating would do" in text and "+3.77 −5.55 €0.30" in text and "Report it" in text
    response = send(one, match, outcome="won_1", note="5:3")
    assert response.status_code == 302 and response["Location"] == page(match)
    assert "Your report waits for a confirmation" in text_of(one.get(page(match)))
    text = text_of(two.get(page(match)))
    assert "Is this right?" in text and "Player 1 won against Player 2, match to 5." in text and "5:3" in text
    assert "It is right: −3.77 for me" in text and "Without an answer it is confirmed on" in text
    response = two.post(f"/reports/{live(match).pk}/confirm/", follow=True)
    assert response.redirect_chain == [(match.get_absolute_url(), 302)]
    text = text_of(response)
    assert "The result is confirmed." in text and "Before 1500.00 Change −3.77 After 1496.23" in text and "Played" in text
    assert one.get(page(match)).status_code == 302


def test_the_sums_are_those_of_simulate() -> None:
    match, (_, two), _ = playing("fibs", (1700.0, 1500.0))
    outcomes = simulate(match.pool.rating_system, [Seat(1700.0, 400), Seat(1500.0, 400)], length=5).outcomes
    assert f"+{outcomes[1].changes[1]:.2f} −{-outcomes[0].changes[1]:.2f}" in text_of(two.get(page(match)))


def test_a_money_game() -> None:
    match, (one, two), _ = playing("crowns-cup", (1650.0, 1500.0), length=None)
    text = text_of(one.get(page(match)))
    assert "Points If you win If you lose Rake" in text and text.count("€") >= 7
    assert send(one, match, outcome="won_1").status_code == 400
    assert send(one, match, outcome="won_1", points="4").status_code == 302
    assert "money game for 4 points" in text_of(two.get(page(match)))
    two.post(f"/reports/{live(match).pk}/confirm/")
    match.refresh_from_db()
    assert match.status == "completed" and match.points == 4


def test_a_table_of_four() -> None:
    match, clients, _ = playing("freewhist")
    text = text_of(clients[2].get(page(match)))
    assert "by your place" in text and "1 +100" in text and "4 −100" in text and "Any one of the others confirms it" in text
    missing = send(clients[2], match, outcome="finished", place_1="1", place_2="2", place_3="3")
    assert missing.status_code == 400 and "Give everybody a place" in missing.text
    wrong = send(clients[2], match, outcome="finished", place_1="1", place_2="1", place_3="1", place_4="2")
    assert wrong.status_code == 302
    for client in (clients[0], clients[1]):
        assert "1. Player 1" in text_of(client.get(page(match)))
    clients[1].post(f"/reports/{live(match).pk}/confirm/")
    assert RatingChange.objects.filter(match=match).count() == 4


def test_a_draw_where_there_are_draws() -> None:
    match, (one, two), _ = playing("tics")
    assert "If you win A draw If you lose" in text_of(one.get(page(match)))
    assert send(one, match, outcome="draw").status_code == 302
    assert two.post(f"/reports/{live(match).pk}/confirm/").status_code == 302
    other, (one, _), _ = playing("fibs")
    assert send(one, other, outcome="draw").status_code == 400


def test_it_says_why_it_will_not_count() -> None:
    match, (one, _), _ = playing("crowns-cup", real_money=False, stake=None)
    text = text_of(one.get(page(match)))
    assert "It will move no rating. Only matches for real money count in this pool." in text and "What your rating" not in text


def test_a_dispute() -> None:
    match, (one, two), _ = playing()
    send(one, match, outcome="won_1")
    said = live(match)
    action = f"/reports/{said.pk}/dispute/"
    values = filled(two, match, action)
    same = two.post(action, {**values, "dispute-outcome": "won_1"})
    assert same.status_code == 400 and "This is what was reported." in same.text
    response = two.post(action, {**values, "dispute-outcome": "won_2", "dispute-note": "It was me"})
    assert response.status_code == 302
    for client in (one, two):
        text = text_of(client.get(page(match)))
        assert "Two versions: an organiser decides" in text and "It was me" in text
        assert "Player 1 won against Player 2" in text and "Player 2 won against Player 1" in text
    assert two.post(f"/reports/{said.pk}/confirm/").status_code == 302
    assert Match.objects.get().status == "completed"


def test_a_report_is_changed_and_withdrawn() -> None:
    match, (one, two), _ = playing()
    send(one, match, outcome="won_1")
    first = live(match)
    values = filled(one, match, page(match))
    assert values["outcome"] == "won_1" and values["seen"] == str(first.pk)
    assert one.post(page(match), {**values, "outcome": "won_2"}).status_code == 302
    second = live(match)
    # The other one has the first report on his screen still.
    response = two.post(f"/reports/{first.pk}/confirm/")
    assert response.status_code == 409 and "changed or withdrawn meanwhile" in response.text
    assert "Player 2 won against Player 1" in text_of(response) and Match.objects.get().status == "open"
    assert one.post(page(match), {**values, "outcome": "won_1"}).status_code == 409
    assert one.post(f"/reports/{second.pk}/withdraw/").status_code == 302 and live(match) is None
    assert two.post(f"/reports/{second.pk}/confirm/").status_code == 409
    assert "Report the result How it ended" in text_of(two.get(page(match)))


def test_broken_off_evaluated_and_appealed() -> None:
    match, (one, two), (vera, _) = playing("crowns-cup", (1500.0, 1500.0))
    assert send(one, match, outcome="broken_off", note="Two on the bar").status_code == 302
    text = text_of(two.get(page(match)))
    assert "Broken off: it waits for an evaluation" in text and "Two on the bar" in text and "Without an answer" not in text
    assert two.post(f"/reports/{live(match).pk}/confirm/").status_code == 302
    assert one.get(f"/matches/{match.pk}/appeal/").status_code == 200
    assert one.post(f"/matches/{match.pk}/appeal/", {"text": "x"}).status_code == 409
    adjudication.evaluate(match_id=match.pk, chance=0.625, note="XGID=<b>", evaluator="GNU Backgammon")
    response = one.get(match.get_absolute_url())
    text = text_of(response)
    assert "Winning chance of Player 1: 62.5%, by GNU Backgammon" in text and "XGID=<b>" in text
    assert "Appeal against how this match was settled" in text and "+1.16" in text
    assert "Appeal against" not in text_of(Client().get(match.get_absolute_url()))
    for empty in ({"text": " "}, {}):
        refused = one.post(f"/matches/{match.pk}/appeal/", empty)
        assert refused.status_code == 400 and "This field is required." in refused.text
    assert one.post(f"/matches/{match.pk}/appeal/", {"text": "The cube"}).status_code == 302
    assert "It is with the organisers." in text_of(one.get(f"/matches/{match.pk}/appeal/"))
    assert "The cube" not in text_of(two.get(f"/matches/{match.pk}/appeal/"))
    assert one.post(f"/matches/{match.pk}/appeal/", {"text": "Other"}).status_code == 409
    assert Appeal.objects.get().player == vera and Evaluation.objects.count() == 1


def test_called_off() -> None:
    match, (one, two), _ = playing()
    send(one, match, outcome="called_off")
    assert "was not played to its end" in text_of(two.get(page(match)))
    two.post(f"/reports/{live(match).pk}/confirm/")
    assert "It is closed, and moves no rating." in text_of(one.get(match.get_absolute_url()))


# --- What nobody may ---


def test_by_direct_request_nobody_acts_for_another() -> None:
    match, (one, two), _ = playing()
    [third] = people(1)
    stranger, nobody = login_of(third), Client()
    without_player = Client()
    without_player.force_login(get_user_model().objects.create_user("no player"))
    send(one, match, outcome="won_1")
    said = live(match)
    values = {"outcome": "won_1", "dispute-outcome": "won_2", "text": "x", "player": "1", "seat": "2"}
    addresses = [
        page(match),
        f"/matches/{match.pk}/appeal/",
        *(f"/reports/{said.pk}/{act}/" for act in ("confirm", "dispute", "withdraw")),
    ]
    for address in addresses:
        assert stranger.post(address, values).status_code == 403, address
        assert without_player.post(address, values).status_code == 403, address
        answer = nobody.post(address, values)
        assert answer.status_code == 302 and answer["Location"].startswith("/accounts/login/"), address
    assert stranger.get(page(match)).status_code == stranger.get(f"/matches/{match.pk}/appeal/").status_code == 403
    # His own report.
    assert one.post(f"/reports/{said.pk}/confirm/", {"player": "2", "seat": "2"}).status_code == 403
    assert one.post(f"/reports/{said.pk}/dispute/", {"dispute-outcome": "won_2"}).status_code == 403
    assert two.post(f"/reports/{said.pk}/withdraw/").status_code == 403
    said.refresh_from_db()
    assert said.state == "waiting" and Match.objects.get().status == "open" and not Appeal.objects.exists()
    for address in addresses[2:]:
        assert two.get(address).status_code == 405


def test_a_form_without_its_token_is_refused() -> None:
    match, _, (vera, _) = playing()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(vera.user)
    assert strict.post(page(match), {"outcome": "won_1"}).status_code == 403 and not Report.objects.exists()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"outcome": ""},
        {"outcome": "won_3"},
        {"outcome": "won_1\x00"},
        {"outcome": ["won_9", "x"]},
        {"outcome": "result"},
        {"outcome": "won_1", "note": "x\x00"},
        {"outcome": "won_1", "note": "x" * 1001},
        {"outcome": "won_1", "played_at": "yesterday"},
        {"outcome": "won_1", "played_at": "9999-12-31T23:59"},
        {"outcome": "won_1", "played_at": "0001-01-01T00:00"},
        {"outcome": "won_1", "played_at": "2020-01-01T00:00"},
        {"outcome": "won_1", "seen": "x"},
    ],
)
def test_bad_input_is_told_and_leaves_nothing(values: dict[str, Any]) -> None:
    match, (one, _), _ = playing()
    response = one.post(page(match), values)
    assert response.status_code == 400 and 'class="error"' in response.text
    assert not Report.objects.exists()


@pytest.mark.parametrize("points", ["0", "-1", "10000", "9" * 400, "4.5", "inf", "NaN", "x", "\x00", "1e3"])
def test_bad_points(points: str) -> None:
    match, (one, _), _ = playing("crowns-cup", length=None)
    response = one.post(page(match), {"outcome": "won_1", "points": points})
    assert response.status_code == 400 and not Report.objects.exists()
    assert response.context["form"].errors["points"]


@pytest.mark.parametrize("number", ["0", "999999", str(2**63), "9" * 40, "9" * 4500, "x"])
def test_what_is_no_match_is_not_found(number: str) -> None:
    [vera] = people(1)
    client = login_of(vera)
    for address in (f"/matches/{number}/report/", f"/matches/{number}/appeal/", f"/reports/{number}/confirm/"):
        assert client.post(address, {"outcome": "won_1"}).status_code == 404, address


def test_the_time_played_is_the_readers() -> None:
    match, players = started()
    Match.objects.update(created_at=timezone.now() - timedelta(days=2))
    client = login_of(players[0], time_zone="Pacific/Auckland")
    local = timezone.localtime(timezone.now() - timedelta(days=1), timezone.get_fixed_timezone(0)).replace(
        second=0, microsecond=0
    )

    there = local.astimezone(ZoneInfo("Pacific/Auckland"))
    assert client.post(page(match), {"outcome": "won_1", "played_at": f"{there:%Y-%m-%dT%H:%M}"}).status_code == 302
    assert live(match).played_at == local
    assert f'value="{there:%Y-%m-%dT%H:%M}"' in client.get(page(match)).text


# --- The list, and how much is asked of the database ---


def test_unfinished_matches_are_listed_for_their_players_alone() -> None:
    match, (one, two), players = playing()
    [third] = people(1)
    assert "Report the result" in text_of(one.get("/matches/unfinished/"))
    send(one, match, outcome="won_1")
    assert "Waits for a confirmation" in text_of(one.get("/matches/unfinished/"))
    assert "Confirm the result" in text_of(two.get("/matches/unfinished/"))
    assert "All your matches are finished." in text_of(login_of(third).get("/matches/unfinished/"))
    assert Client().get("/matches/unfinished/").status_code == 302
    reporting.dispute(report_id=live(match).pk, player=players[1], told=SECOND_WON)
    assert "Disputed" in text_of(one.get("/matches/unfinished/"))


def test_the_pages_take_a_fixed_number_of_queries() -> None:
    match, (one, two), players = playing()
    first = queries_of(one, page(match))
    reporting.report(match_id=match.pk, player=players[0], told=FIRST_WON)
    assert queries_of(one, page(match)) == queries_of(two, page(match)) == first == 7
    four, clients, table = playing("freewhist")
    reporting.report(match_id=four.pk, player=table[0], told=PLACED)
    assert queries_of(clients[1], page(four)) == first
    real, (gambler, _), _ = playing("crowns-cup")
    assert queries_of(gambler, page(real)) == first + 1
    reporting.report(match_id=real.pk, player=real.participants.get(seat=1).player, told=BROKEN_OFF)
    alone = queries_of(one, "/matches/unfinished/")
    for _ in range(5):
        more, _ = started("fibs", players)
        reporting.report(match_id=more.pk, player=players[1], told=CALLED_OFF)
    assert queries_of(one, "/matches/unfinished/") == alone == 6


def test_the_link_on_the_sheet_is_for_players() -> None:
    match, (one, _), _ = playing()
    assert page(match) in one.get(match.get_absolute_url()).text
    assert page(match) not in Client().get(match.get_absolute_url()).text


def test_an_organiser_who_does_not_play_reports_nothing() -> None:
    match, _, _ = playing()
    client = Client()
    client.force_login(staff("change_match"))
    assert client.post(page(match), {"outcome": "won_1"}).status_code == 403
    assert pool_of("fibs").pk == match.pool_id and not Report.objects.exists()


@pytest.mark.parametrize("told", [SECOND_WON, CALLED_OFF])
def test_the_players_read_why_an_organiser_decided_as_he_did(told: Any, client: Client) -> None:
    match, (one, two) = started("fibs")
    first = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    reporting.dispute(report_id=first.pk, player=two, told=SECOND_WON, note="")
    why = "The file of the match says so."
    adjudication.decide(match_id=match.pk, told=told, decided_by=staff(), reason=why, seen=first.pk)
    for player in (one, two):
        assert f"Decided by an organiser {why}" in text_of(login_of(player).get(match.get_absolute_url()))
    assert why not in text_of(client.get(match.get_absolute_url()))
    assert queries_of(client, match.get_absolute_url()) == 6
