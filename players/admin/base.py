"""What the pages of the admin have in common: lists, forms, the zone of the one who reads; and logins."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DataError, IntegrityError
from django.db.models import PROTECT, Field, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from players.names import clean_name, name_key
from players.numbers import whole
from players.pages.reader import reader_of, zone_of
from players.templatetags.ratings import moment

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
        known = [key for key in value if whole(str(key)) is not None]
        return super().optgroups(name, known, attrs)


class Finding(AutocompleteJsonView):
    """What is typed into a `FoundSelect`. A relation that others have to the model is no field of it to choose for."""

    def process_request(self, request: HttpRequest) -> Any:
        found = super().process_request(request)
        if not isinstance(found[2], Field):
            raise PermissionDenied
        return found


admin.site.autocomplete_view = Finding.as_view(admin_site=admin.site)  # type: ignore[method-assign,assignment]


class FindsRows:
    """For admins with `autocomplete_fields`."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.autocomplete_fields:  # type: ignore[attr-defined]
            kwargs["widget"] = FoundSelect(db_field, self.admin_site)  # type: ignore[attr-defined]
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field is not None and hasattr(field.widget, "can_delete_related"):
            field.widget.can_delete_related = False  # whoever chooses a player does not want to delete him
        return field


class List(ChangeList):
    """A list that takes a filter in the address which no row can meet (a year beyond the calendar, an id beyond the column) for a
    filter that is not there, as Django does with those that it checks itself."""

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (ValueError, OverflowError, DataError) as error:
            raise IncorrectLookupParameters(error) from error


class SturdyList:
    """For admins whose lists anybody may ask for with any address, and send any choice of rows."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return List

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        # A range has two ends, and a value in an address is one text.
        return not lookup.endswith("__range") and super().lookup_allowed(lookup, value, request)  # type: ignore[misc]

    def response_action(self, request: HttpRequest, queryset: QuerySet, *args: Any, **kwargs: Any) -> Any:
        """Rows that are chosen by what is no number of a row are not chosen."""
        sent = request.POST.copy()
        chosen = [key for key in sent.getlist(ACTION_CHECKBOX_NAME) if whole(key) is not None]
        sent.setlist(ACTION_CHECKBOX_NAME, chosen)
        request.POST = sent  # type: ignore[assignment]
        return super().response_action(request, queryset, *args, **kwargs)  # type: ignore[misc]


class SiteAdmin(SturdyList, FindsRows, admin.ModelAdmin):
    """What all lists and forms here have in common.

    There is no deleting in bulk: what is rated is never deleted, and a list may have a hundred thousand rows.
    """

    actions: Any = None
    show_full_result_count = False

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
# Those that the framework and its libraries have registered.
for model, theirs in list(admin.site._registry.items()):
    admin.site.unregister(model)
    admin.site.register(model, type(type(theirs).__name__, (SturdyList, type(theirs)), {}))
admin.site.register(User, LoginAdmin)


def moment_column(model: type[Model], name: str) -> Any:
    """A column of a list with a time of the row, written as everywhere; a dash where it has none."""

    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]
    def column(self: Any, row: Model) -> SafeString | str:
        value = getattr(row, name)
        return moment(value) if value else "–"

    return column


def listed(model: type[Model], query: str, text: object) -> SafeString:
    """A link to the list of a model with a filter."""
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html('<a href="{}?{}">{}</a>', url, query, text)
