"""Webhooks, and what was delivered to them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from matches.models import Delivery, Event, Webhook
from matches.push import webhooks
from matches.push.addresses import BadAddress, check_url, resolve
from players.admin import ReadOnlyAdmin, SiteAdmin, moment_column


class WebhookForm(forms.ModelForm):
    kinds = forms.MultipleChoiceField(
        label=capfirst(gettext_lazy("events")),
        choices=Event.Kind.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=Event.Kind.values,
    )
    url = forms.URLField(
        label=capfirst(gettext_lazy("address")),
        max_length=500,
        assume_scheme="https",
        help_text=gettext_lazy("https://… Events are posted to it as JSON."),
        widget=forms.URLInput(attrs={"class": "vURLField"}),
    )

    class Meta:
        model = Webhook
        fields = ("name", "url", "kinds", "pools", "source", "active")
        widgets = {"pools": forms.CheckboxSelectMultiple}
        help_texts = {"pools": gettext_lazy("None chosen: all pools.")}

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            _scheme, host, port = check_url(url)
            resolve(host, port)
        except BadAddress as bad:
            raise ValidationError(str(bad)) from None
        return url


@admin.register(Webhook)
class WebhookAdmin(SiteAdmin):
    form = WebhookForm
    list_display = ("name", "url", "active", "made_by", "log")
    list_select_related = ("made_by",)
    list_filter = ("active",)
    actions = ("renew_secret",)

    @admin.display(description=gettext_lazy("deliveries"))
    def log(self, webhook: Webhook) -> SafeString:
        there = reverse("admin:matches_delivery_changelist")
        return format_html('<a href="{}?webhook__id__exact={}">{}</a>', there, webhook.pk, _("Show"))

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if not change:
            obj.made_by = request.user  # type: ignore[assignment]
        super().save_model(request, obj, form, change)
        if not change:
            self._show_secret(request, obj)

    @admin.action(description=gettext_lazy("Renew the secret"), permissions=["change"])
    def renew_secret(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> None:
        for webhook in queryset:
            webhooks.renew_secret(webhook)
            self.log_change(request, webhook, _("Secret renewed"))
            self._show_secret(request, webhook)

    def _show_secret(self, request: HttpRequest, webhook: Webhook) -> None:
        said = {"name": webhook.name, "secret": webhook.secret}
        sentence = _("The secret that signs what %(name)s is sent, shown this once: %(secret)s")
        self.message_user(request, sentence % said, messages.WARNING)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("pk", "webhook", "happened", "status", "attempts", "answer", "error", "due", "delivered")
    list_filter = ("status", "webhook", "event__kind")
    list_select_related = ("webhook", "event__pool")
    actions = ("send_again",)
    due = moment_column(Delivery, "due_at")
    delivered = moment_column(Delivery, "delivered_at")
    fields = ("webhook", "happened", "status", "attempts", "answer", "error", "due", "delivered")

    @admin.display(description=gettext_lazy("event"))
    def happened(self, delivery: Delivery) -> str:
        return f"{delivery.event.position} · {delivery.event}"

    @admin.action(description=gettext_lazy("Send again"), permissions=["again"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        count = webhooks.send_again(list(queryset.values_list("pk", flat=True)), timezone.now())
        self.message_user(request, ngettext("It is sent again.", "%(count)d are sent again.", count) % {"count": count})

    def has_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("matches.change_webhook")
