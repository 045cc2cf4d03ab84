"""Corrections in the background: what they would move, how far they are, what became of them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches import jobs
from matches.admin.correcting import change_url, log_correction
from matches.admin.previews import shown
from matches.job_rows import kind_of, late_entry, match_ids
from matches.models import CorrectionJob, Match, Revision
from matches.words import NOTHING, entry_in_words
from players.admin import ReadOnlyAdmin, in_own_zone, moment_column
from players.permissions import CORRECT, ENTER
from players.staff import PoolByPool, may_here

Status = CorrectionJob.Status
REASON_SHOWN = 60
"""Characters of a reason in a list."""
RUNNING = (Status.PREVIEWING, Status.APPLYING)


@admin.register(CorrectionJob)
class CorrectionJobAdmin(PoolByPool, ReadOnlyAdmin):
    """The list of the jobs, and the page of one: there it is confirmed or withdrawn. Nothing else is changed here."""

    made = moment_column(CorrectionJob, "made_at")
    list_display = ("made", "status", "kind", "pool", "chosen", "why", "total", "made_by")
    list_filter = ("status", "pool")
    seen_with = (CORRECT, ENTER)

    class Media:
        css = {"all": ["administration.css"]}

    list_select_related = ("pool", "made_by")

    def get_urls(self) -> list[Any]:
        progress = path(
            "<path:object_id>/progress/", self.admin_site.admin_view(self.progress_view), name="matches_correctionjob_progress"
        )
        return [progress, *super().get_urls()]

    @admin.display(description=gettext_lazy("kind"))
    def kind(self, job: CorrectionJob) -> str:
        return str(kind_of(job).label)

    @admin.display(description=gettext_lazy("matches"))
    def chosen(self, job: CorrectionJob) -> SafeString:
        return numbered(match_ids(job))

    @admin.display(description=gettext_lazy("reason"))
    def why(self, job: CorrectionJob) -> str:
        return Truncator(job.reason).chars(REASON_SHOWN)

    def get_queryset(self, request: HttpRequest) -> QuerySet[CorrectionJob]:
        return super().get_queryset(request).select_related("pool", "made_by", "revision")

    # --- The page of one ---

    def form_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if object_id is None or not self.has_view_permission(request):
            raise PermissionDenied  # none is added here
        job = self.get_object(request, unquote(object_id))
        if job is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        if request.method == "POST":
            return self._decide(request, job)
        seen = jobs.preview_of(job)
        context = {
            **self.admin_site.each_context(request),
            "title": _("A correction in the background"),
            "opts": self.opts,
            "original": job,
            "job": job,
            "kind": kind_of(job).label,
            "chosen": numbered(match_ids(job)),
            "entered": entry_in_words(job.pool, entry) if (entry := late_entry(job)) else "",
            "running": job.status in RUNNING,
            "advance": jobs.progress_of(job),
            "preview": shown(job.pool, seen, job.preview["moved"]) if seen else None,
            "again": job.status == Status.PREVIEWED and job.preview.get("again", False),
            "may_decide": may_here(request, needed_for(job), job.pool_id),
        }
        return TemplateResponse(request, "admin/matches/correctionjob/job.html", context)

    def _decide(self, request: HttpRequest, job: CorrectionJob) -> HttpResponse:
        """Confirm the job, or withdraw it."""
        if not may_here(request, needed_for(job), job.pool_id):
            raise PermissionDenied
        here = HttpResponseRedirect(request.path)
        if "_withdraw" in request.POST:
            why = _("%(who)s withdrew it. Nothing was written.") % {"who": request.user}
            if not jobs.withdraw(job, why):
                self.message_user(request, _("It is confirmed or over already."), messages.WARNING)
        elif jobs.confirm(job, request.POST.get("token", "")):
            matches = Match.objects.filter(pk__in=match_ids(job)).select_related("pool")
            log_correction(request, list(matches), kind_of(job), job.reason)
            self.log_change(request, job, _("Confirmed"))
        else:
            sentence = _("Nothing was confirmed: somebody was faster, or this is a newer preview. Look at it again.")
            self.message_user(request, sentence, messages.WARNING)
        return here

    @in_own_zone
    def progress_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """How far the job is, for the script on its page: another `state` means that the page is to be loaded anew."""
        job = self.get_object(request, unquote(object_id))
        if job is None or not self.has_view_permission(request, job):
            raise PermissionDenied
        advance = jobs.progress_of(job)
        text = render_to_string("admin/matches/correctionjob/_advance.html", {"job": job, "advance": advance})
        return JsonResponse({"state": job.status, "done": advance.done, "total": advance.total, "text": text.strip()})


def numbered(match_ids: list[int]) -> SafeString:
    """A link to the match, or how many there are."""
    if not match_ids:
        return format_html("{}", NOTHING)
    if len(match_ids) == 1:
        return format_html('<a href="{}">#{}</a>', change_url(match_ids[0]), match_ids[0])
    return format_html("{}", _("%(count)s matches") % {"count": len(match_ids)})


def needed_for(job: CorrectionJob) -> str:
    """The permission that it takes to confirm the job."""
    return ENTER if kind_of(job) == Revision.Kind.LATE else CORRECT
