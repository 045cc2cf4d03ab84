"""Who listens to the signals."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from matches import rating, records
from matches.inbox import telling
from matches.lobby import tables
from matches.models import Appeal, Match, Participant, Report
from matches.push import events
from matches.signals import appeal_changed, match_completed, report_changed
from players.models import Player, Pool
from players.signals import player_anonymised, player_leaves, standings_moved


@receiver(match_completed, dispatch_uid="matches.rate")
def rate(
    sender: Any,
    *,
    matches: list[Match],
    seats: dict[int, list[Participant]],
    pool: Pool,
    exclusive: bool,
    now: datetime,
    rated: bool = False,
    **_: Any,
) -> None:
    if not rated:
        rating.rate_matches(matches, seats, pool=pool, exclusive=exclusive, now=now)


@receiver(player_leaves, dispatch_uid="matches.leave_tables")
def leave_tables(sender: Any, *, player: Player, now: datetime, **_: Any) -> None:
    tables.withdraw(player.pk, now)


@receiver(player_anonymised, dispatch_uid="matches.forget_names")
def forget_names(sender: Any, *, player: Player, duplicates: list[Player], names: frozenset[str], **_: Any) -> None:
    records.forget_names(player, duplicates, names)
    telling.forget([player, *duplicates])


@receiver(standings_moved, dispatch_uid="matches.tell_standings")
def tell_standings(sender: Any, *, pool: Pool, moved: list[list[float]], now: datetime, **_: Any) -> None:
    events.standings(pool, moved, now)


@receiver(report_changed, dispatch_uid="matches.tell_of_report")
def tell_of_report(sender: Any, *, report: Report, seats: list[Participant], now: datetime, **_: Any) -> None:
    telling.of_report(report, seats, now)


@receiver(appeal_changed, dispatch_uid="matches.tell_of_appeal")
def tell_of_appeal(sender: Any, *, appeal: Appeal, now: datetime, **_: Any) -> None:
    telling.of_appeal(appeal, now)
