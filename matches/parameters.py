"""New parameters for a pool: for all its matches, or from an instant on, with the history before it as it was; or all the rules
of another pool, with their eras.

Every completed match under the new rules is judged anew, whether it counts, and rated anew. A new `start` moves those who brought
no rating along and whose first counted match is under the new rules. The revision's `rules` are `parameters`: {name: [from, to]},
`since`: the instant or None, `replaced`: the eras that ended for it, as [until, parameters], `eras`: those that were taken over
from another pool, and of the matches that there were
`starts`: how many count only now, and `stops`: {reason: how many} of those that do not any more.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from matches import replay, revising
from matches.models import Match, Revision
from matches.rating import MatchRefused
from matches.replay import Played, Progress
from matches.revising import Change, NothingChanges, Plan, Preview, locked_matches
from players import ledger, systems
from players.ledger import chunks
from players.models import Era, Pool
from players.rows import walk
from players.rules import ALWAYS, Rules
from players.systems.base import Refused


def preview_parameters(
    pool: Pool,
    changes: Mapping[str, Any],
    *,
    since: datetime | None = None,
    taken: Rules | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Preview:
    """What `set_parameters` would do. Writes nothing, and raises the same."""
    change = NewParameters(pool.pk, changes, since, taken)
    shown: Preview = revising.preview(change, now=now or timezone.now(), progress=progress)
    return shown


def set_parameters(
    pool: Pool,
    changes: Mapping[str, Any],
    *,
    since: datetime | None = None,
    taken: Rules | None = None,
    reason: str,
    made_by: User | None = None,
    token: str | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Revision:
    """Give the pool its present parameters with `changes` (name: JSON value), for all matches or for those that end at `since`
    or later, and rate them anew. What else was to hold from a later instant on is replaced.

    With `token` only where the pool is still as that preview showed it. Raises BadParameter; NothingChanges; Refused for a date
    in the future, and where a rating would leave its range; MatchRefused where the new rules cannot judge a completed match, such
    as one of which nobody knows whether it was for real money; Moved where the preview holds no more.
    """
    change = NewParameters(pool.pk, changes, since, taken)
    [revision] = revising.revise(
        change, reason=reason, made_by=made_by, token=token, now=now or timezone.now(), progress=progress
    )
    return revision


def made_before(
    pool: Pool, changes: Mapping[str, Any], since: datetime | None, *, reason: str, made_by: User | None
) -> Revision | None:
    """The revision that gave the pool just this already, where it is asked for a second time."""
    last = Revision.objects.filter(pool=pool, kind=Revision.Kind.PARAMETERS).first()
    if last is None or (last.made_by, last.reason) != (made_by, reason) or not last.rules:
        return None
    same = last.rules["since"] == (since and since.isoformat())
    return last if same and all(pair[1] == changes.get(name) for name, pair in last.rules["parameters"].items()) else None


@dataclass(slots=True)
class _Judged:
    """Matches as the new rules judge them: the ids of all, of those that are not counted for another reason than before (""
    for those that count by now) by that reason, and what counts otherwise than before as a replay rates it."""

    ids: set[int] = field(default_factory=set)
    reasons: dict[str, list[int]] = field(default_factory=dict)
    instead: dict[int, Played | None] = field(default_factory=dict)

    @property
    def changed(self) -> list[int]:
        return sorted(pk for ids in self.reasons.values() for pk in ids)

    @property
    def stops(self) -> dict[str, int]:
        """By reason, how many do not count any more."""
        counts = {
            reason: sum(pk in self.instead and self.instead[pk] is None for pk in ids) for reason, ids in self.reasons.items()
        }
        return {reason: count for reason, count in sorted(counts.items()) if count}

    def store(self) -> None:
        for reason, ids in self.reasons.items():
            for chunk in chunks(sorted(ids)):
                Match.objects.filter(pk__in=chunk).update(not_counted=reason)


def _judge(rules: Rules, matches: Generator[tuple[Played, str], None, None]) -> _Judged:
    """Judge completed matches anew. Raises MatchRefused."""
    judged = _Judged()
    with closing(matches):
        for played, stored in matches:
            system = rules.at(played.key.ended_at)
            try:
                system.check(played.result)
                reason = system.not_counted(played.result)
            except Refused as refused:
                raise MatchRefused(Match(pk=played.key.id), refused) from refused
            code = reason.code if reason else ""
            judged.ids.add(played.key.id)
            if code != stored:
                judged.reasons.setdefault(code, []).append(played.key.id)
            if bool(code) != bool(stored):
                judged.instead[played.key.id] = None if code else played
    return judged


@dataclass(slots=True)
class NewParameters(Change):
    """Other parameters for a pool, as `set_parameters` gives them; with `taken` those of other rules, and their eras."""

    pool_id: int
    changes: Mapping[str, Any]
    since: datetime | None
    taken: Rules | None = None
    judged: _Judged = field(default_factory=_Judged)

    def pool_ids(self) -> Collection[int]:
        return (self.pool_id,)

    def plan(self, pool: Pool, now: datetime) -> Plan:
        if self.since is not None and self.since > now:
            raise Refused("date", "in_future")
        if self.taken is None:
            parameters = systems.get(pool.system).from_json({**pool.parameters, **self.changes}).params.to_json()
            rules = pool.rules.changed(parameters, self.since)
        else:
            parameters, rules = dict(self.taken.present), self.taken
            if any(era.until > now for era in rules.past):
                raise Refused("date", "in_future")
        differ = rules.differ_from(pool.rules)
        if differ is None:
            raise NothingChanges
        after = copy.copy(pool)
        for name in ("rating_system", "standing_rule"):
            after.__dict__.pop(name, None)
        after.parameters = parameters
        after.__dict__["rules"] = rules
        since = None if differ == ALWAYS else replay.from_instant(differ)
        self.judged = _judge(rules, replay.completed_matches(pool, since))
        old = pool.parameters
        return Plan(
            pool=pool,
            after=after,
            kind=Revision.Kind.PARAMETERS,
            matches=self.judged.changed,
            details={},
            rules={
                "parameters": {name: [old.get(name), new] for name, new in parameters.items() if old.get(name) != new},
                "since": self.since and self.since.isoformat(),
                "replaced": [[era.until.isoformat(), era.parameters] for era in pool.rules.past if era not in rules.past],
                "eras": [[era.until.isoformat(), era.parameters] for era in self.taken.past] if self.taken else [],
                "starts": sum(played is not None for played in self.judged.instead.values()),
                "stops": self.judged.stops,
            },
            rates=True,
            since=since,
            instead=self.judged.instead,
        )

    def lock(self, plans: Sequence[Plan]) -> None:
        locked_matches(self.judged.changed)

    def store(self, plan: Plan) -> None:
        Pool.objects.filter(pk=plan.pool.pk).update(parameters=plan.after.parameters)
        Era.objects.filter(pool=plan.pool).delete()
        Era.objects.bulk_create(Era(pool=plan.pool, until=era.until, parameters=era.parameters) for era in plan.after.rules.past)
        self.judged.store()

    def completed_since(self, plan: Plan, now: datetime) -> Collection[int]:
        stored = Match.objects.filter(replay.completed(plan.pool, plan.since)).values_list("pk", flat=True)
        fresh = [pk for pk in walk(stored) if pk not in self.judged.ids]
        late = _judge(plan.after.rules, replay.some_matches(plan.pool, fresh))
        late.store()
        return fresh

    def finish(self, plans: Sequence[Plan], now: datetime) -> None:
        [plan] = plans
        ledger.reopen(plan.after, now)
        if plan.after.standing_rule != plan.pool.standing_rule:
            ledger.refresh_standings(plan.pool.pk, now)
