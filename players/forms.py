"""The forms of the admin for players, and for pools and their tiers."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminTextareaWidget
from django.forms.fields import InvalidJSONInput
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players import systems
from players.models import Organiser, Player, Pool, Tier
from players.names import clean_name
from players.services import merged_message
from players.systems.base import RATING_LIMIT
from players.wording import system_label

REASON_MAX = 1000
"""Characters of what staff or a program give as the reason of a change."""


class ParametersField(forms.JSONField):
    """A system's parameters as JSON, a line for each."""

    widget = AdminTextareaWidget

    # Python reads neither any number of digits nor any number of brackets.

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid", params={"value": "…"}) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return json.dumps(value, indent=2, ensure_ascii=False)
        return super().prepare_value(value)


class NewPoolForm(forms.ModelForm):
    """A pool to be made: the rest comes with its system and is edited afterwards."""

    system = forms.ChoiceField(label=gettext_lazy("Rating system"))
    parameters = ParametersField(
        label=gettext_lazy("Parameters"),
        required=False,
        initial=dict,
        help_text=gettext_lazy('What differs from the system\'s own parameters, such as {"start": 1800, "ramp": null}.'),
    )

    class Meta:
        model = Pool
        fields = ("name", "slug", "system", "parameters")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(key, system_label(key)) for key in systems.keys()]  # noqa: SIM118  (a function)
        self.fields["system"].choices = [("", "---------"), *known]  # type: ignore[attr-defined]

    def clean_parameters(self) -> Any:
        # An empty field is the system's own parameters; null and other things are the pool's to refuse.
        value = self.cleaned_data["parameters"]
        return {} if value is None and not self.data.get(self.add_prefix("parameters"), "").strip() else value


class PoolForm(forms.ModelForm):
    """A pool that is there. Its parameters are changed elsewhere, with a preview."""

    class Meta:
        model = Pool
        fields = ("name", "game", "shown_decimals", "provisional_below", "stakes_shown_to")


class OfPoolForm(forms.ModelForm):
    """A row on the page of a pool. What is unique there takes in the pool, which Django leaves out of its check of such a row:
    the same row sent twice would be an error of the database."""

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            try:
                self.instance.validate_constraints()
            except forms.ValidationError as error:
                self._update_errors(error)  # type: ignore[attr-defined]


class OrganiserForm(OfPoolForm):
    class Meta:
        model = Organiser
        fields = ("user",)


class TierForm(OfPoolForm):
    threshold = forms.FloatField(
        label=capfirst(Tier._meta.get_field("threshold").verbose_name), min_value=-RATING_LIMIT, max_value=RATING_LIMIT
    )

    class Meta:
        model = Tier
        fields = ("name", "threshold", "decays")


def reason_field(**more: Any) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=REASON_MAX,
        widget=forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"}),
        **more,
    )


class PlayerForm(forms.ModelForm):
    """A player. Another name of one who is there needs a reason, which stays on record with it."""

    is_renamed = False
    reason = reason_field(
        required=False,
        help_text=gettext_lazy("Needed where the name changes; staff alone can read it. The old address leads to the new one."),
    )

    class Meta:
        model = Player
        fields = ("name", "user", "time_zone", "language")

    def clean(self) -> Any:
        values = super().clean() or {}
        player, name = self.instance, clean_name(values.get("name") or "")
        # The name that is stored, as the page showed it or not.
        stored = Player.objects.filter(pk=player.pk).select_related("merged_into").first() if player.pk else None
        if stored is None or not name or name == stored.name:
            return values
        self.is_renamed = True
        if stored.merged_into is not None:
            self.add_error("name", merged_message(stored))
        elif "reason" in self.fields and not values.get("reason"):
            self.add_error("reason", _("It is missing. Say why the name changes."))
        return values


class AnonymiseForm(forms.Form):
    """That a player shall be anonymous, for good."""

    reason = reason_field(help_text=gettext_lazy("Stays on record, without his names. Staff alone can read it."))
