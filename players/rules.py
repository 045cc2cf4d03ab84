"""A pool's rules over time: the present parameters of its system, and those that were in force before.

Which rules rate a match is told by the instant at which it ended; they hold until the next ones begin. A match known only by its
date stands at the midnight (UTC) that begins it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from players import systems
from players.systems.base import RatingSystem

Parameters = Mapping[str, Any]
"""The parameters of a system as JSON values."""
ALWAYS = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for the beginning of time: before every match."""


@dataclass(frozen=True, slots=True)
class Past:
    """Parameters that were in force for the matches that ended before `until`, and not before the `until` of earlier ones."""

    until: datetime
    parameters: Parameters


class Rules:
    """The rules of one pool; never changed. Raises UnknownSystem, BadParameter where the parameters are none of the system."""

    def __init__(self, system: str, past: Iterable[Past], present: Parameters) -> None:
        self.system, self.present = system, present
        # In order, and no two neighbours alike.
        kept: list[Past] = []
        later = present
        for era in sorted(past, key=lambda era: era.until, reverse=True):
            if era.parameters != later:
                kept.append(era)
                later = era.parameters
        self.past = tuple(reversed(kept))
        self._untils = [era.until for era in self.past]
        self._systems = [systems.of(system, parameters) for parameters in (*(era.parameters for era in self.past), present)]

    def at(self, instant: datetime | None) -> RatingSystem:
        """The system with the parameters that rate a match which ended at the instant; None: the present ones."""
        return self._systems[-1 if instant is None else bisect_right(self._untils, instant)]

    def changed(self, parameters: Parameters, since: datetime | None) -> Self:
        """These rules with other parameters from an instant on, for good; for all time where it is None."""
        if since is None:
            return type(self)(self.system, (), parameters)
        past = [era for era in self.past if era.until < since]
        return type(self)(self.system, [*past, Past(since, self._parameters_before(since))], parameters)

    def _parameters_before(self, instant: datetime) -> Parameters:
        return next((era.parameters for era in self.past if era.until >= instant), self.present)

    def differ_from(self, other: Rules) -> datetime | None:
        """The first instant at which the parameters differ: ALWAYS where they do from the beginning, None where they never do."""
        for instant in sorted({ALWAYS, *self._untils, *other._untils}):
            if self.at(instant).params != other.at(instant).params:
                return instant
        return None
