"""The forms by which organisers settle matches and answer appeals."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from matches.models import Match
from matches.reports.adjudication import EVALUATOR_MAX
from matches.reports.forms import RefusedForm, ToldForm, note_field


class DecisionForm(ToldForm):
    """How a match went, as an organiser has found."""

    fields_of = {**ToldForm.fields_of, "decision": "reason"}

    reason = note_field(gettext_lazy("Reason"), gettext_lazy("The players can read it."), required=True)
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def values(self) -> dict[str, Any]:
        """What the service is called with. The form is valid."""
        return {"told": self.told(), "reason": self.cleaned_data["reason"], "seen": self.cleaned_data["seen"]}


class EvaluationForm(RefusedForm):
    """How a match stood that was broken off."""

    chance = forms.FloatField(
        label=gettext_lazy("Winning chance of player 1"),
        localize=True,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 12}),
        help_text=gettext_lazy("From 0 to 1, at the break."),
    )
    points = forms.IntegerField(
        label=gettext_lazy("Points at stake"),
        required=False,
        localize=True,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 6}),
        help_text=gettext_lazy("Of a money game: the cube's value, unless you find otherwise."),
    )
    evaluator = forms.CharField(
        label=gettext_lazy("Evaluated by"),
        required=False,
        max_length=EVALUATOR_MAX,
        help_text=gettext_lazy("A program or a person."),
    )
    note = note_field(
        gettext_lazy("Position and note"), gettext_lazy("Everybody can read it, on the sheet of the match."), required=True
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, match: Match, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if match.length is not None:
            del self.fields["points"]

    def values(self) -> dict[str, Any]:
        """What the service is called with. The form is valid."""
        return {name: self.cleaned_data[name] for name in self.fields}


class AnswerForm(RefusedForm):
    """The answer to an appeal."""

    answer = note_field(gettext_lazy("Answer"), gettext_lazy("The player reads it."), required=True)
