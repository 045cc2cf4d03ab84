"""Appeals: a player asks the organisers to look once more at how his match was settled.

One that is granted leads to a correction of the match by `matches.corrections`, with its preview, like any other.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from matches.models import Appeal, Evaluation, Match, Report
from matches.reports.adjudication import OwnMatch, needed_text
from matches.reports.reporting import NotAtTable, ReportDenied
from matches.signals import appeal_changed
from players.models import Player

State = Appeal.State


class NotSettledHere(ReportDenied):
    """There is nothing to appeal against: the match was neither reported nor evaluated on this site, or is not completed."""

    code = "not_settled_here"


class TooLate(ReportDenied):
    """The match was settled more than APPEAL_DAYS ago."""

    code = "too_late"


class AnotherAppeal(ReportDenied):
    """The player has appealed already, in other words, and waits for the answer."""

    code = "another_appeal"


class Answered(Exception):
    """Another organiser has answered the appeal already."""

    def __init__(self, found: Appeal) -> None:
        super().__init__(f"appeal {found.pk}")
        self.appeal = found


def can_be_appealed(match: Match) -> bool:
    """Whether the match was settled by a report or an evaluation and is completed. At most two queries."""
    if match.status != Match.Status.COMPLETED:
        return False
    return (
        match.chance is not None
        or Report.objects.filter(match=match, state__in=(Report.State.CONFIRMED, Report.State.DECIDED)).exists()
        or Evaluation.objects.filter(match=match).exists()
    )


@transaction.atomic
def appeal(*, match_id: int, player: Player, text: str, now: datetime | None = None) -> Appeal:
    """Appeal against how a match was settled. The same text again answers the stored appeal while it waits.

    Raises Match.DoesNotExist, NotAtTable, NotSettledHere, TooLate, AnotherAppeal, and Refused where the text is missing or too
    long.
    """
    now = now or timezone.now()
    # Held, so that two clicks find each other.
    match = Match.objects.select_for_update(no_key=True, of=("self",)).select_related("pool").get(pk=match_id)
    if not match.participants.filter(player=player).exists():
        raise NotAtTable(match)
    text = needed_text("text", text)
    known = Appeal.objects.filter(match=match, player=player, state=State.OPEN).first()
    if known is not None:
        if known.text == text:
            return known
        raise AnotherAppeal(match)
    if not can_be_appealed(match):
        raise NotSettledHere(match)
    if match.completed_at is not None and now - match.completed_at > timedelta(days=settings.APPEAL_DAYS):
        raise TooLate(match)
    made = Appeal.objects.create(match=match, player=player, text=text, made_at=now)
    appeal_changed.send(sender=Appeal, appeal=made, now=now)
    return made


@transaction.atomic
def answer(*, appeal_id: int, grant: bool, text: str, answered_by: User, now: datetime | None = None) -> Appeal:
    """Grant an appeal, so that the match is to be corrected, or reject it, with an answer for the player.

    The same answer again finds the first one. Raises Appeal.DoesNotExist, OwnMatch, Answered, and Refused where the text is
    missing or too long.
    """
    now = now or timezone.now()
    match_id = Appeal.objects.values_list("match_id", flat=True).get(pk=appeal_id)
    match = Match.objects.select_for_update(no_key=True, of=("self",)).select_related("pool").get(pk=match_id)
    found = Appeal.objects.select_related("player").get(pk=appeal_id)
    found.match = match
    text = needed_text("answer", text)
    state = State.GRANTED if grant else State.REJECTED
    if found.state != State.OPEN:
        if (found.state, found.answer, found.answered_by_id) == (state, text, answered_by.pk):
            return found
        raise Answered(found)
    if match.participants.filter(player__user=answered_by).exists():
        raise OwnMatch(match)
    found.state, found.answer, found.answered_by, found.answered_at = state, text, answered_by, now
    found.match_version = match.version if grant else None
    found.save()
    appeal_changed.send(sender=Appeal, appeal=found, now=now)
    return found


def waiting() -> QuerySet[Appeal]:
    """The appeals that an organiser has to do with: not answered, or granted and the match not corrected yet."""
    return Appeal.objects.filter(
        Q(state=State.OPEN) | Q(state=State.GRANTED, match_version=F("match__version"), match__status=Match.Status.COMPLETED)
    )
