"""Revisions: what was published and then changed, by whom and why. They are only looked at."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import path
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy

from matches.admin.jobs import REASON_SHOWN, numbered
from matches.admin.parameters import parameters_view
from matches.admin.previews import MATCHES, changes_of
from matches.models import Revision
from matches.revisions import with_matches
from matches.words import rules_in_words
from players.admin import ReadOnlyAdmin, in_own_zone, moment_column
from players.names import clean_name
from players.numbers import whole
from players.permissions import CORRECT
from players.staff import PoolByPool


@admin.register(Revision)
class RevisionAdmin(PoolByPool, ReadOnlyAdmin):
    list_display = ("made", "kind", "pool", "concerned", "why", "changes", "made_by")
    list_filter = ("pool", "kind")
    list_select_related = ("pool", "made_by")
    seen_with = ("matches.view_revision", CORRECT)
    search_fields = ("id",)  # see get_search_results
    search_help_text = gettext_lazy("The number of a match, or part of a reason.")
    made = moment_column(Revision, "made_at")
    fields = ("kind", "pool", "made", "made_by", "reason", "changes", "concerned", "what")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return with_matches(super().get_queryset(request).select_related("pool", "made_by"))

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        term = clean_name(search_term)
        number = whole(term.removeprefix("#"))
        if number is not None:
            through = Revision.matches.through.objects.filter(match=number)
            return queryset.filter(pk__in=through.values("revision")), False
        return (queryset.filter(reason__icontains=term) if term else queryset), False

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.parameters_view)
        return [path("parameters/<int:pool_id>/", view, name="matches_revision_parameters"), *super().get_urls()]

    @in_own_zone
    def parameters_view(self, request: HttpRequest, pool_id: int) -> HttpResponse:
        """Other parameters for a pool: a revision that is made here."""
        return parameters_view(self, request, pool_id)

    @admin.display(description=gettext_lazy("matches"))
    def concerned(self, revision: Any) -> SafeString | str:
        if not revision.match_count:
            return "–"
        return numbered([revision.first_match] * revision.match_count)

    @admin.display(description=gettext_lazy("reason"))
    def why(self, revision: Revision) -> str:
        return Truncator(revision.reason).chars(REASON_SHOWN) or "–"

    @admin.display(description=gettext_lazy("what was changed"))
    def what(self, revision: Any) -> SafeString | str:
        """Field by field, from what to what; of a match that was entered late, its number."""
        details, rules = revision.details, rules_in_words(revision.rules) if revision.rules else None
        if not details:
            ids = revision.matches.order_by("pk").values_list("pk", flat=True)[:MATCHES]
            details = {str(match_id): {} for match_id in ids}
        if not details and rules is None:
            return "–"
        changes = changes_of(details)
        context = {"rules": rules, "changes": changes, "more": max(len(details), revision.match_count or 0) - len(changes)}
        return SafeString(render_to_string("admin/matches/_changes.html", context))
