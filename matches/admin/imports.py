"""Imports in the admin: files are uploaded for a pool, looked at, and imported once somebody has confirmed it; an import can be
undone as a whole, which voids its matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from matches.admin.correcting import Proposal
from matches.admin.correction_forms import ReasonForm
from matches.admin.import_forms import SettingsForm, UploadForm
from matches.corrections import Correction
from matches.entries import BatchRefused, Conflict
from matches.exports.writing import csv_lines
from matches.imports import jobs
from matches.imports.cells import protected
from matches.imports.csv_table import BadFile
from matches.imports.report import Report
from matches.models import Import, Match
from matches.replay import Overtaken
from matches.words import busy_sentence, overtaken_sentence
from players.admin import ReadOnlyAdmin, in_own_zone, moment_column
from players.formatting import format_number
from players.permissions import CORRECT, ENTER, pools_for
from players.staff import PoolByPool, may_here
from players.wording import refusal

Status = Import.Status
RUNNING = (Status.CHECKING, Status.IMPORTING)
SHOWN = 50
"""Refused rows, and lines of other kinds, that a page shows; the report has them all."""


@admin.register(Import)
class ImportAdmin(PoolByPool, ReadOnlyAdmin):
    """The list of imports, the upload, and the page of one: it is set up, confirmed, withdrawn and undone there."""

    made = moment_column(Import, "made_at")
    list_display = ("made", "name", "pool", "kind", "status", "brought", "voided", "made_by")
    list_display_links = ("made", "name")
    list_filter = ("status", "kind", "pool")
    list_select_related = ("pool", "made_by")
    search_fields = ("name",)
    seen_with = (ENTER, CORRECT)

    class Media:
        css = {"all": ["imports.css"]}

    def get_urls(self) -> list[Any]:
        view, name = self.admin_site.admin_view, "matches_import_{}".format
        return [
            path("<path:object_id>/progress/", view(self.progress_view), name=name("progress")),
            path("<path:object_id>/report.csv", view(self.report_view), name=name("report")),
            path("<path:object_id>/undo/", view(self.undo_view), name=name("undo")),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        rows = super().get_queryset(request).select_related("pool", "made_by")
        return rows.annotate(
            match_count=Count("matches"), voided_count=Count("matches", filter=Q(matches__status=Match.Status.VOIDED))
        )

    @admin.display(description=gettext_lazy("matches"))
    def brought(self, record: Import) -> int:
        return record.match_count  # type: ignore[attr-defined]

    @admin.display(description=gettext_lazy("of them voided"))
    def voided(self, record: Import) -> int:
        return record.voided_count  # type: ignore[attr-defined]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_here(request, ENTER)

    def _found(self, request: HttpRequest, object_id: str, permission: str | None = None) -> Import | None:
        """The import, where there is one that the user may see, and deal with as the permission says. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        record: Import | None = self.get_object(request, unquote(object_id))
        if record is not None and permission is not None and not may_here(request, permission, record.pool_id):
            raise PermissionDenied
        return record

    # --- Upload ---

    def form_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if object_id is None:
            return self._upload(request)
        record = self._found(request, object_id, ENTER if request.method == "POST" else None)
        if record is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        return self._decide(request, record) if request.method == "POST" else self._page(request, record)

    def _upload(self, request: HttpRequest) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = UploadForm(
            pools_for(request.user, ENTER),
            request.POST if request.method == "POST" else None,
            request.FILES if request.method == "POST" else None,
            initial={"pool": request.GET.get("pool", "")},
        )
        if request.method == "POST" and form.is_valid():
            try:
                said = form.cleaned_data
                record = jobs.begin(said["pool"], said["upload"], made_by=request.user, on=said["on"])  # type: ignore[arg-type]
            except (jobs.TooMuch, BadFile) as error:
                form.add_error("upload", str(error))
            else:
                return HttpResponseRedirect(reverse("admin:matches_import_change", args=[record.pk]))
        context = {**self._base(request), "title": _("Import matches"), "form": form}
        return TemplateResponse(request, "admin/matches/import/upload.html", context)

    def _base(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts}

    # --- The page of one ---

    def _decide(self, request: HttpRequest, record: Import) -> HttpResponse:
        here = HttpResponseRedirect(request.path)
        if "_withdraw" in request.POST:
            if not jobs.withdraw(record):
                self.message_user(request, _("It is confirmed or over already."), messages.WARNING)
        elif "_check" in request.POST:
            form = SettingsForm(record, request.POST)
            if not form.is_valid():
                return self._page(request, record, form)
            if not jobs.configure(record, form.options()):
                self.message_user(request, _("It is confirmed or over already."), messages.WARNING)
        elif jobs.confirm(record, request.POST.get("token", "")):
            self.log_change(request, record, _("Confirmed"))
        else:
            sentence = _("Nothing was confirmed: somebody was faster, or this is a newer report. Look at it again.")
            self.message_user(request, sentence, messages.WARNING)
        return here

    def _page(self, request: HttpRequest, record: Import, form: SettingsForm | None = None) -> HttpResponse:
        waits = record.status == Status.CHECKED
        form = form or (SettingsForm(record) if waits else None)
        done, of = jobs.progress_of(record)
        report = Report.from_json(record.report) if record.report else None
        counts = dict(record.matches.order_by().values_list("status").annotate(Count("pk")))
        context = {
            **self._base(request),
            "title": _("Import of %(name)s") % {"name": record.name},
            "original": record,
            "record": record,
            "report": report,
            "shown": SHOWN,
            "shown_slice": f":{SHOWN}",
            "running": record.status in RUNNING,
            "done": done,
            "total": of,
            "form": form,
            "columns": _columns(form) if form else [],
            "names": _names(form) if form else [],
            "token": jobs.token_of(record) if waits else "",
            "may_confirm": jobs.may_confirm(record),
            "may_enter": may_here(request, ENTER, record.pool_id),
            "may_undo": may_here(request, CORRECT, record.pool_id) and counts.get(Match.Status.COMPLETED, 0) > 0,
            "counts": counts,
            "voided": counts.get(Match.Status.VOIDED, 0),
        }
        return TemplateResponse(request, "admin/matches/import/import.html", context)

    @in_own_zone
    def progress_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """How far it is, for the script on its page: another `state` means that the page is to be loaded anew."""
        record = self._found(request, object_id)
        if record is None:
            raise PermissionDenied
        done, total = jobs.progress_of(record)
        text = render_to_string("admin/matches/import/_advance.html", {"done": done, "total": total})
        return JsonResponse({"state": record.status, "done": done, "total": total, "text": text.strip()})

    def report_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        record = self._found(request, object_id)
        if record is None or record.report is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        lines = _report_lines(Report.from_json(record.report))
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="import-{record.pk}.csv"'
        return response

    # --- Undo ---

    @in_own_zone
    def undo_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Void all matches of an import that still count, with one replay and one revision: the steps of any void."""
        record = self._found(request, object_id, CORRECT)
        if record is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        back = HttpResponseRedirect(reverse("admin:matches_import_change", args=[record.pk]))
        matches = list(record.matches.filter(status=Match.Status.COMPLETED).only("pk", "version").order_by("pk"))
        if not matches:
            self.message_user(request, _("None of its matches counts any more."), messages.WARNING)
            return back
        form = ReasonForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid() and "_back" not in request.POST:
            corrections = [Correction(Match(pk=match.pk, version=match.version), void=True) for match in matches]
            proposal = Proposal(record.pool, corrections, form.cleaned_data["reason"])
            correcting: Any = self.admin_site.get_model_admin(Match)
            try:
                response: HttpResponse = correcting._go_on(request, proposal)
            except BatchRefused as batch:
                form.add_error(None, f"#{corrections[batch.index].match.pk} · {refusal(batch.refused)}")
            except Conflict as conflict:
                form.add_error(None, overtaken_sentence(conflict))
            except Overtaken:
                form.add_error(None, busy_sentence())
            else:
                return response
        count = len(matches)
        title = ngettext("Undo an import: void %(count)s match", "Undo an import: void %(count)s matches", count)
        context = {
            **self._base(request),
            "title": title % {"count": format_number(count, 0)},
            "record": record,
            "form": form,
            "cancel": back.url,
        }
        return TemplateResponse(request, "admin/matches/import/undo.html", context)


def _columns(form: SettingsForm) -> list[dict[str, Any]]:
    """For each heading of a list its field, and what stands below it in the first rows."""
    head: list[list[str]] = form.initial["head"]
    header = head[0] if head else []
    below = {heading: [row[place] for row in head[1:] if place < len(row) and row[place]] for place, heading in enumerate(header)}
    return [
        {"field": form[f"column_{place}"], "heading": heading, "samples": below.get(heading, [])}
        for place, heading in enumerate(form.headings)
    ]


def _names(form: SettingsForm) -> list[dict[str, Any]]:
    return [
        {"field": form[f"name_{place}"], "name": name.name, "like": name.like, "list": f"like_{place}"}
        for place, name in enumerate(form.unknown)
    ]


def _report_lines(report: Report) -> Iterator[str]:
    """The report as CSV: a line for each row that is not simply taken, then what else should be known."""
    written = csv_lines()

    def line(*cells: Any) -> str:
        return written(protected(cell) if isinstance(cell, str) else cell for cell in cells)

    yield "\ufeff" + line(_("line"), _("file"), _("what"), _("column"), _("why"))
    for row in report.refused:
        yield line(row.line or "", row.file, _("refused"), row.field, row.message)
    for number, first in report.repeats:
        yield line(number, "", _("repeats"), "", _("says the same as line %(line)d") % {"line": first})
    for number in report.disordered:
        yield line(number, "", _("out of order"), "", _("ends before the row above it"))
    for unknown in report.unknown:
        yield line("", "", _("unknown name"), unknown.name, ", ".join(unknown.like))
    for name in report.new_players:
        yield line("", "", _("new player"), name, "")
    for text in report.unfinished:
        yield line("", "", _("not finished"), "", text)
    for text in report.notes:
        yield line("", "", _("note"), "", text)
    for reason, count in report.not_counted.items():
        yield line("", "", _("not counted"), count, reason)
    for what, count in ((_("rows"), report.rows), (_("added"), report.added), (_("already there"), report.known)):
        yield line("", "", what, count, "")
