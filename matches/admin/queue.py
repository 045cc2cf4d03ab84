"""The organisers' queue: disputes, matches to be evaluated and appeals of their pools, each settled on a page of its own.

What is settled here goes through `matches.reports`; a granted appeal leads to the correction of the
match, with its preview like any other.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.admin.matches import stored_sentence
from matches.admin.queue_forms import AnswerForm, DecisionForm, EvaluationForm
from matches.models import Appeal, Evaluation, Match, Participant, Report
from matches.reports import adjudication, appeals
from matches.reports.page import versions_of
from matches.reports.reporting import ReportDenied, other_version, told_of
from matches.reports.words import denial, told_in_words
from players.admin import ReadOnlyAdmin, in_own_zone
from players.permissions import CORRECT
from players.staff import PoolByPool, may_here, pools_in_reach
from players.systems.base import Refused

State, Outcome = Report.State, Report.Outcome
SEATS = Prefetch("match__participants", Participant.objects.select_related("player").order_by("seat"))


def waiting_reports(pools: frozenset[int] | None) -> QuerySet[Report]:
    """The reports of open matches that nobody but an organiser will settle, the oldest first; `pools` by id (None: all)."""
    live = Report.objects.filter(state__in=Report.LIVE, confirms_at=None, match__status=Match.Status.OPEN)
    found = live.select_related("match__pool").prefetch_related(SEATS).order_by("made_at", "pk")
    return found if pools is None else found.filter(match__pool__in=pools)


def waiting_appeals(pools: frozenset[int] | None) -> QuerySet[Appeal]:
    """The appeals that are not answered, or granted and not corrected yet, the oldest first."""
    found = appeals.waiting().select_related("match__pool", "player").prefetch_related(SEATS).order_by("made_at", "pk")
    return found if pools is None else found.filter(match__pool__in=pools)


class OfMatches(PoolByPool, ReadOnlyAdmin):
    """Rows that belong to a match. Each has a page of ours."""

    to_pool = "match__pool"
    seen_with = (CORRECT,)

    def pool_id_of(self, row: Any) -> int:
        return row.match.pool_id

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("match__pool").prefetch_related(SEATS)

    def form_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if object_id is None or not self.has_view_permission(request):
            raise PermissionDenied  # none is added here
        row = self.get_object(request, unquote(object_id))
        if row is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return self.page_of(request, row)

    def page_of(self, request: HttpRequest, row: Any) -> HttpResponse:
        raise NotImplementedError

    def context(self, request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title, **more}


@admin.register(Report)
class ReportAdmin(OfMatches):
    """What was reported of matches, and the queue."""

    list_display = ("made_at", "pool", "said", "state", "settled_at", "decided_by")
    list_filter = ("state", "outcome", ("match__pool", admin.RelatedFieldListFilter))
    list_select_related = ("match__pool", "decided_by")
    change_list_template = "admin/matches/report/change_list.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        return [
            path("queue/", view(self.queue_view), name="matches_report_queue"),
            path("settle/<int:match_id>/", view(self.settle_view), name="matches_report_settle"),
            *super().get_urls(),
        ]

    @admin.display(description=gettext_lazy("pool"))
    def pool(self, report: Report) -> str:
        return report.match.pool.name

    @admin.display(description=gettext_lazy("report"))
    def said(self, report: Report) -> str:
        return told_in_words(report.match, list(report.match.participants.all()), told_of(report))

    @staticmethod
    def said_otherwise(report: Report) -> str:
        """What he says who disputes it; "" where nobody does."""
        other = other_version(report)
        if other is None or report.state != State.DISPUTED:
            return ""
        return told_in_words(report.match, list(report.match.participants.all()), other)

    def page_of(self, request: HttpRequest, row: Report) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:matches_report_settle", args=[row.match_id]))

    # --- The queue ---

    @in_own_zone
    def queue_view(self, request: HttpRequest) -> HttpResponse:
        """All that waits for an organiser, in the pools where the user is one."""
        if not may_here(request, CORRECT):
            raise PermissionDenied
        pools = pools_in_reach(request, CORRECT)
        shown = [(report, self.said(report), self.said_otherwise(report)) for report in waiting_reports(pools)]
        context = self.context(
            request,
            _("What waits for an organiser"),
            disputes=[one for one in shown if one[0].outcome != Outcome.BROKEN_OFF or one[0].state == State.DISPUTED],
            evaluations=[one for one in shown if one[0].outcome == Outcome.BROKEN_OFF and one[0].state != State.DISPUTED],
            appeals=waiting_appeals(pools),
        )
        return TemplateResponse(request, "admin/matches/report/queue.html", context)

    # --- One match ---

    @in_own_zone
    def settle_view(self, request: HttpRequest, match_id: int) -> HttpResponse:
        """What was said of a match that is not finished; a decision or an evaluation, when one is sent."""
        match = Match.objects.select_related("pool").filter(pk=match_id).first()
        if match is None:
            raise Http404
        if not may_here(request, CORRECT, match.pool_id):
            raise PermissionDenied
        seats = list(match.participants.select_related("player").order_by("seat"))
        reports = list(Report.objects.filter(match=match).select_related("decided_by").order_by("-made_at", "-pk"))
        live = next((report for report in reports if report.is_live), None) if match.status == Match.Status.OPEN else None
        seen = {"seen": live.pk if live else None}
        evaluates = "chance" in match.pool.rating_system.uses
        sent = request.POST if request.method == "POST" else None
        decision = DecisionForm(sent if sent and "_decide" in sent else None, match=match, seats=seats, initial=seen)
        evaluation = EvaluationForm(
            sent if sent and "_evaluate" in sent else None, match=match, initial={**seen, "points": live and live.points}
        )
        if sent is not None and not seats:
            raise PermissionDenied
        if sent is not None:
            form = evaluation if "_evaluate" in sent and evaluates else decision
            if form.is_valid() and (done := self._settle(request, match, form)):
                return done
        context = self.context(
            request,
            _("Settle match %(id)s") % {"id": match.pk},
            match=match,
            pool=match.pool,
            seats=seats,
            live=live,
            versions=versions_of(match, seats, live) if live else (),
            past=[(report, told_in_words(match, seats, told_of(report))) for report in reports if report is not live],
            evaluation_form=evaluation if evaluates else None,
            decision_form=decision,
            evaluations=Evaluation.objects.filter(match=match).select_related("made_by"),
        )
        return TemplateResponse(request, "admin/matches/report/settle.html", context)

    def _settle(self, request: HttpRequest, match: Match, form: DecisionForm | EvaluationForm) -> HttpResponse | None:
        """Settle the match; None where the form is to be shown again with what was wrong."""
        try:
            if isinstance(form, EvaluationForm):
                adjudication.evaluate(match_id=match.pk, evaluated_by=request.user, **form.values())  # type: ignore[arg-type]
            else:
                adjudication.decide(match_id=match.pk, decided_by=request.user, **form.values())  # type: ignore[arg-type]
        except Refused as refused:
            form.refuse(refused)
            return None
        except ReportDenied as denied:
            self.message_user(request, denial(denied), messages.WARNING)
            return HttpResponseRedirect(request.path)
        match.refresh_from_db()
        LogEntry.objects.log_actions(
            user_id=request.user.pk,  # type: ignore[arg-type]
            queryset=[match],
            action_flag=CHANGE,
            change_message=f"{self.opts.verbose_name}: {form.cleaned_data.get('reason') or form.cleaned_data.get('note')}",
        )
        sentence = stored_sentence(match) if match.status == Match.Status.COMPLETED else _("The match is closed.")
        self.message_user(request, sentence, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:matches_report_queue"))


@admin.register(Appeal)
class AppealAdmin(OfMatches):
    """Appeals: answered on their page."""

    list_display = ("made_at", "pool", "player", "state", "answered_by", "answered_at")
    list_filter = ("state", ("match__pool", admin.RelatedFieldListFilter))
    list_select_related = ("match__pool", "player", "answered_by")
    change_list_template = "admin/matches/report/change_list.html"

    @admin.display(description=gettext_lazy("pool"))
    def pool(self, appeal: Appeal) -> str:
        return appeal.match.pool.name

    def page_of(self, request: HttpRequest, row: Appeal) -> HttpResponse:
        form = AnswerForm(request.POST if request.method == "POST" else None)
        if request.method == "POST":
            if not may_here(request, CORRECT, row.match.pool_id):
                raise PermissionDenied
            if form.is_valid() and (done := self._answer(request, row, form)):
                return done
        match = row.match
        context = self.context(
            request,
            _("Appeal against match %(id)s") % {"id": match.pk},
            appeal=row,
            match=match,
            seats=list(match.participants.all()),
            form=form,
            may_answer=may_here(request, CORRECT, match.pool_id),
            corrected=row.match_version is not None and row.match_version != match.version,
            evaluations=Evaluation.objects.filter(match=match).select_related("made_by"),
            reports=[
                (report, told_in_words(match, list(match.participants.all()), told_of(report)))
                for report in Report.objects.filter(match=match).filter(Q(state=State.CONFIRMED) | Q(state=State.DECIDED))
            ],
        )
        return TemplateResponse(request, "admin/matches/appeal/appeal.html", context)

    def _answer(self, request: HttpRequest, row: Appeal, form: AnswerForm) -> HttpResponse | None:
        grant = "_grant" in request.POST
        try:
            appeals.answer(
                appeal_id=row.pk,
                grant=grant,
                text=form.cleaned_data["answer"],
                answered_by=request.user,  # type: ignore[arg-type]
            )
        except Refused as refused:
            form.refuse(refused)
            return None
        except appeals.Answered:
            self.message_user(request, _("Another organiser has answered this appeal meanwhile."), messages.WARNING)
            return HttpResponseRedirect(request.path)
        except ReportDenied as denied:
            self.message_user(request, denial(denied), messages.WARNING)
            return HttpResponseRedirect(request.path)
        self.log_change(request, row, form.cleaned_data["answer"])
        if not grant:
            self.message_user(request, _("The appeal is rejected; the player reads your answer."), messages.SUCCESS)
            return HttpResponseRedirect(reverse("admin:matches_report_queue"))
        self.message_user(request, _("The appeal is granted. Now correct the match."), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:matches_match_correct", args=[row.match_id]))
