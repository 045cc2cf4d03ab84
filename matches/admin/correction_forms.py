"""The forms of corrections: the form of entry with a reason, and the reason alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.corrections import Correction, NothingChanges
from matches.entries import Conflict, differences
from matches.forms import EntryForm, Trouble
from matches.models import Match, Revision
from matches.replay import Overtaken
from matches.words import busy_sentence, overtaken_sentence, unchanged_sentence
from players.forms import reason_field
from players.models import Player


def public_reason_field() -> forms.CharField:
    """Why ratings move: unlike the reasons that stay among staff, for everybody to read."""
    return reason_field(
        error_messages={"required": gettext_lazy("It is missing. The players will ask why their ratings moved.")},
        help_text=gettext_lazy("Everybody can read it, on the page of each match whose numbers move."),
    )


class ReasonForm(forms.Form):
    """Why a match is voided, or counts again."""

    reason = public_reason_field()


class CorrectionForm(EntryForm):
    """A match that was completed or voided, to be corrected: the form of entry, filled in, with a reason."""

    trouble: Trouble | NothingChanges | Overtaken | None = None  # type: ignore[misc,assignment]
    status = None  # type: ignore[assignment]
    entry_token = None  # type: ignore[assignment]
    reason = public_reason_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["version"].required = True
        self.fields["ended_at"].help_text = _("Your time zone: %(zone)s.") % {"zone": timezone.get_current_timezone_name()}

    def _clean_end(self, values: dict[str, Any]) -> None:
        if {"ended_at", "timed"} & set(self.changed_data):
            super()._clean_end(values)
        else:
            # The form shows whole seconds, and an hour that the clocks show twice only once.
            values["ended_at"] = self.instance.ended_at

    def correction(self, players: Sequence[Player], places: Sequence[int | None]) -> Correction:
        """What shall become of the match. Raises NothingChanges."""
        entry, version = self.entry(players, places), self.cleaned_data["version"]
        if version == self.instance.version and not differences(
            self.instance, list(self.instance.participants.all()), self.pool, entry
        ):
            raise NothingChanges
        return Correction(Match(pk=self.instance.pk, version=version), entry=entry)

    def _show(self, trouble: Trouble | NothingChanges | Overtaken) -> None:
        if isinstance(trouble, NothingChanges):
            self.add_error(None, unchanged_sentence(Revision.Kind.EDIT))
        elif isinstance(trouble, Overtaken):
            self.add_error(None, busy_sentence())
        elif isinstance(trouble, Conflict):
            self.add_error(None, overtaken_sentence(trouble))
        else:
            super()._show(trouble)
