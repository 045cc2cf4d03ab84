"""The bands of a pool's rake as an organiser edits them: each by itself, and all of them together."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.models import RakeBand
from matches.money.rake import check_bands
from players.forms import OfPoolForm

RULES: dict[tuple[str, str], Any] = {
    ("difference", "not_from_0"): gettext_lazy("The first band must begin at 0: below this one there would be a gap."),
    ("difference", "twice"): gettext_lazy("Another band begins at this difference already."),
    ("percent", "falls"): gettext_lazy("It must not be below that of the band before: it never falls when the difference grows."),
    ("minimum", "falls"): gettext_lazy("It must not be below that of the band before: it never falls when the difference grows."),
    ("cap", "falls"): gettext_lazy(
        "It must not be below that of the band before (which may have none): it never falls when the difference grows."
    ),
    ("length_from", "no_other_lengths"): gettext_lazy(
        "There must be bands without lengths too: else money games and all other lengths would have none."
    ),
    ("length_from", "crosses"): gettext_lazy(
        "These lengths cross those of other bands. Bands of one range name the same lengths."
    ),
}


class RakeBandForm(OfPoolForm):
    """One band, by itself."""

    class Meta:
        model = RakeBand
        fields = ("difference", "percent", "minimum", "cap", "length_from", "length_to", "example")
        localized_fields = ("percent", "minimum", "cap")
        widgets = {name: forms.TextInput(attrs={"inputmode": "decimal", "size": 7}) for name in ("percent", "minimum", "cap")} | {
            name: forms.NumberInput(attrs={"size": 3}) for name in ("length_from", "length_to")
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        minimum, cap = values.get("minimum"), values.get("cap")
        if minimum is not None and cap is not None and cap < minimum:
            self.add_error("cap", _("It must not be below the minimum."))
        if not {"length_from", "length_to"} & set(self.errors):
            first, last = values.get("length_from"), values.get("length_to")
            if (first is None) != (last is None):
                self.add_error("length_from" if first is None else "length_to", _("Give both lengths, or neither."))
            elif first is not None and last is not None and last < first:
                self.add_error("length_to", _("It must not be below the length from which the band is."))
        return values


class RakeBandFormSet(BaseInlineFormSet):
    """All bands of a pool, together."""

    def validate_unique(self) -> None:
        """`check_bands` does, in words that say what is meant."""

    def clean(self) -> None:
        if any(form.errors for form in self.forms if form not in self.deleted_forms):
            return
        kept = [
            form for form in self.forms if form not in self.deleted_forms and (form.instance.pk is not None or form.has_changed())
        ]
        seen = {form.instance.pk for form in self.forms if form.instance.pk is not None}
        if self.instance.pk is not None and RakeBand.objects.filter(pool=self.instance).exclude(pk__in=seen).exists():
            raise forms.ValidationError(_("Somebody has added bands meanwhile. Nothing was saved; open the page again."))
        for bad in check_bands([form.instance for form in kept]):
            kept[bad.index].add_error(bad.field, str(RULES[bad.field, bad.code]))
