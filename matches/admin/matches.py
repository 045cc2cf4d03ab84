"""The admin of matches: the list, the page of a match, and the form by which one is entered.

A match is entered and completed here through `matches.completion`, like everywhere: nothing in this module stores one itself.
What the service refuses or finds in conflict rolls the transaction back; then the form is shown again with it. How a completed
match is corrected is in `matches.admin.correcting`.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from matches import jobs, late
from matches.admin.correcting import CorrectsMatches, Proposal
from matches.admin.correction_forms import CorrectionForm
from matches.admin.previews import job_response, preview_response
from matches.admin.seats import ResultInline, SeatInline, pool_of, trouble_of
from matches.completion import delete_open
from matches.corrections import Moved, Preview
from matches.entries import Conflict, Entry
from matches.forms import TERM_FIELDS, EnteredLate, EntryForm
from matches.models import Match, Participant, Revision
from players.admin import in_own_zone, listed, moment_column
from players.formatting import format_change, format_rating
from players.models import Pool, RatingChange
from players.names import clean_name, name_key
from players.numbers import whole
from players.pages.outcomes import outcome
from players.permissions import CORRECT, ENTER, SEE
from players.staff import PoolByPool, may_here
from players.systems.base import Refused
from players.templatetags.ratings import ended
from players.wording import reason

RECORD_FIELDS = ("entered_by", "entered", "completed", "source", "external_id")


class CountedFilter(admin.SimpleListFilter):
    title = gettext_lazy("counted")
    parameter_name = "counted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("yes")), ("no", _("no"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Match]) -> QuerySet[Match]:
        counted = Q(status=Match.Status.COMPLETED, not_counted="")
        if self.value() == "yes":
            return queryset.filter(counted)
        return queryset.exclude(counted) if self.value() == "no" else queryset


@admin.register(Match)
class MatchAdmin(PoolByPool, CorrectsMatches):
    """Matches: entered under one of the pools, completed once, and corrected with a reason from then on."""

    list_display = ("__str__", "shown_end", "shown_outcome", "kind", "stake", "status", "counted", "entered_by")
    list_filter = ("pool", "status", CountedFilter, "kind")
    list_select_related = ("pool", "entered_by")
    search_fields = ("id",)  # see get_search_results
    search_help_text = gettext_lazy("Part of a player's name, or the number of a match.")
    ordering = ("-id",)
    seen_with = (SEE, CORRECT)
    entered, completed = moment_column(Match, "created_at"), moment_column(Match, "completed_at")

    # --- The list ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Match]:
        return super().get_queryset(request).select_related("pool", "entered_by").prefetch_related("participants__player")

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        for word in clean_name(search_term).split():
            number = whole(word.removeprefix("#"))
            if number is not None:
                queryset = queryset.filter(pk=number)
            else:
                named = Participant.objects.filter(player__name_key__contains=name_key(word))
                queryset = queryset.filter(pk__in=named.values("match_id"))
        return queryset, False

    @admin.display(description=gettext_lazy("ended"), ordering="ended_at")
    def shown_end(self, match: Match) -> str:
        return ended(match) if match.ended_at else "–"

    @admin.display(description=gettext_lazy("how it ended"))
    def shown_outcome(self, match: Match) -> str:
        return outcome(match, list(match.participants.all()))

    @admin.display(description=gettext_lazy("counted"), boolean=True)
    def counted(self, match: Match) -> bool | None:
        return None if match.status == Match.Status.OPEN else not match.not_counted and match.status == Match.Status.COMPLETED

    # --- What may be done ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        pool = pool_of(request, None)
        return may_here(request, ENTER, pool.pk if pool else None)

    def has_change_permission(self, request: HttpRequest, obj: Match | None = None) -> bool:
        """A match that is not finished can be changed on its page; another one is corrected. What is sent for that one was not
        finished when its form was opened: that is no matter of rights, and the service tells what happened meanwhile."""
        if is_correcting(request):
            return self.has_correct_permission(request, obj)
        changeable = obj is None or obj.status == Match.Status.OPEN or request.method == "POST"
        return changeable and self.has_correct_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return (obj is None or obj.status == Match.Status.OPEN) and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Match) -> None:
        if not delete_open(obj.pk):
            raise PermissionDenied(_("This match was completed meanwhile. A completed match is not deleted."))

    @in_own_zone
    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        match = self.get_object(request, unquote(object_id))
        if match is None or match.status == Match.Status.OPEN or not self.has_view_permission(request, match):
            return super().delete_view(request, object_id, extra_context)
        context = {
            **self.admin_site.each_context(request),
            "title": _("A completed match is not deleted"),
            "opts": self.opts,
            "match": match,
            "may_correct": self.has_correct_permission(request, match),
        }
        return TemplateResponse(request, "admin/matches/match/not_deleted.html", context, status=403)

    # --- The form ---

    def form_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if "_saveasnew" in request.POST:
            raise BadRequest("a match is not copied")
        if object_id is None and pool_of(request, None) is None:
            return self._pools_view(request)
        try:
            try:
                return admin.ModelAdmin.changeform_view(self, request, object_id, *args, **kwargs)
            except EnteredLate as entered:
                # Outside of the transaction, which is rolled back: it may take a while to compute.
                return self._entered_late(request, entered.pool, entered.entry)
            except Moved as moved:
                match = self.get_object(request, unquote(object_id)) if object_id else None
                return self._late_page(request, pool_of(request, match), moved.preview, moved=True)
        except (Refused, Conflict) as trouble:
            # Nothing is left behind. Once more: the form takes it up as it would its own errors, and is shown with it.
            request.trouble = trouble  # type: ignore[attr-defined]
            return admin.ModelAdmin.changeform_view(self, request, object_id, *args, **kwargs)

    def _entered_late(self, request: HttpRequest, pool: Pool, entry: Entry) -> HttpResponse:
        """Show what a late match would move, or make it a job. Raises Refused."""
        total = late.affected(pool, entry)
        if total > jobs.SMALL:
            job = jobs.start_late(pool, entry, made_by=request.user)  # type: ignore[arg-type]
            return job_response(self, request, job)
        return self._late_page(request, pool, late.preview(pool, entry, now=timezone.now()))

    def _late_page(self, request: HttpRequest, pool: Pool | None, seen: Preview, *, moved: bool = False) -> HttpResponse:
        assert pool is not None
        context = {
            "title": _("Preview"),
            "subtitle": _("A match entered late"),
            "late": True,
            "button": _("Complete it"),
            "cancel": reverse("admin:matches_match_changelist"),
        }
        return preview_response(self, request, [(pool, seen)], context, token=seen.token, moved=moved)

    def _pools_view(self, request: HttpRequest) -> HttpResponse:
        """The first step of entering a match: in which pool."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("Enter a match: in which pool?"),
            "opts": self.opts,
            "pools": [pool for pool in Pool.objects.all() if may_here(request, ENTER, pool.pk)],
        }
        return TemplateResponse(request, "admin/matches/match/pools.html", context)

    def _entering(self, request: HttpRequest, match: Match | None) -> bool:
        return match is None or self.has_change_permission(request, match)

    def get_form(self, request: HttpRequest, obj: Match | None = None, change: bool = False, **kwargs: Any) -> Any:
        if not self._entering(request, obj):
            # The help is for who fills a field in.
            shown = flatten_fieldsets(self.get_fieldsets(request, obj))
            return super().get_form(request, obj, change, **kwargs, help_texts=dict.fromkeys(shown, ""))
        form = CorrectionForm if is_correcting(request) else EntryForm
        told = {"pool": pool_of(request, obj), "trouble": trouble_of(request), "reopened": "_back" in request.POST}
        return type("PoolEntryForm", (form,), told)

    def get_fieldsets(self, request: HttpRequest, obj: Match | None = None) -> Any:
        pool = pool_of(request, obj)
        assert pool is not None
        uses = pool.rating_system.uses
        terms = [name for name in TERM_FIELDS if name in uses and name not in ("points", "chance")]
        at_the_end = [name for name in ("points", "chance") if name in uses]
        if not self._entering(request, obj):
            return (
                (None, {"fields": ["pool", "status", "sheet", "why_not_counted"]}),
                (_("Terms"), {"fields": terms}),
                (_("Result"), {"fields": ["shown_outcome", *at_the_end, "shown_end", "sequence"]}),
                (_("On record"), {"fields": [*RECORD_FIELDS, "version", "revised"]}),
            )
        outcome_first = ["outcome"] if "scores" in uses else []
        result = (_("Result"), {"fields": [*outcome_first, *at_the_end, "ended_at", "timed", "sequence"]})
        if is_correcting(request):
            return ((_("Terms"), {"fields": terms}), result, (_("Why"), {"fields": ["reason", "version"]}))
        return ((None, {"fields": ["status", "version", "entry_token"]}), (_("Terms"), {"fields": terms}), result)

    def get_inlines(self, request: HttpRequest, obj: Match | None) -> Any:
        return [SeatInline] if self._entering(request, obj) else [ResultInline]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        match = kwargs.get("obj")
        context["show_save_and_continue"] = False
        context["pool"] = pool_of(request, match)
        context["correcting"] = is_correcting(request)
        context["may_correct"] = match is not None and self.has_correct_permission(request, match)
        if context["correcting"]:
            context["title"] = _("Correct a match")
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=gettext_lazy("calculation sheet"))
    def sheet(self, match: Match) -> SafeString:
        return format_html('<a href="{}">{}</a>', match.get_absolute_url(), _("how the changes are reckoned"))

    @admin.display(description=gettext_lazy("not counted because"))
    def why_not_counted(self, match: Match) -> str:
        return not_counted_sentence(match) if match.not_counted else "–"

    @admin.display(description=gettext_lazy("revisions"))
    def revised(self, match: Match) -> SafeString:
        return listed(Revision, f"q=%23{match.pk}", _("when, why and by whom it was corrected"))

    # --- Saving ---

    def save_model(self, request: HttpRequest, obj: Match, form: Any, change: bool) -> None:
        """The service stores the match with its participants, see `save_related`."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        [seats] = formsets
        if is_correcting(request):
            correction = form.correction(seats.players(), seats.places())
            request.proposal = Proposal(form.pool, [correction], form.cleaned_data["reason"])  # type: ignore[attr-defined]
            return
        now = timezone.now()
        token = request.POST.get("token", "") if "_confirm" in request.POST else None
        match = form.store(seats.players(), seats.places(), entered_by=request.user, now=now, token=token)
        # A second click on the button finds what the first one stored: one match, and one line in the log.
        form.is_repeated = match.completed_at not in (None, now)
        request.is_repeated = form.is_repeated  # type: ignore[attr-defined]
        form.instance.pk = match.pk
        form.instance.refresh_from_db()

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        message: Any = super().construct_change_message(request, form, [], add)
        if not add and any(seats.has_changed() for seats in formsets):
            message = message or [{"changed": {"fields": []}}]
            message[0]["changed"]["fields"].append(gettext_noop("Players"))
        return message

    def log_addition(self, request: HttpRequest, obj: Match, message: Any) -> Any:
        return None if request.is_repeated else super().log_addition(request, obj, message)  # type: ignore[attr-defined]

    def log_change(self, request: HttpRequest, obj: Match, message: Any) -> Any:
        if is_correcting(request) or request.is_repeated:  # type: ignore[attr-defined]
            return None
        return super().log_change(request, obj, message)

    def response_add(self, request: HttpRequest, obj: Match, post_url_continue: str | None = None) -> HttpResponse:
        self.message_user(request, stored_sentence(obj), messages.SUCCESS)
        if "_addanother" in request.POST:
            return HttpResponseRedirect(f"{reverse('admin:matches_match_add')}?pool={obj.pool_id}")
        return self.response_post_save_add(request, obj)

    def response_change(self, request: HttpRequest, obj: Match) -> HttpResponse:
        if is_correcting(request):
            return HttpResponse()  # the preview comes in its place
        return self.response_add(request, obj)


def is_correcting(request: HttpRequest) -> bool:
    """Whether the form is that of a match which was completed."""
    return getattr(request, "correcting", False)


def stored_sentence(match: Match) -> SafeString:
    """What became of a match that was entered: what it did to the ratings, or why it did nothing, with a link to its page."""
    link = format_html('<a href="{}">{}</a>', match.get_absolute_url(), match)
    if match.status == Match.Status.OPEN:
        return format_html(_("{match} is saved as not finished. It moves no rating yet."), match=link)
    if match.not_counted:
        return format_html(_("{match} is completed. It moves no rating: {why}"), match=link, why=not_counted_sentence(match))
    lines = RatingChange.objects.filter(match=match).select_related("player")
    by_player = {line.player_id: line for line in lines}
    seated = match.participants.all()
    changes = format_html_join(", ", "{}", ((change_text(by_player[seat.player_id], match.pool),) for seat in seated))
    return format_html(_("{match} is completed: {changes}"), match=link, changes=changes)


def change_text(line: RatingChange, pool: Pool) -> str:
    """Vera 1500.00 → 1503.77 (+3.77)"""
    decimals = pool.shown_decimals
    before, after = format_rating(line.before, decimals), format_rating(line.after, decimals)
    return f"{line.player.name} {before} → {after} ({format_change(line.change, decimals)})"


def not_counted_sentence(match: Match) -> str:
    found = match.pool.system_at(match.ended_at).not_counted(match.result())
    return reason(match.not_counted, found.values if found else None)
