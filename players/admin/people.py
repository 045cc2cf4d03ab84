"""The admin of players: renamed by the service that keeps their addresses, made anonymous after a confirmation.

Whom a duplicate is merged into is in `matches.admin.merges`; the page of a player leads there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players.admin.base import ByPlayerName, SiteAdmin, in_own_zone, listed, moment_column
from players.anonymising import anonymise_player
from players.forms import AnonymiseForm, PlayerForm
from players.models import Player, PlayerRecord, Rating, RatingChange
from players.permissions import ENTER
from players.services import create_player, merged_message, rename_player
from players.staff import may_here
from players.templatetags.ratings import moment


class MergedFilter(admin.SimpleListFilter):
    """Duplicates that were merged into others are left out, unless somebody asks for them."""

    title = gettext_lazy("merged")
    parameter_name = "merged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Only duplicates")), ("all", _("All"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("Without duplicates")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Player]) -> QuerySet[Player]:
        return queryset if self.value() == "all" else queryset.filter(merged_into__isnull=self.value() != "yes")


@admin.register(Player)
class PlayerAdmin(ByPlayerName, SiteAdmin):
    form = PlayerForm
    list_display = ("name", "user", "time_zone", "language", "created", "merged")
    list_filter = (MergedFilter, "language", ("user", admin.EmptyFieldListFilter))
    search_fields = ("name_key__contains",)
    search_help_text = gettext_lazy("Part of a name, in capitals or not.")
    autocomplete_fields = ("user",)
    readonly_fields = ("slug", "created", "merged", "rated", "on_record")
    created = moment_column(Player, "created_at")

    def get_fields(self, request: HttpRequest, obj: Player | None = None) -> Any:
        if obj is None:
            return ("name", "user", "time_zone", "language")
        name = ("name", "reason") if self.has_change_permission(request, obj) else ("name",)
        merged = ("merged",) if obj.merged_into_id else ()
        return (*name, "user", "time_zone", "language", "slug", *merged, "created", "rated", "on_record")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Player]:
        players = super().get_queryset(request).select_related("user", "merged_into")
        return players.filter(merged_into=None) if is_autocomplete(request) else players

    def has_view_permission(self, request: HttpRequest, obj: Player | None = None) -> bool:
        """Whoever enters the matches of a pool may also look up who plays."""
        return super().has_view_permission(request, obj) or (
            obj is None and is_autocomplete(request) and may_here(request, ENTER)
        )

    @admin.display(description=gettext_lazy("merged into"))
    def merged(self, player: Player) -> SafeString | str:
        if player.merged_into is None:
            return "–"
        return format_html('<a href="{}">{}</a>', change_url(player.merged_into), player.merged_into)

    @admin.display(description=gettext_lazy("ratings"))
    def rated(self, player: Player) -> SafeString:
        query = f"player__id__exact={player.pk}"
        return format_html("{} · {}", listed(Rating, query, _("ratings")), listed(RatingChange, query, _("history")))

    @admin.display(description=gettext_lazy("on record"))
    def on_record(self, player: Player) -> SafeString | str:
        """When he was renamed or made anonymous, by whom and why. One query."""
        records = PlayerRecord.objects.filter(player=player).select_related("made_by")
        return format_html_join("", "<div>{} · {}</div>", ((moment(one.made_at), record_sentence(one)) for one in records)) or "–"

    def save_model(self, request: HttpRequest, obj: Player, form: Any, change: bool) -> None:
        """A new player gets an address. When his name changes his address follows it, and the old one leads to him."""
        if not change:
            made = create_player(obj.name, user=obj.user, time_zone=obj.time_zone, language=obj.language)
            obj.pk = made.pk
            obj.refresh_from_db()
            return
        name = obj.name
        obj.save(update_fields=["user", "time_zone", "language"])
        if form.is_renamed:
            rename_player(obj, name, reason=form.cleaned_data["reason"], made_by=request.user)  # type: ignore[arg-type]
        obj.refresh_from_db()

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        context["may_change"] = self.has_change_permission(request, kwargs.get("obj"))
        return super().render_change_form(request, context, *args, **kwargs)

    # --- Making him anonymous ---

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.anonymise_view)
        return [path("<path:object_id>/anonymise/", view, name="players_player_anonymise"), *super().get_urls()]

    @in_own_zone
    def anonymise_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what goes for good and what stays; done where that is confirmed. A second time changes nothing."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        player = self.get_object(request, unquote(object_id))
        if player is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        if player.merged_into_id is not None:
            self.message_user(request, merged_message(player), messages.ERROR)
            return HttpResponseRedirect(change_url(player))
        form = AnonymiseForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            try:
                return self._anonymise(request, player, form.cleaned_data["reason"])
            except ValidationError as error:
                form.add_error(None, error)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Make a player anonymous"),
            "subtitle": player.name,
            "player": player,
            "form": form,
            "duplicates": player.duplicates.count(),
            "cancel": change_url(player),
        }
        return TemplateResponse(request, "admin/players/player/anonymise.html", context)

    def _anonymise(self, request: HttpRequest, player: Player, reason: str) -> HttpResponse:
        was_before = player.anonymised_at
        anonymous = anonymise_player(player, reason=reason, made_by=request.user)  # type: ignore[arg-type]
        if anonymous.anonymised_at != was_before:
            self.log_change(request, anonymous, _("Made anonymous"))
        sentence = _("He is called %(name)s from now on.") % {"name": anonymous.name}
        self.message_user(request, sentence, messages.SUCCESS)
        return HttpResponseRedirect(change_url(player))


def is_autocomplete(request: HttpRequest) -> bool:
    return request.resolver_match is not None and request.resolver_match.url_name == "autocomplete"


def change_url(player: Player) -> str:
    return reverse("admin:players_player_change", args=[player.pk])


def record_sentence(record: PlayerRecord) -> str:
    """What was done, by whom and why: renamed: Vera → Vera K. · organiser · “married”"""
    what = str(record.get_kind_display())
    if names := record.details.get("name"):
        what = f"{what}: {' → '.join(names)}"
    who = record.made_by.get_username() if record.made_by else ""
    return " · ".join(filter(None, (what, who, record.reason and f"“{record.reason}”")))
