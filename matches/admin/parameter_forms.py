"""The form for other parameters of a pool: a field for each parameter that its rating system has, and from when on they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminDateWidget
from django.utils.formats import localize_input, sanitize_separators
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from matches.admin.correction_forms import public_reason_field
from players.formatting import format_number
from players.models import Pool
from players.systems.params import BadParameter, Params, Spec
from players.wording import bad_parameter_rule, choice_label, parameter_label

ALL, FROM = "all", "from"
ON = "on"
"""The part of a parameter that can be switched off which says whether it is on."""


def number_field(label: str, spec: Spec) -> forms.Field:
    kind = forms.IntegerField if spec.kind == "whole" else forms.FloatField
    widget = forms.TextInput(attrs={"inputmode": "numeric" if spec.kind == "whole" else "decimal", "size": 12})
    bounds = {"low": format_number(spec.low), "high": format_number(spec.high)}  # type: ignore[arg-type]
    return kind(label=label, localize=True, widget=widget, help_text=_("From %(low)s to %(high)s.") % bounds)


class StepsField(forms.CharField):
    """Steps, a line for each: from this number on, this value. `8: 20`"""

    def __init__(self, **more: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 6, "cols": 20}), **more)

    def to_python(self, value: Any) -> Any:
        steps = []
        for line in str(super().to_python(value)).splitlines():
            if not line.strip():
                continue
            start, colon, step = line.partition(":")
            try:
                steps.append([int(start.strip()), float(sanitize_separators(step.strip()))])
            except (ValueError, OverflowError):
                colon = ""
            if not colon:
                raise forms.ValidationError(
                    _("“%(line)s” is no step. Write one a line, such as 8: 20."), params={"line": line[:40]}
                )
        return steps

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return "\n".join(f"{start}: {localize_input(plain(step))}" for start, step in value)
        return value


def plain(value: Any) -> Any:
    """1500 for 1500.0: as somebody would type it."""
    return int(value) if isinstance(value, float) and value == int(value) else value


class ParametersForm(forms.Form):
    """The present parameters of a pool, to be changed. `shown` are those with which the form was opened: what is as it was then
    is not changed, so that two people do not undo each other's changes."""

    since = forms.ChoiceField(
        label=gettext_lazy("Which matches"),
        choices=[
            (ALL, pgettext_lazy("which matches", "All: as if the parameters had always been these")),
            (FROM, pgettext_lazy("which matches", "From a date on: the history before it stays")),
        ],
        initial=ALL,
        widget=forms.RadioSelect,
    )
    since_date = forms.DateField(
        label=gettext_lazy("From"),
        required=False,
        widget=AdminDateWidget,
        help_text=gettext_lazy("The date begins at midnight UTC, and with it the matches that are known by their date alone."),
    )
    shown = forms.CharField(widget=forms.HiddenInput, required=False)
    reason = public_reason_field()

    def __init__(self, pool: Pool, data: Any = None) -> None:
        super().__init__(data)
        self.params = type(pool.rating_system.params)
        self.fields["shown"].initial = json.dumps(pool.parameters)
        self.names = list(self._add(self.params, pool.parameters, ""))
        self.order_fields([*self.names, "since", "since_date", "reason", "shown"])

    def _add(self, params: type[Params], values: Mapping[str, Any], prefix: str) -> Any:
        """Make the fields, and yield their names."""
        for name, spec in params.specs().items():
            full, label, value = f"{prefix}{name}", parameter_label(f"{prefix}{name}"), values.get(name)
            if spec.kind == "nested":
                assert spec.inner is not None
                if spec.nullable:
                    yield self._make(f"{full}.{ON}", forms.BooleanField(label=label, required=False), value is not None)
                inner = value or spec.inner().to_json()
                yield from self._add(spec.inner, inner, f"{full}.")
            elif spec.kind == "numbers":
                for place, one in enumerate(value or ()):
                    yield self._make(f"{full}.{place}", number_field(f"{label}: {place + 1}", spec), plain(one))
            else:
                yield self._make(full, self._field(label, spec), plain(value))

    @staticmethod
    def _field(label: str, spec: Spec) -> forms.Field:
        choices = [(one, choice_label(one)) for one in spec.allowed]
        if spec.kind == "flag":
            return forms.BooleanField(label=label, required=False)
        if spec.kind == "choice":
            return forms.ChoiceField(label=label, choices=choices, widget=forms.RadioSelect)
        if spec.kind == "choices":
            return forms.MultipleChoiceField(label=label, choices=choices, widget=forms.CheckboxSelectMultiple)
        if spec.kind == "steps":
            return StepsField(label=label, help_text=_("A line for each step: from this number on, this value. 8: 20"))
        return number_field(label, spec)

    def _make(self, name: str, field: forms.Field, initial: Any) -> str:
        self.fields[name], field.initial = field, initial
        return name

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.names]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("since") == FROM and not values.get("since_date") and "since_date" not in self.errors:
            self.add_error("since_date", _("It is missing. From which date on?"))
        for name, spec in self.params.specs().items():
            self._judge(self.params, name, spec, "")
        if not self.errors:
            try:
                self.params.from_json(self._values(self.params, ""))
            except BadParameter as bad:
                self._refuse(bad.name, bad)
        return values

    def _judge(self, params: type[Params], name: str, spec: Spec, prefix: str) -> None:
        """Let the system judge one parameter by itself."""
        full = f"{prefix}{name}"
        if spec.kind == "nested":
            assert spec.inner is not None
            if self._is_on(full, spec):
                for inner, inner_spec in spec.inner.specs().items():
                    self._judge(spec.inner, inner, inner_spec, f"{full}.")
            else:
                # Switched off: what stands in its fields does not matter.
                for field in [field for field in self.errors if field.startswith(f"{full}.")]:
                    del self.errors[field]
            return
        if any(field == full or field.startswith(f"{full}.") for field in self.errors):
            return
        try:
            params.read_one(name, self._value(full, spec))
        except BadParameter as bad:
            self._refuse(full, bad)

    def _refuse(self, name: str, bad: BadParameter) -> None:
        field = next((each for each in self.names if each == name or each.startswith(f"{name}.")), None)
        self.add_error(field, bad_parameter_rule(bad))

    def _is_on(self, full: str, spec: Spec) -> bool:
        return not spec.nullable or bool(self.cleaned_data.get(f"{full}.{ON}"))

    def _values(self, params: type[Params], prefix: str) -> dict[str, Any]:
        return {name: self._value(f"{prefix}{name}", spec) for name, spec in params.specs().items()}

    def _value(self, full: str, spec: Spec) -> Any:
        if spec.kind == "nested":
            assert spec.inner is not None
            return self._values(spec.inner, f"{full}.") if self._is_on(full, spec) else None
        if spec.kind == "numbers":
            return [self.cleaned_data.get(f"{full}.{place}") for place in range(spec.count)]
        return self.cleaned_data.get(full)

    def changes(self) -> dict[str, Any]:
        """The parameters that are not as the form showed them, as JSON values."""
        try:
            shown = json.loads(self.cleaned_data["shown"])
        except (ValueError, RecursionError):
            shown = None
        values = self.params.from_json(self._values(self.params, "")).to_json()
        if not isinstance(shown, dict):
            return values
        return {name: value for name, value in values.items() if name not in shown or shown[name] != value}

    def instant(self) -> datetime | None:
        """From when on they hold; None for all matches."""
        day = self.cleaned_data["since_date"]
        return datetime(day.year, day.month, day.day, tzinfo=UTC) if self.cleaned_data["since"] == FROM else None
