"""What players are told, and when: each row is written in the transaction of what it tells, or of the sweep that found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from matches.inbox.models import Message
from matches.models import Appeal, Match, Participant, Report
from matches.push.models import Event
from players.ledger import BATCH, chunks
from players.models import Player, Pool, Rating

Kind = Message.Kind
AHEAD = timedelta(days=3)
"""How long before decay begins a player is told."""


def tell(
    players: Iterable[int],
    kind: Message.Kind,
    key: str,
    pool: Pool,
    *,
    now: datetime,
    match: Match | None = None,
    revision_id: int | None = None,
    details: Mapping[int, dict[str, Any]] | None = None,
) -> None:
    """Put a message into the inboxes of those of the players (ids) who have a login; `details` by player.

    The same key again tells them nothing.
    """
    for chunk in chunks(sorted(set(players))):
        there = Player.objects.filter(pk__in=chunk, user__is_active=True).values_list("pk", flat=True)
        Message.objects.bulk_create(
            (
                Message(
                    player_id=player_id,
                    kind=kind,
                    key=key,
                    pool=pool,
                    match=match,
                    revision_id=revision_id,
                    details=(details or {}).get(player_id, {}),
                    made_at=now,
                    mail_due_at=now,
                )
                for player_id in there
            ),
            ignore_conflicts=True,
            batch_size=BATCH,
        )


def forget(players: Iterable[Player]) -> None:
    """Delete what players were told: one of them asked to be forgotten."""
    Message.objects.filter(player__in=list(players)).delete()


def of_report(report: Report, seats: Sequence[Participant], now: datetime) -> None:
    """Tell those at the table what has become of a report. Called inside the transaction in which it has."""
    match = report.match
    everybody = [seat.player_id for seat in seats]
    if report.state == Report.State.WAITING:
        if report.is_one_too_many():
            return  # they have been told often enough, and silence does not confirm it
        others = [seat.player_id for seat in seats if seat.seat != report.seat]
        by_itself = {"confirms_at": report.confirms_at.isoformat()} if report.confirms_at else {}
        details = dict.fromkeys(others, by_itself)
        tell(others, Kind.CONFIRM, f"report {report.pk}", match.pool, now=now, match=match, details=details)
    elif report.state == Report.State.DISPUTED:
        tell(everybody, Kind.DISPUTED, f"dispute {report.pk}", match.pool, now=now, match=match)
    elif report.state == Report.State.DECIDED:
        tell(everybody, Kind.DECIDED, f"decision {report.pk}", match.pool, now=now, match=match)


def of_decision(match: Match, seats: Sequence[Participant], now: datetime) -> None:
    """Tell those at the table that an organiser has settled a match of which nobody had reported anything. Called inside the
    transaction in which he has."""
    tell([seat.player_id for seat in seats], Kind.DECIDED, f"match {match.pk}", match.pool, now=now, match=match)


def of_appeal(appeal: Appeal, now: datetime) -> None:
    """Tell a player that his appeal is answered. Called inside the transaction in which it is."""
    if appeal.state != Appeal.State.OPEN:
        key, match = f"appeal {appeal.pk}", appeal.match
        tell([appeal.player_id], Kind.ANSWERED, key, match.pool, now=now, match=match)


def of_events(events: Sequence[Event]) -> None:
    """Tell players of revisions that moved their ratings. Called where events get their places, so once."""
    for event in events:
        if event.kind == Event.Kind.REVISED and event.revision_id is not None:
            moved = {int(player_id): {"before": before, "after": after} for player_id, before, after in event.ratings or ()}
            key = f"revision {event.revision_id}"
            tell(moved, Kind.REVISED, key, event.pool, now=event.made_at, revision_id=event.revision_id, details=moved)


def warn_of_decay(now: datetime) -> int:
    """Tell players whose standing begins to fall within days; how many are looked at. Once for each time away."""
    looked_at = 0
    for pool in Pool.objects.prefetch_related("tiers"):
        rule = pool.standing_rule
        if rule is None or rule.decays_from is None or not rule.per_day:
            continue
        begins = timedelta(days=rule.grace_days + 1)  # the first whole day that costs something is over then
        ratings = Rating.objects.filter(
            pool=pool,
            value__gt=rule.decays_from,
            standing=F("value"),
            last_ended_at__gt=now - begins,
            last_ended_at__lte=now - begins + AHEAD,
            player__user__is_active=True,
        )
        told = [
            Message(
                player_id=player_id,
                kind=Kind.DECAY,
                key=f"decay {pool.pk} {match_id}",
                pool=pool,
                details={"begins": (ended_at + begins).isoformat(), "per_day": rule.per_day},
                made_at=now,
                mail_due_at=now,
            )
            for player_id, match_id, ended_at in ratings.values_list("player_id", "last_match_id", "last_ended_at")
            if ended_at is not None
        ]
        Message.objects.bulk_create(told, ignore_conflicts=True, batch_size=BATCH)
        looked_at += len(told)
    return looked_at
