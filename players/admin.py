"""The admin of players, pools, ratings and the history of ratings.

Ratings are looked at here: only matches change them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError
from django.db.models import PROTECT, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from players import ledger
from players.formatting import format_change, format_rating, is_provisional
from players.forms import FixedPoolForm, NewPoolForm, OrganiserForm, PoolForm, TierForm
from players.locks import hold_pool
from players.models import Organiser, Player, Pool, Rating, RatingChange, Tier
from players.names import clean_name, name_key
from players.pages.reader import reader_of, zone_of
from players.permissions import ENTER
from players.services import create_player, create_pool
from players.staff import PoolByPool, may_here
from players.templatetags.ratings import ended
from players.wording import system_label

View = TypeVar("View", bound=Callable[..., Any])


def in_own_zone(view: View) -> View:
    """A view of a ModelAdmin that reads and shows times in the zone of the one who is logged in."""

    @wraps(view)
    def in_zone(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with timezone.override(zone_of(reader_of(request))):
            response = view(self, request, *args, **kwargs)
            if isinstance(response, SimpleTemplateResponse):
                response.render()  # while the zone is active
            return response

    return cast(View, in_zone)


class FoundSelect(AutocompleteSelect):
    """A choice from a table that is too long for a list. What a tampered form sends is shown as no choice."""

    def optgroups(self, name: str, value: Any, attrs: Any = None) -> Any:
        known = [key for key in value if (text := str(key)).isascii() and text.isdigit() and len(text) < 19]
        return super().optgroups(name, known, attrs)


class FindsRows:
    """For admins with `autocomplete_fields`."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.autocomplete_fields:  # type: ignore[attr-defined]
            kwargs["widget"] = FoundSelect(db_field, self.admin_site)  # type: ignore[attr-defined]
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]


class List(ChangeList):
    """A list that takes a filter in the address which no row can meet (a year beyond the calendar, an id beyond the column) for a
    filter that is not there, as Django does with those that it checks itself."""

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (ValueError, OverflowError, DataError) as error:
            raise IncorrectLookupParameters(error) from error


class SiteAdmin(FindsRows, admin.ModelAdmin):
    """What all lists and forms here have in common.

    There is no deleting in bulk: what is rated is never deleted, and a list may have a hundred thousand rows.
    """

    actions: Any = None
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return List

    @in_own_zone
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, extra_context)

    @in_own_zone
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self.form_view(request, *args, **kwargs)

    def form_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The page of one row, in a transaction of its own when it is saved."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except (IntegrityError, ValidationError):
            # Somebody stored the same name or address between the check and the write. The check sees it now.
            return super().changeform_view(request, *args, **kwargs)

    @in_own_zone
    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().history_view(request, *args, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or not in_use(obj))


class ReadOnlyAdmin(SiteAdmin):
    """For what the ledger alone writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ByPlayerName:
    """Searches in stored name keys: case and composition of letters make no difference."""

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        return super().get_search_results(request, queryset, name_key(clean_name(search_term)))  # type: ignore[misc]


def in_use(row: Model) -> bool:
    """Whether other rows stand on this one, so that it cannot be deleted."""
    return any(
        relation.on_delete is PROTECT and relation.related_model._base_manager.filter(**{relation.field.name: row}).exists()
        for relation in row._meta.related_objects
    )


class LoginAdmin(SiteAdmin, UserAdmin):
    """Logins. Whoever has entered or corrected a match stays on record: his login is switched off, not deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and obj != request.user


admin.site.unregister(User)
admin.site.register(User, LoginAdmin)


def listed(model: type[Model], query: str, text: object) -> SafeString:
    """A link to the list of a model with a filter."""
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html('<a href="{}?{}">{}</a>', url, query, text)


@admin.register(Player)
class PlayerAdmin(ByPlayerName, SiteAdmin):
    list_display = ("name", "user", "time_zone", "language", "created_at")
    list_filter = ("language", ("user", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("name_key__contains",)
    search_help_text = gettext_lazy("Part of a name, in capitals or not.")
    autocomplete_fields = ("user",)
    fields = ("name", "user", "time_zone", "language", "slug", "created_at", "rated")
    readonly_fields = ("slug", "created_at", "rated")

    def get_fields(self, request: HttpRequest, obj: Player | None = None) -> Any:
        return self.fields if obj else ("name", "user", "time_zone", "language")

    def has_view_permission(self, request: HttpRequest, obj: Player | None = None) -> bool:
        """Whoever enters the matches of a pool may also look up who plays."""
        looks_up = obj is None and request.resolver_match is not None and request.resolver_match.url_name == "autocomplete"
        return super().has_view_permission(request, obj) or (looks_up and may_here(request, ENTER))

    @admin.display(description=gettext_lazy("ratings"))
    def rated(self, player: Player) -> SafeString:
        query = f"player__id__exact={player.pk}"
        return format_html("{} · {}", listed(Rating, query, _("ratings")), listed(RatingChange, query, _("history")))

    def save_model(self, request: HttpRequest, obj: Player, form: Any, change: bool) -> None:
        """A new player gets an address, which stays when his name changes. The key of the new name was set with the name."""
        if change:
            obj.save()
            return
        made = create_player(obj.name, user=obj.user, time_zone=obj.time_zone, language=obj.language)
        obj.pk = made.pk
        obj.refresh_from_db()


class TierInline(admin.TabularInline):
    model = Tier
    form = TierForm
    extra = 0


class OrganiserInline(FindsRows, admin.TabularInline):
    """Who sees, enters and corrects the matches of a pool without rights in all pools. He needs a login with staff status."""

    model = Organiser
    form = OrganiserForm
    autocomplete_fields = ("user",)
    extra = 0


@admin.register(Pool)
class PoolAdmin(SiteAdmin):
    """Pools with their tiers. What the ratings stand on, system and parameters, is fixed once a match was counted."""

    list_display = ("name", "slug", "system_name", "game", "shown_decimals", "provisional_below")
    list_filter = ("game",)
    search_fields = ("name", "slug")

    def get_fields(self, request: HttpRequest, obj: Pool | None = None) -> Any:
        if obj is None:
            return ("name", "slug", "system", "parameters")
        parameters = "fixed_parameters" if has_counted_matches(obj) else "parameters"
        return ("name", "slug", "game", "system_name", parameters, "shown_decimals", "provisional_below")

    def get_readonly_fields(self, request: HttpRequest, obj: Pool | None = None) -> Any:
        return () if obj is None else ("system_name", "fixed_parameters")

    def get_form(self, request: HttpRequest, obj: Pool | None = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs["form"] = NewPoolForm if obj is None else FixedPoolForm if has_counted_matches(obj) else PoolForm
        kwargs["help_texts"] = {
            "system_name": _("A pool keeps its system."),
            "fixed_parameters": _(
                "Fixed, because matches of this pool are counted: other parameters would change every rating in it. "
                "Make a new pool for other parameters."
            ),
        }
        return super().get_form(request, obj, change, **kwargs)

    def get_inlines(self, request: HttpRequest, obj: Pool | None) -> Any:
        return [TierInline, OrganiserInline] if obj else []

    @admin.display(description=gettext_lazy("rating system"), ordering="system")
    def system_name(self, pool: Pool) -> str:
        return system_label(pool.system)

    @admin.display(description=gettext_lazy("parameters"))
    def fixed_parameters(self, pool: Pool) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(pool.parameters, indent=2, ensure_ascii=False))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Pool | None:
        """The pool; to be changed it is held alone, so that no match is counted between the look at it and the write."""
        pool = super().get_object(request, object_id, from_field)
        if pool is not None and request.method == "POST":
            pool = hold_pool(pool.pk, exclusive=True)
        return pool

    def save_model(self, request: HttpRequest, obj: Pool, form: Any, change: bool) -> None:
        if change:
            obj.save()
            if "parameters" in request.POST and "parameters" not in form.fields:
                self.message_user(
                    request, _("The parameters are as they were: a match of this pool was counted meanwhile."), messages.WARNING
                )
            return
        made = create_pool(obj.slug, name=obj.name, system=obj.system, parameters=obj.parameters)
        obj.pk = made.pk
        obj.refresh_from_db()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            return
        now = timezone.now()
        if "parameters" in form.changed_data:
            ledger.reopen(form.instance, now)
        decays = form.instance.rating_system.standing_params is not None
        if {"parameters", "shown_decimals"} & set(form.changed_data) or (
            decays and any(rows.has_changed() for rows in formsets if rows.model is Tier)
        ):
            ledger.refresh_standings(form.instance.pk, now)

    def response_add(self, request: HttpRequest, obj: Pool, post_url_continue: str | None = None) -> HttpResponse:
        """A new pool is shown at once with what its system brought along: tiers, decimals, the limit of grey."""
        if "_addanother" not in request.POST:
            sent = request.POST.copy()
            sent["_continue"] = "1"
            request.POST = sent  # type: ignore[assignment]
        return super().response_add(request, obj, post_url_continue)


def has_counted_matches(pool: Pool) -> bool:
    return Rating.objects.filter(pool=pool, matches__gt=0).exists()


@admin.register(Rating)
class RatingAdmin(PoolByPool, ByPlayerName, ReadOnlyAdmin):
    seen_with = ("players.view_rating",)
    list_display = ("player", "pool", "shown_rating", "shown_standing", "experience", "matches", "settled", "last_ended_at")
    list_filter = ("pool",)
    list_select_related = ("player", "pool")
    search_fields = ("player__name_key__contains",)
    search_help_text = gettext_lazy("Part of a player's name.")
    ordering = ("-id",)
    fields = (
        "player",
        "pool",
        "shown_rating",
        "shown_standing",
        "standing_at",
        "experience",
        "settled",
        "matches",
        "shown_peak",
        "peak_match",
        "shown_opening",
        "opening_experience",
        "opened_on",
        "last_match",
        "last_ended_at",
        "changes",
    )

    @admin.display(description=gettext_lazy("rating"), ordering="value")
    def shown_rating(self, rating: Rating) -> str:
        return format_rating(rating.value, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("standing"), ordering="standing")
    def shown_standing(self, rating: Rating) -> str:
        return format_rating(rating.standing, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("peak"))
    def shown_peak(self, rating: Rating) -> str:
        return format_rating(rating.peak, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("opening rating"))
    def shown_opening(self, rating: Rating) -> str:
        return format_rating(rating.opening, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("settled"), boolean=True)
    def settled(self, rating: Rating) -> bool:
        return not is_provisional(rating.experience, rating.pool.provisional_below)

    @admin.display(description=gettext_lazy("history"))
    def changes(self, rating: Rating) -> SafeString:
        return listed(RatingChange, f"rating__id__exact={rating.pk}", _("history"))


@admin.register(RatingChange)
class RatingChangeAdmin(PoolByPool, ByPlayerName, ReadOnlyAdmin):
    seen_with = ("players.view_ratingchange",)
    to_pool = "rating__pool"
    list_display = (
        "shown_match",
        "player",
        "pool",
        "shown_end",
        "shown_before",
        "shown_change",
        "shown_after",
        "experience_after",
    )
    list_display_links = ("shown_change",)
    list_filter = (("rating__pool", admin.RelatedFieldListFilter),)
    list_select_related = ("player", "rating__pool")
    search_fields = ("player__name_key__contains",)
    search_help_text = gettext_lazy("Part of a player's name.")
    ordering = ("-id",)
    fields = (
        "match",
        "player",
        "pool",
        "shown_end",
        "shown_before",
        "shown_change",
        "shown_after",
        "experience_before",
        "experience_after",
        "score",
        "expected",
    )

    def pool_id_of(self, row: RatingChange) -> int:
        return row.rating.pool_id

    @admin.display(description=gettext_lazy("match"), ordering="match_id")
    def shown_match(self, change: RatingChange) -> SafeString:
        return format_html('<a href="{}">#{}</a>', reverse("admin:matches_match_change", args=[change.match_id]), change.match_id)

    @admin.display(description=gettext_lazy("pool"))
    def pool(self, change: RatingChange) -> Pool:
        return change.rating.pool

    @admin.display(description=gettext_lazy("ended"))
    def shown_end(self, change: RatingChange) -> SafeString:
        return ended(change)

    @admin.display(description=pgettext_lazy("rating", "before"))
    def shown_before(self, change: RatingChange) -> str:
        return format_rating(change.before, change.rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("change"), ordering="change")
    def shown_change(self, change: RatingChange) -> str:
        return format_change(change.change, change.rating.pool.shown_decimals)

    @admin.display(description=pgettext_lazy("rating", "after"), ordering="after")
    def shown_after(self, change: RatingChange) -> str:
        return format_rating(change.after, change.rating.pool.shown_decimals)
