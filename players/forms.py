"""The forms of the admin for pools and their tiers."""

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
from players.models import Organiser, Pool, Tier
from players.systems.base import RATING_LIMIT
from players.wording import system_label


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


class FixedPoolForm(forms.ModelForm):
    """A pool with counted matches: what their changes were computed from stays."""

    class Meta:
        model = Pool
        fields = ("name", "slug", "game", "shown_decimals", "provisional_below")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].help_text = _("Part of the addresses of the pool's pages: links to them break when it changes.")


class PoolForm(FixedPoolForm):
    """A pool without counted matches."""

    parameters = ParametersField(label=gettext_lazy("Parameters"), widget=AdminTextareaWidget(attrs={"rows": 24}))


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
