"""The forms of an import: the upload, and what is said of it before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from matches.imports import cells
from matches.imports.csv_rows import COLUMNS
from matches.imports.dialect import DATES, DECIMALS, ENCODINGS
from matches.imports.jobs import MOST_BYTES, MOST_FILES
from matches.imports.report import Report, UnknownName, rule
from matches.imports.transcripts.reading import NamedFile
from matches.models import Import
from players.models import Pool
from players.names import NAME_MAX
from players.systems.base import Refused
from players.wording import FIELD_LABELS, KIND_LABELS

MOST_NAMES = 100
"""Unknown names that a page asks about; the rest is made or refused."""


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = (data if isinstance(data, (list, tuple)) else [data]) or [None]
        return [super(FilesField, self).clean(file, initial) for file in files]


class DateField(forms.CharField):
    """The date of match files that have none: as ISO 8601, or None."""

    def __init__(self) -> None:
        words = gettext_lazy("Of match files that have none, such as 2026-03-31.")
        super().__init__(label=gettext_lazy("Date"), required=False, max_length=20, help_text=words)

    def clean(self, value: Any) -> str | None:
        return _checked(super().clean(value), lambda text: cells.day("date", text).isoformat())


class UploadForm(forms.Form):
    """Which files, for which pool."""

    pool = forms.ModelChoiceField(Pool.objects.none(), label=gettext_lazy("Pool"))
    upload = FilesField(
        label=gettext_lazy("Files"),
        help_text=gettext_lazy(
            "One list of matches as CSV, or match files: .mat, .txt, .sgf, or zips of them. Nothing is imported before you have "
            "seen what would be."
        ),
    )
    on = DateField()

    def __init__(self, pools: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]

    def clean_upload(self) -> list[NamedFile]:
        files = self.cleaned_data["upload"]
        if len(files) > MOST_FILES or sum(file.size or 0 for file in files) > MOST_BYTES:
            raise forms.ValidationError(
                _("At most %(files)d files with %(most)d MB together. Larger lists are imported from the command line.")
                % {"files": MOST_FILES, "most": MOST_BYTES // 1_000_000}
            )
        return [NamedFile((file.name or "?").replace("\0", ""), file.read()) for file in files]


class SettingsForm(forms.Form):
    """How the import of an upload is to be made, with a field for each column of a list and for each name that is not known."""

    create_players = forms.BooleanField(label=gettext_lazy("Make the players who are not there yet"), required=False)
    skip_invalid = forms.BooleanField(label=gettext_lazy("Leave refused rows out and take the others"), required=False)
    dates = forms.ChoiceField(label=gettext_lazy("Dates are written as"), choices=list(DATES.items()))
    decimal = forms.ChoiceField(label=gettext_lazy("Decimals are written with"), choices=list(DECIMALS.items()), required=False)
    encoding = forms.ChoiceField(label=gettext_lazy("Encoding"), choices=list(ENCODINGS.items()))
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        help_text=gettext_lazy("Of the matches of which the file does not say it."),
    )
    real_money = forms.ChoiceField(
        label=gettext_lazy("Real money"),
        required=False,
        choices=[("", gettext_lazy("as the file says")), ("yes", gettext_lazy("yes")), ("no", gettext_lazy("no"))],
        help_text=gettext_lazy("Of the matches of which the file does not say it."),
    )
    stake = forms.CharField(
        label=gettext_lazy("Stake"),
        required=False,
        max_length=20,
        help_text=gettext_lazy("Euros, of the matches of which the file does not say it; per point in money games."),
    )
    on = DateField()

    def __init__(self, record: Import, data: Any = None) -> None:
        stored: Mapping[str, Any] = record.options
        real_money = {True: "yes", False: "no", None: ""}[stored["real_money"]]
        initial = {**stored, "real_money": real_money, "stake": stored["stake"] or "", "on": stored["on"] or ""}
        super().__init__(data, initial=initial)
        uses = record.pool.rating_system.uses
        is_list = record.kind == Import.Kind.LIST
        gone = {name for name in ("kind", "real_money", "stake") if name not in uses}
        gone |= {"on"} if is_list else {"dates", "decimal", "encoding"}
        for name in gone:
            del self.fields[name]
        if "kind" in self.fields:
            self.fields["kind"].choices = [("", _("as the file says")), *KIND_LABELS.items()]  # type: ignore[attr-defined]
        # In the order of the file: a database keeps none within an object.
        header = dict.fromkeys(stored["head"][0]) if is_list and stored["head"] else ()
        self.headings = [heading for heading in header if heading in stored["columns"]]
        choices = [("", _("not used")), *((column, _column_label(column)) for column in COLUMNS)]
        for place, heading in enumerate(self.headings):
            self.fields[f"column_{place}"] = forms.ChoiceField(
                label=heading or _("(no heading)"), choices=choices, required=False, initial=stored["columns"][heading]
            )
        self.unknown = unknown_names(record)[:MOST_NAMES]
        for place, unknown in enumerate(self.unknown):
            self.fields[f"name_{place}"] = forms.CharField(
                label=unknown.name,
                required=False,
                max_length=NAME_MAX,
                initial=stored["names"].get(unknown.name, ""),
                widget=forms.TextInput(attrs={"list": f"like_{place}"} if unknown.like else {}),
            )

    def clean_stake(self) -> str | None:
        return _checked(self.cleaned_data["stake"], lambda text: str(cells.amount("stake", text)))

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        columns = [values.get(f"column_{place}", "") for place in range(len(self.headings))]
        for place, column in enumerate(columns):
            if column and column in columns[:place]:
                self.add_error(f"column_{place}", _("Another heading is this column already."))
        return values

    def options(self) -> dict[str, Any]:
        """What is to be stored. The form is valid."""
        values = self.cleaned_data
        names = {name.name: values[f"name_{place}"] for place, name in enumerate(self.unknown) if values[f"name_{place}"]}
        return {
            "create_players": values["create_players"],
            "skip_invalid": values["skip_invalid"],
            "kind": values.get("kind", ""),
            "real_money": {"yes": True, "no": False}.get(values.get("real_money", "")),
            "stake": values.get("stake"),
            "on": values.get("on"),
            "dates": values.get("dates", "iso"),
            "decimal": values.get("decimal", ""),
            "encoding": values.get("encoding", "utf-8"),
            "columns": {heading: values[f"column_{place}"] for place, heading in enumerate(self.headings)},
            "names": names,
        }


def unknown_names(record: Import) -> list[UnknownName]:
    """The names about which somebody has said something, and those that no player has."""
    said = [UnknownName(name, []) for name in record.options["names"]]
    found = Report.from_json(record.report).unknown if record.report else []
    # Who is meant by a name may be unknown himself: a new player under another name.
    meant = set(record.options["names"].values())
    return [*said, *(name for name in found if name.name not in meant)]


def _checked(text: str, read: Any) -> str | None:
    if not text.strip():
        return None
    try:
        value: str = read(text.strip())
    except Refused as refused:
        raise forms.ValidationError(capfirst(rule(refused))) from None
    return value


def _column_label(column: str) -> str:
    label = FIELD_LABELS.get(column)
    return f"{column} ({label})" if label else column
