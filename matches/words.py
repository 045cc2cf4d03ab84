"""Matches and what becomes of them, in words: a field of a match, and the changes that a revision made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from django.utils.html import strip_tags
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from matches.entries import OUTCOME_FIELDS, Conflict, Entry, described, fill
from matches.models import Match, Revision
from matches.rating import MatchRefused
from players import wording
from players.formatting import format_euros, format_number
from players.ledger import chunks
from players.models import Player, Pool
from players.pages.outcomes import bare_outcome, names, outcome
from players.templatetags.ratings import day, ended, moment

NOTHING = "–"
PLAIN_LABELS = ("pool", "status")
"""Fields that no rating system knows: they have the label of the model."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A field of a match, from what to what."""

    label: str
    before: str
    after: str


def label_of(name: str) -> str:
    return capfirst(str(Match._meta.get_field(name).verbose_name)) if name in PLAIN_LABELS else wording.field_label(name)  # type: ignore[union-attr]


def changes_in_words(details: Mapping[str, list[Any]], named: Mapping[int, str]) -> list[Changed]:
    """What became of one match, as `matches.entries.changed` tells it; `named` are the players by id."""
    before = {name: pair[0] for name, pair in details.items()}
    after = {name: pair[1] for name, pair in details.items()}
    fields = dict.fromkeys("result" if name in OUTCOME_FIELDS else name for name in details)
    if before.get("players") == after.get("players"):
        fields.pop("players", None)
    return [Changed(label_of(name), value_in_words(name, before, named), value_in_words(name, after, named)) for name in fields]


def value_in_words(name: str, values: Mapping[str, Any], named: Mapping[int, str]) -> str:
    """One of the described fields of a match; `result` is that of its scores, places and chance together."""
    if name == "result":
        seats = _seats(values, named)
        over = any(values.get(field) for field in OUTCOME_FIELDS)
        return bare_outcome(values.get("chance"), seats) if over else str(Match.Status.OPEN.label)
    value = values[name]
    if name == "players":
        return names(_seats({"players": value}, named))
    if name == "status":
        return str(Match.Status(value).label)
    if name == "kind":
        return wording.kind_label(value)
    if name == "not_counted":
        return _("no: %(why)s") % {"why": wording.reason(value)} if value else _("yes")
    if value is None:
        return NOTHING
    if name == "ended_at":
        return instant_in_words(datetime.fromisoformat(value)) if "T" in value else strip_tags(day(date.fromisoformat(value)))
    if name == "stake":
        return format_euros(Decimal(value))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, str):
        return value
    return format_number(value)


def instant_in_words(value: datetime) -> str:
    """In the reader's zone, as plain text."""
    return strip_tags(moment(value))


@dataclass(frozen=True, slots=True)
class RulesChanged:
    """What became of a pool's rules: parameter by parameter from what to what, and sentences on what that means for matches."""

    fields: Sequence[Changed]
    sentences: Sequence[str]


def rules_in_words(rules: Mapping[str, Any]) -> RulesChanged:
    """What `Revision.rules` holds."""
    since = rules.get("since")
    sentences = [
        _("For the matches that end from %(when)s on.") % {"when": instant_in_words(datetime.fromisoformat(since))}
        if since
        else _("For all matches.")
    ]
    for until, _parameters in rules.get("replaced", ()):
        when = instant_in_words(datetime.fromisoformat(until))
        sentences.append(_("The rules that held until %(when)s are replaced.") % {"when": when})
    for until, _parameters in rules.get("eras", ()):
        when = instant_in_words(datetime.fromisoformat(until))
        sentences.append(_("Until %(when)s other rules hold.") % {"when": when})
    if starts := rules.get("starts"):
        sentences.append(
            ngettext("%(count)s match counts from now on.", "%(count)s matches count from now on.", starts)
            % {"count": format_number(starts, 0)}
        )
    for code, count in rules.get("stops", {}).items():
        stops = ngettext("%(count)s match counts no more.", "%(count)s matches count no more.", count)
        sentences.append(f"{stops % {'count': format_number(count, 0)}} {wording.reason(code)}")
    return RulesChanged(_parameters_in_words(rules.get("parameters", {})), sentences)


def _parameters_in_words(parameters: Mapping[str, Sequence[Any]]) -> list[Changed]:
    """Parameters within parameters one by one, where both ways have them."""
    fields = []
    for name, (before, after) in parameters.items():
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            pairs = {f"{name}.{key}": (before.get(key), value) for key, value in after.items() if before.get(key) != value}
        else:
            pairs = {name: (before, after)}
        for each, (was, now) in pairs.items():
            label = wording.parameter_label(each)
            fields.append(Changed(label, wording.parameter_value(each, was), wording.parameter_value(each, now)))
    return fields


def _seats(values: Mapping[str, Any], named: Mapping[int, str]) -> list[Any]:
    scores, places = values.get("scores") or (), values.get("places") or ()
    return [
        SimpleNamespace(
            seat=number + 1,
            player=SimpleNamespace(name=named.get(player_id, f"#{player_id}")),
            score=scores[number] if number < len(scores) else None,
            place=places[number] if number < len(places) else None,
        )
        for number, player_id in enumerate(values.get("players", ()))
    ]


def entry_in_words(pool: Pool, entry: Entry) -> str:
    """How the match of an entry ended, and when: of one that need not be stored."""
    match = Match()
    return f"{outcome(match, fill(match, pool, entry))} · {strip_tags(ended(match))}"


def names_in(details: Iterable[Mapping[str, list[Any]]]) -> dict[int, str]:
    """By id, the players who are named in what became of matches. One query, or none where nobody is."""
    ids = sorted({player_id for one in details for players in one.get("players", ()) for player_id in players})
    players = (pair for chunk in chunks(ids) for pair in Player.objects.filter(pk__in=chunk).values_list("pk", "name"))
    return dict(players)


def conflict_sentence(conflict: Conflict) -> str:
    """Who saved a match meanwhile, and what is stored where that differs from what was sent."""
    match = conflict.match
    fields = dict.fromkeys("result" if name in OUTCOME_FIELDS else name for name in conflict.fields)
    seats = list(match.participants.select_related("player"))
    stored = described(match, seats) | {"pool": match.pool.name}
    named = {seat.player_id: seat.player.name for seat in seats}
    words = {
        "who": match.entered_by or _("somebody"),
        "stored": "; ".join(f"{label_of(name)}: {value_in_words(name, stored, named)}" for name in fields),
    }
    return (
        _("%(who)s saved this match meanwhile. What you sent was not saved. It differs from what is stored: %(stored)s.") % words
    )


def busy_sentence() -> str:
    """A change gave way to other writers every time."""
    return _("Others were writing all the time. Nothing was changed; please try again.")


def overtaken_sentence(conflict: Conflict) -> str:
    """Who changed a match since it was looked at, when, why and what."""
    last = Revision.objects.filter(matches=conflict.match.pk).select_related("made_by").first()
    if last is None:
        return _("Match %(id)s is not as you saw it any more. Nothing of yours was written.") % {"id": conflict.match.pk}
    details = last.details.get(str(conflict.match.pk), {})
    what = "; ".join(f"{one.label}: {one.before} → {one.after}" for one in changes_in_words(details, names_in([details])))
    words = {
        "who": last.made_by or _("Somebody"),
        "id": conflict.match.pk,
        "when": instant_in_words(last.made_at),
        "what": what or last.get_kind_display(),
        "reason": last.reason or NOTHING,
    }
    return (
        _(
            "%(who)s changed match %(id)s meanwhile (%(when)s): %(what)s. Reason: “%(reason)s”. "
            "Nothing of yours was written. Open the match again to see it as it is now."
        )
        % words
    )


def unchanged_sentence(kind: Revision.Kind) -> str:
    """That there is nothing to revise."""
    if kind == Revision.Kind.PARAMETERS:
        return _("The pool has these parameters already.")
    return _("This is how the match is stored already: nothing would change.")


def refused_sentence(error: MatchRefused) -> str:
    """Which match cannot be rated under other rules, and why."""
    words = {"id": error.match.pk, "rule": wording.refusal(error.refused)}
    return _("Match %(id)d cannot be rated under these rules. %(rule)s") % words
