"""The words for what only the API refuses; what the rating systems and services refuse has its words in `players.wording`."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from players import wording
from players.systems.base import Refused

# After "length: ".
RULES: dict[str, Any] = {
    "given_twice": _("is given twice. Give it once."),
    "unknown_field": _("there is no such field here. Known: %(known)s."),
    "not_text": _("must be text."),
    "no_text": _("must not be empty, and must not hold control characters."),
    "not_an_object": _("must be an object, with names and values in braces."),
    "not_a_list": _("must be a list."),
    "no_list_length": _("must hold from %(low)s to %(high)s of them."),
    "not_an_instant": _("must be a time with its offset from UTC, such as 2026-11-29T20:15:00+01:00 or 2026-11-29T19:15:00Z."),
    "not_a_date": _("must be a date such as 2026-11-29."),
    "not_an_end": _("give either ended_at, a time with its offset, or date."),
    "not_in_list": _("must be one of: %(allowed)s."),
    "bad_cursor": _("is not one that this list gave. Begin without it."),
    "no_pool": _("there is no such pool."),
    "no_player": _("there is no player “%(name)s”."),
    "not_a_player": _("must be an object with one of id, name and external_id."),
    "no_name": _("a name has 1 to %(most)s characters that can be seen."),
    "not_created": _("there is no player “%(name)s”, and this key may not create players."),
    "name_for_new": _("nobody is known by the id “%(name)s”. Give the name too, and the player is created."),
    "id_again": _("entry %(index)s has the same id and says something else."),
    "narrow": _("give a pool, a player or an external_id, so that the list is not everything."),
    "source_needed": _("needs a key or a login: it is looked for at your own source."),
    "no_match": _("there is no such match."),
    "not_your_match": _("This match did not start at a table of your source."),
    "match_again": _("entry %(index)s names the same match."),
    "below_least": _("must not be below the experience from which one may join."),
    "not_correctable": _("cannot be changed here."),
}


def rule(refused: Refused) -> str:
    """The rule that was broken, without the field's name."""
    sentence = RULES.get(refused.code)
    return str(sentence) % refused.values if sentence else wording.refusal_rule(refused)


def sentence(refused: Refused) -> str:
    """The field and the rule."""
    if refused.code in RULES or refused.field not in wording.FIELD_LABELS:
        return f"{refused.field}: {rule(refused)}"
    return wording.refusal(refused)
