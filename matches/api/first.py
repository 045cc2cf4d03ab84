"""What a server sent first: a match as it was before it was corrected.

Whoever sends a result again means what he sent, however it was corrected since; so a repeated request is held against that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from matches.entries import Entry, described, differences, fill
from matches.models import Match, Revision
from players.ledger import chunks
from players.models import Player, Pool
from players.services import present_players


def stored_of(source: str, external_ids: Collection[str]) -> dict[str, Match]:
    """The matches of a source, with their participants, by its ids. Three queries at most for each thousand."""
    found = {}
    for chunk in chunks(sorted(set(external_ids))):
        matches = Match.objects.filter(source=source, external_id__in=chunk).exclude(external_id="")
        for match in matches.select_related("pool").prefetch_related("participants__player"):
            found[match.external_id] = match
    return found


def edits_of(matches: Iterable[int]) -> dict[int, list[Revision]]:
    """The edits of matches, the last one first, by match."""
    edits: dict[int, list[Revision]] = {}
    through = Revision.matches.through.objects
    for chunk in chunks(sorted(set(matches))):
        rows = through.filter(match__in=chunk, revision__kind=Revision.Kind.EDIT).select_related("revision")
        for row in rows.order_by("-revision__made_at", "-revision_id"):
            edits.setdefault(row.match_id, []).append(row.revision)
    return edits


def first_described(match: Match, edits: Collection[Revision]) -> dict[str, Any]:
    """The match as it came in, as `matches.entries.described` tells it. Players are those who they are by now."""
    values = described(match, list(match.participants.all()))
    for revision in edits:
        values |= {name: pair[0] for name, pair in revision.details.get(str(match.pk), {}).items()}
    ids = values["players"]
    known = Player.objects.in_bulk(ids)
    present = dict(zip(known, present_players(list(known.values())), strict=True))
    return values | {"players": [present[pk].pk for pk in ids]}


def differing(match: Match, pool: Pool, entry: Entry) -> list[str]:
    """The fields in which an entry differs from the match as it is, unless it is the match as it was first sent."""
    fields = differences(match, list(match.participants.all()), pool, entry)
    if not fields or {"pool", "match"} & set(fields):
        return fields
    edits = edits_of([match.pk]).get(match.pk, [])
    if not edits:
        return fields
    again = Match()
    sent = described(again, fill(again, pool, entry))
    first = first_described(match, edits)
    return fields if any(sent[name] != first[name] for name in sent if name != "status") else []
