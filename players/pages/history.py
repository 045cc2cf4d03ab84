"""A player's matches with what they did: the lines of every list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet, prefetch_related_objects

from players.formatting import shown
from players.models import Player, Pool
from players.permissions import AnyUser, StakeSight, stakes_for
from players.systems.base import RatingSystem
from players.wording import reason

ORDER = ("ended_at", "timed", "sequence", "match_id")


@dataclass(frozen=True, slots=True)
class Played:
    """A match in a player's list. `own` and `others` are seats with what the match did: before, change, after, experience.

    `why_not` says why it did not count, "" where it did; `rounded`: the shown before and change do not add up to the shown after;
    `revised`: what is shown of it is not what was published; `shows_stake`: the reader may see what was at stake.
    """

    match: Any
    own: Any
    others: tuple[Any, ...]
    why_not: str
    rounded: bool
    revised: bool
    shows_stake: bool


def seats_with_changes(seats: QuerySet[Any]) -> QuerySet[Any]:
    """Participants with match and player, and as `before`, `change`, `after`, `experience_before` and `experience_after` what
    the match did to them, as `expected` and `gained` the scores: None where it did not count. What was published of it, where a
    revision changed that, is in `published_change` and so on."""
    line = FilteredRelation("match__changes", condition=Q(match__changes__player=F("player")))
    old = FilteredRelation("match__published", condition=Q(match__published__player=F("player")))
    names = ("before", "change", "after", "experience_before", "experience_after", "expected")
    values = {name: F(f"line__{name}") for name in names} | {f"published_{name}": F(f"old__{name}") for name in names[:3]}
    values["gained"] = F("line__score")
    return seats.select_related("match", "player").annotate(line=line, old=old).annotate(**values)


def why_not_counted(system: RatingSystem, match: Any, seats: Sequence[Any]) -> str:
    """Why the match moved no rating, as a sentence; "" where it counted."""
    if not match.not_counted:
        return ""
    now = system.not_counted(match.result(seats))
    # The pool's rules can have changed since: the stored reason is the one that held.
    return reason(match.not_counted, now.values if now and now.code == match.not_counted else None)


def in_order(seats: QuerySet[Any], *, newest_first: bool) -> QuerySet[Any]:
    """Seats in the order of rating of their matches, or against it."""
    names = ["match__ended_at", "match__timed", "match__sequence", "match_id"]
    return seats.order_by(*(f"-{name}" for name in names) if newest_first else names)


def played_by(player: Player, pools: Mapping[int, Pool], match_ids: Sequence[int], reader: AnyUser | None) -> dict[int, Played]:
    """What the player played in these matches, by match id, with the stakes that the reader may see. One query, and one more
    where a pool's rules have changed and a match of it did not count."""
    if not match_ids:
        return {}
    seats = seats_with_changes(player.participations.model.objects.filter(match_id__in=match_ids)).order_by("match_id", "seat")
    groups = [list(group) for _, group in groupby(seats, key=lambda seat: seat.match_id)]
    uncounted = {group[0].match.pool_id for group in groups if group[0].match.not_counted}
    prefetch_related_objects([pools[pool_id] for pool_id in sorted(uncounted) if pools[pool_id].has_eras], "eras")
    stakes = {pool_id: stakes_for(reader, pools[pool_id]) for pool_id in {group[0].match.pool_id for group in groups}}
    return {
        group[0].match_id: _played(player, pools[group[0].match.pool_id], group, stakes[group[0].match.pool_id])
        for group in groups
    }


def _played(player: Player, pool: Pool, seats: list[Any], stakes: StakeSight) -> Played:
    match = seats[0].match
    match.pool = pool
    own = next(seat for seat in seats if seat.player_id == player.pk)
    others = tuple(seat for seat in seats if seat is not own)
    rounded = own.change is not None and not adds_up(own, pool)
    published = (own.published_before, own.published_change, own.published_after)
    revised = own.published_after is not None and shown_otherwise((own.before, own.change, own.after), published, pool)
    why_not = why_not_counted(pool.system_at(match.ended_at), match, seats) if match.not_counted else ""
    return Played(match, own, others, why_not, rounded, revised, shows_stake=stakes.of(seat.player for seat in seats))


def shown_otherwise(values: Sequence[float | None], published: Sequence[float], pool: Pool) -> bool:
    """Whether numbers differ from those that were published, as they are shown; None is a number that is no more."""
    return any(
        value is None or shown(value, pool.shown_decimals) != shown(old, pool.shown_decimals)
        for value, old in zip(values, published, strict=True)
    )


def adds_up(line: Any, pool: Pool) -> bool:
    """Whether before and change of a line add up to after, as they are shown."""
    before, change, after = (shown(value, pool.shown_decimals) for value in (line.before, line.change, line.after))
    return before + change == after
