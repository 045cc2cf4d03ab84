"""Clicks that race, on PostgreSQL: a match is rated once, and what stands of its report agrees with it."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.utils import timezone

from matches.models import Appeal, Match, Report, Revision
from matches.reports import adjudication, appeals, reporting
from matches.reports.reporting import Locked
from tests.building import pool_of
from tests.concurrency.running import assert_whole, at_once
from tests.matches.entering import staff
from tests.matches.reports.reporting import BROKEN_OFF, CALLED_OFF, FIRST_WON, PLACED, SECOND_WON, started

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def failures(answers: list[Any]) -> list[str]:
    return sorted({type(answer).__name__ for answer in answers if isinstance(answer, Exception)})


def test_ten_clicks_confirm_once() -> None:
    match, (one, two) = started()
    said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
    answers = at_once([lambda: reporting.confirm(report_id=said.pk, player=two).settled_at for _ in range(10)])
    assert failures(answers) == [] and len(set(answers)) == 1
    assert_whole(match.pool, 1)


def test_ten_reports_are_one() -> None:
    match, (one, _) = started()
    answers = at_once([lambda: reporting.report(match_id=match.pk, player=one, told=FIRST_WON).pk for _ in range(10)])
    assert failures(answers) == [] and len(set(answers)) == 1 and Report.objects.count() == 1


def test_both_report_at_once() -> None:
    for said, status in ((FIRST_WON, "completed"), (SECOND_WON, "open")):
        match, (one, two) = started()
        answers = at_once(
            [
                lambda match=match, one=one: reporting.report(match_id=match.pk, player=one, told=FIRST_WON),
                lambda match=match, two=two, said=said: reporting.report(match_id=match.pk, player=two, told=said),
            ]
        )
        assert failures(answers) == ([] if status == "completed" else ["Outdated"])
        assert Match.objects.get(pk=match.pk).status == status and Report.objects.filter(match=match).count() == 1
    assert_whole(match.pool, 2, 1)


def test_three_others_and_two_sweeps_confirm_once() -> None:
    match, players = started("freewhist")
    said = reporting.report(match_id=match.pk, player=players[0], told=PLACED)
    due = timezone.now() + timedelta(days=1)
    with (
        mock.patch.object(reporting, "MOST_AHEAD", timedelta(days=2)),
        mock.patch("matches.entries.MOST_AHEAD", timedelta(days=2)),
    ):
        answers = at_once(
            [
                *(lambda player=player: reporting.confirm(report_id=said.pk, player=player) for player in players[1:]),
                lambda: reporting.confirm_silent(due),
                lambda: reporting.confirm_silent(due),
            ]
        )
    assert failures(answers) in ([], ["Over"])
    assert_whole(match.pool, 1)


def test_confirm_dispute_withdraw_change_and_decide_at_once() -> None:
    """Whatever comes first, the report says what became of the match."""
    organiser = staff("change_match")
    for _ in range(6):
        match, (one, two) = started()
        said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
        decision = {"told": CALLED_OFF, "decided_by": organiser, "reason": "x", "seen": said.pk}
        answers = at_once(
            [
                partial(reporting.confirm, report_id=said.pk, player=two),
                partial(reporting.dispute, report_id=said.pk, player=two, told=SECOND_WON),
                partial(reporting.withdraw, report_id=said.pk, player=one),
                partial(reporting.report, match_id=match.pk, player=one, told=SECOND_WON, seen=said.pk),
                partial(adjudication.decide, match_id=match.pk, **decision),
            ]
        )
        assert set(failures(answers)) <= {"Outdated", "Over", "OwnReport"}
        assert_agrees(match)
    assert_whole(match.pool, 6, Match.objects.filter(status="completed").count())


def assert_agrees(match: Match) -> None:
    match.refresh_from_db()
    states = list(Report.objects.filter(match=match).values_list("state", flat=True))
    settled = [state for state in states if state in ("confirmed", "decided")]
    live = [state for state in states if state in Report.LIVE]
    if match.status == "open":
        assert not settled and len(live) <= 1
    else:
        assert not live and len(settled) <= 1


def test_without_the_lock_a_match_is_completed_and_disputed() -> None:
    """The race that the lock is there for: both have read that the report waits, both are told that they had their
    way, and one of them had it not."""
    both_have_read = threading.Barrier(2)

    def unlocked(match_id: int) -> Locked:
        found = Match.objects.select_related("pool").get(pk=match_id)
        live = Report.objects.select_related("match").filter(match=found, state__in=Report.LIVE).first()
        seats = list(found.participants.select_related("player").order_by("seat"))
        both_have_read.wait(timeout=60)
        return Locked(found, seats, live)

    def race_is_fair() -> bool:
        """Whether what is stored is what the two were told."""
        match, (one, two) = started()
        said = reporting.report(match_id=match.pk, player=one, told=FIRST_WON)
        with mock.patch.object(reporting, "lock", lock):
            confirmed, disputed = at_once(
                [
                    partial(reporting.confirm, report_id=said.pk, player=two),
                    partial(reporting.dispute, report_id=said.pk, player=two, told=SECOND_WON),
                ]
            )
        assert set(failures([confirmed, disputed])) <= {"Outdated", "Over"}
        match.refresh_from_db()
        said.refresh_from_db()
        agrees = (match.status == "completed") == (said.state == "confirmed") == isinstance(confirmed, Report)
        return agrees and (said.disputed_at is not None) == isinstance(disputed, Report)

    lock = unlocked
    assert not race_is_fair()
    lock = reporting.lock
    assert all(race_is_fair() for _ in range(5))
    # Rated once each even so: completion has a guard of its own.
    assert_whole(pool_of("fibs"), 6)


def test_an_evaluation_ten_times_at_once() -> None:
    match, (one, _) = started("crowns-cup")
    said = reporting.report(match_id=match.pk, player=one, told=BROKEN_OFF)
    answers = at_once(
        [lambda: adjudication.evaluate(match_id=match.pk, chance=0.6, note="x", evaluator="server").pk for _ in range(10)]
    )
    assert failures(answers) == [] and len(set(answers)) == 1
    said.refresh_from_db()
    assert said.state == "decided"
    assert_whole(match.pool, 1)
    answers = at_once([lambda: appeals.appeal(match_id=match.pk, player=one, text="x").pk for _ in range(10)])
    assert failures(answers) == [] and Appeal.objects.count() == 1


def test_confirmations_of_one_player_at_once_are_no_late_entries() -> None:
    """Each ends at its own instant, whichever is rated first; none is a revision."""
    first, players = started("fibs")
    matches = [first, *(started("fibs", players)[0] for _ in range(7))]
    said = [reporting.report(match_id=match.pk, player=players[0], told=FIRST_WON) for match in matches]
    answers = at_once([lambda each=each: reporting.confirm(report_id=each.pk, player=players[1]) for each in said])
    assert failures(answers) == [] and not Revision.objects.exists()
    assert_whole(first.pool, 8)
