"""The admin of matches and of the lobby's tables.

A match is entered and completed here through `matches.completion`, like everywhere: nothing in this module stores one itself.
What the service refuses or finds in conflict rolls the transaction back; then the form is shown again with it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, pgettext_lazy

from matches.completion import delete_open
from matches.entries import Conflict
from matches.forms import TERM_FIELDS, EntryForm, PlacedSeatForm, SeatForm, SeatFormSet, TableForm, Trouble
from matches.models import Match, Participant, Table
from players.admin import ByPlayerName, FindsRows, SiteAdmin
from players.formatting import format_change, format_number, format_rating
from players.models import Pool, RatingChange
from players.names import clean_name, name_key
from players.pages.outcomes import outcome
from players.systems.base import Refused
from players.templatetags.ratings import ended
from players.wording import reason

ADD_OR_CHANGE = ("matches.add_match", "matches.change_match")


def pool_of(request: HttpRequest, match: Match | None) -> Pool | None:
    """The pool of a match; of a new one the pool that the address names, or None where it names none."""
    if match is not None:
        return match.pool
    if not hasattr(request, "entry_pool"):
        named = request.GET.get("pool", "")
        known = Pool.objects.filter(pk=named).first() if named.isascii() and named.isdigit() and len(named) < 19 else None
        request.entry_pool = known  # type: ignore[attr-defined]
    return request.entry_pool  # type: ignore[attr-defined]


def trouble_of(request: HttpRequest) -> Trouble | None:
    """What the service objected to when this request was to be stored."""
    return getattr(request, "trouble", None)


class SeatInline(FindsRows, admin.TabularInline):
    """The players of a match that is being entered: a row for each seat."""

    model = Participant
    formset = SeatFormSet
    autocomplete_fields = ("player",)
    readonly_fields = ("seat_name",)
    extra = 0
    can_delete = False
    verbose_name_plural = gettext_lazy("players")

    def get_fields(self, request: HttpRequest, obj: Match | None = None) -> Any:
        return ("seat_name", "player", "place") if self._by_places(request, obj) else ("seat_name", "player")

    def get_formset(self, request: HttpRequest, obj: Match | None = None, **kwargs: Any) -> Any:
        pool = pool_of(request, obj)
        assert pool is not None
        seats = pool.rating_system.seats
        formset = super().get_formset(
            request,
            obj,
            form=PlacedSeatForm if self._by_places(request, obj) else SeatForm,
            min_num=seats,
            max_num=seats,
            absolute_max=seats,
            **kwargs,
        )
        formset.trouble = trouble_of(request)  # type: ignore[attr-defined]
        return formset

    def _by_places(self, request: HttpRequest, obj: Match | None) -> bool:
        pool = pool_of(request, obj)
        return pool is not None and "places" in pool.rating_system.uses

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).none()

    @admin.display(description=gettext_lazy("seat"))
    def seat_name(self, seat: Participant) -> str:
        return _("Player %(seat)s") % {"seat": seat.seat}

    # The seats are a part of the match: who may enter it may fill them.

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return any(map(request.user.has_perm, ADD_OR_CHANGE))

    has_change_permission = has_add_permission


class ResultInline(admin.TabularInline):
    """The players of a stored match with what it did to their ratings."""

    model = Participant
    fields = ("seat", "player", "score_or_place", "before", "change", "after")
    readonly_fields = fields
    extra = 0
    can_delete = False
    verbose_name_plural = gettext_lazy("players")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        line = RatingChange.objects.filter(match=OuterRef("match"), player=OuterRef("player"))
        numbers = {f"rating_{name}": Subquery(line.values(name)[:1]) for name in ("before", "change", "after")}
        return super().get_queryset(request).select_related("player", "match__pool").annotate(**numbers)

    @admin.display(description=gettext_lazy("score or place"))
    def score_or_place(self, seat: Participant) -> str:
        value = seat.score if seat.place is None else seat.place
        return "–" if value is None else format_number(value)

    @admin.display(description=pgettext_lazy("rating", "before"))
    def before(self, seat: Any) -> str:
        return self._shown(format_rating, seat, seat.rating_before)

    @admin.display(description=gettext_lazy("change"))
    def change(self, seat: Any) -> str:
        return self._shown(format_change, seat, seat.rating_change)

    @admin.display(description=pgettext_lazy("rating", "after"))
    def after(self, seat: Any) -> str:
        return self._shown(format_rating, seat, seat.rating_after)

    @staticmethod
    def _shown(write: Any, seat: Any, value: float | None) -> str:
        return "–" if value is None else write(value, seat.match.pool.shown_decimals)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_add_permission


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
class MatchAdmin(SiteAdmin):
    """Matches: entered under one of the pools, completed once, and only looked at from then on."""

    list_display = ("__str__", "shown_end", "shown_outcome", "kind", "stake", "status", "counted", "entered_by")
    list_filter = ("pool", "status", CountedFilter, "kind")
    list_select_related = ("pool", "entered_by")
    search_fields = ("id",)  # see get_search_results
    search_help_text = gettext_lazy("Part of a player's name, or the number of a match.")
    ordering = ("-id",)

    # --- The list ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Match]:
        return super().get_queryset(request).select_related("pool", "entered_by").prefetch_related("participants__player")

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        for word in clean_name(search_term).split():
            number = word.removeprefix("#")
            if number.isascii() and number.isdigit() and len(number) < 19:
                queryset = queryset.filter(pk=int(number))
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

    def has_change_permission(self, request: HttpRequest, obj: Match | None = None) -> bool:
        """A match that is not finished can be changed. What is sent for another one was so when its form was opened: that is no
        matter of rights, and the service tells what happened meanwhile."""
        changeable = obj is None or obj.status == Match.Status.OPEN or request.method == "POST"
        return changeable and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return (obj is None or obj.status == Match.Status.OPEN) and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Match) -> None:
        if not delete_open(obj.pk):
            raise PermissionDenied(_("This match was completed meanwhile. A completed match is not deleted."))

    # --- The form ---

    def form_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if "_saveasnew" in request.POST:
            raise BadRequest("a match is not copied")
        if object_id is None and pool_of(request, None) is None:
            return self._pools_view(request)
        try:
            return admin.ModelAdmin.changeform_view(self, request, object_id, *args, **kwargs)
        except (Refused, Conflict) as trouble:
            # Nothing is left behind. Once more: the form takes it up as it would its own errors, and is shown with it.
            request.trouble = trouble  # type: ignore[attr-defined]
            return admin.ModelAdmin.changeform_view(self, request, object_id, *args, **kwargs)

    def _pools_view(self, request: HttpRequest) -> HttpResponse:
        """The first step of entering a match: in which pool."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("Enter a match: in which pool?"),
            "opts": self.opts,
            "pools": Pool.objects.all(),
        }
        return TemplateResponse(request, "admin/matches/match/pools.html", context)

    def _entering(self, request: HttpRequest, match: Match | None) -> bool:
        return match is None or self.has_change_permission(request, match)

    def get_form(self, request: HttpRequest, obj: Match | None = None, change: bool = False, **kwargs: Any) -> Any:
        if not self._entering(request, obj):
            # The help is for who fills a field in.
            shown = flatten_fieldsets(self.get_fieldsets(request, obj))
            return super().get_form(request, obj, change, **kwargs, help_texts=dict.fromkeys(shown, ""))
        return type("PoolEntryForm", (EntryForm,), {"pool": pool_of(request, obj), "trouble": trouble_of(request)})

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
                (_("Record"), {"fields": ["entered_by", "created_at", "completed_at", "source", "external_id", "version"]}),
            )
        outcome_first = ["outcome"] if "scores" in uses else []
        return (
            (None, {"fields": ["status", "version", "entry_token"]}),
            (_("Terms"), {"fields": terms}),
            (_("Result"), {"fields": [*outcome_first, *at_the_end, "ended_at", "timed", "sequence"]}),
        )

    def get_inlines(self, request: HttpRequest, obj: Match | None) -> Any:
        return [SeatInline] if self._entering(request, obj) else [ResultInline]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        context["show_save_and_continue"] = False
        context["pool"] = pool_of(request, kwargs.get("obj"))
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=gettext_lazy("calculation sheet"))
    def sheet(self, match: Match) -> SafeString:
        return format_html('<a href="{}">{}</a>', match.get_absolute_url(), _("how the changes are reckoned"))

    @admin.display(description=gettext_lazy("not counted because"))
    def why_not_counted(self, match: Match) -> str:
        return not_counted_sentence(match) if match.not_counted else "–"

    # --- Saving ---

    def save_model(self, request: HttpRequest, obj: Match, form: Any, change: bool) -> None:
        """The service stores the match with its participants, see `save_related`."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        [seats] = formsets
        now = timezone.now()
        match = form.store(seats.players(), seats.places(), entered_by=request.user, now=now)
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
        return None if request.is_repeated else super().log_change(request, obj, message)  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: Match, post_url_continue: str | None = None) -> HttpResponse:
        self.message_user(request, stored_sentence(obj), messages.SUCCESS)
        if "_addanother" in request.POST:
            return HttpResponseRedirect(f"{reverse('admin:matches_match_add')}?pool={obj.pool_id}")
        return self.response_post_save_add(request, obj)

    def response_change(self, request: HttpRequest, obj: Match) -> HttpResponse:
        return self.response_add(request, obj)


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
    found = match.pool.rating_system.not_counted(match.result())
    return reason(match.not_counted, found.values if found else None)


@admin.register(Table)
class TableAdmin(ByPlayerName, SiteAdmin):
    form = TableForm
    list_display = ("host", "pool", "length", "deals", "stake", "real_money", "opened_at")
    list_filter = ("pool",)
    list_select_related = ("host", "pool")
    search_fields = ("host__name_key__contains",)
    search_help_text = gettext_lazy("Part of the host's name.")
    autocomplete_fields = ("host",)
    fields = ("pool", "host", "length", "deals", "stake", "real_money", "opened_at")
    readonly_fields = ("opened_at",)
