"""A player's statement: his matches for real money with stake, result and rake, and what they come to by month.

It is a reckoning and no account: the site moves no money. A voided match stands in it and in no sum.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from matches.imports.cells import protected
from matches.models import ORDER, Match, Participant
from matches.money.rake import at_stake, money_result
from players.models import Player
from players.pages.reader import match_day

NOTHING = Decimal("0.00")
CSV_COLUMNS = (
    "date",
    "ended_at",
    "match",
    "pool",
    "opponents",
    "length",
    "points",
    "stake",
    "at_stake",
    "result",
    "rake",
    "net",
    "balance",
    "state",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A match in the statement; amounts in euros.

    `at_stake` is the stake, in a money game times the points won; `result` what was won or lost of it, None where it had no
    result; `balance` the running total of all that counts, with this match. `others` is empty until somebody has looked.
    """

    match: Any
    own: Any
    day: date
    at_stake: Decimal | None
    result: Decimal | None
    rake: Decimal | None
    balance: Decimal
    others: tuple[Any, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether it is in the sums."""
        return self.match.status == Match.Status.COMPLETED

    @property
    def net(self) -> Decimal:
        return (self.result or NOTHING) - (self.rake or NOTHING)


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the reader's calendar, by its first day: how many matches count, and what they come to in euros."""

    first: date
    lines: tuple[Line, ...]
    matches: int
    at_stake: Decimal
    result: Decimal
    rake: Decimal
    balance: Decimal

    @property
    def key(self) -> str:
        """2026-11."""
        return f"{self.first:%Y-%m}"

    @property
    def net(self) -> Decimal:
        return self.result - self.rake


def statement_lines(player: Player) -> list[Line]:
    """The player's finished matches for real money, in the order in which they ended. Two queries."""
    # One object for each pool, and not one for each match.
    own = _own_seats(player).select_related("match").prefetch_related("match__pool")
    return list(_running(own.order_by(*(f"match__{name}" for name in ORDER[:-1]), "match_id")))


def whole_statement(player: Player) -> list[Line]:
    """The same with those who sat at the tables too. Three queries."""
    return _with_others(statement_lines(player), _own_seats(player).values("match"))


def with_others(lines: Sequence[Line]) -> list[Line]:
    """Some lines (at most 500) with those who sat at the tables too. One query."""
    return _with_others(lines, [line.match.pk for line in lines])


def _own_seats(player: Player) -> QuerySet[Participant]:
    own = Participant.objects.filter(player=player, match__real_money=True, match__stake__isnull=False)
    return own.exclude(match__status=Match.Status.OPEN)


def _with_others(lines: Sequence[Line], matches: Any) -> list[Line]:
    tables: dict[int, list[Any]] = {}
    for seat in Participant.objects.filter(match__in=matches).select_related("player").order_by("match_id", "seat"):
        tables.setdefault(seat.match_id, []).append(seat)
    return [
        replace(line, others=tuple(seat for seat in tables.get(line.match.pk, ()) if seat.pk != line.own.pk)) for line in lines
    ]


def _running(seats: Iterable[Any]) -> Iterator[Line]:
    balance = NOTHING
    for own in seats:
        match = own.match
        amount = at_stake(length=match.length, stake=match.stake, points=match.points)
        result = None if amount is None else _result(match, own, amount)
        if match.status == Match.Status.COMPLETED:
            balance += (result or NOTHING) - (own.rake or NOTHING)
        yield Line(match, own, match_day(match), amount, result, own.rake, balance)


def _result(match: Match, own: Participant, amount: Decimal) -> Decimal | None:
    """What the player has won or lost. Of a match that was broken off both have the same amount, one with the other sign."""
    if match.chance is None:
        return money_result(amount=amount, score=own.score, chance=None)
    first = money_result(amount=amount, score=None, chance=match.chance)
    return None if first is None else first if own.seat == 1 else NOTHING - first


def months_of(lines: Sequence[Line]) -> list[Month]:
    """The months of a statement, the newest first."""
    ordered = sorted(lines, key=lambda line: (line.day.year, line.day.month))  # stable: in order within a month
    found: list[Month] = []
    balance = NOTHING
    for (year, month), group in groupby(ordered, key=lambda line: (line.day.year, line.day.month)):
        own = tuple(group)
        counted = [line for line in own if line.counts]
        result = sum((line.result or NOTHING for line in counted), NOTHING)
        rake = sum((line.rake or NOTHING for line in counted), NOTHING)
        staked = sum((line.at_stake or NOTHING for line in counted), NOTHING)
        balance += result - rake
        found.append(Month(date(year, month, 1), own[::-1], len(counted), staked, result, rake, balance))
    return found[::-1]


def write_csv(lines: Iterable[Line], out: Any) -> None:
    """The statement as a file: UTF-8, decimals with a point. Names that a spreadsheet would take for formulas are not."""
    writer = csv.writer(out)
    writer.writerow(CSV_COLUMNS)
    for line in lines:
        match = line.match
        writer.writerow(
            [
                line.day.isoformat(),
                match.ended_at.isoformat() if match.timed else "",
                match.pk,
                protected(match.pool.name),
                protected(", ".join(seat.player.name for seat in line.others)),
                _cell(match.length),
                _cell(match.points),
                _cell(match.stake),
                _cell(line.at_stake),
                _cell(line.result),
                _cell(line.rake),
                f"{line.net:.2f}" if line.counts else "",
                f"{line.balance:.2f}",
                match.status,
            ]
        )


def _cell(value: Decimal | int | None) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, Decimal) else str(value)
