"""How a match ended, in words: as one of its players tells it, and as a bystander does.

A match and its seats (participants, each with its player) come from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unicodedata import bidirectional

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from players.formatting import format_number, format_percent

CHANCE_DECIMALS = 1
ISOLATE, END_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
LEFT_TO_RIGHT = frozenset({"L", "EN", "ES", "ET", "AN", "CS", "NSM", "BN", "WS", "ON"})


def own_outcome(match: Any, own: Any, others: Sequence[Any]) -> str:
    """Won against Vera, match to 5. / Place 2 with Vera, Didrik and Inger, 16 deals."""
    against = names(others)
    words = {"other": against}
    if own.place is not None:
        words["place"] = format_number(own.place, 0)
        if any(seat.place == own.place for seat in others):
            return _with_terms(match, _("Shared place %(place)s with %(other)s") % words)
        return _with_terms(match, _("Place %(place)s with %(other)s") % words)
    if own.score is None:
        if match.chance is None:
            return _with_terms(match, _("Against %(other)s") % words)
        words["chance"] = format_percent(match.chance if own.seat == 1 else 1 - match.chance, CHANCE_DECIMALS)
        return _with_terms(match, _("Broken off against %(other)s at a winning chance of %(chance)s") % words)
    if own.score == 0.5:
        return _with_terms(match, _("Drew with %(other)s") % words)
    return _with_terms(match, (_("Won against %(other)s") if own.score == 1 else _("Lost to %(other)s")) % words)


def outcome(match: Any, seats: Sequence[Any]) -> str:
    """Didrik won against Vera, match to 5. / 1. Vera, 2. Didrik, 2. Inger, 4. Rune, 16 deals."""
    return _with_terms(match, bare_outcome(match.chance, seats))


def bare_outcome(chance: float | None, seats: Sequence[Any]) -> str:
    """The same without what was played for; `chance` is that of the first seat where the match was broken off."""
    everybody = names(seats)
    if any(seat.place is not None for seat in seats):
        ranked = sorted(seats, key=lambda seat: (seat.place, seat.seat))
        place = pgettext("place and name", "%(place)s. %(name)s")
        sentence = ", ".join(
            place % {"place": format_number(seat.place, 0), "name": name_in_text(seat.player.name)} for seat in ranked
        )
    elif chance is not None:
        words = {
            "players": everybody,
            "name": name_in_text(seats[0].player.name),
            "chance": format_percent(chance, CHANCE_DECIMALS),
        }
        sentence = _("%(players)s, broken off at a winning chance of %(chance)s for %(name)s") % words
    elif winners := [seat for seat in seats if seat.score == 1]:
        losers = [seat for seat in seats if seat.score != 1]
        sentence = _("%(winner)s won against %(loser)s") % {"winner": names(winners), "loser": names(losers)}
    elif any(seat.score == 0.5 for seat in seats):
        sentence = _("%(players)s drew") % {"players": everybody}
    else:
        sentence = everybody
    return sentence


def names(seats: Sequence[Any]) -> str:
    """Vera, Didrik and Inger."""
    listed = [name_in_text(seat.player.name) for seat in seats]
    if len(listed) < 2:
        return "".join(listed)
    return _("%(names)s and %(last)s") % {"names": ", ".join(listed[:-1]), "last": listed[-1]}


def name_in_text(name: str) -> str:
    """The name, kept together where its letters run from right to left, so that it does not reorder the words around it."""
    if all(bidirectional(letter) in LEFT_TO_RIGHT for letter in name):
        return name
    return f"{ISOLATE}{name}{END_ISOLATE}"


def _with_terms(match: Any, sentence: str) -> str:
    terms = _terms(match)
    return _("%(outcome)s, %(terms)s") % {"outcome": sentence, "terms": terms} if terms else sentence


def _terms(match: Any) -> str:
    """What was played for, as far as the result needs it to be understood; "" where there is nothing to add."""
    if match.length is not None:
        return _("match to %(length)s") % {"length": format_number(match.length, 0)}
    if match.points is not None:
        sentence = ngettext("money game for %(points)s point", "money game for %(points)s points", match.points)
        return sentence % {"points": format_number(match.points, 0)}
    if match.deals is not None:
        return ngettext("%(deals)s deal", "%(deals)s deals", match.deals) % {"deals": format_number(match.deals, 0)}
    return _("unlimited") if "length" in match.pool.rating_system.uses else ""
