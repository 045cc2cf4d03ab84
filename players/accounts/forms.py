"""The forms of signing up, of the profile and of a claim."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players.accounts import claims, countries, renaming
from players.accounts.models import NOTE_MAX
from players.models import Player
from players.names import NAME_MAX, clean_name, name_key
from players.timezones import time_zones, validate_time_zone


class SignUpForm(forms.Form):
    """What is asked besides the e-mail address and the password."""

    name = forms.CharField(
        label=gettext_lazy("Name shown"),
        required=False,
        max_length=NAME_MAX,
        help_text=gettext_lazy("Others see it. Leave it empty if you have played here already and want to keep those matches."),
    )
    time_zone = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput(attrs={"data-time-zone": ""}))

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        return claims.free_name(name) if clean_name(name) else ""

    def clean_time_zone(self) -> str:
        """The browser says it, where it can; what is no zone is none."""
        try:
            validate_time_zone(self.cleaned_data["time_zone"])
        except (ValidationError, ValueError):
            return "UTC"
        return str(self.cleaned_data["time_zone"])

    def signup(self, request: HttpRequest, user: User) -> None:
        if self.cleaned_data["name"]:
            zone, language = self.cleaned_data["time_zone"], translation.get_language() or settings.LANGUAGE_CODE
            try:
                claims.begin_as(user, self.cleaned_data["name"], time_zone=zone, language=language)
            except ValidationError as taken:  # a moment ago: the login is made, and its page asks for another name
                messages.warning(request, " ".join(taken.messages))


class NameForm(forms.Form):
    """A login that has no player begins as a new one."""

    name = forms.CharField(label=gettext_lazy("Name shown"), max_length=NAME_MAX)

    def clean_name(self) -> str:
        return claims.free_name(self.cleaned_data["name"])


class ClaimForm(forms.Form):
    """A login that has no player says whom it belongs to."""

    player = forms.CharField(
        label=gettext_lazy("You are"),
        max_length=NAME_MAX,
        help_text=gettext_lazy("The name as the rankings have it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    note = forms.CharField(
        label=gettext_lazy("How the organiser can tell"),
        required=False,
        max_length=NOTE_MAX,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_player(self) -> Player:
        found = Player.objects.filter(name_key=name_key(clean_name(self.cleaned_data["player"])), merged_into=None).first()
        if found is None:
            raise ValidationError(_("There is no player with this name. The rankings have the names as they are written here."))
        return found


class ProfileForm(forms.ModelForm):
    """What a player says of himself. The name is changed by `players.services.rename_player`."""

    name = forms.CharField(
        label=gettext_lazy("Name shown"),
        max_length=NAME_MAX,
        help_text=gettext_lazy("Addresses with your old name lead to the new one. You can change it every 30 days."),
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=settings.LANGUAGES)
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"))
    country = forms.ChoiceField(label=gettext_lazy("Country"), required=False)

    class Meta:
        model = Player
        fields = ("name", "language", "time_zone", "country", "mail_wanted")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = sorted(time_zones() | {self.instance.time_zone})
        self.fields["time_zone"].choices = [(zone, zone.replace("_", " ")) for zone in zones]  # type: ignore[attr-defined]
        self.fields["country"].choices = countries.choices()  # type: ignore[attr-defined]
        self.old_name = self.instance.name
        if not self.instance.language:
            self.initial["language"] = translation.get_language()

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        if name == self.old_name:
            return name
        if not name:
            raise ValidationError(_("A player needs a name."))
        if Player.objects.filter(name_key=name_key(name)).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("There is a player with this name. Add a number to tell the two apart."))
        renaming.check_not_lately(self.instance)
        return name

    def _post_clean(self) -> None:
        """The name stays out of the row: it is changed with its addresses."""
        super()._post_clean()  # type: ignore[misc]
        self.instance.name = self.old_name
