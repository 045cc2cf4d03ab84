"""The pages on which players report and confirm results, and appeal."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from matches.models import Appeal, Match, Report
from matches.reports import appeals, reporting
from matches.reports.forms import AppealForm, DisputeForm, ReportForm, initial_of
from matches.reports.page import ReportPage, report_page, unfinished
from matches.reports.reporting import ReportDenied, told_of
from matches.reports.words import denial
from players.models import Player
from players.pages.reader import page
from players.systems.base import Refused
from players.wording import refusal

FORBIDDEN = ("not_at_table", "own_report", "not_yours")


def for_players(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view for somebody whose login has a player; what does not exist is a page that says so, and what he may not do too."""

    @login_required
    @page
    @wraps(view)
    def own(request: HttpRequest, reader: Player | None, **asked: Any) -> HttpResponseBase:
        if reader is None:
            return render(request, "players/no_player.html", status=403 if request.method == "POST" else 200)
        try:
            return view(request, reader, **asked)
        except (Match.DoesNotExist, Report.DoesNotExist):
            raise Http404(_("There is no such match.")) from None
        except reporting.NotAtTable as denied:
            raise PermissionDenied(denial(denied)) from None

    return own


@require_safe
@for_players
def mine(request: HttpRequest, reader: Player) -> HttpResponse:
    """All matches of the reader that are not finished."""
    return render(request, "matches/unfinished.html", {"reader": reader, "matches": unfinished(reader)})


@require_http_methods(["GET", "HEAD", "POST"])
@for_players
def report(request: HttpRequest, reader: Player, match_id: int) -> HttpResponse:
    """What was reported of a match and what may be said of it; a report, when one is sent."""
    shown = report_page(match_id, reader)
    if shown.match.status != Match.Status.OPEN and request.method != "POST":
        return redirect(shown.match)
    if request.method != "POST":
        return _page(request, reader, shown)
    form = ReportForm(request.POST, match=shown.match, seats=shown.seats, reader=reader)
    if form.is_valid():
        try:
            made = reporting.report(
                match_id=match_id,
                player=reader,
                told=form.told(),
                played_at=form.cleaned_data["played_at"],
                note=form.cleaned_data["note"],
                seen=form.cleaned_data["seen"],
            )
        except Refused as refused:
            form.refuse(refused)
        except ReportDenied as denied:
            return _denied(request, reader, denied)
        else:
            return _done(request, made)
    return _page(request, reader, shown, form=form, status=400)


@require_POST
@for_players
def confirm(request: HttpRequest, reader: Player, report_id: int) -> HttpResponse:
    try:
        found = reporting.confirm(report_id=report_id, player=reader)
    except ReportDenied as denied:
        return _denied(request, reader, denied)
    except Refused as refused:
        return _page(request, reader, report_page(_match_of(report_id), reader), notice=refusal(refused), status=400)
    return _done(request, found)


@require_POST
@for_players
def dispute(request: HttpRequest, reader: Player, report_id: int) -> HttpResponse:
    shown = report_page(_match_of(report_id), reader)
    form = DisputeForm(request.POST, match=shown.match, seats=shown.seats, reader=reader, prefix="dispute")
    if form.is_valid():
        try:
            found = reporting.dispute(report_id=report_id, player=reader, told=form.told(), note=form.cleaned_data["note"])
        except Refused as refused:
            form.refuse(refused)
        except reporting.SameVersion as same:
            form.add_error("outcome", denial(same))
        except ReportDenied as denied:
            return _denied(request, reader, denied)
        else:
            return _done(request, found)
    return _page(request, reader, shown, dispute_form=form, status=400)


@require_POST
@for_players
def withdraw(request: HttpRequest, reader: Player, report_id: int) -> HttpResponse:
    try:
        found = reporting.withdraw(report_id=report_id, player=reader)
    except ReportDenied as denied:
        return _denied(request, reader, denied)
    return _done(request, found)


@require_http_methods(["GET", "HEAD", "POST"])
@for_players
def appeal(request: HttpRequest, reader: Player, match_id: int) -> HttpResponse:
    """Appeal against how a match was settled, and read what was answered."""
    match = Match.objects.select_related("pool").get(pk=match_id)
    seats = list(match.participants.select_related("player").order_by("seat"))
    if not any(seat.player_id == reader.pk for seat in seats):
        raise reporting.NotAtTable(match)
    form, status, why_not = AppealForm(request.POST if request.method == "POST" else None), 200, ""
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                appeals.appeal(match_id=match_id, player=reader, text=form.cleaned_data["text"])
            except Refused as refused:
                form.refuse(refused)
            except ReportDenied as denied:
                why_not, status = denial(denied), 409
            else:
                messages.success(request, _("Your appeal is with the organisers. They will answer you here."))
                return redirect("appeal", match_id)
    known = list(Appeal.objects.filter(match=match, player=reader))
    context = {
        "reader": reader,
        "match": match,
        "seats": seats,
        "form": form,
        "appeals": known,
        "why_not": why_not,
        "open": any(one.state == Appeal.State.OPEN for one in known),
        "can_be_appealed": appeals.can_be_appealed(match),
    }
    return render(request, "matches/appeal.html", context, status=status)


# --- What they share ---


def _match_of(report_id: int) -> int:
    """Raises Report.DoesNotExist."""
    return Report.objects.values_list("match_id", flat=True).get(pk=report_id)


def _page(
    request: HttpRequest,
    reader: Player,
    shown: ReportPage,
    *,
    form: ReportForm | None = None,
    dispute_form: DisputeForm | None = None,
    status: int = 200,
    notice: str = "",
) -> HttpResponse:
    same: dict[str, Any] = {"match": shown.match, "seats": shown.seats, "reader": reader}
    if form is None:
        first: dict[str, Any] = {}
        if shown.is_own and shown.live is not None:
            live = shown.live
            first = {**initial_of(told_of(live)), "played_at": live.played_at, "note": live.note, "seen": live.pk}
        form = ReportForm(initial=first, **same)
    context = {
        "reader": reader,
        "shown": shown,
        "match": shown.match,
        "pool": shown.match.pool,
        "live": shown.live,
        "form": form,
        "dispute_form": dispute_form or DisputeForm(prefix="dispute", **same),
        "notice": notice,
        "now": timezone.now(),
    }
    return render(request, "matches/report.html", context, status=status)


def _denied(request: HttpRequest, reader: Player, denied: ReportDenied) -> HttpResponse:
    """What stands now, and why nothing of the reader's was stored."""
    if denied.code in FORBIDDEN:
        raise PermissionDenied(denial(denied))
    if denied.match.status != Match.Status.OPEN:
        messages.warning(request, denial(denied))
        return redirect(denied.match)
    return _page(request, reader, report_page(denied.match.pk, reader), notice=denial(denied), status=409)


def _done(request: HttpRequest, found: Report) -> HttpResponse:
    """To the sheet of a match that is finished, else back to what stands now."""
    match = found.match
    if match.status == Match.Status.OPEN:
        return redirect("report", match.pk)
    messages.success(request, _("The result is confirmed.") if match.status == "completed" else _("The match is closed."))
    return redirect(match)
