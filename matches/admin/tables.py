"""The admin of the lobby's tables."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy

from matches.forms import TableForm
from matches.models import Table
from players.admin import ByPlayerName, SiteAdmin, moment_column


@admin.register(Table)
class TableAdmin(ByPlayerName, SiteAdmin):
    form = TableForm
    list_display = ("host", "pool", "length", "deals", "stake", "real_money", "opened")
    list_filter = ("pool",)
    list_select_related = ("host", "pool")
    search_fields = ("host__name_key__contains",)
    search_help_text = gettext_lazy("Part of the host's name.")
    autocomplete_fields = ("host",)
    fields = ("pool", "host", "length", "deals", "stake", "real_money", "opened")
    readonly_fields = ("opened",)
    opened = moment_column(Table, "opened_at")
