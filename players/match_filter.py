"""What a reader can ask of a list of matches: the form above it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from players.models import Pool
from players.names import NAME_MAX
from players.pages.matches import Wanted

EARLIEST, LATEST = date(1900, 1, 1), date(2199, 12, 31)
MOST_POINTS_OR_DEALS = 999

RESULT_WORDS = [
    ("", pgettext_lazy("results", "all")),
    ("won", gettext_lazy("won")),
    ("lost", gettext_lazy("lost")),
    ("drawn", gettext_lazy("drawn")),
    ("broken", gettext_lazy("broken off")),
    ("place1", gettext_lazy("place 1")),
    ("place2", gettext_lazy("place 2")),
    ("place3", gettext_lazy("place 3")),
    ("place4", gettext_lazy("place 4")),
]
COUNTED_WORDS = [
    ("", pgettext_lazy("matches", "all")),
    ("yes", gettext_lazy("counted")),
    ("no", gettext_lazy("not counted")),
    ("voided", gettext_lazy("voided")),
]


class DayField(forms.DateField):
    """A day, as browsers send it: 2026-11-29."""

    widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%d"], required=False, **kwargs)
        self.error_messages["invalid"] = gettext_lazy("A date such as 2026-11-29.")

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not EARLIEST <= value <= LATEST:
            raise forms.ValidationError(_("A date from 1900 to 2199."))


class MatchFilter(forms.Form):
    pool = forms.ChoiceField(label=gettext_lazy("Pool"), required=False)
    opponent = forms.CharField(label=gettext_lazy("Opponent"), required=False, max_length=NAME_MAX)
    result = forms.ChoiceField(label=gettext_lazy("Result"), required=False, choices=RESULT_WORDS)
    length = forms.IntegerField(
        label=gettext_lazy("Points or deals"), required=False, min_value=1, max_value=MOST_POINTS_OR_DEALS
    )
    counted = forms.ChoiceField(label=gettext_lazy("Counted"), required=False, choices=COUNTED_WORDS)
    since = DayField(label=gettext_lazy("From"))
    until = DayField(label=gettext_lazy("To"))
    older = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    newer = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, pools: Sequence[Pool], data: Any) -> None:
        super().__init__(data)
        self.pools = {pool.slug: pool for pool in pools}
        choices = [("", pgettext_lazy("pools", "all")), *((pool.slug, pool.name) for pool in pools)]
        self.fields["pool"].choices = choices  # type: ignore[attr-defined]
        for field in self.visible_fields():
            field.field.widget.attrs["id"] = f"filter-{field.name}"

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        since, until = values.get("since"), values.get("until")
        if since and until and since > until:
            self.add_error("until", _("The period ends before it begins."))
        return values

    def wanted(self) -> Wanted:
        """What is asked for; the form is valid."""
        values = self.cleaned_data
        names = ("opponent", "result", "length", "counted", "since", "until")
        return Wanted(pool=self.pools.get(values["pool"]), **{name: values[name] for name in names})

    def asked(self) -> dict[str, Any]:
        """The fields that are filled in, without the place in the list."""
        return {name: self.data[name] for name in self.fields if self.data.get(name) and name not in ("older", "newer")}
