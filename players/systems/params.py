"""Parameters of a rating system: frozen dataclasses that check what they are given.

A system's parameters are one frozen dataclass below `Params`; each field says by `number`, `whole`, `choice`, `choices`,
`flag`, `numbers`, `steps` or `nested` what it accepts. `from_json` reads what a pool stores, `to_json` writes it; both know
every field, so that a pool keeps its own constants when a default changes later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from itertools import pairwise
from typing import Any, Self


class BadParameter(ValueError):
    """A parameter that a system does not accept: its name, a code for the rule, and the values that the rule names."""

    def __init__(self, name: str, code: str, **values: object) -> None:
        super().__init__(f"{name}: {code} {values or ''}".strip())
        self.name = name
        self.code = code
        self.values = values


Reader = Callable[[str, object], Any]


@dataclass(frozen=True, slots=True)
class Spec:
    """What a parameter accepts, for a form that asks for it. `kind`: the function here that made the field; `low` and `high`
    bound its numbers, `allowed` are its choices, `count` how many numbers it has, `inner` the class of nested parameters."""

    kind: str
    low: float | None = None
    high: float | None = None
    allowed: tuple[str, ...] = ()
    count: int = 1
    inner: type[Params] | None = None
    nullable: bool = False


def _field(default: Any, read: Reader, spec: Spec) -> Any:
    return field(default=default, metadata={"read": read, "spec": spec})


def read_number(name: str, value: object, low: float, high: float) -> float:
    """A finite number from `low` to `high`. A boolean is not a number here."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadParameter(name, "not_a_number")
    # A whole number too large for a double is out of range, not an overflow.
    if not low <= value <= high or math.isnan(value):
        raise BadParameter(name, "out_of_range", low=low, high=high)
    return float(value)


def read_whole(name: str, value: object, low: int, high: int) -> int:
    """A whole number from `low` to `high`; 5.0 is whole, 5.5 is not."""
    number = read_number(name, value, low, high)
    if number != int(number):
        raise BadParameter(name, "not_whole")
    return int(number)


def number(default: float, low: float, high: float) -> Any:
    return _field(float(default), lambda name, value: read_number(name, value, low, high), Spec("number", low, high))


def whole(default: int, low: int, high: int) -> Any:
    return _field(default, lambda name, value: read_whole(name, value, low, high), Spec("whole", low, high))


def flag(default: bool) -> Any:
    def read(name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise BadParameter(name, "not_a_flag")
        return value

    return _field(default, read, Spec("flag"))


def choice(default: str, allowed: tuple[str, ...]) -> Any:
    def read(name: str, value: object) -> str:
        if value not in allowed:
            raise BadParameter(name, "not_a_choice", allowed=", ".join(allowed))
        return str(value)

    return _field(default, read, Spec("choice", allowed=allowed))


def choices(default: tuple[str, ...], allowed: tuple[str, ...]) -> Any:
    """Some of `allowed`, at least one, each once; kept in the order of `allowed`."""

    def read(name: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not value or len(set(map(str, value))) != len(value):
            raise BadParameter(name, "not_choices", allowed=", ".join(allowed))
        if any(item not in allowed for item in value):
            raise BadParameter(name, "not_choices", allowed=", ".join(allowed))
        return tuple(item for item in allowed if item in value)

    return _field(default, read, Spec("choices", allowed=allowed))


def numbers(default: tuple[float, ...], low: float, high: float) -> Any:
    """As many numbers as the default has, each from `low` to `high`."""

    def read(name: str, value: object) -> tuple[float, ...]:
        if not isinstance(value, (list, tuple)) or len(value) != len(default):
            raise BadParameter(name, "not_numbers", count=len(default))
        return tuple(read_number(name, item, low, high) for item in value)

    return _field(tuple(float(item) for item in default), read, Spec("numbers", low, high, count=len(default)))


def steps(default: tuple[tuple[int, float], ...], whole_range: range, low: float, high: float) -> Any:
    """Steps (n, value): from n on, a whole number in `whole_range`, the value holds, a number from `low` to `high`.

    At least one; the whole numbers ascend and the values do not fall.
    """

    def read(name: str, value: object) -> tuple[tuple[int, float], ...]:
        if not isinstance(value, (list, tuple)) or not 0 < len(value) <= len(whole_range):
            raise BadParameter(name, "not_steps")
        if any(not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in value):
            raise BadParameter(name, "not_steps")
        read_steps = tuple(
            (read_whole(name, start, whole_range.start, whole_range.stop - 1), read_number(name, item, low, high))
            for start, item in value
        )
        for (start, item), (next_start, next_item) in pairwise(read_steps):
            if start >= next_start or item > next_item:
                raise BadParameter(name, "not_ascending")
        return read_steps

    return _field(tuple((start, float(item)) for start, item in default), read, Spec("steps", low, high))


def nested(default: Params | None, kind: type[Params], *, nullable: bool = False) -> Any:
    """Parameters within parameters; with `nullable`, None switches the thing off."""

    def read(name: str, value: object) -> Params | None:
        if value is None and nullable:
            return None
        if isinstance(value, kind):
            return value
        if not isinstance(value, Mapping):
            raise BadParameter(name, "not_an_object")
        return kind.from_json(value, prefix=f"{name}.")

    return _field(default, read, Spec("nested", inner=kind, nullable=nullable))


def _json(value: Any) -> Any:
    if isinstance(value, Params):
        return value.to_json()
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Params:
    """Base of all parameter objects."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            object.__setattr__(self, entry.name, self._reader(entry)(entry.name, getattr(self, entry.name)))

    @staticmethod
    def _reader(entry: Field[Any]) -> Reader:
        reader: Reader = entry.metadata["read"]
        return reader

    @classmethod
    def specs(cls) -> dict[str, Spec]:
        """By name, what each parameter accepts, in their order."""
        return {entry.name: entry.metadata["spec"] for entry in fields(cls)}

    @classmethod
    def read_one(cls, name: str, value: object) -> Any:
        """One parameter alone, as it is kept. Raises BadParameter."""
        [entry] = [entry for entry in fields(cls) if entry.name == name]
        return cls._reader(entry)(name, value)

    @classmethod
    def from_json(cls, data: Mapping[str, object], prefix: str = "") -> Self:
        """Read a mapping; what it does not name takes the default.

        Raises BadParameter with the name of the first parameter that is unknown or not accepted.
        """
        known = {entry.name for entry in fields(cls)}
        for name in data:
            if name not in known:
                raise BadParameter(f"{prefix}{name}", "unknown", known=", ".join(sorted(known)))
        try:
            return cls(**data)
        except BadParameter as bad:
            if prefix and not bad.name.startswith(prefix):
                raise BadParameter(f"{prefix}{bad.name}", bad.code, **bad.values) from bad
            raise

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values, every field included."""
        return {entry.name: _json(getattr(self, entry.name)) for entry in fields(self)}
