"""Which kinds of match count: the part that all systems share."""

from __future__ import annotations

from typing import Any

from players.systems.base import ALL_KINDS, AnyParams, NotCounted, RatingSystem, Refused, Result
from players.systems.checks import check_fields, check_kind
from players.systems.params import choices


def counted_kinds(*kinds: str) -> Any:
    """The parameter: the kinds of match that count, all of them unless some are named."""
    return choices(kinds or ALL_KINDS, ALL_KINDS)


class CountsByKind(RatingSystem):
    """A system whose parameters name the kinds that count as `counted_kinds`.

    Where some kind does not count, a match whose kind is not stated is refused: nobody could tell whether it counts.
    """

    def __init__(self, params: AnyParams | None = None) -> None:
        super().__init__(params)
        self._counted_kinds = frozenset(self.params.counted_kinds)
        self._needs_kind = len(self._counted_kinds) < len(ALL_KINDS)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"kind"}) if self._needs_kind else frozenset()

    def check(self, result: Result) -> None:
        check_fields(self.uses, result)
        check_kind(result.kind)
        if self._needs_kind and result.kind == "":
            raise Refused("kind", "needed")

    def not_counted(self, result: Result) -> NotCounted | None:
        if result.kind == "" or result.kind in self._counted_kinds:
            return None
        return NotCounted("kind_not_counted", {"kind": str(result.kind)})
