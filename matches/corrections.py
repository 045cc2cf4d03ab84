"""Corrections of completed matches: a result is edited, voided, or its void taken back, and everything after it is rated anew.

`preview` says what would move and writes nothing; `correct` does it, as `matches.revising` does all that rewrites the history.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from matches import revising
from matches.entries import BatchRefused, Conflict, Entry, changed, check_entry, described, entry_of, fill, openings_of
from matches.models import Match, Participant, Revision
from matches.money.rake import carry_over
from matches.replay import Overtaken, Played, Progress
from matches.revising import (
    Change,
    Details,
    Move,
    Moved,
    NothingChanges,
    Plan,
    Preview,
    locked_matches,
    moves_of,
    played,
    snapshot,
)
from players.locks import hold_players
from players.models import Pool
from players.services import present_players
from players.systems.base import Refused
from players.systems.running import MatchKey

__all__ = [
    "Correction",
    "Details",
    "Move",
    "Moved",
    "NothingChanges",
    "Preview",
    "affected",
    "correct",
    "made_before",
    "moves_of",
    "preview",
    "snapshot",
]


@dataclass(frozen=True, slots=True)
class Correction:
    """What shall become of a completed or voided match, read at `match.version`: with `entry` it is edited, with `void` set it is
    voided (True) or counts again (False)."""

    match: Match
    entry: Entry | None = None
    void: bool | None = None

    @property
    def kind(self) -> Revision.Kind:
        if self.void is None:
            return Revision.Kind.EDIT
        return Revision.Kind.VOID if self.void else Revision.Kind.UNVOID


def preview(
    pool: Pool, corrections: Sequence[Correction], *, now: datetime | None = None, progress: Progress | None = None
) -> Preview:
    """What the corrections would do. Writes nothing. Raises BatchRefused, Conflict as `correct` does."""
    shown: Preview = revising.preview(Corrections(pool.pk, corrections), now=now or timezone.now(), progress=progress)
    return shown


def affected(pool: Pool, corrections: Sequence[Correction], *, now: datetime | None = None) -> int:
    """How many matches the corrections rate anew, counted by index. Raises BatchRefused, Conflict as `correct` does."""
    return revising.affected(Corrections(pool.pk, corrections), now=now or timezone.now())


def correct(
    pool: Pool,
    corrections: Sequence[Correction],
    *,
    reason: str,
    made_by: User | None = None,
    token: str | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Revision:
    """Correct matches of a pool, all of them or none, and rate anew what they change.

    With `token` only where the pool is still as that preview showed it. Raises BatchRefused where a correction makes no possible
    result, Conflict where a match has changed since it was read, NothingChanges where all are stored so already, Moved where the
    preview holds no more.
    """
    change = Corrections(pool.pk, corrections)
    [revision] = revising.revise(
        change, reason=reason, made_by=made_by, token=token, now=now or timezone.now(), progress=progress
    )
    return revision


def made_before(corrections: Sequence[Correction], *, reason: str, made_by: User | None) -> Revision | None:
    """The revision that just these corrections made already, where they are sent or run a second time."""
    ids = [correction.match.pk for correction in corrections]
    last = Revision.objects.filter(matches=ids[0], made_by=made_by, reason=reason, kind=corrections[0].kind).first()
    if last is None:
        return None
    versions = {correction.match.pk: correction.match.version + 1 for correction in corrections}
    return last if dict(last.matches.values_list("pk", "version")) == versions else None


@dataclass(slots=True)
class Corrections(Change):
    """Corrections of matches of one pool, as `correct` makes them."""

    pool_id: int
    corrections: Sequence[Correction]
    matches: list[Match] = field(default_factory=list)
    """As they will be; with `seats` by match id, those of the last plan."""
    seats: dict[int, list[Participant]] = field(default_factory=dict)

    def pool_ids(self) -> Collection[int]:
        return (self.pool_id,)

    def plan(self, pool: Pool, now: datetime) -> Plan:
        """Check the corrections against the stored matches. Raises BatchRefused, Conflict."""
        ids = [correction.match.pk for correction in self.corrections]
        again = any(correction.void is False for correction in self.corrections)
        matches = Match.objects.filter(pk__in=ids).prefetch_related("participants__player" if again else "participants")
        stored = {match.pk: match for match in matches}
        self._check_versions(stored)
        self.matches = [stored[pk] for pk in ids]
        entries = [self._entry(correction, stored[correction.match.pk]) for correction in self.corrections]
        openings = openings_of(pool, [entry for entry in entries if entry is not None])
        instead: dict[int, Played | None] = {}
        details: Details = {}
        places: list[MatchKey] = []
        for index, (correction, entry, match) in enumerate(zip(self.corrections, entries, self.matches, strict=True)):
            seats = self.seats[match.pk] = list(match.participants.all())
            old, before, was_counted = played(match, seats), described(match, seats), match.not_counted
            try:
                if entry is not None:
                    check_entry(pool, entry, openings, now=now)
                if correction.entry is not None:
                    assert entry is not None
                    stored_seats, seats = seats, fill(match, pool, entry)
                    carry_over(stored_seats, seats)
                    self.seats[match.pk] = seats
                elif correction.void is not None:
                    match.status = Match.Status.VOIDED if correction.void else Match.Status.COMPLETED
                reason = pool.system_at(match.ended_at).not_counted(match.result(seats))
            except Refused as refused:
                raise BatchRefused(index, refused) from refused
            match.not_counted = reason.code if reason else ""
            match.version += 1
            details[str(match.pk)] = changed(before, described(match, seats))
            if match.not_counted != was_counted and match.status == Match.Status.COMPLETED:
                details[str(match.pk)]["not_counted"] = [was_counted, match.not_counted]
            new = played(match, seats)
            if old != new:
                instead[match.pk] = new
                places += [each.key for each in (old, new) if each is not None]
        if not any(details.values()):
            raise NothingChanges
        return Plan(
            pool=pool,
            after=pool,
            kind=self.corrections[0].kind,
            matches=ids,
            details=details,
            rates=bool(places),
            since=min(places, default=None),
            instead=instead,
        )

    @staticmethod
    def _entry(correction: Correction, stored: Match) -> Entry | None:
        """What is to be checked: the edited result, or the one that shall count again."""
        if correction.entry is not None:
            return replace(correction.entry, players=present_players(correction.entry.players))
        return entry_of(stored, list(stored.participants.all())) if correction.void is False else None

    def _check_versions(self, stored: dict[int, Match]) -> None:
        for correction in self.corrections:
            match = stored.get(correction.match.pk)
            if match is None or match.version != correction.match.version or match.status == Match.Status.OPEN:
                raise Conflict(match or correction.match, ["version"])
            if correction.void is not None and correction.void == (match.status == Match.Status.VOIDED):
                raise Conflict(match, ["status"])

    def lock(self, plans: Sequence[Plan]) -> None:
        self._check_versions(locked_matches(correction.match.pk for correction in self.corrections))

    def store(self, plan: Plan) -> None:
        seated: set[int] = set()
        for correction, match in zip(self.corrections, self.matches, strict=True):
            match.save()
            if correction.entry is not None:
                match.participants.all().delete()
                Participant.objects.bulk_create(self.seats[match.pk])
                seated.update(seat.player_id for seat in self.seats[match.pk])
        if seated and hold_players(seated):
            raise Overtaken

    def impossible(self, refused: Refused) -> Exception:
        ids = [correction.match.pk for correction in self.corrections]
        match_id = refused.values.get("match")
        return BatchRefused(ids.index(match_id) if match_id in ids else 0, refused)
