"""The admin of the lobbies: tables, and what a pool's lobby goes by."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy, ngettext

from matches.forms import TableForm
from matches.lobby import tables
from matches.models import Lobby, Table
from players.admin import ByPlayerName, SiteAdmin, moment_column
from players.formatting import format_number


@admin.register(Table)
class TableAdmin(ByPlayerName, SiteAdmin):
    """Tables are opened for a player and closed here; what becomes of them is the players' business."""

    form = TableForm
    list_display = ("host", "pool", "kind", "status", "length", "deals", "stake", "real_money", "opened")
    list_filter = ("pool", "status", "kind")
    list_select_related = ("host", "pool")
    search_fields = ("host__name_key__contains",)
    search_help_text = gettext_lazy("Part of the host's name.")
    autocomplete_fields = ("host",)
    fields = (*TableForm.Meta.fields, "kind", "status", "opened", "closed_because", "match")
    readonly_fields = ("kind", "status", "opened", "closed_because", "match")
    opened = moment_column(Table, "opened_at")
    actions = ["close"]

    def get_fields(self, request: HttpRequest, obj: Table | None = None) -> Any:
        return self.fields if obj else TableForm.Meta.fields

    def has_change_permission(self, request: HttpRequest, obj: Table | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except ValidationError as error:  # a second click, between the form's look and the service
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Table, form: Any, change: bool) -> None:
        made = tables.open_table(obj.pool, obj.host, form.terms(), **form.limits())
        obj.pk = made.pk
        obj.refresh_from_db()

    @admin.action(description=gettext_lazy("Close the tables that wait"), permissions=["change"])
    def close(self, request: HttpRequest, chosen: QuerySet[Table]) -> None:
        waiting = chosen.filter(status=Table.Status.WAITING).order_by("pk").values_list("pk", flat=True)
        closed = [table_id for table_id in waiting if tables.close_table(table_id)]
        sentence = ngettext("%(count)s table was closed.", "%(count)s tables were closed.", len(closed))
        self.message_user(request, sentence % {"count": format_number(len(closed), 0)})


@admin.register(Lobby)
class LobbyAdmin(SiteAdmin):
    """How long a pool's tables wait, and whom matchmaking pairs."""

    list_display = ("pool", "table_minutes", "invitation_hours", "pairing_difference", "pairing_widening", "pairing_again_hours")
    list_select_related = ("pool",)
    settings = (
        *("table_minutes", "invitation_hours", "pairing_difference", "pairing_widening"),
        *("pairing_again_hours", "pairing_minutes"),
    )
    fields = ("pool", *settings)

    def get_readonly_fields(self, request: HttpRequest, obj: Lobby | None = None) -> Any:
        return ("pool",) if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Lobby, form: Any, change: bool) -> None:
        obj.save(update_fields=self.settings if change else None)
