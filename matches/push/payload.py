"""An event as data: what the feed answers and what webhooks are sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from matches.models import Match, Participant, Revision
from matches.push.models import Event
from players.ledger import PUBLISHED_FIELDS, chunks
from players.models import Player, PublishedChange, RatingChange


def payloads(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events, in the order given, as JSON takes them; points in full precision. At most seven queries for up to 500
    matches and players.

    Of a match: who played, and what it did to them as it was first published. Of a revision: it, and whose rating is another now
    than before. Of standings: whose is another, and the same.
    """
    matches = _matches([event.match_id for event in events if event.match_id])
    revisions = _revisions({event.revision_id for event in events if event.revision_id})
    moved = sorted({player_id for event in events for player_id, *_ in event.ratings or ()})
    names = {pk: name for chunk in chunks(moved) for pk, name in Player.objects.filter(pk__in=chunk).values_list("pk", "name")}
    answers = []
    for event in events:
        data: dict[str, Any] = {}
        if event.match_id:
            data["match"] = matches[event.match_id]
        else:
            ratings = [
                {"player": {"id": player_id, "name": names.get(player_id, "")}, "before": before, "after": after}
                for player_id, before, after in event.ratings or ()
            ]
            if event.kind == Event.Kind.REVISED:
                data = {"revision": revisions.get(event.revision_id), "ratings": ratings}
            else:
                data = {"standings": ratings}
        answers.append(
            {"position": event.position, "type": event.kind, "pool": event.pool.slug, "at": event.made_at.isoformat(), **data}
        )
    return answers


def _matches(ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    lines: dict[tuple[int, int], tuple[Any, ...]] = {}
    seats: dict[int, list[Participant]] = defaultdict(list)
    answers = {}
    for chunk in chunks(ids):
        # What was published comes second and so stands.
        for model in (RatingChange, PublishedChange):
            for match_id, player_id, *said in model.objects.filter(match__in=chunk).values_list(
                "match_id", "player_id", *PUBLISHED_FIELDS
            ):
                lines[match_id, player_id] = tuple(said)
        for seat in Participant.objects.filter(match__in=chunk).select_related("player").order_by("match_id", "seat"):
            seats[seat.match_id].append(seat)
        for match in Match.objects.filter(pk__in=chunk):
            at_table = [
                {
                    "id": seat.player_id,
                    "name": seat.player.name,
                    "score": seat.score,
                    "place": seat.place,
                    **dict(zip(PUBLISHED_FIELDS, lines.get((match.pk, seat.player_id), ()), strict=False)),
                }
                for seat in seats[match.pk]
            ]
            assert match.ended_at is not None
            answers[match.pk] = {
                "id": match.pk,
                "source": match.source,
                "external_id": match.external_id,
                "ended_at": (match.ended_at if match.timed else match.ended_at.date()).isoformat(),
                "kind": match.kind,
                "counted": any((match.pk, seat.player_id) in lines for seat in seats[match.pk]),
                "not_counted": match.not_counted,
                "players": at_table,
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
