"""The interface of every rating system: numbers in, numbers out.

A system is made from its parameters and never changes. It is handed the seats (each player's rating and experience before the
match) and the result, and answers with the changes. It knows no player, no clock, no database and no words: what it has to say
are codes with values, which `players.wording` turns into sentences.

Order of calls: `check` (is this a result at all?), `not_counted` (does it move ratings here?), `rate`, `explain`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from players.systems.params import Params

if TYPE_CHECKING:
    from players.systems.running import Game, Line, Running

RATING_LIMIT = 100_000.0
"""Ratings from -RATING_LIMIT to RATING_LIMIT points are accepted."""
EXPERIENCE_LIMIT = 2_147_483_647
"""Experience is a whole number from 0 to this."""
LENGTHS = range(1, 100)
"""Match lengths in points. Unlimited play has no length, which is not 0."""
STAKE_LIMIT = Decimal("9999999999.99")
"""The highest stake, in euros."""
POINTS = range(1, 10_000)
"""Points won in one money game: the cube's value times 1, 2 (gammon) or 3 (backgammon)."""
DEALS = range(1, 1000)


AnyParams: TypeAlias = Params
"""The name for annotations inside the systems' classes, where `Params` is the class of their own."""


class Kind(StrEnum):
    """How a match came about."""

    MATCHMADE = "matchmade"
    TABLE = "table"
    TOURNAMENT = "tournament"
    CHALLENGE = "challenge"
    INVITATION = "invitation"
    REMATCH = "rematch"


ALL_KINDS = tuple(str(kind) for kind in Kind)


class Refused(ValueError):
    """A result that cannot be taken: the field at fault, a code for the rule, and the values that the rule names."""

    def __init__(self, field: str, code: str, **values: object) -> None:
        super().__init__(f"{field}: {code} {values or ''}".strip())
        self.field = field
        self.code = code
        self.values = values


@dataclass(frozen=True, slots=True)
class Seat:
    """A player as a system sees him: rating (points) and experience before the match."""

    rating: float
    experience: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """What was played and how it ended, seats in order.

    `scores` (1 won, 0.5 drawn, 0 lost), `chance` (player 1's winning chance at the break, 0 to 1) and `places` (1 to 4, equal
    numbers share) are three ways to say how it ended: a result has exactly one of them.
    """

    scores: tuple[float, ...] | None = None
    chance: float | None = None
    places: tuple[int, ...] | None = None
    length: int | None = None
    deals: int | None = None
    points: int | None = None
    stake: Decimal | None = None
    real_money: bool | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class NotCounted:
    """Why a match moves no rating: a code and the values that its sentence names."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rated:
    """What a match does to each seat, in the order of the seats.

    `changes` in points, `expected` and `scores` in [0, 1], `k` the factor that each player's experience gives (FreeWhist: Kc),
    `gained` the experience that the match brings to each player.
    """

    changes: tuple[float, ...]
    expected: tuple[float, ...]
    scores: tuple[float, ...]
    k: tuple[float, ...]
    gained: int


class Unit(StrEnum):
    """How a term is written: by the pool's decimals, as a plain number, in per cent, in euros."""

    RATING = "rating"
    CHANGE = "change"
    NUMBER = "number"
    FACTOR = "factor"
    CHANCE = "chance"
    COUNT = "count"
    EUROS = "euros"


@dataclass(frozen=True, slots=True)
class Term:
    """One line of the sum that explains a change.

    `code` names the line, `value` is what it comes to, `inputs` are the values that its formula names (all of them appear on
    earlier lines or are parameters or the result itself).
    """

    code: str
    value: float
    unit: Unit
    inputs: Mapping[str, float | int | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StandingParams:
    """What time away costs: `floor` is the lowest standing (points), `per_day` points a day after `grace_days` whole days."""

    floor: float
    grace_days: int
    per_day: float


@dataclass(frozen=True, slots=True)
class DefaultTier:
    """A tier that a new pool starts with. Time away costs standing from the tier with `decays` up."""

    name: str
    threshold: float
    decays: bool = False


class RatingSystem(ABC):
    """Base of the systems. The class says what the system is like, the instance holds one pool's parameters."""

    key: ClassVar[str]
    Params: ClassVar[type[Params]]
    game: ClassVar[str] = "backgammon"
    """What is played: backgammon, whist or board."""
    seats: ClassVar[int] = 2
    uses: ClassVar[frozenset[str]]
    """The fields of Result that this system takes; any other is refused. How it ended is among them."""
    draws: ClassVar[bool] = False
    shown_decimals: ClassVar[int] = 0
    provisional_below: ClassVar[int | None] = 50
    tiers: ClassVar[tuple[DefaultTier, ...]] = ()

    def __init__(self, params: AnyParams | None = None) -> None:
        self.params: Any = self.Params() if params is None else params

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """The system with a pool's stored parameters. Raises BadParameter."""
        return cls(cls.Params.from_json(data))

    @property
    def start(self) -> float:
        """The rating of a new player, in points."""
        start: float = self.params.start
        return start

    @property
    def needs(self) -> frozenset[str]:
        """The fields without which this pool cannot tell whether a match counts (`kind`, `real_money`)."""
        return frozenset()

    @property
    def standing_params(self) -> StandingParams | None:
        """What time away costs here, or None where the standing is the rating."""
        return None

    @abstractmethod
    def check(self, result: Result) -> None:
        """Raise Refused unless this is a whole and possible result of this system, counted or not."""

    @abstractmethod
    def not_counted(self, result: Result) -> NotCounted | None:
        """Why a checked result moves no rating in this pool, or None where it counts."""

    @abstractmethod
    def rate(self, seats: Sequence[Seat], result: Result) -> Rated:
        """Rate a checked result as counted, whatever `not_counted` says of its kind or money.

        Raises Refused where a value that the formula needs is missing (`length`, `stake`, too few `deals`) or a rating is out
        of range.
        """

    def rate_many(self, games: Iterable[Game], players: dict[int, Running], start: Callable[[int], Running]) -> Iterator[Line]:
        """Rate counted matches in the order given and yield the lines of their history.

        `players` run along, by id; who is not among them begins where `start` says. A system may do this faster, bit-equal to
        `rate` match by match. Raises Refused as `rate` does, and where a rating would leave the accepted range.
        """
        from players.systems.running import rate_one_by_one  # it is made of what is defined here

        return rate_one_by_one(self, games, players, start)

    @abstractmethod
    def explain(self, seats: Sequence[Seat], result: Result) -> tuple[tuple[Term, ...], ...]:
        """The terms of each seat's change, in order; the last one is the change itself, bit-equal to `rate`."""
