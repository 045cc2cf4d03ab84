"""Lists of a player's matches, newest first: the latest of a pool, and pages of those that a reader asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from players.models import Player, Pool, Rating
from players.names import clean_name, name_key
from players.pages.history import Played, in_order, played_by
from players.permissions import AnyUser

PAGE_SIZE = 25
LATEST = 10
RESULTS: dict[str, Q] = {
    "won": Q(score=1.0),
    "lost": Q(score=0.0),
    "drawn": Q(score=0.5),
    "broken": Q(score=None, place=None),
    **{f"place{place}": Q(place=place) for place in range(1, 5)},
}
"""What a match can have ended with for a player."""
COUNTED: dict[str, Q] = {
    "yes": Q(match__status="completed", match__not_counted=""),
    "no": Q(match__status="completed") & ~Q(match__not_counted=""),
    "voided": Q(match__status="voided"),
}


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest matches of a pool, and the last counted one, whether it is among them or not."""

    lines: tuple[Played, ...]
    last_counted: Played | None
    more: bool

    @property
    def rounded(self) -> bool:
        """Whether any line does not add up as shown."""
        return any(line.rounded for line in self.lines)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which matches are asked for; what is empty leaves all of them. Days are the reader's. `against` is one opponent, `opponent`
    a part of a name."""

    pool: Pool | None = None
    opponent: str = ""
    against: Player | None = None
    result: str = ""
    length: int | None = None
    counted: str = ""
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """How the matches that are asked for ended: how many, and those that counted by their result."""

    matches: int
    counted: int
    won: int
    drawn: int
    lost: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page of matches. `older` and `newer` are the matches from which the neighbouring pages go on, so that a page stays what
    it is when new matches come in; None where there is no such page. There is no summary of the matches against one opponent."""

    lines: tuple[Played, ...]
    summary: Summary | None
    older: int | None
    newer: int | None

    @property
    def rounded(self) -> bool:
        return any(line.rounded for line in self.lines)


class NoSuchMatch(LookupError):
    """The list is asked to go on from a match that there is not."""


def latest(player: Player, pool: Pool, rating: Rating, reader: AnyUser | None, size: int = LATEST) -> Latest:
    """The player's newest finished matches in the pool, counted or not, voided ones too. At most three queries."""
    newest = in_order(_finished(player).filter(match__pool=pool), newest_first=True)
    ids = list(newest.values_list("match_id", flat=True)[: size + 1])
    listed = ids[:size]
    wanted = {*listed, rating.last_match_id} if rating.last_match_id else {*listed}
    played = played_by(player, {pool.pk: pool}, sorted(wanted), reader)
    last = played.get(rating.last_match_id) if rating.last_match_id else None
    return Latest(tuple(played[match_id] for match_id in listed), last, len(ids) > size)


def page_of(
    player: Player,
    pools: Sequence[Pool],
    wanted: Wanted,
    reader: AnyUser | None,
    *,
    older: int | None = None,
    newer: int | None = None,
) -> Page:
    """The matches that are asked for: the newest, or those older or newer than a match. At most five queries.

    Raises NoSuchMatch.
    """
    seats = _asked_for(player, wanted)
    summary = None if wanted.against else _summary(seats)
    upwards = older is None and newer is not None
    edge = newer if upwards else older
    shown = seats if edge is None else seats.filter(_beyond(player, edge, upwards=upwards))
    ids = list(in_order(shown, newest_first=not upwards).values_list("match_id", flat=True)[: PAGE_SIZE + 1])
    more, ids = len(ids) > PAGE_SIZE, ids[:PAGE_SIZE]
    if upwards:
        ids.reverse()
    played = played_by(player, {pool.pk: pool for pool in pools}, ids, reader)
    has_older, has_newer = (bool(ids), more) if upwards else (more, edge is not None and bool(ids))
    return Page(
        lines=tuple(played[match_id] for match_id in ids),
        summary=summary,
        older=ids[-1] if has_older else None,
        newer=ids[0] if has_newer else None,
    )


def _finished(player: Player) -> QuerySet[Any]:
    return player.participations.exclude(match__status="open")


def _asked_for(player: Player, wanted: Wanted) -> QuerySet[Any]:
    seats = _finished(player)
    at_table = player.participations.model.objects.filter(match=OuterRef("match")).exclude(player=player)
    if wanted.pool is not None:
        seats = seats.filter(match__pool=wanted.pool)
    if wanted.against is not None:
        seats = seats.filter(Exists(at_table.filter(player=wanted.against)))
    if wanted.opponent:
        seats = seats.filter(Exists(at_table.filter(player__name_key__contains=name_key(clean_name(wanted.opponent)))))
    if wanted.result:
        seats = seats.filter(RESULTS[wanted.result])
    if wanted.length is not None:
        seats = seats.filter(Q(match__length=wanted.length) | Q(match__deals=wanted.length))
    if wanted.counted:
        seats = seats.filter(COUNTED[wanted.counted])
    if wanted.since is not None:
        seats = seats.filter(_ended("gte", wanted.since))
    if wanted.until is not None:
        seats = seats.filter(_ended("lt", wanted.until + timedelta(days=1)))
    return seats


def _ended(comparison: str, day: date) -> Q:
    """Matches by the reader's day; one known only by its date has that date for everybody."""
    begins = datetime.combine(day, time.min)
    local = begins.replace(tzinfo=timezone.get_current_timezone())
    return Q(match__timed=True, **{f"match__ended_at__{comparison}": local}) | Q(
        match__timed=False, **{f"match__ended_at__{comparison}": begins.replace(tzinfo=UTC)}
    )


def _beyond(player: Player, match_id: int, *, upwards: bool) -> Q:
    """What comes after a match in the order of rating, or before it."""
    matches: Any = player.participations.model._meta.get_field("match").related_model
    key = matches.objects.filter(pk=match_id).values_list("ended_at", "timed", "sequence", "pk").first()
    if key is None or key[0] is None:
        raise NoSuchMatch
    names = ("match__ended_at", "match__timed", "match__sequence", "match_id")
    comparison = "gt" if upwards else "lt"
    beyond = Q()
    for length, (name, value) in enumerate(zip(names, key, strict=True)):
        beyond |= Q(**dict(zip(names[:length], key, strict=False)), **{f"{name}__{comparison}": value})
    return beyond & Q(**{f"match__ended_at__{comparison}e": key[0]})


def _summary(seats: QuerySet[Any]) -> Summary:
    counted = COUNTED["yes"]
    numbers: Mapping[str, int] = seats.aggregate(
        matches=Count("pk"),
        counted=Count("pk", filter=counted),
        won=Count("pk", filter=counted & RESULTS["won"]),
        drawn=Count("pk", filter=counted & RESULTS["drawn"]),
        lost=Count("pk", filter=counted & RESULTS["lost"]),
    )
    return Summary(**numbers)
