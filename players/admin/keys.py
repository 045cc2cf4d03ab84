"""The admin of API keys: made, rotated and revoked here. A secret is shown once, on the page that answers, and kept nowhere."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from players.admin.base import SiteAdmin, in_own_zone
from players.api.keys import make_key, revoke_key, rotate_key
from players.api.models import SCOPES, ApiKey, ExternalPlayer

GRACES = {"0": timedelta(0), "1": timedelta(hours=1), "24": timedelta(days=1), "168": timedelta(days=7)}


class RotateForm(forms.Form):
    """For how long the old secret still works."""

    grace = forms.ChoiceField(
        label=gettext_lazy("The old secret works for"),
        choices=[
            ("24", gettext_lazy("one day more")),
            ("168", gettext_lazy("seven days more")),
            ("1", gettext_lazy("one hour more")),
            ("0", gettext_lazy("no longer: somebody may have seen it")),
        ],
        help_text=gettext_lazy("So the server can be told the new one while it runs."),
    )


class KeyForm(forms.ModelForm):
    class Meta:
        model = ApiKey
        fields = ("name", "source", "pools", *SCOPES, "may_create_players", "rate")
        widgets = {"pools": forms.CheckboxSelectMultiple}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values[scope] for scope in SCOPES):
            self.add_error(None, _("A key without a scope can do nothing. Tick at least one."))
        return values

    def clean_source(self) -> str:
        source: str = self.cleaned_data["source"].strip()
        if source.startswith("login:"):
            raise ValidationError(_("“login:” stands for what people send themselves. Choose another source."))
        return source


@admin.register(ApiKey)
class ApiKeyAdmin(SiteAdmin):
    form = KeyForm
    list_display = ("name", "source", "prefix", "scopes", "state", "last_used_at", "made_by", "made_at")
    list_select_related = ("made_by",)
    search_fields = ("name", "source", "prefix")
    change_form_template = "admin/players/apikey/change_form.html"
    recorded = (
        "prefix",
        "state",
        "login",
        "made_by",
        "made_at",
        "rotated_at",
        "old_until",
        "last_used_at",
        "revoked_by",
        "revoked_at",
    )

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        fields = KeyForm.Meta.fields
        return fields if obj is None else (*fields, *self.recorded)

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return () if obj is None else ("source", *self.recorded)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.revoked_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """What it sent stays on record with it: it is revoked instead."""
        return False

    @admin.display(description=gettext_lazy("scopes"))
    def scopes(self, key: ApiKey) -> str:
        return ", ".join(scope for scope in SCOPES if getattr(key, scope))

    @admin.display(description=gettext_lazy("state"))
    def state(self, key: ApiKey) -> Any:
        return _("revoked") if key.revoked_at else pgettext_lazy("state of a key", "active")

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        return [
            path("<path:object_id>/rotate/", view(self.rotate_view), name="players_apikey_rotate"),
            path("<path:object_id>/revoke/", view(self.revoke_view), name="players_apikey_revoke"),
            *super().get_urls(),
        ]

    # --- Make ---

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields=[name for name in form.changed_data if name != "pools"])
        else:
            request.secret = make_key(obj, made_by=request.user)  # type: ignore[attr-defined,arg-type]

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        return self._secret_page(request, obj, request.secret)  # type: ignore[attr-defined]

    def _secret_page(self, request: HttpRequest, key: ApiKey, secret: str) -> HttpResponse:
        context = self._context(request, key, _("The key of %(name)s") % {"name": key.name})
        response = TemplateResponse(request, "admin/players/apikey/secret.html", {**context, "secret": secret})
        response["Cache-Control"] = "no-store"
        return response

    # --- Rotate, revoke ---

    @in_own_zone
    def rotate_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        key = self._changeable(request, object_id)
        form = RotateForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            grace = GRACES[form.cleaned_data["grace"]]
            try:
                secret = rotate_key(key, now=timezone.now(), grace=grace)
            except ValidationError as error:
                self.message_user(request, error.message, messages.ERROR)
                return HttpResponseRedirect(_change_url(key))
            self.log_change(request, key, "rotated")
            return self._secret_page(request, key, secret)
        context = self._context(request, key, _("A new secret for %(name)s") % {"name": key.name})
        return TemplateResponse(request, "admin/players/apikey/rotate.html", {**context, "form": form})

    @in_own_zone
    def revoke_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        key = self._changeable(request, object_id)
        if request.method == "POST":
            if revoke_key(key, now=timezone.now(), revoked_by=request.user):  # type: ignore[arg-type]
                self.log_change(request, key, "revoked")
            self.message_user(request, _("%(name)s is revoked and no longer works.") % {"name": key.name})
            return HttpResponseRedirect(_change_url(key))
        context = self._context(request, key, _("Revoke %(name)s") % {"name": key.name})
        return TemplateResponse(request, "admin/players/apikey/revoke.html", context)

    def _changeable(self, request: HttpRequest, object_id: str) -> ApiKey:
        key = self.get_object(request, unquote(object_id))
        if not admin.ModelAdmin.has_change_permission(self, request, key):
            raise PermissionDenied
        if key is None or (key.revoked_at is not None and request.method != "POST"):
            raise Http404(_("There is no such key, or it is revoked."))
        return key

    def _context(self, request: HttpRequest, key: ApiKey, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "key": key, "back": _change_url(key)}


def _change_url(key: ApiKey) -> str:
    return reverse("admin:players_apikey_change", args=[key.pk])


@admin.register(ExternalPlayer)
class ExternalPlayerAdmin(SiteAdmin):
    """Whom a server means by its ids. Who was linked wrongly is linked anew; what is rated already is corrected by a merge."""

    list_display = ("external_id", "source", "player", "made_at")
    list_filter = ("source",)
    list_select_related = ("player",)
    search_fields = ("external_id", "player__name_key__contains")
    autocomplete_fields = ("player",)
    fields = ("source", "external_id", "player")
