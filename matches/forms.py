"""The forms of the admin for matches and tables: what is typed becomes an Entry, and what the service refuses lands on its field.

The forms judge only what the service cannot see (a time that is missing, a result for a match that is not finished). All else
is judged by `matches.completion` alone, when the view saves; the view then shows the form once more with what it objected to.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar

from django import forms
from django.contrib.admin.widgets import AdminRadioSelect, AdminSplitDateTime
from django.contrib.auth.models import User
from django.forms.models import BaseInlineFormSet
from django.forms.utils import from_current_timezone
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from matches import late
from matches.completion import complete_match, save_open
from matches.entries import Conflict, Entry, check_terms
from matches.models import Match, Participant, Table, TableSeat
from matches.words import conflict_sentence
from players.models import Player, Pool
from players.systems.base import Kind, Refused, Result
from players.wording import KIND_LABELS, refusal, refusal_rule

Trouble = Refused | Conflict
TERM_FIELDS = ("length", "deals", "points", "stake", "real_money", "kind", "chance")
"""The fields of a result that stand on the form under their own names."""
ONLY_AT_THE_END = ("outcome", "points", "chance")
END_FIELDS = ("ended_at", "timed", "sequence")
SEAT_FIELDS = ("players", "places")
BROKEN_OFF = "broken_off"
SCORES = {"1": (1.0, 0.0), "2": (0.0, 1.0), "draw": (0.5, 0.5)}


def label(name: str) -> Any:
    return capfirst(Match._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def help_text(name: str) -> Any:
    return Match._meta.get_field(name).help_text  # type: ignore[union-attr]


def radio_buttons() -> AdminRadioSelect:
    return AdminRadioSelect(attrs={"class": "radiolist inline"})


def number(field: type[forms.Field], name: str, inputmode: str) -> Any:
    """A field for a number in the reader's way of writing it. Its range is the rating system's to judge."""
    widget = forms.TextInput(attrs={"inputmode": inputmode, "size": 12})
    return field(label=label(name), help_text=help_text(name), required=False, localize=True, widget=widget)


class EndField(forms.SplitDateTimeField):
    """A date and a time of day as they were typed; either may be missing."""

    widget = AdminSplitDateTime

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(require_all_fields=False, required=False, **kwargs)
        for field in self.fields:
            field.required = False

    def compress(self, data_list: Any) -> Any:
        return tuple(data_list) or (None, None)


class EnteredLate(Exception):
    """A match moves what was published since it ended. Whoever enters it sees that first. Nothing was stored."""

    def __init__(self, pool: Pool, entry: Entry) -> None:
        super().__init__("the match is entered late")
        self.pool, self.entry = pool, entry


class UnjudgedForm(forms.ModelForm):
    """A form of the admin whose values go to a service, and not into the instance: the service judges them."""

    def _post_clean(self) -> None:
        pass


class EntryForm(UnjudgedForm):
    """A match as an organiser enters it, with the fields that the pool's system takes."""

    pool: ClassVar[Pool]
    trouble: ClassVar[Trouble | None] = None
    """What the service objected to when these values were saved a moment ago."""
    reopened: ClassVar[bool] = False
    """Sent only to be shown once more, from the preview of what it would move."""

    status = forms.ChoiceField(
        label=label("status"),
        choices=[
            (Match.Status.COMPLETED, pgettext_lazy("status of a match", "Completed")),
            (Match.Status.OPEN, pgettext_lazy("status of a match", "Not finished yet")),
        ],
        initial=Match.Status.COMPLETED,
        widget=radio_buttons(),
        help_text=gettext_lazy(
            "A completed match moves the ratings at once and is not deleted afterwards. "
            "One that is not finished is saved without a result, to be completed later."
        ),
    )
    outcome = forms.ChoiceField(label=gettext_lazy("How it ended"), required=False, widget=radio_buttons())
    chance = number(forms.FloatField, "chance", "decimal")
    length = number(forms.IntegerField, "length", "numeric")
    deals = number(forms.IntegerField, "deals", "numeric")
    points = number(forms.IntegerField, "points", "numeric")
    stake = number(forms.DecimalField, "stake", "decimal")
    real_money = forms.NullBooleanField(label=label("real_money"), required=False)
    kind = forms.ChoiceField(
        label=label("kind"), help_text=help_text("kind"), required=False, choices=[("", "---------"), *KIND_LABELS.items()]
    )
    ended_at = EndField(label=label("ended_at"), initial=lambda: timezone.now().replace(microsecond=0))
    timed = forms.BooleanField(
        label=gettext_lazy("The time is known"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Off: only the date is known. It is then the same date for every reader."),
    )
    sequence = forms.IntegerField(label=label("sequence"), help_text=help_text("sequence"), required=False, initial=0)
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    entry_token = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)

    class Meta:
        model = Match
        fields: ClassVar[list[str]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        match: Match | None = kwargs.get("instance")
        if match is not None:
            kwargs["initial"] = stored_values(match)
        super().__init__(*args, **kwargs)
        system = self.pool.rating_system
        for name in TERM_FIELDS:
            if name not in system.uses:
                del self.fields[name]
        for name in system.needs:
            self.fields[name].required = True
            self.fields[name].error_messages["required"] = beside(Refused(name, "needed"))
        if "scores" not in system.uses:
            del self.fields["outcome"]
        else:
            self.fields["outcome"].choices = outcomes(system.draws, "chance" in system.uses)  # type: ignore[attr-defined]
        self.fields["ended_at"].help_text = _(
            "Your time zone: %(zone)s. Of a match that is not finished nothing is stored here."
        ) % {"zone": timezone.get_current_timezone_name()}

    @property
    def changed_data(self) -> list[str]:
        """The fields that differ from what is stored; of a match that is not finished nothing is stored of its end."""
        unfinished = self.data.get("status") == Match.Status.OPEN
        return [
            name
            for name in super().changed_data
            if not self.fields[name].widget.is_hidden and not (unfinished and name in END_FIELDS)
        ]

    # --- What the form judges itself ---

    def is_valid(self) -> bool:
        return super().is_valid() and not self.reopened

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("status") == Match.Status.OPEN:
            for name in ONLY_AT_THE_END:
                if values.get(name) not in (None, ""):
                    self.add_error(name, _("A match that is not finished has none yet. Leave it empty, or choose “Completed”."))
        elif "status" not in self.errors:
            self._clean_outcome(values)
            self._clean_end(values)
        if self.trouble is not None:
            self._show(self.trouble)
        return values

    def _clean_outcome(self, values: dict[str, Any]) -> None:
        if "outcome" not in self.fields or "outcome" in self.errors:
            return
        if not values["outcome"]:
            self.add_error("outcome", beside(Refused("result", "needed")))
        elif "chance" in values:
            if values["outcome"] == BROKEN_OFF and values["chance"] is None:
                self.add_error("chance", beside(Refused("chance", "needed")))
            elif values["outcome"] != BROKEN_OFF and values["chance"] is not None:
                self.add_error("chance", _("Only a match that was broken off has one. Leave it empty."))

    def _clean_end(self, values: dict[str, Any]) -> None:
        if "ended_at" in self.errors:
            return
        day, clock = values["ended_at"]
        if day is None:
            self.add_error("ended_at", beside(Refused("ended_at", "needed")))
        elif values["timed"] and clock is None:
            self.add_error("ended_at", _("Give the time too, or say below that it is not known."))
        else:
            try:
                values["ended_at"] = instant(day, clock if values["timed"] else None)
            except forms.ValidationError as error:
                self.add_error("ended_at", error)

    # --- What the service judges ---

    def store(
        self,
        players: Sequence[Player],
        places: Sequence[int | None],
        *,
        entered_by: User,
        now: datetime,
        token: str | None = None,
    ) -> Match:
        """Hand the match to the service. Raises Refused, Conflict.

        Raises EnteredLate where the match rates others anew, unless `token` is that of a preview; Moved where that one holds no
        more.
        """
        values = self.cleaned_data
        if self.instance.pk is not None:
            self.instance.version = values["version"]
        same: dict[str, Any] = {
            "match": self.instance if self.instance.pk is not None else None,
            "entry_token": values["entry_token"],
            "entered_by": entered_by,
        }
        if values["status"] == Match.Status.OPEN:
            return save_open(self.pool, players=players, terms=Result(**self.terms()), **same)
        entry = self.entry(players, places, **same)
        if token is not None:
            return late.complete(self.pool, entry, token=token, now=now)
        if late.is_late(self.pool, entry, now=now):
            raise EnteredLate(self.pool, entry)
        return complete_match(self.pool, entry, now=now)

    def terms(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in TERM_FIELDS if name in self.cleaned_data}

    def entry(self, players: Sequence[Player], places: Sequence[int | None], **more: Any) -> Entry:
        """The match that ended, as it was sent."""
        values = self.cleaned_data
        return Entry(
            players=players,
            result=Result(**self.terms(), scores=SCORES.get(values.get("outcome", "")), places=given_places(places)),
            ended_at=values["ended_at"],
            timed=values["timed"],
            sequence=values["sequence"] or 0,
            **more,
        )

    def _show(self, trouble: Trouble) -> None:
        if isinstance(trouble, Conflict):
            self.add_error(None, conflict_sentence(trouble))
            return
        name = "outcome" if trouble.field in ("result", "scores") else trouble.field
        if name in self.fields:
            self.add_error(name, beside(trouble))
        elif trouble.field not in SEAT_FIELDS and name != "outcome":
            self.add_error(None, refusal(trouble))


def stored_values(match: Match) -> dict[str, Any]:
    """What the form shows of a stored match; of one that is not finished nothing is stored of its end."""
    values = {name: getattr(match, name) for name in (*TERM_FIELDS, "status", "version")}
    if match.ended_at is None:
        return values
    scores = match.result().scores
    outcomes = [key for key, value in SCORES.items() if value == scores]
    return {
        **values,
        "outcome": outcomes[0] if outcomes else BROKEN_OFF,
        # A date alone is the same in every zone.
        "ended_at": match.ended_at if match.timed else [match.ended_on, None],
        "timed": match.timed,
        "sequence": match.sequence,
    }


def outcomes(draws: bool, chances: bool) -> list[tuple[str, Any]]:
    """The ways in which a match between two players can end."""
    ways: list[tuple[str, Any]] = [
        ("1", pgettext_lazy("how it ended", "Player 1 won")),
        ("2", pgettext_lazy("how it ended", "Player 2 won")),
    ]
    if draws:
        ways.append(("draw", pgettext_lazy("how it ended", "A draw")))
    if chances:
        ways.append((BROKEN_OFF, pgettext_lazy("how it ended", "Broken off, evaluated")))
    return ways


def instant(day: date, clock: time | None) -> datetime:
    """The instant in the reader's zone; without a time the date itself, the same for every reader. Raises ValidationError for a
    time that the zone's clocks skip or show twice."""
    if clock is None:
        return datetime.combine(day, time.min, tzinfo=UTC)
    return from_current_timezone(datetime.combine(day, clock))


def given_places(places: Sequence[int | None]) -> Any:
    return tuple(places) if any(place is not None for place in places) else None


def beside(refused: Refused) -> str:
    """The rule that was broken, as a sentence beside its field."""
    return capfirst(refusal_rule(refused))


class SeatForm(UnjudgedForm):
    """One player at the table."""

    class Meta:
        model = Participant
        fields = ("player",)


class PlacedSeatForm(SeatForm):
    """One player and his place."""

    place = forms.IntegerField(
        label=gettext_lazy("Place"),
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 4}),
        help_text=gettext_lazy("1 to 4; players who share a place have the same number."),
    )


class SeatFormSet(BaseInlineFormSet):
    """As many rows as the system has seats, filled from the stored participants, who are all stored anew."""

    trouble: ClassVar[Trouble | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        match: Match = kwargs["instance"]
        stored = match.participants.all() if match.pk is not None else ()
        kwargs["initial"] = [{"player": seat.player_id, "place": seat.place} for seat in stored]
        super().__init__(*args, **kwargs)

    def initial_form_count(self) -> int:
        return 0

    def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
        super().add_fields(form, index)
        form.instance.seat = (index or 0) + 1

    def validate_unique(self) -> None:
        """The service does."""

    def clean(self) -> None:
        if not isinstance(self.trouble, Refused):
            return
        field, rule = self.trouble.field, beside(self.trouble)
        if field in SEAT_FIELDS or (field == "result" and issubclass(self.form, PlacedSeatForm)):
            faulty = self._faulty(field)
            for form in faulty:
                form.add_error("player" if field == "players" else "place", rule)
            if not faulty:
                raise forms.ValidationError(refusal(self.trouble))

    def _faulty(self, field: str) -> list[forms.ModelForm]:
        """The rows with a player who has a row already, or without a possible place."""
        if field == "players":
            players = self.players()
            return [
                form for form, player in zip(self.forms, players, strict=True) if players.index(player) < form.instance.seat - 1
            ]
        return [form for form, place in zip(self.forms, self.places(), strict=True) if place not in range(1, len(self.forms) + 1)]

    def players(self) -> list[Player]:
        """In the order of the seats. All rows are valid."""
        return [form.cleaned_data["player"] for form in self.forms]

    def places(self) -> list[int | None]:
        return [form.cleaned_data.get("place") for form in self.forms]


class TableForm(forms.ModelForm):
    """A waiting table, on terms that the pool's system takes."""

    class Meta:
        model = Table
        fields = ("pool", "host", "length", "deals", "stake", "real_money", "max_difference", "min_experience", "max_experience")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        pool = values.get("pool")
        if pool is not None and not self.errors:
            try:
                check_terms(pool, self.terms())
            except Refused as refused:
                self.add_error(refused.field if refused.field in self.fields else None, beside(refused))
            if TableSeat.objects.filter(lobby=pool, player=values["host"]).exists():
                self.add_error("host", _("He has a seat at a table of this lobby already."))
        return values

    def terms(self) -> Result:
        """What is agreed, of a form without errors."""
        agreed = {name: self.cleaned_data.get(name) for name in ("length", "deals", "stake", "real_money")}
        return Result(**agreed, kind=Kind.TABLE.value)

    def limits(self) -> dict[str, int | None]:
        return {name: self.cleaned_data.get(name) for name in ("max_difference", "min_experience", "max_experience")}
