"""An event as data: what the feed answers and what webhooks are sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from matches.models import Match, Participant, Revision
from matches.push.models import Event
from players.api.answers import end, instant
from players.dbfunctions import Among
from players.ledger import PUBLISHED_FIELDS, chunks
from players.models import Player, PublishedChange, RatingChange

NOTHING = (None,) * len(PUBLISHED_FIELDS)


def payloads(events: Sequence[Event], source: str | None) -> list[dict[str, Any]]:
    """Events, in the order given, as JSON takes them; points in full precision. At most eight queries for up to 500
    matches.

    Of a match: who played, and what it did to them as it was first published; its id at its source is told to the `source`
    alone. Of a revision: it, and whose rating is another now than before. Of standings: whose is another, and the same. Of a
    table: who sat there by then and what had become of it, with its id as that of a match.
    """
    matches = _matches([event.match_id for event in events if event.match_id], source)
    revisions = _revisions({event.revision_id for event in events if event.revision_id})
    moved = {player_id for event in events for player_id, *_ in event.ratings or ()}
    seated = {player_id for event in events for player_id in (event.table or {}).get("players", ())}
    named = Player.objects.filter(Among("pk", moved | seated)) if moved or seated else Player.objects.none()
    names = dict(named.values_list("pk", "name"))
    return [
        {
            "position": event.position,
            "type": event.kind,
            "pool": event.pool.slug,
            "at": instant(event.made_at),
            "match": matches.get(event.match_id),
            "revision": revisions.get(event.revision_id),
            "ratings": _ratings(event, names) if event.kind == Event.Kind.REVISED else None,
            "standings": _ratings(event, names) if event.kind == Event.Kind.STANDING else None,
            "table": None if event.table is None else _table(event.table, names, source),
        }
        for event in events
    ]


def _ratings(event: Event, names: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {"player": {"id": player_id, "name": names.get(player_id, "")}, "before": before, "after": after}
        for player_id, before, after in event.ratings or ()
    ]


def _table(said: dict[str, Any], names: dict[int, str], source: str | None) -> dict[str, Any]:
    own = bool(said["external_id"]) and said["source"] == source
    return {
        "id": said["id"],
        "external_id": said["external_id"] if own else None,
        "status": said["status"],
        "closed_because": said["closed_because"] or None,
        "match": said["match"],
        "players": [{"id": player_id, "name": names.get(player_id, "")} for player_id in said["players"]],
    }


def _matches(ids: Sequence[int], source: str | None) -> dict[int | None, dict[str, Any]]:
    lines: dict[tuple[int, int], tuple[Any, ...]] = {}
    seats: dict[int, list[Participant]] = defaultdict(list)
    answers: dict[int | None, dict[str, Any]] = {}
    for chunk in chunks(ids):
        # What was published comes second and so stands.
        for model in (RatingChange, PublishedChange):
            rows = model.objects.filter(match__in=chunk)
            for match_id, player_id, *said in rows.values_list("match_id", "player_id", *PUBLISHED_FIELDS):
                lines[match_id, player_id] = tuple(said)
        for seat in Participant.objects.filter(match__in=chunk).select_related("player").order_by("match_id", "seat"):
            seats[seat.match_id].append(seat)
        for match in Match.objects.filter(pk__in=chunk):
            answers[match.pk] = {
                "id": match.pk,
                "external_id": match.external_id if source is not None and match.source == source else None,
                **end(match.ended_at, match.timed),
                "kind": match.kind or None,
                "not_counted": match.not_counted or None,
                "players": [
                    {
                        "id": seat.player_id,
                        "name": seat.player.name,
                        "score": seat.score,
                        "place": seat.place,
                        **dict(zip(PUBLISHED_FIELDS, lines.get((match.pk, seat.player_id), NOTHING), strict=True)),
                    }
                    for seat in seats[match.pk]
                ],
            }
    return answers


def _revisions(ids: set[int]) -> dict[int | None, dict[str, Any]]:
    return {
        revision.pk: {
            "id": revision.pk,
            "kind": revision.kind,
            "reason": revision.reason,
            "matches": [match.pk for match in revision.matches.all()],
        }
        for revision in Revision.objects.filter(pk__in=ids).prefetch_related("matches")
    }
