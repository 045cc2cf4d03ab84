"""A message in words, in the language that is active: its subject, its text, and the address that it leads to."""

from __future__ import annotations

from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from matches.inbox.models import Message
from matches.models import Revision
from players.formatting import format_number, format_rating

Kind = Message.Kind


def subject(message: Message) -> str:
    """One line."""
    names = {"pool": message.pool.name, "match": message.match_id}
    return {
        Kind.CONFIRM: _("%(pool)s: a result waits for your answer"),
        Kind.DISPUTED: _("%(pool)s: the result of match %(match)s is disputed"),
        Kind.DECIDED: _("%(pool)s: the result of match %(match)s is decided"),
        Kind.ANSWERED: _("%(pool)s: your appeal in match %(match)s is answered"),
        Kind.REVISED: _("%(pool)s: your rating was revised"),
        Kind.DECAY: _("%(pool)s: your standing is about to fall"),
        Kind.ASKED: _("%(pool)s: you are asked for a rematch") if is_rematch(message) else _("%(pool)s: you are challenged"),
    }[Kind(message.kind)] % names


def text(message: Message) -> str:
    """What happened and what to do, in a sentence or two."""
    details = message.details
    if message.kind == Kind.CONFIRM:
        if "confirms_at" not in details:
            return _("Confirm the result or dispute it.")
        return _("Confirm the result or dispute it. If you do neither, it counts as confirmed from %(when)s on.") % {
            "when": moment(details["confirms_at"])
        }
    if message.kind == Kind.DISPUTED:
        return _("An organiser looks at both versions and decides. Until then the match moves no rating.")
    if message.kind == Kind.DECIDED:
        return _("An organiser has decided. The match’s page shows the result and what it moved.")
    if message.kind == Kind.ANSWERED:
        return _("The page of your appeal shows what the organiser answered.")
    if message.kind == Kind.ASKED:
        return _("The page of the table says by whom and on which terms. Accept there, or decline.")
    if message.kind == Kind.REVISED:
        said = {
            "before": format_rating(details["before"], message.pool.shown_decimals),
            "after": format_rating(details["after"], message.pool.shown_decimals),
            "reason": _reason(message.revision),
        }
        return _("It was %(before)s and is %(after)s. Reason: %(reason)s") % said
    said = {"when": moment(details["begins"]), "points": format_number(details["per_day"])}
    return _("From %(when)s on each day away costs %(points)s points of standing. One rated match stops it.") % said


def _reason(revision: Revision | None) -> str:
    """Why a rating was revised; without a revision a match was entered a little late."""
    if revision is None:
        return str(Revision.Kind.LATE.label)
    return revision.reason.strip() or revision.get_kind_display()


def is_rematch(message: Message) -> bool:
    return bool(message.details.get("kind") == "rematch")


def moment(written: str) -> str:
    """A stored instant in the reader's zone and language."""
    return date_format(timezone.localtime(datetime.fromisoformat(written)), pgettext("date format", "j M Y, H:i"))


def address(message: Message) -> str:
    """The path of the page where the reader sees it for himself."""
    if message.kind == Kind.ASKED:
        return reverse("table", args=[message.details["table"]])
    if message.match_id is not None:
        # The page of the report leads on to the match when it is settled.
        page = {Kind.CONFIRM: "report", Kind.ANSWERED: "appeal"}.get(Kind(message.kind), "match")
        return reverse(page, args=[message.match_id])
    return reverse("cashier_pool", args=[message.pool.slug])
