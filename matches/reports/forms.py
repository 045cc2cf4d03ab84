"""The forms of reports: what a player ticks becomes Told, and what the service refuses lands on its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.models import Match, Participant, Report
from matches.reports.models import NOTE_MAX
from matches.reports.reporting import Told
from players.models import Player
from players.pages.outcomes import name_in_text
from players.systems.base import Refused
from players.wording import refusal, refusal_rule

Outcome = Report.Outcome
WON, DRAW, FINISHED = "won", "draw", "finished"


def note_field(label: Any, help_text: Any = "", *, required: bool = False) -> forms.CharField:
    return forms.CharField(
        label=label, help_text=help_text, required=required, max_length=NOTE_MAX, widget=forms.Textarea(attrs={"rows": 3})
    )


class RefusedForm(forms.Form):
    """A form whose values a service judges: `refuse` puts what it says on its field."""

    fields_of: dict[str, str] = {}
    """By the field that a refusal names, that of the form."""

    def refuse(self, refused: Refused) -> None:
        name = self.fields_of.get(refused.field, refused.field)
        if name in self.fields:
            self.add_error(name, capfirst(refusal_rule(refused)))
        else:
            self.add_error(None, refusal(refused))


class ToldForm(RefusedForm):
    """How a match went. `reader` is who fills it in; None for an organiser."""

    fields_of = {"result": "outcome", "scores": "outcome", "places": "outcome", "chance": "outcome"}

    outcome = forms.ChoiceField(label=gettext_lazy("How it ended"), widget=forms.RadioSelect)
    points = forms.IntegerField(
        label=gettext_lazy("Points won"),
        required=False,
        localize=True,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 6}),
        help_text=gettext_lazy("The cube's value, times 2 for a gammon or 3 for a backgammon. Broken off: the cube's value."),
    )

    def __init__(
        self, *args: Any, match: Match, seats: Sequence[Participant], reader: Player | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.match, self.seats = match, seats
        system = match.pool.rating_system
        self.by_places = "places" in system.uses
        if not ("points" in system.uses and match.length is None):
            del self.fields["points"]
        self.fields["outcome"].choices = self._outcomes(reader)  # type: ignore[attr-defined]
        if self.by_places:
            for seat in seats:
                self.fields[f"place_{seat.seat}"] = forms.IntegerField(
                    label=_("Place of %(name)s") % {"name": name_in_text(seat.player.name)},
                    required=False,
                    min_value=1,
                    max_value=len(seats),
                    widget=forms.NumberInput(attrs={"inputmode": "numeric", "min": 1, "max": len(seats)}),
                )

    def _outcomes(self, reader: Player | None) -> list[tuple[str, str]]:
        system = self.match.pool.rating_system
        ways: list[tuple[str, str]] = []
        if self.by_places:
            ways.append((FINISHED, _("It was played to its end, with these places")))
        else:
            for seat in sorted(self.seats, key=lambda seat: reader is None or seat.player_id != reader.pk):
                name = name_in_text(seat.player.name)
                own = reader is not None and seat.player_id == reader.pk
                ways.append((f"{WON}_{seat.seat}", _("I won") if own else _("%(name)s won") % {"name": name}))
            if system.draws:
                ways.append((DRAW, _("A draw")))
        if reader is not None and "chance" in system.uses:
            ways.append((Outcome.BROKEN_OFF.value, _("It was broken off, and is to be evaluated")))
        ways.append((Outcome.CALLED_OFF.value, _("It was not finished and should not count")))
        return ways

    def place_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("place_")]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        chosen = values.get("outcome")
        if chosen == FINISHED:
            for name in self.fields:
                if name.startswith("place_") and values.get(name) is None and name not in self.errors:
                    self.add_error(name, _("Give everybody a place; players who share one have the same number."))
        return values

    def told(self) -> Told:
        """What was ticked. The form is valid."""
        chosen, points = self.cleaned_data["outcome"], self.cleaned_data.get("points")
        if chosen == Outcome.CALLED_OFF:
            return Told(outcome=chosen)
        if chosen == Outcome.BROKEN_OFF:
            return Told(outcome=chosen, points=points)
        if chosen == FINISHED:
            places = tuple(self.cleaned_data[f"place_{seat.seat}"] for seat in self.seats)
            return Told(outcome=Outcome.RESULT.value, places=places)
        if chosen == DRAW:
            return Told(outcome=Outcome.RESULT.value, scores=(0.5, 0.5), points=points)
        won = tuple(float(chosen == f"{WON}_{seat.seat}") for seat in self.seats)
        return Told(outcome=Outcome.RESULT.value, scores=won, points=points)


def initial_of(told: Told) -> dict[str, Any]:
    """What a form shows that begins with a version."""
    values: dict[str, Any] = {"outcome": told.outcome, "points": told.points}
    if told.places is not None:
        values["outcome"] = FINISHED
        values |= {f"place_{seat}": place for seat, place in enumerate(told.places, start=1)}
    elif told.scores is not None:
        values["outcome"] = DRAW if told.scores[0] == 0.5 else f"{WON}_{told.scores.index(1.0) + 1}"
    return values


class ReportForm(ToldForm):
    """What a player reports."""

    played_at = forms.DateTimeField(
        label=gettext_lazy("Ended at"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=gettext_lazy("Your time. Empty: just now. The ratings move when the result is confirmed."),
    )
    note = note_field(
        gettext_lazy("Note"), gettext_lazy("The score, or of a match that was broken off the position. The others can read it.")
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)


class DisputeForm(ToldForm):
    """How it went, as somebody says who disputes a report."""

    note = note_field(gettext_lazy("What an organiser should know"), gettext_lazy("The other players can read it."))


class AppealForm(RefusedForm):
    """What is wrong with how a match was settled."""

    text = note_field(
        gettext_lazy("What is wrong"), gettext_lazy("An organiser of the pool reads it and answers you."), required=True
    )
