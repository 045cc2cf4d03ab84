"""The organisers' queue: what waits for them, pool by pool, and how they settle it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches.models import Appeal, Evaluation, Match, Report
from matches.reports import adjudication, appeals, reporting
from players.models import Organiser, Player, RatingChange
from tests.building import pool_of
from tests.matches.entering import Filled, press, queries, staff
from tests.matches.reports.reporting import BROKEN_OFF, FIRST_WON, SECOND_WON, live, started
from tests.pages import text_of

pytestmark = pytest.mark.django_db

QUEUE = "/admin/matches/report/queue/"


@pytest.fixture(autouse=True)
def organiser(client: Client) -> User:
    """Of the Crowns Cup, with no permission of Django's."""
    user = User.objects.create_user("organiser", is_staff=True)
    Organiser.objects.create(user=user, pool=pool_of("crowns-cup"))
    client.force_login(user)
    return user


def settle_url(match: Match) -> str:
    return reverse("admin:matches_report_settle", args=[match.pk])


def disputed(slug: str = "crowns-cup") -> tuple[Match, list[Player]]:
    match, players = started(slug)
    said = reporting.report(match_id=match.pk, player=players[0], told=FIRST_WON, note="5:3")
    reporting.dispute(report_id=said.pk, player=players[1], told=SECOND_WON, note="3:5")
    return match, players


def broken_off(slug: str = "crowns-cup", **terms: Any) -> tuple[Match, list[Player]]:
    match, players = started(slug, **terms)
    reporting.report(match_id=match.pk, player=players[0], told=BROKEN_OFF, note="On the bar")
    return match, players


def appealed() -> tuple[Match, Appeal]:
    match, players = broken_off()
    adjudication.evaluate(match_id=match.pk, chance=0.62, note="XGID", evaluator="GNU Backgammon")
    return match, appeals.appeal(match_id=match.pk, player=players[1], text="The cube was mine")


def sent(client: Client, match: Match, form_id: str, **values: str) -> Any:
    data = Filled(client.get(settle_url(match)).text, form_id).data
    button = {"evaluation_form": "_evaluate", "decision_form": "_decide"}[form_id]
    return client.post(settle_url(match), {**data, button: "1", **values})


def test_the_queue_shows_what_waits_in_his_pools(client: Client) -> None:
    match, _ = disputed()
    other, _ = disputed("fibs")
    off, _ = broken_off()
    _, appeal = appealed()
    quiet, players = started("crowns-cup")
    reporting.report(match_id=quiet.pk, player=players[0], told=FIRST_WON)
    text = text_of(client.get(QUEUE))
    assert "Disputes (1)" in text and "Broken off, to be evaluated (1)" in text and "Appeals (1)" in text
    assert "Player 1 won against Player 2, match to 5" in text and "against: Player 2 won against Player 1" in text
    assert f"#{match.pk}" in text and f"#{off.pk}" in text and "The cube was mine" in text
    assert f"#{other.pk} " not in text and f"#{quiet.pk} " not in text
    client.force_login(staff("change_match", name="everywhere"))
    assert f"#{other.pk}" in text_of(client.get(QUEUE))
    client.force_login(staff("view_player", name="nowhere"))
    assert client.get(QUEUE).status_code == 403
    client.logout()
    assert client.get(QUEUE).status_code == 302
    assert appeal.pk


def test_an_empty_queue_says_so(client: Client) -> None:
    text = text_of(client.get(QUEUE))
    assert text.count("None.") == 3


def test_a_dispute_is_decided(client: Client, organiser: User) -> None:
    match, _ = disputed()
    text = text_of(client.get(settle_url(match)))
    assert "Player 1: Player 1 won against Player 2, match to 5" in text and "Player 2: Player 2 won against Player 1" in text
    assert "“5:3”" in text and "“3:5”" in text and "+" in text
    for wrong, name in (
        ({"outcome": "won_2"}, "reason"),
        ({"reason": "x"}, "outcome"),
        ({"outcome": "draw", "reason": "x"}, "outcome"),
    ):
        response = sent(client, match, "decision_form", **wrong)
        assert response.status_code == 200 and name in response.context["decision_form"].errors
    assert Match.objects.get().status == "open"
    response = sent(client, match, "decision_form", outcome="won_2", reason="The log says so")
    assert response.status_code == 302 and response["Location"] == QUEUE
    match.refresh_from_db()
    assert match.status == "completed" and match.entered_by == organiser and live(match) is None
    assert [seat.score for seat in match.participants.all()] == [0.0, 1.0]
    assert LogEntry.objects.filter(object_id=str(match.pk), change_message__contains="The log says so").count() == 1
    assert "decided by an organiser, organiser The log says so" in text_of(client.get(settle_url(match)))


def test_what_was_changed_meanwhile_is_not_decided_on(client: Client) -> None:
    match, players = disputed()
    data = Filled(client.get(settle_url(match)).text, "decision_form").data | {"outcome": "won_1", "reason": "x", "_decide": "1"}
    reporting.withdraw(report_id=live(match).pk, player=players[0])
    reporting.report(match_id=match.pk, player=players[0], told=SECOND_WON)
    assert client.post(settle_url(match), data).status_code == 302 and Match.objects.get().status == "open"
    # Reported again after a dispute: it waits here still.
    assert "Reported again after a dispute" in text_of(client.get(QUEUE))


def test_a_match_that_was_broken_off_is_evaluated(client: Client, organiser: User) -> None:
    match, _ = broken_off()
    assert "Player 1 is Player 1." in text_of(client.get(settle_url(match)))
    for wrong, name in (
        ({"chance": "1.5"}, "chance"),
        ({"chance": "nan"}, "chance"),
        ({"chance": ""}, "chance"),
        ({"note": ""}, "note"),
        ({"note": "\x00"}, "note"),
        ({"evaluator": "x" * 101}, "evaluator"),
    ):
        response = sent(client, match, "evaluation_form", **{"chance": "0.62", "note": "XGID", **wrong})
        assert response.status_code == 200 and name in response.context["evaluation_form"].errors, wrong
    assert not Evaluation.objects.exists()
    response = sent(client, match, "evaluation_form", chance="0.62", note="XGID", evaluator="GNU Backgammon")
    assert response.status_code == 302
    match.refresh_from_db()
    assert (match.status, match.chance) == ("completed", 0.62) and Evaluation.objects.get().made_by == organiser
    assert RatingChange.objects.filter(match=match).count() == 2


def test_a_money_game_has_the_cube_that_was_reported(client: Client) -> None:
    match, players = started("crowns-cup", length=None)
    reporting.report(match_id=match.pk, player=players[0], told=reporting.Told(outcome="broken_off", points=4))
    assert Filled(client.get(settle_url(match)).text, "evaluation_form").data["points"] == "4"
    assert sent(client, match, "evaluation_form", chance="0.5", note="x").status_code == 302
    assert Match.objects.get().points == 4


def test_a_match_without_a_report_is_closed(client: Client) -> None:
    match, _ = started("crowns-cup")
    assert settle_url(match) in client.get(reverse("admin:matches_match_change", args=[match.pk])).text
    assert sent(client, match, "decision_form", outcome="called_off", reason="Both are gone").status_code == 302
    assert Match.objects.get().status == "voided"


def test_pools_without_a_chance_offer_no_evaluation(client: Client) -> None:
    client.force_login(staff("change_match", name="everywhere"))
    match, _ = disputed("fibs")
    page = client.get(settle_url(match)).text
    assert "evaluation_form" not in page and "decision_form" in page
    response = client.post(settle_url(match), {"_evaluate": "1", "chance": "0.5", "note": "x"})
    assert response.status_code == 200 and Match.objects.get().status == "open"


def test_an_appeal_is_granted_and_leads_to_the_correction(client: Client) -> None:
    match, appeal = appealed()
    url = reverse("admin:matches_appeal_change", args=[appeal.pk])
    text = text_of(client.get(url))
    assert "The cube was mine" in text and "winning chance of player 1 62%, GNU Backgammon" in text
    assert client.post(url, {"_grant": "1", "answer": ""}).status_code == 200
    response = client.post(url, {"_grant": "1", "answer": "You are right"})
    assert response.status_code == 302 and response["Location"] == reverse("admin:matches_match_correct", args=[match.pk])
    assert "correct the match" in text_of(client.get(QUEUE)) and "Correct the match" in text_of(client.get(url))
    form = Filled(client.get(response["Location"]).text, "match_form").data | {"chance": "0.4", "reason": "Appeal"}
    assert press(client, client.post(response["Location"], form)).status_code == 302
    match.refresh_from_db()
    assert match.chance == 0.4
    assert "Appeals (0)" in text_of(client.get(QUEUE)) and "The match is corrected." in text_of(client.get(url))
    text = text_of(client.get(match.get_absolute_url()))
    assert "62%, by GNU Backgammon" in text and "corrected since" in text


def test_an_appeal_is_rejected(client: Client) -> None:
    _, appeal = appealed()
    url = reverse("admin:matches_appeal_change", args=[appeal.pk])
    assert client.post(url, {"_reject": "1", "answer": "No"}).status_code == 302
    appeal.refresh_from_db()
    assert (appeal.state, appeal.answer) == ("rejected", "No")
    client.post(url, {"_grant": "1", "answer": "Yes"})
    appeal.refresh_from_db()
    assert appeal.state == "rejected"


def test_he_settles_nothing_in_another_pool(client: Client) -> None:
    match, _ = disputed("fibs")
    said = live(match)
    values = {"_decide": "1", "outcome": "won_1", "reason": "x", "seen": str(said.pk)}
    assert client.get(settle_url(match)).status_code == client.post(settle_url(match), values).status_code == 403
    assert client.get(reverse("admin:matches_report_change", args=[said.pk])).status_code == 302
    assert said.pk not in [
        report.pk for report in client.get(reverse("admin:matches_report_changelist")).context["cl"].result_list
    ]
    _, appeal = appealed()
    url = reverse("admin:matches_appeal_change", args=[appeal.pk])
    Organiser.objects.all().delete()
    for address in (url, settle_url(match), reverse("admin:matches_appeal_changelist")):
        assert client.post(address, {"_grant": "1", "answer": "x"}).status_code in (302, 403)
    assert Appeal.objects.get().state == "open" and Match.objects.get(pk=match.pk).status == "open"


def test_not_his_own_match(client: Client, organiser: User) -> None:
    match, players = disputed()
    Player.objects.filter(pk=players[0].pk).update(user=organiser)
    response = client.post(
        settle_url(match), {"_decide": "1", "outcome": "won_1", "reason": "x", "seen": str(live(match).pk)}, follow=True
    )
    assert "another organiser must settle it" in response.text and Match.objects.get().status == "open"


def test_nothing_is_added_or_deleted_by_hand(client: Client) -> None:
    client.force_login(User.objects.create_superuser("chief"))
    match, _ = disputed()
    _, appeal = appealed()
    for model, row in (("report", live(match).pk), ("appeal", appeal.pk)):
        assert client.get(reverse(f"admin:matches_{model}_add")).status_code == 403
        assert client.post(reverse(f"admin:matches_{model}_delete", args=[row]), {"post": "yes"}).status_code == 403
    assert Report.objects.count() == 2 and Appeal.objects.count() == 1


@pytest.mark.parametrize("number", ["0", "999999", str(2**63), "9" * 40])
def test_what_is_no_match_is_not_found(client: Client, number: str) -> None:
    assert client.get(f"/admin/matches/report/settle/{number}/").status_code == 404


def test_the_pages_take_a_fixed_number_of_queries(client: Client) -> None:
    first, _ = disputed()
    appealed()
    broken_off()
    pages = [QUEUE, reverse("admin:matches_report_changelist"), settle_url(first)]
    few = [queries(lambda page=page: client.get(page)) for page in pages]
    for _ in range(4):
        disputed()
        appealed()
        broken_off()
    assert [queries(lambda page=page: client.get(page)) for page in pages] == few
