"""Merging a duplicate in the admin, and undoing it: from the page of the player, with a preview."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches import jobs
from matches.admin.correction_forms import ReasonForm, public_reason_field
from matches.admin.jobs import REASON_SHOWN
from matches.admin.steps import Steps, step
from matches.merging import Merging, Undoing
from matches.models import CorrectionJob, Merge, Revision
from matches.revising import Change
from players.admin import FoundSelect, ReadOnlyAdmin, in_own_zone, listed, moment_column
from players.models import Player
from players.permissions import CHANGE_PLAYERS, may_everywhere


class UndoneFilter(admin.SimpleListFilter):
    title = gettext_lazy("undone")
    parameter_name = "undone"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("no", _("no")), ("yes", _("yes"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Merge]) -> QuerySet[Merge]:
        return queryset.filter(undone_at__isnull=self.value() == "no") if self.value() in ("no", "yes") else queryset


class MergeForm(forms.Form):
    """Who the duplicate is, who he really is, and why."""

    def __init__(self, data: Any = None, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        for name in ("duplicate", "keep"):
            field: Any = Merge._meta.get_field(name)
            self.fields[name] = forms.ModelChoiceField(
                Player.objects.all(), label=capfirst(field.verbose_name), widget=FoundSelect(field, admin.site)
            )
        self.fields["duplicate"].help_text = _("His matches become those of the other one, and his name and address lead there.")
        self.fields["keep"].help_text = _("Who he really is: this name stays.")
        self.fields["reason"] = public_reason_field()


class MergeSteps(Steps):
    template = "admin/matches/merge/merge.html"
    kind = Revision.Kind.MERGE

    def __init__(self, request: HttpRequest) -> None:
        sent = request.POST if request.method == "POST" else None
        self.form = MergeForm(sent, initial={"duplicate": request.GET.get("duplicate", "")})
        self.title, self.subtitle, self.button = _("Merge a duplicate"), "", _("Merge them")
        self.back = reverse("admin:players_player_changelist")
        if self.form.is_valid():
            self.subtitle = f"{self.duplicate.name} → {self.keep.name}"
            self.back = reverse("admin:players_player_change", args=[self.keep.pk])

    @property
    def keep(self) -> Player:
        return self.form.cleaned_data["keep"]

    @property
    def duplicate(self) -> Player:
        return self.form.cleaned_data["duplicate"]

    def change(self) -> Change:
        return Merging(self.keep.pk, self.duplicate.pk)

    def start(self, request: HttpRequest) -> CorrectionJob:
        return jobs.start_merge(self.keep, self.duplicate, reason=self.reason, made_by=request.user)  # type: ignore[arg-type]

    def made_before(self, request: HttpRequest) -> bool:
        by: Any = request.user
        same = Merge.objects.filter(keep=self.keep, duplicate=self.duplicate, made_by=by, reason=self.reason, undone_at=None)
        return same.exists()

    @property
    def concerned(self) -> list[Any]:
        return [self.keep, self.duplicate]

    def done(self, revisions: list[Revision]) -> str:
        return _("%(duplicate)s is %(keep)s now.") % {"duplicate": self.duplicate.name, "keep": self.keep.name}


class UndoSteps(Steps):
    template = "admin/matches/merge/undo.html"
    kind = Revision.Kind.UNMERGE

    def __init__(self, merge: Merge, data: Any) -> None:
        self.merge, self.form = merge, ReasonForm(data)
        self.title, self.button = _("Undo a merge"), _("Undo the merge")
        self.subtitle = str(merge)
        self.back = reverse("admin:matches_merge_change", args=[merge.pk])

    def change(self) -> Change:
        return Undoing(self.merge.pk)

    def start(self, request: HttpRequest) -> CorrectionJob:
        return jobs.start_undo(self.merge, reason=self.reason, made_by=request.user)  # type: ignore[arg-type]

    def made_before(self, request: HttpRequest) -> bool:
        undone = Merge.objects.get(pk=self.merge.pk)
        return undone.undone_at is not None and (undone.undone_by, undone.undone_reason) == (request.user, self.reason)

    @property
    def concerned(self) -> list[Any]:
        return [self.merge.keep, self.merge.duplicate]

    def done(self, revisions: list[Revision]) -> str:
        names = {"duplicate": self.merge.duplicate.name, "keep": self.merge.keep.name}
        return _("%(duplicate)s and %(keep)s are two players again.") % names

    def context(self) -> dict[str, Any]:
        return {"merge": self.merge}


@admin.register(Merge)
class MergeAdmin(ReadOnlyAdmin):
    """Merges: who was found to be whom. Players play in several pools, so this takes rights in all of them."""

    list_display = ("made", "duplicate", "keep", "why", "made_by", "undone")
    list_filter = (UndoneFilter,)
    search_fields = ("duplicate__name_key__contains", "keep__name_key__contains")
    fields = ("duplicate", "keep", "made", "made_by", "reason", "moved", "undone", "undone_by", "undone_reason")
    made, undone = moment_column(Merge, "made_at"), moment_column(Merge, "undone_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Merge]:
        return super().get_queryset(request).select_related("duplicate", "keep", "made_by", "undone_by")

    @admin.display(description=gettext_lazy("reason"))
    def why(self, merge: Merge) -> str:
        return Truncator(merge.reason).chars(REASON_SHOWN) or "–"

    @admin.display(description=gettext_lazy("revisions"))
    def moved(self, merge: Merge) -> SafeString:
        return listed(Revision, f"merge__id__exact={merge.pk}", _("what it moved, pool by pool"))

    def has_view_permission(self, request: HttpRequest, obj: Merge | None = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_merge_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or self.has_merge_permission(request)

    def has_merge_permission(self, request: HttpRequest) -> bool:
        return may_everywhere(request.user, CHANGE_PLAYERS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_merge_permission(request)

    def get_urls(self) -> list[Any]:
        undo = self.admin_site.admin_view(self.undo_view)
        return [path("<path:object_id>/undo/", undo, name="matches_merge_undo"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        merge = kwargs.get("obj")
        context["may_undo"] = merge is not None and merge.undone_at is None and self.has_merge_permission(request)
        return super().render_change_form(request, context, *args, **kwargs)

    @in_own_zone
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_merge_permission(request):
            raise PermissionDenied
        return step(self, request, MergeSteps(request))

    @in_own_zone
    def undo_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        if not self.has_merge_permission(request):
            raise PermissionDenied
        merge = self.get_object(request, unquote(object_id))
        if merge is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        if merge.undone_at is not None and request.method != "POST":
            return HttpResponseRedirect(reverse("admin:matches_merge_change", args=[merge.pk]))
        return step(self, request, UndoSteps(merge, request.POST if request.method == "POST" else None))
