"""Report and confirm: who may say what, what it does, and that it does it once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from matches.completion import delete_open, save_open
from matches.corrections import Correction, correct
from matches.entries import Entry
from matches.merging import merge
from matches.models import Appeal, Evaluation, Match, Report, Revision
from matches.reports import adjudication, appeals, reporting
from matches.signals import appeal_changed, report_changed
from matches.tasks import confirm_silent
from matches.verify import verify
from players.anonymising import anonymise_player
from players.models import Player, Rating, RatingChange
from players.services import create_players
from players.systems.base import Refused, Result
from tests.building import NOW, complete, people, pool_of, values, won
from tests.matches.entering import staff
from tests.matches.reports.reporting import (
    BROKEN_OFF,
    CALLED_OFF,
    DRAWN,
    FIRST_WON,
    PLACED,
    SECOND_WON,
    TERMS,
    Told,
    live,
    started,
)

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=2)


def told(match: Match, player: Player, said: Told = FIRST_WON, **more: Any) -> Report:
    """What a player reports at NOW of a match that began a day before."""
    Match.objects.filter(pk=match.pk).update(created_at=NOW - timedelta(days=1))
    return reporting.report(match_id=match.pk, player=player, told=said, **{"now": NOW, **more})


# --- Report, and confirm ---


def test_a_confirmed_result_is_rated_at_the_instant_of_its_confirmation() -> None:
    match, (one, two) = started("fibs")
    said = told(match, one, played_at=NOW - timedelta(hours=3))
    assert not RatingChange.objects.exists() and Match.objects.get().status == "open"
    found = reporting.confirm(report_id=said.pk, player=two, now=LATER)
    match.refresh_from_db()
    assert (match.status, match.ended_at, match.timed) == ("completed", LATER, True)
    assert match.played_at == NOW - timedelta(hours=3) and match.completed_at == LATER
    assert (found.state, found.settled_seat, found.settled_at) == ("confirmed", 2, LATER)
    assert [seat.score for seat in match.participants.all()] == [1.0, 0.0]
    assert values(pool_of("fibs"))["Player 1"][0] > 1500 and verify(pool_of("fibs")) == (1, None)


def test_what_is_confirmed_after_other_matches_is_no_late_entry() -> None:
    pool = pool_of("fibs")
    match, (one, two) = started("fibs")
    said = told(match, one, played_at=NOW - timedelta(hours=5))
    complete(pool, won(two, one, NOW - timedelta(hours=1)), now=NOW)
    reporting.confirm(report_id=said.pk, player=two, now=LATER)
    assert not Revision.objects.exists() and verify(pool) == (2, None)
    line = RatingChange.objects.get(match=match, player=one)
    assert line.before < 1500


@pytest.mark.parametrize(
    ("slug", "terms", "said"),
    [
        ("fibs", {}, SECOND_WON),
        ("crowns-cup", {}, FIRST_WON),
        ("crowns-cup", {"length": None}, Told(outcome="result", scores=(1.0, 0.0), points=4)),
        ("online-backgammon", {}, FIRST_WON),
        ("freewhist", {}, PLACED),
        ("freewhist", {}, Told(outcome="result", places=(1, 1, 2, 3))),
        ("tics", {}, DRAWN),
    ],
)
def test_in_every_pool(slug: str, terms: dict[str, Any], said: Told) -> None:
    match, players = started(slug, **terms)
    found = told(match, players[-1], said)
    reporting.confirm(report_id=found.pk, player=players[0], now=LATER)
    match.refresh_from_db()
    assert match.status == "completed" and match.points == said.points and match.not_counted == ""
    assert RatingChange.objects.filter(match=match).count() == len(players) and verify(pool_of(slug)) == (1, None)


@pytest.mark.parametrize(
    ("slug", "terms", "said", "field"),
    [
        ("fibs", {}, DRAWN, "scores"),
        ("fibs", {}, PLACED, "places"),
        ("fibs", {}, Told(outcome="result"), "result"),
        ("fibs", {}, Told(outcome="result", scores=(1.0, 0.0), points=3), "points"),
        ("fibs", {}, Told(outcome="result", scores=(1.0, 1.0)), "scores"),
        ("fibs", {}, Told(outcome="result", scores=(float("nan"), 0.0)), "scores"),
        ("fibs", {}, Told(outcome="result", scores=(float("inf"), 0.0)), "scores"),
        ("fibs", {}, Told(outcome="won"), "result"),
        ("fibs", {}, BROKEN_OFF, "chance"),
        ("tics", {}, BROKEN_OFF, "chance"),
        ("fibs", {}, Told(outcome="called_off", scores=(1.0, 0.0)), "result"),
        ("fibs", {}, Told(outcome="called_off", points=2), "points"),
        ("crowns-cup", {}, Told(outcome="result", scores=(1.0, 0.0), points=3), "points"),
        ("crowns-cup", {"length": None}, FIRST_WON, "points"),
        ("crowns-cup", {"length": None}, Told(outcome="result", scores=(1.0, 0.0), points=0), "points"),
        ("crowns-cup", {"length": None}, Told(outcome="result", scores=(1.0, 0.0), points=10**400), "points"),
        ("crowns-cup", {"length": None}, Told(outcome="broken_off", points=0), "points"),
        ("crowns-cup", {}, Told(outcome="broken_off", points=2), "points"),
        ("freewhist", {}, FIRST_WON, "scores"),
        ("freewhist", {}, Told(outcome="result", places=(1, 2, 3)), "places"),
        ("freewhist", {}, Told(outcome="result", places=(1, 2, 3, 5)), "places"),
    ],
)
def test_no_possible_result_is_refused(slug: str, terms: dict[str, Any], said: Told, field: str) -> None:
    match, players = started(slug, **terms)
    with pytest.raises(Refused) as refused:
        told(match, players[0], said)
    assert refused.value.field == field and not Report.objects.exists()


def test_the_time_played_lies_between_the_start_and_now() -> None:
    match, (one, _) = started()
    for wrong, code in ((NOW + timedelta(minutes=6), "in_future"), (NOW - timedelta(days=2), "before_start")):
        with pytest.raises(Refused) as refused:
            told(match, one, played_at=wrong)
        assert (refused.value.field, refused.value.code) == ("played_at", code)
    assert told(match, one, played_at=NOW + timedelta(minutes=4)).played_at == NOW


def test_a_note_is_kept_and_not_too_long() -> None:
    match, (one, _) = started()
    with pytest.raises(Refused) as refused:
        told(match, one, note="x" * 1001)
    assert refused.value.field == "note"
    assert told(match, one, note=" 5:3\x00 \r\nGood game ").note == "5:3\nGood game"


def test_who_is_not_in_the_match_can_do_nothing() -> None:
    match, (one, _) = started()
    [stranger] = people(1)
    said = told(match, one)
    for act in (
        lambda: told(match, stranger),
        lambda: reporting.confirm(report_id=said.pk, player=stranger, now=NOW),
        lambda: reporting.dispute(report_id=said.pk, player=stranger, told=SECOND_WON, now=NOW),
        lambda: reporting.withdraw(report_id=said.pk, player=stranger, now=NOW),
    ):
        with pytest.raises(reporting.NotAtTable):
            act()
    assert live(match) == said and said.state == "waiting"


def test_nobody_confirms_or_disputes_his_own_report() -> None:
    match, (one, two) = started()
    said = told(match, one)
    with pytest.raises(reporting.OwnReport):
        reporting.confirm(report_id=said.pk, player=one, now=NOW)
    with pytest.raises(reporting.OwnReport):
        reporting.dispute(report_id=said.pk, player=one, told=SECOND_WON, now=NOW)
    with pytest.raises(reporting.NotYours):
        reporting.withdraw(report_id=said.pk, player=two, now=NOW)
    assert Match.objects.get().status == "open"
    with pytest.raises(IntegrityError), transaction.atomic():
        Report.objects.filter(pk=said.pk).update(settled_seat=1)


def test_the_same_again_is_the_same() -> None:
    match, (one, two) = started()
    said = told(match, one)
    assert told(match, one, now=LATER).pk == said.pk and Report.objects.count() == 1
    first = reporting.confirm(report_id=said.pk, player=two, now=NOW)
    assert reporting.confirm(report_id=said.pk, player=two, now=LATER).settled_at == first.settled_at == NOW
    assert RatingChange.objects.count() == 2
    with pytest.raises(reporting.Over):
        told(match, one)


def test_both_report_the_same() -> None:
    match, (one, two) = started()
    said = told(match, one)
    assert told(match, two) == said and Match.objects.get().status == "completed"


def test_both_report_otherwise_and_neither_has_seen_it() -> None:
    match, (one, two) = started()
    said = told(match, one)
    with pytest.raises(reporting.Outdated) as outdated:
        told(match, two, SECOND_WON)
    assert outdated.value.report == said and live(match) == said


def test_a_changed_report_is_confirmed_only_by_who_has_seen_it() -> None:
    match, (one, two) = started()
    first = told(match, one)
    second = told(match, one, SECOND_WON, seen=first.pk)
    with pytest.raises(reporting.Outdated) as outdated:
        reporting.confirm(report_id=first.pk, player=two, now=NOW)
    assert outdated.value.report == second and Match.objects.get().status == "open"
    with pytest.raises(reporting.Outdated):
        told(match, one, FIRST_WON, seen=first.pk)
    reporting.confirm(report_id=second.pk, player=two, now=NOW)
    assert [seat.score for seat in match.participants.all()] == [0.0, 1.0]


def test_a_withdrawn_report_is_not_confirmed() -> None:
    match, (one, two) = started()
    said = told(match, one)
    assert reporting.withdraw(report_id=said.pk, player=one, now=NOW).state == "withdrawn"
    assert reporting.withdraw(report_id=said.pk, player=one, now=NOW).state == "withdrawn"
    for act in (reporting.confirm, lambda **more: reporting.dispute(told=SECOND_WON, **more)):
        with pytest.raises(reporting.Outdated):
            act(report_id=said.pk, player=two, now=NOW)
    assert told(match, two, SECOND_WON).pk != said.pk


def test_at_a_table_of_four_any_other_confirms() -> None:
    match, players = started("freewhist")
    said = told(match, players[2], PLACED)
    assert reporting.confirm(report_id=said.pk, player=players[3], now=NOW).settled_seat == 4
    with pytest.raises(reporting.Over):
        reporting.confirm(report_id=said.pk, player=players[0], now=NOW)
    assert RatingChange.objects.count() == 4


def test_a_report_on_other_terms_is_outdated() -> None:
    match, (one, two) = started()
    said = told(match, one)
    save_open(match.pool, players=[two, one], terms=Result(length=7, kind="table"), match=Match.objects.get())
    with pytest.raises(reporting.Outdated):
        reporting.confirm(report_id=said.pk, player=two, now=NOW)
    assert reporting.confirm_silent(NOW + timedelta(days=3)) == 0 and Match.objects.get().status == "open"
    again = told(match, one, SECOND_WON)
    reporting.confirm(report_id=again.pk, player=two, now=NOW)
    assert Match.objects.get().length == 7


def test_a_match_that_an_organiser_has_completed_is_over() -> None:
    match, (one, two) = started()
    said = told(match, one)
    complete(
        match.pool, Entry(players=[one, two], result=Result(scores=(0.0, 1.0), length=5, kind="table"), ended_at=NOW, match=match)
    )
    for act in (
        lambda: reporting.confirm(report_id=said.pk, player=two, now=NOW),
        lambda: reporting.withdraw(report_id=said.pk, player=one, now=NOW),
        lambda: reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON, now=NOW),
    ):
        with pytest.raises(reporting.Over):
            act()
    assert reporting.confirm_silent(NOW + timedelta(days=3)) == 0 and RatingChange.objects.count() == 2


def test_a_deleted_match_takes_its_report_along() -> None:
    match, (one, _) = started()
    told(match, one)
    assert delete_open(match.pk) and not Report.objects.exists()
    with pytest.raises(Match.DoesNotExist):
        told(match, one)


def test_a_merged_player_answers_for_his_seat() -> None:
    match, (one, two) = started()
    said = told(match, one)
    [keep] = people(1)
    merge(keep, one, reason="x", now=NOW)
    with pytest.raises(reporting.Outdated):
        # The merge gave the match another version.
        reporting.confirm(report_id=said.pk, player=two, now=NOW)
    again = told(match, keep)
    reporting.confirm(report_id=again.pk, player=two, now=NOW)
    assert RatingChange.objects.filter(player=keep).count() == 1


# --- Silence ---


def test_silence_confirms_after_a_day_and_once() -> None:
    match, (one, _) = started()
    said = told(match, one)
    assert said.confirms_at == NOW + timedelta(hours=24)
    assert reporting.confirm_silent(NOW + timedelta(hours=23, minutes=59)) == 0
    due = NOW + timedelta(hours=24)
    assert reporting.confirm_silent(due) == 1 and reporting.confirm_silent(due) == 0
    match.refresh_from_db()
    said.refresh_from_db()
    assert (match.status, match.ended_at, match.played_at) == ("completed", due, NOW)
    assert (said.state, said.settled_seat) == ("confirmed", None) and RatingChange.objects.count() == 2


def test_the_hours_are_a_setting_and_the_task_confirms(settings: Any) -> None:
    settings.REPORT_HOURS = 1
    match, (one, _) = started()
    assert told(match, one).confirms_at == NOW + timedelta(hours=1)
    assert confirm_silent() == 1 and Match.objects.get(pk=match.pk).status == "completed"


def test_silence_confirms_neither_a_dispute_nor_what_follows_one() -> None:
    match, (one, two) = started()
    said = told(match, one)
    reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON, now=NOW)
    reporting.withdraw(report_id=said.pk, player=one, now=NOW)
    again = told(match, one)
    assert again.is_live and again.confirms_at is None
    assert reporting.confirm_silent(NOW + timedelta(days=9)) == 0
    reporting.confirm(report_id=again.pk, player=two, now=NOW)
    assert Match.objects.get().status == "completed"


def test_one_that_cannot_be_rated_keeps_no_other_waiting() -> None:
    players = people(4)
    bad, _ = started("crowns-cup", players[:2])
    good, _ = started("fibs", players[2:])
    told(bad, players[0])
    told(good, players[2])
    Match.objects.filter(pk=bad.pk).update(stake=None)
    due = NOW + timedelta(days=2)
    assert reporting.confirm_silent(due) == 1 and reporting.confirm_silent(due) == 0
    assert live(bad).confirms_at is None and Match.objects.get(pk=good.pk).status == "completed"


# --- Not played ---


def test_a_match_that_was_not_played_is_closed_by_agreement() -> None:
    match, (one, two) = started()
    said = told(match, one, CALLED_OFF)
    reporting.confirm(report_id=said.pk, player=two, now=LATER)
    match.refresh_from_db()
    assert (match.status, match.ended_at) == ("voided", LATER) and not Rating.objects.exists()
    with pytest.raises(reporting.Over):
        told(match, one)
    assert verify(match.pool) == (0, None)


# --- Disputes ---


def test_a_dispute_goes_to_the_organisers_with_both_versions() -> None:
    match, (one, two) = started()
    said = told(match, one, note="5:2")
    found = reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON, note="I won", now=NOW)
    assert (found.state, found.disputed_seat, found.dispute_note) == ("disputed", 2, "I won")
    assert reporting.told_of(found) == FIRST_WON and reporting.other_version(found) == SECOND_WON
    assert reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON, note="I won", now=LATER).disputed_at == NOW
    organiser = staff("change_match")
    adjudication.decide(match_id=match.pk, told=SECOND_WON, decided_by=organiser, reason="Log file", seen=said.pk, now=LATER)
    match.refresh_from_db()
    found.refresh_from_db()
    assert (match.status, match.entered_by, match.ended_at, match.played_at) == ("completed", organiser, LATER, NOW)
    assert (found.state, found.decided_by, found.decision) == ("decided", organiser, "Log file")
    again = adjudication.decide(match_id=match.pk, told=SECOND_WON, decided_by=organiser, reason="Log file", seen=said.pk)
    assert again.pk == match.pk and RatingChange.objects.count() == 2


def test_a_dispute_says_something_else() -> None:
    match, (one, two) = started()
    said = told(match, one)
    with pytest.raises(reporting.SameVersion):
        reporting.dispute(report_id=said.pk, player=two, told=FIRST_WON, now=NOW)
    with pytest.raises(Refused):
        reporting.dispute(report_id=said.pk, player=two, told=DRAWN, now=NOW)
    assert live(match).state == "waiting"


def test_who_disputes_can_give_in_and_nobody_else() -> None:
    match, players = started("freewhist")
    said = told(match, players[0], PLACED)
    reporting.dispute(report_id=said.pk, player=players[1], told=Told(outcome="result", places=(2, 1, 3, 4)), now=NOW)
    with pytest.raises(reporting.NotYours):
        reporting.confirm(report_id=said.pk, player=players[2], now=NOW)
    with pytest.raises(reporting.Outdated):
        reporting.dispute(report_id=said.pk, player=players[2], told=Told(outcome="result", places=(3, 1, 2, 4)), now=NOW)
    assert reporting.confirm(report_id=said.pk, player=players[1], now=NOW).state == "confirmed"
    assert RatingChange.objects.count() == 4


def test_an_organiser_decides_on_what_he_has_seen_and_not_in_his_own_match() -> None:
    match, (one, two) = started()
    said = told(match, one)
    reporting.dispute(report_id=said.pk, player=two, told=SECOND_WON, now=NOW)
    organiser = staff("change_match")
    act: dict[str, Any] = {"match_id": match.pk, "told": FIRST_WON, "decided_by": organiser, "reason": "x", "now": NOW}
    with pytest.raises(reporting.Outdated):
        adjudication.decide(**act, seen=None)
    for wrong, field in (({"reason": " "}, "decision"), ({"told": DRAWN}, "scores"), ({"told": BROKEN_OFF}, "chance")):
        with pytest.raises(Refused) as refused:
            adjudication.decide(**{**act, **wrong}, seen=said.pk)
        assert refused.value.field == field
    Player.objects.filter(pk=two.pk).update(user=organiser)
    with pytest.raises(adjudication.OwnMatch):
        adjudication.decide(**act, seen=said.pk)
    assert live(match).state == "disputed"
    adjudication.decide(**{**act, "decided_by": staff("change_match", name="other"), "told": CALLED_OFF}, seen=said.pk)
    assert Match.objects.get().status == "voided"


# --- Broken off ---


def evaluated(match: Match, **more: Any) -> Evaluation:
    known: dict[str, Any] = {"match_id": match.pk, "chance": 0.62, "note": "XGID=…", "evaluator": "GNU Backgammon", "now": LATER}
    return adjudication.evaluate(**known | more)


def test_a_match_that_was_broken_off_is_rated_by_its_evaluation() -> None:
    match, (one, two) = started("crowns-cup")
    said = told(match, one, BROKEN_OFF, note="Two checkers back")
    assert said.is_live and said.confirms_at is None
    assert reporting.confirm(report_id=said.pk, player=two, now=NOW).state == "agreed"
    assert reporting.confirm(report_id=said.pk, player=two, now=LATER).state == "agreed"
    assert not RatingChange.objects.exists()
    organiser = staff("change_match")
    made = evaluated(match, evaluated_by=organiser, seen=said.pk)
    match.refresh_from_db()
    assert (match.status, match.chance, match.ended_at, match.played_at) == ("completed", 0.62, LATER, NOW)
    assert (made.note, made.evaluator, made.made_by) == ("XGID=…", "GNU Backgammon", organiser)
    line = RatingChange.objects.get(player=one)
    # 4 * sqrt(5) * 5 * log10(11) * (0.62 - 0.5)
    assert line.change == pytest.approx(5.5887, abs=1e-4) and match.participants.get(seat=1).rake == Decimal("0.25")
    assert evaluated(match, evaluated_by=organiser, seen=said.pk).pk == made.pk and Evaluation.objects.count() == 1
    with pytest.raises(reporting.Over):
        evaluated(match, chance=0.5)
    assert live(match) is None


def test_a_game_server_evaluates_without_a_report() -> None:
    match, _ = started("crowns-cup", length=None)
    with pytest.raises(Refused) as refused:
        evaluated(match)
    assert refused.value.field == "points"
    evaluated(match, points=4)
    match.refresh_from_db()
    assert (match.points, match.chance) == (4, 0.62)


def test_the_reported_cube_is_at_stake_unless_the_evaluator_says_otherwise() -> None:
    for points, expected in ((None, 2), (8, 8)):
        match, (one, _) = started("crowns-cup", length=None)
        told(match, one, Told(outcome="broken_off", points=2))
        evaluated(match, points=points)
        assert Match.objects.get(pk=match.pk).points == expected


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"chance": 1.01}, "chance"),
        ({"chance": -0.01}, "chance"),
        ({"chance": float("nan")}, "chance"),
        ({"chance": float("inf")}, "chance"),
        ({"chance": "0.5"}, "chance"),
        ({"note": ""}, "note"),
        ({"note": "x" * 1001}, "note"),
        ({"evaluator": "x" * 101}, "evaluator"),
        ({"points": 2}, "points"),
    ],
)
def test_no_possible_evaluation_is_refused(wrong: dict[str, Any], field: str) -> None:
    match, _ = started("crowns-cup")
    with pytest.raises(Refused) as refused:
        evaluated(match, **wrong)
    assert refused.value.field == field and not Evaluation.objects.exists() and Match.objects.get().status == "open"


def test_pools_that_know_no_chance_evaluate_nothing() -> None:
    match, _ = started("fibs")
    with pytest.raises(Refused) as refused:
        evaluated(match)
    assert refused.value.field == "chance"


# --- Appeals ---


def settled() -> tuple[Match, list[Player]]:
    match, players = started("crowns-cup")
    told(match, players[0], BROKEN_OFF)
    evaluated(match)
    match.refresh_from_db()
    return match, players


def test_an_appeal_that_is_granted_leads_to_a_correction() -> None:
    match, (one, two) = settled()
    made = appeals.appeal(match_id=match.pk, player=two, text="Look at the cube", now=LATER)
    assert appeals.appeal(match_id=match.pk, player=two, text="Look at the cube", now=LATER).pk == made.pk
    with pytest.raises(appeals.AnotherAppeal):
        appeals.appeal(match_id=match.pk, player=two, text="Look again", now=LATER)
    organiser = staff("change_match")
    with pytest.raises(Refused):
        appeals.answer(appeal_id=made.pk, grant=True, text="", answered_by=organiser, now=LATER)
    found = appeals.answer(appeal_id=made.pk, grant=True, text="You are right", answered_by=organiser, now=LATER)
    assert appeals.answer(appeal_id=made.pk, grant=True, text="You are right", answered_by=organiser).pk == found.pk
    with pytest.raises(appeals.Answered):
        appeals.answer(appeal_id=made.pk, grant=False, text="No", answered_by=organiser)
    # It waits until the match is corrected.
    assert list(appeals.waiting()) == [made]
    entry = Entry(
        players=[one, two],
        result=Result(chance=0.4, length=5, kind="table", stake=Decimal(10), real_money=True),
        ended_at=match.ended_at,
    )
    correct(match.pool, [Correction(match, entry=entry)], reason="Appeal", made_by=organiser, now=LATER)
    match.refresh_from_db()
    assert match.chance == 0.4 and match.played_at is not None and not appeals.waiting().exists()


def test_an_appeal_that_is_rejected_changes_nothing() -> None:
    match, (one, _) = settled()
    made = appeals.appeal(match_id=match.pk, player=one, text="x", now=LATER)
    appeals.answer(appeal_id=made.pk, grant=False, text="No", answered_by=staff("change_match"), now=LATER)
    assert not appeals.waiting().exists() and appeals.appeal(match_id=match.pk, player=one, text="y", now=LATER).pk != made.pk


def test_who_may_appeal_and_against_what(settings: Any) -> None:
    match, (one, two) = settled()
    [stranger] = people(1)
    with pytest.raises(reporting.NotAtTable):
        appeals.appeal(match_id=match.pk, player=stranger, text="x", now=LATER)
    with pytest.raises(appeals.TooLate):
        appeals.appeal(match_id=match.pk, player=one, text="x", now=LATER + timedelta(days=14, seconds=1))
    for text in ("", " \n", "x" * 1001):
        with pytest.raises(Refused):
            appeals.appeal(match_id=match.pk, player=one, text=text, now=LATER)
    [entered] = complete(pool_of("fibs"), won(one, two, NOW), now=NOW)
    opened, _ = started("fibs", [one, two])
    for other in (entered, opened):
        with pytest.raises(appeals.NotSettledHere):
            appeals.appeal(match_id=other.pk, player=one, text="x", now=LATER)
    made = appeals.appeal(match_id=match.pk, player=one, text="x", now=LATER)
    organiser = staff("change_match")
    Player.objects.filter(pk=two.pk).update(user=organiser)
    with pytest.raises(adjudication.OwnMatch):
        appeals.answer(appeal_id=made.pk, grant=True, text="x", answered_by=organiser)


# --- Who hears of it, and what is forgotten ---


def test_every_change_is_told_inside_its_transaction() -> None:
    heard: list[str] = []

    def hear(**arguments: Any) -> None:
        assert [seat.player.name for seat in arguments["seats"]] == ["Player 1", "Player 2"]
        heard.append(arguments["report"].state)

    def hear_appeal(**arguments: Any) -> None:
        heard.append(f"appeal {arguments['appeal'].state}")

    report_changed.connect(hear)
    appeal_changed.connect(hear_appeal)
    try:
        match, (one, two) = started("crowns-cup")
        said = told(match, one)
        reporting.withdraw(report_id=said.pk, player=one, now=NOW)
        said = told(match, one)
        reporting.dispute(report_id=said.pk, player=two, told=BROKEN_OFF, now=NOW)
        evaluated(match)
        made = appeals.appeal(match_id=match.pk, player=one, text="x", now=LATER)
        appeals.answer(appeal_id=made.pk, grant=False, text="x", answered_by=staff("change_match"), now=LATER)
    finally:
        report_changed.disconnect(hear)
        appeal_changed.disconnect(hear_appeal)
    assert heard == ["waiting", "withdrawn", "waiting", "disputed", "decided", "appeal open", "appeal rejected"]


def test_names_are_forgotten_in_what_was_written() -> None:
    match, (one, two) = started("crowns-cup", create_players(["Vera", "Didrik"]))
    said = told(match, one, note="Vera was ahead")
    reporting.dispute(report_id=said.pk, player=two, told=BROKEN_OFF, note="Vera was not", now=NOW)
    evaluated(match, note="Vera on the bar")
    appeals.appeal(match_id=match.pk, player=one, text="I am Vera", now=LATER)
    anonymise_player(one, now=NOW)
    said.refresh_from_db()
    texts = [said.note, said.dispute_note, Evaluation.objects.get().note, Appeal.objects.get().text]
    assert len(texts) == 4 and not any("Vera" in text for text in texts) and "was ahead" in texts[0]


def test_terms_of_the_tests_are_those_of_all_pools() -> None:
    assert set(TERMS) == {"fibs", "crowns-cup", "online-backgammon", "freewhist", "tics"}
