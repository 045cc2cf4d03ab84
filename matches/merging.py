"""Merging a duplicate: two players who are one person become one, with the ratings that a clean replay of his matches gives.

The duplicate stays as a row that leads to the player whom he was merged into: his name and his address find that player, and
results that name him are that player's. A merge can be undone: the matches that moved with it, with the appeals, the opening and
the login go back; what was entered since stays where it is. Messages stay with whoever was told: a player reads those of his
duplicates too. Several pools are revised together, all of them or none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from matches import replay, revising
from matches.lobby import tables
from matches.models import Appeal, Match, Merge, Participant, Revision
from matches.replay import Overtaken, Played, Progress
from matches.revising import Change, Details, Plan, Preview, locked_matches, played
from players import ledger
from players.ledger import Opening, chunks
from players.locks import Busy, hold_merging
from players.models import Player, Pool, Rating, RatingChange
from players.systems.running import MatchKey


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge or its undoing would do in each pool that it moves, and a token that stands for just this."""

    pools: Sequence[tuple[Pool, Preview]]
    token: str


def preview_merge(
    keep: Player, duplicate: Player, *, now: datetime | None = None, progress: Progress | None = None
) -> MergePreview:
    """What `merge` would do. Writes nothing, and raises the same."""
    shown: MergePreview = revising.preview(Merging(keep.pk, duplicate.pk), now=now or timezone.now(), progress=progress)
    return shown


def merge(
    keep: Player,
    duplicate: Player,
    *,
    reason: str,
    made_by: User | None = None,
    token: str | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Merge:
    """Make the duplicate's matches those of `keep` and rate anew what that changes, in all pools together.

    A login of the duplicate becomes that of `keep`, where he has none; else it belongs to no player any more. Tables at which the
    duplicate waits are closed. With `token` only where everything is still as that preview showed it.

    Raises ValidationError where the two cannot be one: they met in a match, both brought a rating along into one pool, a match of
    one counts from before the date of the other's opening, or one of them is merged already. Raises Refused where a rating would
    leave its range, Moved where the preview holds no more, and Overtaken where others were faster each time.
    """
    change = Merging(keep.pk, duplicate.pk)
    revising.revise(change, reason=reason, made_by=made_by, token=token, now=now or timezone.now(), progress=progress)
    assert change.merge is not None
    return change.merge


def preview_undo(merge: Merge, *, now: datetime | None = None, progress: Progress | None = None) -> MergePreview:
    """What `undo_merge` would do. Writes nothing, and raises the same."""
    shown: MergePreview = revising.preview(Undoing(merge.pk), now=now or timezone.now(), progress=progress)
    return shown


def undo_merge(
    merge: Merge,
    *,
    reason: str,
    made_by: User | None = None,
    token: str | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Merge:
    """Give the duplicate back the matches that were his, and rate anew what that changes, in all pools together.

    Raises ValidationError where it is undone already or `keep` was himself merged into another since; else as `merge`.
    """
    change = Undoing(merge.pk)
    revising.revise(change, reason=reason, made_by=made_by, token=token, now=now or timezone.now(), progress=progress)
    return Merge.objects.get(pk=merge.pk)


@dataclass(slots=True)
class _Moving(Change):
    """Seats that move from one player to another. `versions` are those of the matches as they were planned."""

    versions: dict[int, int] = field(default_factory=dict, init=False)
    giver_id: int = field(default=0, init=False)
    taker_id: int = field(default=0, init=False)

    def _plan(
        self,
        pool: Pool,
        kind: Revision.Kind,
        seats: Collection[int],
        openings: dict[int, Opening | None],
        now: datetime,
    ) -> Plan:
        """The plan for a pool in which the taker gets the giver's seats at some matches."""
        giver, taker = self.giver_id, self.taker_id
        instead: dict[int, Played | None] = {}
        details: Details = {}
        places = []
        for chunk in chunks(sorted(seats)):
            for match in Match.objects.filter(pk__in=chunk).prefetch_related("participants"):
                at_table = list(match.participants.all())
                before = [seat.player_id for seat in at_table]
                for seat in at_table:
                    if seat.player_id == giver:
                        seat.player_id = taker
                self.versions[match.pk] = match.version
                details[str(match.pk)] = {"players": [before, [seat.player_id for seat in at_table]]}
                if (rated := played(match, at_table)) is not None:
                    instead[match.pk] = rated
                    places.append(rated.key)
        for player_id in openings:
            # What he starts from changes, so it begins with his first match of all.
            first = RatingChange.objects.filter(rating__pool=pool, player=player_id).order_by(*replay.HISTORY_ORDER)
            places += [MatchKey(*place) for place in first.values_list(*replay.HISTORY_ORDER)[:1]]
        return Plan(
            pool=pool,
            after=pool,
            kind=kind,
            matches=sorted(seats),
            details=details,
            rates=bool(places or openings),
            since=min(places, default=replay.from_instant(now)),
            instead=instead,
            taken_over={(match_id, giver): taker for match_id in instead},
            openings=openings,
            seated=(taker,),
        )

    def lock(self, plans: Sequence[Plan]) -> None:
        locked = locked_matches(match_id for plan in plans for match_id in plan.matches)
        for plan in plans:
            for match_id in plan.matches:
                if match_id not in locked or locked[match_id].version != self.versions[match_id]:
                    raise Overtaken

    def store(self, plan: Plan) -> None:
        for chunk in chunks(plan.matches):
            for said in (Participant, Appeal):
                said.objects.filter(match__in=chunk, player=self.giver_id).update(player=self.taker_id)
            Match.objects.filter(pk__in=chunk).update(version=F("version") + 1)
        ledger.hand_over(plan.pool, plan.matches, self.giver_id, self.taker_id)

    def seen(self, previews: Sequence[tuple[Pool, Preview]]) -> MergePreview:
        said = repr((self.giver_id, self.taker_id, [preview.token for _, preview in previews]))
        return MergePreview(previews, hashlib.sha256(said.encode()).hexdigest())


@dataclass(slots=True)
class Merging(_Moving):
    """The merge of a duplicate, as `merge` makes it."""

    keep_id: int
    duplicate_id: int
    merge: Merge | None = None

    def __post_init__(self) -> None:
        self.giver_id, self.taker_id = self.duplicate_id, self.keep_id

    def pool_ids(self) -> Collection[int]:
        self._check_players()
        seats = Participant.objects.filter(player=self.duplicate_id).order_by()
        rated = Rating.objects.filter(player=self.duplicate_id, brought=True)
        return set(seats.values_list("match__pool", flat=True).distinct()).union(rated.values_list("pool", flat=True))

    def plan(self, pool: Pool, now: datetime) -> Plan:
        keep, duplicate = self._check_players()
        seats = Participant.objects.filter(player=duplicate, match__pool=pool).order_by().values_list("match", flat=True)
        openings = self._check_openings(pool, keep, duplicate)
        return self._plan(pool, Revision.Kind.MERGE, list(seats), openings, now)

    def _check_players(self) -> tuple[Player, Player]:
        players = Player.objects.in_bulk([self.keep_id, self.duplicate_id])
        keep, duplicate = players[self.keep_id], players[self.duplicate_id]
        check_apart(keep, duplicate)
        return keep, duplicate

    @staticmethod
    def _check_openings(pool: Pool, keep: Player, duplicate: Player) -> dict[int, Opening | None]:
        """What `keep` brings along into the pool from now on. Raises ValidationError."""
        both = (keep, duplicate)
        brought = {rating.player_id: rating for rating in Rating.objects.filter(pool=pool, brought=True, player__in=both)}
        if len(brought) == 2:
            raise ValidationError(
                _("%(keep)s and %(duplicate)s both brought a rating along into %(pool)s. Only one of them can stand.")
                % {"keep": keep.name, "duplicate": duplicate.name, "pool": pool.name},
                code="both_brought",
            )
        for rating in brought.values():
            if rating.opened_on is None:
                continue
            opened_at = datetime.combine(rating.opened_on, time.min, UTC)
            lines = RatingChange.objects.filter(rating__pool=pool, player__in=both, ended_at__lt=opened_at)
            line = lines.order_by(*replay.HISTORY_ORDER).first()
            if line is not None:
                raise ValidationError(
                    _("Match %(match)d counts in %(pool)s and is from before %(date)s, the day of an opening rating.")
                    % {"match": line.match_id, "pool": pool.name, "date": date_format(rating.opened_on)},
                    code="before_opening",
                )
        if duplicate.pk not in brought:
            return {}
        given = brought[duplicate.pk]
        return {keep.pk: Opening(given.opening, given.opening_experience, given.opened_on)}

    def begin(self, *, reason: str, made_by: User | None, now: datetime) -> dict[str, Any]:
        tables.withdraw(self.duplicate_id, now)
        login_id = Player.objects.values_list("user", flat=True).get(pk=self.duplicate_id)
        try:
            with transaction.atomic():
                self.merge = Merge.objects.create(
                    keep_id=self.keep_id,
                    duplicate_id=self.duplicate_id,
                    login_id=login_id,
                    reason=reason,
                    made_by=made_by,
                    made_at=now,
                )
        except IntegrityError as error:  # somebody else has merged him a moment ago
            raise Overtaken from error
        return {"merge": self.merge}

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:
        assert self.merge is not None
        try:
            held = hold_merging(self.duplicate_id, self.keep_id)
        except Busy as busy:
            raise Overtaken from busy
        keep, duplicate = held[self.keep_id], held[self.duplicate_id]
        check_apart(keep, duplicate)
        seated = Participant.objects.filter(player=duplicate).exists()
        if seated or duplicate.user_id != self.merge.login_id or tables.waits(duplicate.pk):
            raise Overtaken
        login = duplicate.user
        duplicate.merged_into, duplicate.user = keep, None
        duplicate.save(update_fields=["merged_into", "user"])
        if login is not None and keep.user_id is None:
            keep.user = login
            keep.save(update_fields=["user"])


def check_apart(keep: Player, duplicate: Player) -> None:
    """Raise ValidationError unless the two can be one: neither is merged, and they never sat at one table."""
    if keep.pk == duplicate.pk:
        raise ValidationError(_("A player cannot be merged into himself."), code="same")
    for player in (keep, duplicate):
        if player.merged_into is not None:
            raise ValidationError(
                _("%(name)s is merged into %(into)s already.") % {"name": player.name, "into": player.merged_into.name},
                code="merged",
            )
    met = Participant.objects.filter(player=duplicate, match__participants__player=keep).order_by("match").first()
    if met is not None:
        raise ValidationError(
            _("%(keep)s and %(duplicate)s cannot be one person: they met in match %(match)d.")
            % {"keep": keep.name, "duplicate": duplicate.name, "match": met.match_id},
            code="met",
        )


@dataclass(slots=True)
class Undoing(_Moving):
    """A merge undone, as `undo_merge` does it."""

    merge_id: int

    def _merge(self) -> Merge:
        merge = Merge.objects.select_related("keep", "duplicate").get(pk=self.merge_id)
        self.giver_id, self.taker_id = merge.keep_id, merge.duplicate_id
        return merge

    def _revisions(self) -> Any:
        return Revision.objects.filter(merge=self.merge_id, kind=Revision.Kind.MERGE)

    def pool_ids(self) -> Collection[int]:
        check_undoable(self._merge())
        return set(self._revisions().values_list("pool", flat=True))

    def plan(self, pool: Pool, now: datetime) -> Plan:
        merge = self._merge()
        check_undoable(merge)
        moved = self._revisions().filter(pool=pool).values("matches")
        # A match that was corrected since may be another player's by now.
        seats = Participant.objects.filter(player=merge.keep, match__in=moved).order_by().values_list("match", flat=True)
        return self._plan(pool, Revision.Kind.UNMERGE, list(seats), self._openings(pool, merge), now)

    @staticmethod
    def _openings(pool: Pool, merge: Merge) -> dict[int, Opening | None]:
        """The opening that `keep` has from the duplicate, and from nowhere else since, is not his any more."""
        brought = {
            player_id: opening
            for player_id, *opening in Rating.objects.filter(
                pool=pool, brought=True, player__in=(merge.keep, merge.duplicate)
            ).values_list("player", "opening", "opening_experience", "opened_on")
        }
        same = merge.keep_id in brought and brought[merge.keep_id] == brought.get(merge.duplicate_id)
        return {merge.keep_id: None} if same else {}

    def begin(self, *, reason: str, made_by: User | None, now: datetime) -> dict[str, Any]:
        merge = Merge.objects.select_for_update(no_key=True, of=("self",)).get(pk=self.merge_id)
        check_undoable(merge)
        merge.undone_reason, merge.undone_by, merge.undone_at = reason, made_by, now
        merge.save(update_fields=["undone_reason", "undone_by", "undone_at"])
        return {"merge": merge}

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:
        merge = self._merge()
        try:
            held = hold_merging(merge.duplicate_id, merge.keep_id)
        except Busy as busy:
            raise Overtaken from busy
        keep, duplicate = held[merge.keep_id], held[merge.duplicate_id]
        if keep.merged_into_id is not None:
            raise Overtaken
        duplicate.merged_into = None
        if merge.login_id is not None and keep.user_id == merge.login_id:
            keep.user = None
            keep.save(update_fields=["user"])
        if not Player.objects.filter(user=merge.login_id).exists():
            duplicate.user_id = merge.login_id
        duplicate.save(update_fields=["merged_into", "user"])


def check_undoable(merge: Merge) -> None:
    """Raise ValidationError where the merge is undone already, or where `keep` was merged into another since."""
    if merge.undone_at is not None:
        raise ValidationError(_("This merge is undone already."), code="undone")
    if merge.keep.merged_into is not None:
        raise ValidationError(
            _("%(name)s was merged into %(into)s since. Undo that first.")
            % {"name": merge.keep.name, "into": merge.keep.merged_into.name},
            code="merged",
        )
