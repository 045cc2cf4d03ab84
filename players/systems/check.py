"""Check a pool's records without its site: `python -m players.systems.check FILE` (or - for the standard input).

Needs nothing but Python and this package: no Django, no database. The format of the file is in docs/checking.md. Each match is
rated anew by the rules in force when it ended, and what was published of it must be the same to the last bit; so must the ratings
at the end. Each line's digest must fit it and the line before. The first record that does not follow is named.
"""

from __future__ import annotations

import hashlib
import json
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from players import systems
from players.systems.base import RATING_LIMIT, RatingSystem, Refused, Result, Seat
from players.systems.params import BadParameter

FORMAT = "rating-records/1"
LONGEST_LINE = 1_000_000
"""Characters; a line of a pool with many eras has thousands."""
RESULT_FIELDS = frozenset(field.name for field in fields(Result))
PUBLISHED = ("before", "change", "after", "experience before", "experience after")
Line = dict[str, Any]


class Wrong(Exception):
    """A record that does not follow: which one, and why."""

    def __init__(self, record: str, why: str) -> None:
        super().__init__(f"{record}: {why}")
        self.record = record
        self.why = why


@dataclass(frozen=True, slots=True)
class Checked:
    """What was checked: the pool's name, its system, how many matches (`counted` of them move ratings) and ratings."""

    pool: str
    system: str
    matches: int
    counted: int
    ratings: int
    digest: str


class Chain:
    """The digests of a file, one after the other: SHA-256 over the digest before, in hex, and the line as canonical JSON.

    That is: names in order, no spaces, letters as they are (UTF-8), numbers as Python writes them.
    """

    def __init__(self) -> None:
        self.last = ""

    def digest(self, line: Mapping[str, Any]) -> str:
        """The digest of the next line, given without one."""
        text = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        self.last = hashlib.sha256((self.last + text).encode("utf-8", "surrogatepass")).hexdigest()
        return self.last

    def sealed(self, line: Mapping[str, Any]) -> str:
        """The next line with its digest, as it stands in a file."""
        return json.dumps({**line, "digest": self.digest(line)}, ensure_ascii=False, allow_nan=False)


@dataclass(slots=True)
class _Player:
    value: float
    experience: int
    matches: int = 0


def check(lines: Iterable[str]) -> Checked:
    """Check the lines of a file. Raises Wrong with the first record that does not follow from the ones before it."""
    checker = _Checker()
    for number, text in enumerate(lines, start=1):
        checker.take(number, text)
    return checker.end()


def pool_of(text: str) -> Line:
    """The first line of a file, which is of the pool, checked by itself. Raises Wrong."""
    checker = _Checker()
    checker.take(1, text)
    return checker.pool


class _Checker:
    def __init__(self) -> None:
        self.chain = Chain()
        self.pool: Line = {}
        self.untils: list[datetime] = []
        self.systems: list[RatingSystem] = []
        self.players: dict[int, _Player] = {}
        self.last: tuple[Any, ...] | None = None
        self.seen: set[int] = set()
        self.matches = self.counted = 0
        self.done: Checked | None = None

    def take(self, number: int, text: str) -> None:
        where = f"line {number}"
        line = _parsed(text, where)
        kind = line.get("type")
        where = _name_of(line, where)
        sealed = line.pop("digest", None)
        if self.done is not None:
            raise Wrong(where, "comes after the end of the records")
        if sealed != self.chain.digest(line):
            raise Wrong(where, "its digest does not fit: it was changed, or a line before it was changed, moved or left out")
        if (kind == "pool") is not (number == 1):
            raise Wrong(where, "the first line, and no other, is of the pool")
        take = {"pool": self._pool, "opening": self._opening, "match": self._match, "rating": self._rating, "end": self._end}.get(
            str(kind)
        )
        if take is None:
            raise Wrong(where, f"is of an unknown type: {kind!r}")
        try:
            take(line, where)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, InvalidOperation, IndexError) as error:
            if isinstance(error, Refused):
                raise Wrong(where, f"is no result of this pool: {error}") from None
            raise Wrong(where, f"cannot be read: {error!r}") from None

    def _pool(self, line: Line, where: str) -> None:
        if line["format"] != FORMAT:
            raise Wrong(where, f"is of the format {line['format']!r}; this program reads {FORMAT!r}")
        try:
            system = systems.get(line["system"])
            self.systems = [system.from_json(parameters) for parameters in (*_eras(line), line["parameters"])]
        except systems.UnknownSystem:
            raise Wrong(where, f"names a rating system that is not known: {line['system']!r}") from None
        except BadParameter as bad:
            raise Wrong(where, f"has a parameter that the system does not accept: {bad}") from None
        self.untils = [_instant(era["until"]) for era in line["eras"]]
        if self.untils != sorted(set(self.untils)):
            raise Wrong(where, "its eras are not in order")
        self.pool = line

    def _opening(self, line: Line, where: str) -> None:
        if self.matches or line["player"] in self.players:
            raise Wrong(where, "an opening stands before the matches, once for each player")
        self.players[line["player"]] = _Player(_number(line["rating"]), _whole(line["experience"]))

    def _match(self, line: Line, where: str) -> None:
        ended_at = _instant(line["ended_at"])
        key = (ended_at, bool(line["timed"]), _whole(line["sequence"]), _whole(line["match"]))
        if self.last is not None and key <= self.last:
            raise Wrong(where, "is not in the order of rating")
        self.last = key
        self.matches += 1
        if self.seen:
            raise Wrong(where, "comes after the ratings")
        system = self.systems[bisect_right(self.untils, ended_at)]
        result = _result(line["result"])
        player_ids = line["players"]
        if len(set(player_ids)) != len(player_ids) or len(player_ids) != system.seats:
            raise Wrong(where, f"needs {system.seats} different players")
        system.check(result)
        reason = system.not_counted(result)
        code = reason.code if reason else ""
        if line["not_counted"] != code:
            raise Wrong(where, f"is said not to count because of {line['not_counted']!r}; by the rules it is {code!r}")
        if reason is not None:
            if "published" in line:
                raise Wrong(where, "does not count, and changes ratings were published of it")
            return
        self.counted += 1
        players = [self.players.setdefault(player, _Player(system.start, 0)) for player in player_ids]
        rated = system.rate([Seat(player.value, player.experience) for player in players], result)
        for seat, player in enumerate(players):
            before, experience, change = player.value, player.experience, rated.changes[seat]
            player.value = after = before + change
            player.experience += rated.gained
            player.matches += 1
            if not -RATING_LIMIT <= after <= RATING_LIMIT:
                raise Wrong(where, "leaves the range of ratings")
            _compare(where, player_ids[seat], line["published"][seat], (before, change, after, experience, player.experience))

    def _rating(self, line: Line, where: str) -> None:
        number = _whole(line["player"])
        if number in self.seen:
            raise Wrong(where, "stands there twice")
        self.seen.add(number)
        player = self.players.get(number)
        if player is None:
            # Somebody with a row and no counted match: the start of the present rules.
            player = _Player(self.systems[-1].start, 0)
        given = (line["rating"], line["experience"], line["matches"])
        expected = (player.value, player.experience, player.matches)
        for name, one, other in zip(("rating", "experience", "matches"), given, expected, strict=True):
            if one != other or isinstance(one, bool):
                raise Wrong(where, f"its {name} is {one!r}; from the records follows {other!r}")

    def _end(self, line: Line, where: str) -> None:
        counts = {"matches": self.matches, "ratings": len(self.seen)}
        for name, count in counts.items():
            if line[name] != count:
                raise Wrong(where, f"says that there are {line[name]!r} {name}; there are {count}")
        missing = sorted(self.players.keys() - self.seen)
        if missing:
            raise Wrong(where, f"the rating of player {missing[0]} is missing")
        self.done = Checked(
            str(self.pool["name"]), str(self.pool["system"]), self.matches, self.counted, len(self.seen), self.chain.last
        )

    def end(self) -> Checked:
        if self.done is None:
            raise Wrong("the file", "is cut off: its last line is missing" if self.pool else "is empty")
        return self.done


def _compare(where: str, player: int, published: Sequence[Any], expected: Sequence[float]) -> None:
    if published is None or len(published) != len(expected):
        raise Wrong(where, f"what was published of player {player} is missing")
    for name, one, other in zip(PUBLISHED, published, expected, strict=True):
        if one != other or isinstance(one, bool):
            raise Wrong(where, f"{name} of player {player} is {one!r}; from the records follows {other!r}")


def _parsed(text: str, where: str) -> Line:
    if len(text) > LONGEST_LINE:
        raise Wrong(where, "is longer than any record")
    try:
        line = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Wrong(where, "is not JSON") from None
    if not isinstance(line, dict):
        raise Wrong(where, "is not a JSON object")
    return line


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _name_of(line: Line, where: str) -> str:
    """How a record is named to a reader."""
    kind = line.get("type")
    if kind == "match":
        return f"match {line.get('match')} ({where})"
    if kind in ("rating", "opening"):
        name = f" of {line['name']!r}" if "name" in line else ""
        return f"{kind} of player {line.get('player')}{name} ({where})"
    return f"the pool's parameters ({where})" if kind == "pool" else where


def _eras(line: Line) -> list[Mapping[str, Any]]:
    return [era["parameters"] for era in line["eras"]]


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return instant.astimezone(UTC)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not -RATING_LIMIT <= value <= RATING_LIMIT:
        raise ValueError(f"{value!r} is not a rating")
    return float(value)


def _result(given: Mapping[str, Any]) -> Result:
    if unknown := given.keys() - RESULT_FIELDS:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    values = dict(given)
    for name in ("scores", "places"):
        if name in values:
            values[name] = tuple(values[name])
    if "stake" in values:
        values["stake"] = Decimal(values["stake"])
    return Result(**values)


def main(arguments: Sequence[str]) -> int:
    """0 where everything follows, 1 where a record does not, 2 where there is nothing to check."""
    if len(arguments) != 1 or arguments[0].startswith("--"):
        print("usage: python -m players.systems.check FILE", file=sys.stderr)
        return 2
    try:
        if arguments[0] == "-":
            checked = check(sys.stdin)
        else:
            with open(arguments[0], encoding="utf-8") as file:
                checked = check(_limited(file))
    except OSError as error:
        print(f"{arguments[0]}: {error.strerror}", file=sys.stderr)
        return 2
    except UnicodeDecodeError:
        print(f"{arguments[0]}: is not UTF-8 text", file=sys.stderr)
        return 1
    except Wrong as wrong:
        print(f"It does not follow. {wrong}.")
        return 1
    print(
        f"All of it follows: {checked.matches} matches of {checked.pool} ({checked.system}), {checked.counted} of them counted,"
    )
    print(f"and {checked.ratings} ratings. The digest of all records is {checked.digest}.")
    return 0


def _limited(file: Any) -> Iterable[str]:
    """The lines of a file, none of them read beyond the longest that there can be."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
