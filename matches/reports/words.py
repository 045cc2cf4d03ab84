"""Reports and what keeps somebody from one, in words."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.models import Match, Participant, Report
from matches.reports.reporting import ReportDenied, Told
from players.formatting import format_number
from players.pages.outcomes import names, outcome

DENIALS: dict[str, Any] = {
    "not_at_table": gettext_lazy("You did not play in this match. Only its players report it."),
    "own_report": gettext_lazy("You reported this yourself: another player of the match must confirm it."),
    "not_yours": gettext_lazy("This is for another player of the match to do."),
    "outdated": gettext_lazy(
        "The report has been changed or withdrawn meanwhile, or there is a new one. "
        "Nothing of yours was stored: see what stands now."
    ),
    "same_version": gettext_lazy("This is what was reported. If it is right, confirm it; else say how it went."),
    "over": gettext_lazy("This match is finished already. Nothing of yours was stored."),
    "own_match": gettext_lazy("You play in this match yourself: another organiser must settle it."),
    "not_settled_here": gettext_lazy(
        "There is nothing to appeal against: this match was not settled by a report or an evaluation."
    ),
    "too_late": gettext_lazy("It is too late to appeal: this match was settled some time ago. Write to an organiser."),
    "another_appeal": gettext_lazy("You have appealed already. An organiser will answer you."),
}


def denial(denied: ReportDenied) -> str:
    """Why somebody may not do something, as a sentence."""
    return str(DENIALS[denied.code])


def told_in_words(match: Match, seats: Sequence[Participant], told: Told) -> str:
    """Vera won against Didrik, match to 5. / Vera and Didrik: not played."""
    if told.outcome == Report.Outcome.CALLED_OFF:
        return _("%(players)s: it was not played to its end, and counts for nobody") % {"players": names(seats)}
    if told.outcome == Report.Outcome.BROKEN_OFF:
        sentence = _("%(players)s: it was broken off") % {"players": names(seats)}
        if told.points is None:
            return sentence
        return _("%(sentence)s, with the cube at %(points)s") % {"sentence": sentence, "points": format_number(told.points, 0)}
    shown = SimpleNamespace(
        chance=None, length=match.length, deals=match.deals, points=told.points, pool=match.pool, status=match.status
    )
    return outcome(shown, _seated(seats, told))


def _seated(seats: Sequence[Participant], told: Told) -> list[Any]:
    return [
        SimpleNamespace(
            seat=seat.seat,
            player=seat.player,
            score=told.scores[index] if told.scores and index < len(told.scores) else None,
            place=told.places[index] if told.places and index < len(told.places) else None,
        )
        for index, seat in enumerate(seats)
    ]
