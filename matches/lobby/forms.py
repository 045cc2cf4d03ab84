"""The forms of the lobby: on which terms somebody wants to play, and which tables he wants to see."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from matches.entries import check_terms
from matches.forms import beside, help_text, label, number
from matches.lobby.models import LIMITS
from matches.lobby.reads import ORDERS, Wanted
from matches.terms import AGREED
from players.models import Pool
from players.systems.base import DEALS, EXPERIENCE_LIMIT, LENGTHS, RATING_LIMIT, STAKE_LIMIT, Kind, Refused, Result

MONEY = {"real": True, "play": False}


def whole(name: Any, most: int, least: int = 0, help_text: Any = "") -> Any:
    """A whole number in a range, as it is typed."""
    widget = forms.TextInput(attrs={"inputmode": "numeric", "size": 6})
    return forms.IntegerField(
        label=name, min_value=least, max_value=most, required=False, localize=True, widget=widget, help_text=help_text
    )


class TermsForm(forms.Form):
    """On which terms somebody wants to play in a pool; with `limits` also whom he wants to have at his table."""

    length = number(forms.IntegerField, "length", "numeric")
    deals = number(forms.IntegerField, "deals", "numeric")
    stake = number(forms.DecimalField, "stake", "decimal")
    real_money = forms.ChoiceField(
        label=gettext_lazy("Played for"),
        choices=[("real", gettext_lazy("real money")), ("play", gettext_lazy("play money"))],
        widget=forms.RadioSelect,
        required=False,
    )
    max_difference = whole(
        gettext_lazy("Rating difference at most"),
        int(RATING_LIMIT),
        help_text=gettext_lazy("Points above or below your rating. Empty: everybody may join."),
    )
    min_experience = whole(gettext_lazy("Experience from"), EXPERIENCE_LIMIT)
    max_experience = whole(gettext_lazy("Experience up to"), EXPERIENCE_LIMIT)

    def __init__(self, pool: Pool, *args: Any, limits: bool = False, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"length": 5, "deals": 16})
        super().__init__(*args, **kwargs)
        self.pool, system = pool, pool.rating_system
        for name in AGREED:
            if name not in system.uses:
                del self.fields[name]
        if not limits:
            for name in LIMITS:
                del self.fields[name]
        for name in system.needs & self.fields.keys():
            self.fields[name].required = True
            self.fields[name].error_messages["required"] = beside(Refused(name, "needed"))
        if "length" in self.fields:
            self.fields["length"].help_text = (
                help_text("length")
                if "points" in system.uses
                else _("Points, 1 to 99. Empty: unlimited play, which is not rated.")
            )
        if "stake" in self.fields:
            self.fields["stake"].label = label("stake")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        low, high = values.get("min_experience"), values.get("max_experience")
        if low is not None and high is not None and low > high:
            self.add_error("max_experience", _("It must not be below the experience from which one may join."))
        if not self.errors:
            try:
                check_terms(self.pool, self.terms())
            except Refused as refused:
                self.add_error(refused.field if refused.field in self.fields else None, beside(refused))
        return values

    def terms(self) -> Result:
        """What was typed. The kind is said by what is done with it, and all are possible in a match; so it may be any here."""
        agreed = {name: self.cleaned_data.get(name) for name in AGREED}
        agreed["real_money"] = MONEY.get(agreed["real_money"] or "")
        return Result(**agreed, kind=Kind.TABLE.value)

    def limits(self) -> dict[str, Any]:
        return {name: self.cleaned_data.get(name) for name in LIMITS}


class WantedForm(forms.Form):
    """Which tables the reader wants to see. What cannot be understood is said beside its field and left aside."""

    difference = whole(gettext_lazy("Difference at most"), int(RATING_LIMIT))
    length = whole(pgettext_lazy("field", "Match length"), LENGTHS.stop - 1, LENGTHS.start)
    deals = whole(pgettext_lazy("field", "Deals"), DEALS.stop - 1, DEALS.start)
    stake = forms.DecimalField(
        label=gettext_lazy("Stake at most"),
        min_value=0,
        max_value=STAKE_LIMIT,
        decimal_places=2,
        required=False,
        localize=True,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 6}),
    )
    settled = forms.BooleanField(label=gettext_lazy("Hide provisional ratings"), required=False)
    order = forms.ChoiceField(
        label=gettext_lazy("Order"),
        required=False,
        choices=[
            ("best", gettext_lazy("Best match for me")),
            ("waiting", gettext_lazy("Longest wait")),
            ("nearest", gettext_lazy("Nearest rating")),
            ("highest", gettext_lazy("Highest rating")),
            ("lowest", gettext_lazy("Lowest rating")),
        ],
    )

    def __init__(self, pool: Pool, data: Any, *, reader: bool, stakes: bool) -> None:
        super().__init__(data, auto_id="wanted_%s")
        uses = pool.rating_system.uses
        for name in ("length", "deals", "stake"):
            if name not in uses or (name == "stake" and not stakes):
                del self.fields[name]
        if pool.provisional_below is None:
            del self.fields["settled"]
        if not reader:
            del self.fields["difference"]
            without = [choice for choice in self.fields["order"].choices if choice[0] not in ("best", "nearest")]  # type: ignore[attr-defined]
            self.fields["order"].choices = without  # type: ignore[attr-defined]

    def wanted(self) -> Wanted:
        self.full_clean()
        values = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        return Wanted(**{"order": ORDERS[0], **values})

    @property
    def narrows(self) -> bool:
        """Whether some tables may be left out, or a field could not be understood."""
        return bool(self.errors) or any(value for name, value in self.cleaned_data.items() if name != "order")
