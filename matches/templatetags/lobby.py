"""How pages say what is agreed at a table."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from matches.lobby import prospects
from matches.models import Match, Table
from matches.terms import terms_of
from players.formatting import format_euros, format_number

register = template.Library()


@register.filter
def agreed(table: Any, shows_stakes: bool) -> str:
    """To 5 points · €2.50 · real money. The table's pool is at hand."""
    uses, said = table.pool.rating_system.uses, []
    if "length" in uses:
        said.append(length_in_words(table.length))
    if table.deals is not None:
        said.append(ngettext("%(deals)s deal", "%(deals)s deals", table.deals) % {"deals": format_number(table.deals, 0)})
    if table.stake is not None and shows_stakes:
        stake = format_euros(table.stake)
        said.append(_("%(stake)s per point") % {"stake": stake} if table.length is None and "points" in uses else stake)
    if table.real_money is not None:
        said.append(_("real money") if table.real_money else _("play money"))
    return " · ".join(said)


def length_in_words(length: int | None) -> str:
    if length is None:
        return _("unlimited")
    return ngettext("to %(points)s point", "to %(points)s points", length) % {"points": format_number(length, 0)}


@register.filter
def not_counted(agreed: Table | Match) -> str:
    """Why the match of a table, or one that is being played, will move no rating; "" where it will."""
    return prospects.why_not_counted(agreed.pool, terms_of(agreed, agreed.kind))


@register.filter
def json_string(text: str) -> str:
    """A string as JSON writes it, to stand in an attribute."""
    return json.dumps(text)
