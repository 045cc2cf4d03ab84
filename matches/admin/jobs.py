"""Revisions in the background: what they would move, how far they are, what became of them."""

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
from matches.job_rows import kind_of, late_entry, match_ids, people_of
from matches.models import CorrectionJob, Match, Revision
from matches.words import NOTHING, entry_in_words
from players.admin import ReadOnlyAdmin, in_own_zone, moment_column
from players.models import Player
from players.permissions import CHANGE_PLAYERS, CORRECT, ENTER, SET_PARAMETERS, may_everywhere
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
    seen_with = (CORRECT, ENTER, SET_PARAMETERS, CHANGE_PLAYERS)

    list_select_related = ("pool", "made_by")

    def get_urls(self) -> list[Any]:
        progress = path(
            "<path:object_id>/progress/", self.admin_site.admin_view(self.progress_view), name="matches_correctionjob_progress"
        )
        return [progress, *super().get_urls()]

    @admin.display(description=gettext_lazy("kind"))
    def kind(self, job: CorrectionJob) -> str:
        return str(kind_of(job).label)

    @admin.display(description=gettext_lazy("what it is about"))
    def chosen(self, job: CorrectionJob) -> SafeString | str:
        return about(job)

    def pool_id_of(self, row: CorrectionJob) -> int:
        return row.pool_id or 0  # a merge is in no pool's reach

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
        stored = jobs.preview_of(job)
        previews = [shown(pool, seen, moved) for pool, seen, moved in stored.pools] if stored else []
        context = {
            **self.admin_site.each_context(request),
            "title": _("A revision in the background"),
            "opts": self.opts,
            "original": job,
            "job": job,
            "kind": kind_of(job).label,
            "chosen": about(job),
            "entered": entry_in_words(job.pool, entry) if job.pool and (entry := late_entry(job)) else "",
            "running": job.status in RUNNING,
            "advance": jobs.progress_of(job),
            "stored": stored,
            "previews": previews,
            "preview": previews[0] if len(previews) == 1 else None,
            "again": job.status == Status.PREVIEWED and stored is not None and stored.again,
            "may_decide": may_decide(request, job),
        }
        return TemplateResponse(request, "admin/matches/correctionjob/job.html", context)

    def _decide(self, request: HttpRequest, job: CorrectionJob) -> HttpResponse:
        """Confirm the job, or withdraw it."""
        if not may_decide(request, job):
            raise PermissionDenied
        here = HttpResponseRedirect(request.path)
        if "_withdraw" in request.POST:
            why = _("%(who)s withdrew it. Nothing was written.") % {"who": request.user}
            if not jobs.withdraw(job, why):
                self.message_user(request, _("It is confirmed or over already."), messages.WARNING)
        elif jobs.confirm(job, request.POST.get("token", "")):
            matches = Match.objects.filter(pk__in=match_ids(job)).select_related("pool")
            log_correction(request, list(matches) or _players_or_pool(job), kind_of(job), job.reason)
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


def about(job: CorrectionJob) -> SafeString | str:
    """The matches, the parameters or the players that the job is about."""
    if (people := people_of(job)) is not None:
        return format_html("#{} → #{}", *people)
    if kind_of(job) == Revision.Kind.PARAMETERS:
        return job.pool.name if job.pool else NOTHING
    return numbered(match_ids(job))


def _players_or_pool(job: CorrectionJob) -> list[Any]:
    """What else than matches is in the admin's log for a job."""
    people = people_of(job)
    return list(Player.objects.filter(pk__in=people)) if people else [job.pool] if job.pool else []


def may_decide(request: HttpRequest, job: CorrectionJob) -> bool:
    """Whether the user may confirm the job, and withdraw it."""
    kind = kind_of(job)
    if kind in (Revision.Kind.MERGE, Revision.Kind.UNMERGE):
        return may_everywhere(request.user, CHANGE_PLAYERS)
    needed = {Revision.Kind.LATE: ENTER, Revision.Kind.PARAMETERS: SET_PARAMETERS}.get(kind, CORRECT)
    return may_here(request, needed, job.pool_id)
