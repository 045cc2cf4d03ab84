"""What players are told of reports, disputes and appeals."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from matches.inbox import words
from matches.inbox.models import Message
from matches.models import Report
from matches.reports import adjudication, appeals, reporting
from players.anonymising import anonymise_player
from players.systems.base import Refused
from tests.building import people
from tests.matches.entering import staff
from tests.matches.inbox.test_messages import with_login
from tests.matches.reports.reporting import CALLED_OFF, FIRST_WON, PLACED, SECOND_WON, started
from tests.pages import text_of

pytestmark = pytest.mark.django_db


def told() -> list[tuple[int, str]]:
    return [(message.player_id, message.kind) for message in Message.objects.order_by("pk")]


def test_the_other_is_asked_to_confirm_and_told_how_long_he_has(client: Client) -> None:
    match, (one, two) = started("fibs")
    with_login(one), with_login(two)
    client.force_login(two.user)
    said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    assert told() == [(two.pk, "confirm")]
    message = Message.objects.select_related("pool").get()
    assert words.moment(said.confirms_at.isoformat()) in words.text(message)
    assert words.address(message) == f"/matches/{match.pk}/report/"
    page = client.get(words.address(message))
    assert "Is this right?" in text_of(page)
    # A newer report is another question.
    reporting.report(match_id=match.pk, player=one, told=SECOND_WON)
    assert told() == [(two.pk, "confirm")] * 2
    reporting.confirm(report_id=reporting.report(match_id=match.pk, player=one, told=SECOND_WON).pk, player=two)
    assert len(told()) == 2
    assert client.get(words.address(message))["Location"] == match.get_absolute_url()


def test_who_reports_again_and_again_fills_no_mailbox_and_wins_nothing_by_silence() -> None:
    match, (one, two) = started("fibs")
    with_login(one), with_login(two)
    for _ in range(Report.PATIENCE):
        said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
        assert said.confirms_at is not None
        reporting.withdraw(report_id=said.pk, player=one)
    last = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    assert told() == [(two.pk, "confirm")] * Report.PATIENCE
    assert last.is_live and last.confirms_at is None
    reporting.confirm_silent(timezone.now() + timedelta(days=9))
    match.refresh_from_db()
    assert match.status == "open"
    # The other may still confirm it, and his own report is heard.
    reporting.withdraw(report_id=last.pk, player=one)
    assert reporting.report(match_id=match.pk, player=two, told=SECOND_WON).confirms_at is not None
    assert told()[-1] == (one.pk, "confirm")


def test_three_others_are_asked_at_a_table_of_four() -> None:
    match, players = started("freewhist")
    for player in players:
        with_login(player)
    reporting.report(match_id=match.pk, player=players[2], told=PLACED)
    assert told() == [(players[number].pk, "confirm") for number in (0, 1, 3)]


def test_both_are_told_of_a_dispute_and_of_its_decision() -> None:
    match, (one, two) = started("fibs")
    with_login(one), with_login(two)
    said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON)
    assert told()[1:] == [(one.pk, "disputed"), (two.pk, "disputed")]
    adjudication.decide(match_id=match.pk, told=FIRST_WON, decided_by=staff(), reason="The log says so", seen=said.pk)
    assert told()[3:] == [(one.pk, "decided"), (two.pk, "decided")]
    for message in Message.objects.select_related("pool", "revision"):
        assert words.subject(message) and words.text(message)


def test_an_answered_appeal_is_told_to_him_who_made_it(client: Client) -> None:
    match, (one, two) = started("fibs")
    with_login(two)
    said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    reporting.confirm(report_id=said.pk, player=two)
    made = appeals.appeal(match_id=match.pk, player=two, text="I clicked wrong")
    assert "answered" not in {kind for _, kind in told()}
    appeals.answer(appeal_id=made.pk, grant=False, text="No", answered_by=staff())
    assert told()[-1] == (two.pk, "answered")
    message = Message.objects.select_related("pool").get(kind="answered")
    assert "answered" in words.subject(message)
    client.force_login(two.user)
    assert "It was rejected. No" in text_of(client.get(words.address(message)))


def test_what_is_rolled_back_is_not_told() -> None:
    match, (one, two) = started("fibs")
    with_login(two)
    with pytest.raises(reporting.NotAtTable):
        reporting.report(match_id=match.pk, player=people(3)[2], told=FIRST_WON)
    assert told() == []
    assert timezone.now() - timedelta(days=1) < match.created_at and one.pk != two.pk


def test_the_messages_of_him_who_asks_to_be_forgotten_go() -> None:
    match, (one, two) = started("fibs")
    with_login(two)
    reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    anonymise_player(two, reason="asked", made_by=None)
    assert told() == []


def test_players_are_told_once_that_an_organiser_has_settled_what_nobody_had_reported() -> None:
    organiser = staff()
    for number, settle in enumerate(
        [
            lambda match: adjudication.decide(match_id=match.pk, told=FIRST_WON, decided_by=organiser, reason="The log says so"),
            lambda match: adjudication.decide(match_id=match.pk, told=CALLED_OFF, decided_by=organiser, reason="Not played"),
            lambda match: adjudication.evaluate(match_id=match.pk, chance=0.5, note="even", evaluated_by=organiser),
        ]
    ):
        match, (one, _two) = started("crowns-cup")
        with_login(one, language="de")  # and two has none
        settle(match)
        with contextlib.suppress(reporting.Over):
            settle(match)
        message = Message.objects.select_related("pool").get(match=match)
        assert (message.player_id, message.kind, Message.objects.count()) == (one.pk, "decided", number + 1)
        assert words.address(message) == match.get_absolute_url() and "organiser has decided" in words.text(message)
    match, (one, _two) = started("fibs")
    with_login(one)
    adjudication.call_off(match_id=match.pk, reason="The server's own players know it")
    assert not Message.objects.filter(match=match).exists()


def test_what_is_refused_tells_nobody() -> None:
    match, (one, two) = started("fibs")
    with_login(one), with_login(two)
    with pytest.raises(Refused):
        adjudication.decide(match_id=match.pk, told=FIRST_WON, decided_by=staff(), reason="")
    with pytest.raises(adjudication.OwnMatch):
        adjudication.decide(match_id=match.pk, told=FIRST_WON, decided_by=one.user, reason="I won")
    assert told() == []
