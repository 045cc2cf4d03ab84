"""The admin of pools with their tiers and organisers."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players import ledger, systems
from players.admin.base import FindsRows, SiteAdmin
from players.forms import NewPoolForm, OrganiserForm, PoolForm, TierForm
from players.locks import hold_pool
from players.models import Organiser, Pool, Tier
from players.services import create_pool
from players.wording import system_label


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
    """Pools with their tiers. The system stays as it was made, and so does the address, to which others have links. Other
    parameters are a revision of what was published: see `matches.admin.parameters`."""

    list_display = ("name", "slug", "system_name", "game", "shown_decimals", "provisional_below")
    list_filter = ("game",)
    search_fields = ("name", "slug")

    def get_fields(self, request: HttpRequest, obj: Pool | None = None) -> Any:
        if obj is None:
            return ("name", "slug", "system", "parameters")
        fields = ("name", "slug", "game", "system_name", "shown_parameters", "shown_decimals", "provisional_below")
        return (*fields, "stakes_shown_to") if "stake" in systems.get(obj.system).uses else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Pool | None = None) -> Any:
        return () if obj is None else ("slug", "system_name", "shown_parameters")

    def get_form(self, request: HttpRequest, obj: Pool | None = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs["form"] = NewPoolForm if obj is None else PoolForm
        if obj is not None:
            kwargs["help_texts"] = {
                "slug": _("A pool keeps its address, so that links to its pages go on working."),
                "system_name": _("A pool keeps its system."),
                "shown_parameters": _("“Change the parameters” above shows first whom other ones would move."),
            }
        return super().get_form(request, obj, change, **kwargs)

    def get_inlines(self, request: HttpRequest, obj: Pool | None) -> Any:
        return [TierInline, OrganiserInline] if obj else []

    @admin.display(description=gettext_lazy("rating system"), ordering="system")
    def system_name(self, pool: Pool) -> str:
        return system_label(pool.system)

    @admin.display(description=gettext_lazy("parameters"))
    def shown_parameters(self, pool: Pool) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(pool.parameters, indent=2, ensure_ascii=False))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Pool | None:
        """The pool; to be changed it is held alone, so that no match is counted between the look at it and the write."""
        pool = super().get_object(request, object_id, from_field)
        # The page of what was done to it only reads, in no transaction, whatever it is sent.
        if pool is not None and request.method == "POST" and connection.in_atomic_block:
            pool = hold_pool(pool.pk, exclusive=True)
        return pool

    def save_model(self, request: HttpRequest, obj: Pool, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields=form.changed_data)
            return
        made = create_pool(obj.slug, name=obj.name, system=obj.system, parameters=obj.parameters)
        obj.pk = made.pk
        obj.refresh_from_db()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            return
        now = timezone.now()
        decays = form.instance.rating_system.standing_params is not None
        if "shown_decimals" in form.changed_data or (
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
