"""Results as a game server sends them: read here, judged by the rating systems and `matches.entries`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from matches.entries import SEQUENCES
from players.api import reading
from players.api.reading import BIG, Reader, Unfit, Unfits, read_object
from players.names import NAME_MAX, clean_name
from players.systems.base import Refused, Result

MOST_SEATS = 4
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Named:
    """A player as a server names him: by his id here, by his name, or by the server's own id (with a name, should he be new)."""

    id: int | None = None
    name: str = ""
    external_id: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """A result as it was sent; `match` is the open match that it ends."""

    external_id: str
    players: tuple[Named, ...]
    result: Result
    ended_at: datetime
    timed: bool
    sequence: int
    match: int | None = None


def own_id(name: str, value: Any) -> str:
    """A server's own id of something."""
    return reading.text(name, value, LONGEST_ID)


def _name(name: str, value: Any) -> str:
    found = clean_name(value) if isinstance(value, str) else ""
    if not 1 <= len(found) <= NAME_MAX:
        raise Unfit(name, "no_name", most=NAME_MAX)
    return found


NAMED: dict[str, Reader] = {
    "id": lambda name, value: reading.whole(name, value, 1, BIG - 1),
    "name": _name,
    "external_id": own_id,
}


def player_named(name: str, value: Any) -> Named:
    """Raises Unfits, with the whole path to what is wrong."""
    try:
        values = read_object(value, NAMED, name)
    except Unfits as unfits:
        paths = [(path if path == name else f"{name}.{path}", refused) for path, refused in unfits.refusals]
        raise Unfits(paths) from None
    if not values or ("id" in values and len(values) > 1):
        raise Unfit(name, "not_a_player")
    return Named(**values)


def _players(name: str, value: Any) -> tuple[Named, ...]:
    wrong: list[tuple[str, Refused]] = []
    players = []
    for index, one in enumerate(reading.listed(name, value, 1, MOST_SEATS)):
        where = f"{name}[{index}]"
        try:
            players.append(player_named(where, one))
        except Unfits as unfits:
            wrong += unfits.refusals
        except Refused as refused:
            wrong.append((where, refused))
    if wrong:
        raise Unfits(wrong)
    return tuple(players)


def _scores(name: str, value: Any) -> tuple[float, ...]:
    return tuple(reading.number(name, one) for one in reading.listed(name, value, 1, MOST_SEATS))


def _places(name: str, value: Any) -> tuple[int, ...]:
    return tuple(reading.whole(name, one, 1, MOST_SEATS) for one in reading.listed(name, value, 1, MOST_SEATS))


OUTCOME: dict[str, Reader] = {"scores": _scores, "places": _places, "chance": reading.number}
TERMS: dict[str, Reader] = {
    "length": lambda name, value: reading.whole(name, value, 1, 99),
    "deals": lambda name, value: reading.whole(name, value, 1, 999),
    "points": lambda name, value: reading.whole(name, value, 1, 9999),
    "stake": reading.amount,
    "real_money": reading.flag,
    "kind": lambda name, value: reading.text(name, value, 12),
}
END: dict[str, Reader] = {
    "ended_at": reading.instant,
    "date": reading.day,
    "sequence": lambda name, value: reading.whole(name, value, SEQUENCES.start, SEQUENCES.stop - 1),
}
RESULT: dict[str, Reader] = {"players": _players, **OUTCOME, **TERMS, **END}
SENT: dict[str, Reader] = {
    "external_id": own_id,
    "match": lambda name, value: reading.whole(name, value, 1, BIG - 1),
    **RESULT,
}


def read_sent(value: Any, name: str = "body") -> Sent:
    """A result as it was sent. Raises Unfits."""
    return sent_of(read_object(value, SENT, name, required=("external_id", "players")))


def sent_of(values: Mapping[str, Any]) -> Sent:
    ended_at, timed = end_of(values)
    result = {key: values[key] for key in (*OUTCOME, *TERMS) if key in values}
    sequence, match = values.get("sequence", 0), values.get("match")
    return Sent(values["external_id"], values["players"], Result(**result), ended_at, timed, sequence, match)


def end_of(values: Mapping[str, Any]) -> tuple[datetime, bool]:
    """When a match ended, and whether the time is known. Raises Unfits unless it is said in one of the two ways."""
    if ("ended_at" in values) == ("date" in values):
        raise Unfits([("ended_at", Unfit("ended_at", "not_an_end"))])
    if "ended_at" in values:
        return values["ended_at"], True
    return datetime.combine(values["date"], datetime.min.time(), tzinfo=UTC), False
