"""The simulator: what is typed into its fields, read for a pool, and every way in which such a match can end.

What is typed is the address of the page, so that a link says it all. A rating that is left empty is that of the named player,
else a new player's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from matches.imports import cells
from matches.money.rake import bands_of, rake_for
from players import wording
from players.formatting import format_number, format_plain, format_rating, shown
from players.models import Player, Pool, Rating
from players.names import NAME_MAX, clean_name, name_key
from players.searching import suggestions
from players.services import players_by_name
from players.simulation import Way, counted, way_at_place, ways
from players.systems.base import (
    ALL_KINDS,
    DEALS,
    EXPERIENCE_LIMIT,
    LENGTHS,
    POINTS,
    RATING_LIMIT,
    RatingSystem,
    Refused,
    Result,
    Seat,
)
from players.systems.checks import check_stake
from players.wording import kind_label, reason, refusal_rule

LONGEST = 80
"""Letters of a value that are looked at and shown again."""
TERMS = ("length", "points", "stake", "chance", "deals", "real_money", "kind")


@dataclass(slots=True)
class Field:
    """A field of the form: the value as it was typed, what is wrong with it, and what stands for it where it is empty."""

    name: str
    label: str
    value: str = ""
    error: str = ""
    hint: str = ""
    placeholder: str = ""
    inputmode: str = "decimal"
    choices: Sequence[tuple[str, str]] = ()
    suggested: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SeatFields:
    """A player's fields, and what they come to: `title` is his name, or his number; `seat` None where something is wrong."""

    number: int
    title: str
    player: Field
    rating: Field
    experience: Field
    seat: Seat | None = None

    @property
    def fields(self) -> tuple[Field, Field, Field]:
        return self.player, self.rating, self.experience


@dataclass(frozen=True, slots=True)
class Cell:
    """What one way to end does to one player: points, with his own sum. `rounded`: as shown, before and change do
    not give after."""

    title: str
    before: float
    change: float
    after: float
    experience: tuple[int, int]
    rounded: bool
    sum: Any


@dataclass(frozen=True, slots=True)
class Ending:
    """A way for a match of two to end."""

    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A player of a table of four: expected score, and by place its chance and what it does."""

    title: str
    before: float
    experience: int
    expected: float
    places: tuple[tuple[int, float, Cell], ...]


@dataclass(slots=True)
class Simulation:
    """The form, and what comes of it. `why_not` says why such a match would not count; the sums are then those of one that does.

    `link` is the address with the ratings as numbers, so that it shows the same for ever. `rake` is what each player would pay,
    in euros, None where none is taken.
    """

    seats: tuple[SeatFields, ...]
    terms: tuple[Field, ...]
    why_not: str = ""
    expected: tuple[tuple[str, float], ...] = ()
    endings: tuple[Ending, ...] = ()
    standings: tuple[Standing, ...] = ()
    link: str = ""
    rake: Decimal | None = None
    rake_is_example: bool = False

    @property
    def fields(self) -> Iterator[Field]:
        for seat in self.seats:
            yield from seat.fields
        yield from self.terms

    @property
    def wrong(self) -> tuple[Field, ...]:
        return tuple(one for one in self.fields if one.error)


def simulation(pool: Pool, query: Mapping[str, str], reader: Player | None) -> Simulation:
    """Read the fields and reckon. At most four queries: the named players, their ratings, names like one that is
    unknown, and the bands of the rake.

    `query` holds strings, by the names of the fields; without any of them the page shows an example.
    """
    system = pool.rating_system
    typed = {name: query[name][:LONGEST].replace("\0", "\N{REPLACEMENT CHARACTER}") for name in _names(system) if name in query}
    # A choice has no empty option: an address that leaves it out means the usual one.
    values = {**_choices(system), **typed} if typed else _example(pool, system, reader)
    page = Simulation(
        seats=tuple(_seat_fields(number, values) for number in range(1, system.seats + 1)),
        terms=tuple(_term_fields(system, values)),
    )
    _read_seats(pool, system, page)
    terms = _read_terms(system, page)
    if not page.wrong:
        _reckon(pool, system, page, terms)
    return page


# --- The fields ---


def _used(system: RatingSystem) -> list[str]:
    """The terms that the form asks for; kind and real money where it depends on them whether a match counts."""
    asked = [name for name in TERMS if name in system.uses and (name not in ("real_money", "kind") or name in system.needs)]
    return asked


def _names(system: RatingSystem) -> list[str]:
    seats = [f"{name}{number}" for number in range(1, system.seats + 1) for name in ("player", "rating", "experience")]
    return [*seats, *_used(system)]


def _choices(system: RatingSystem) -> dict[str, str]:
    usual = {"real_money": "yes", "kind": counted(system, Result()).kind}
    return {name: usual[name] for name in _used(system) if name in usual}


def _example(pool: Pool, system: RatingSystem, reader: Player | None) -> dict[str, str]:
    """What an empty form shows: the reader, or a favourite, against players who begin."""
    usual = {"length": "5", "stake": "10", "deals": "24"}
    values = {name: usual[name] for name in _used(system) if name in usual} | _choices(system)
    if reader is not None:
        values["player1"] = reader.name
    else:
        values["rating1"] = _typed(min(system.start + 150, RATING_LIMIT))
        values["experience1"] = "400"
    return values


def _seat_fields(number: int, values: Mapping[str, str]) -> SeatFields:
    words = {"number": format_number(number, 0)}
    title = _("Player %(number)s") % words

    def made(name: str, label: str, **more: Any) -> Field:
        return Field(f"{name}{number}", label, values.get(f"{name}{number}", ""), **more)

    return SeatFields(
        number=number,
        title=title,
        player=made("player", _("Name"), inputmode="text", placeholder=_("optional")),
        rating=made("rating", wording.field_label("rating")),
        experience=made("experience", wording.field_label("experience"), inputmode="numeric"),
    )


def _term_fields(system: RatingSystem, values: Mapping[str, str]) -> Iterator[Field]:
    hints = {
        "length": _("Points, 1 to 99.") if "points" not in system.uses else _("Points, 1 to 99. Empty for a money game."),
        "points": _("For a money game: the cube times 1, 2 (gammon) or 3 (backgammon). Empty for a match."),
        "stake": _("Euros per player; in a money game per point."),
        "chance": _("Only for a match that was broken off: player 1’s, from 0 to 1."),
    }
    modes = {"length": "numeric", "points": "numeric", "deals": "numeric"}
    choices: dict[str, list[tuple[str, str]]] = {
        "real_money": [("yes", _("yes")), ("no", _("no"))],
        "kind": [(kind, kind_label(kind)) for kind in ALL_KINDS],
    }
    for name in _used(system):
        yield Field(
            name,
            wording.field_label(name),
            values.get(name, ""),
            hint=hints.get(name, ""),
            inputmode=modes.get(name, "decimal"),
            choices=choices.get(name, ()),
        )


# --- What was typed ---


def _read(one: Field, read: Callable[[str, str], Any]) -> Any:
    """The value of a field; None where it is empty, or wrong, which is then said beside it."""
    text = one.value.strip()
    if not text:
        return None
    if one.inputmode == "decimal" and "." not in text:
        text = text.replace(",", ".")
    try:
        return read(one.name, text.replace("\N{MINUS SIGN}", "-"))
    except Refused as refused:
        one.error = _beside(refused)
        return None


def _beside(refused: Refused) -> str:
    return capfirst(refusal_rule(refused))


def _read_seats(pool: Pool, system: RatingSystem, page: Simulation) -> None:
    named = {seat.number: clean_name(seat.player.value) for seat in page.seats}
    wanted = [name for name in named.values() if name]
    players = players_by_name(wanted) if wanted else {}
    found = {number: players.get(name_key(name)) for number, name in named.items() if name}
    ratings = {}
    if any(found.values()):
        stored = Rating.objects.filter(pool=pool, player__in=[player.pk for player in found.values() if player])
        ratings = {rating.player_id: rating for rating in stored}
    seen: set[int] = set()
    for seat in page.seats:
        player = found.get(seat.number)
        if named[seat.number] and player is None:
            _unknown(seat.player, named[seat.number])
        if player is not None:
            seat.title = player.name
            if player.pk in seen:
                seat.player.error = _beside(Refused("players", "same_player"))
            seen.add(player.pk)
        _read_seat(pool, system, seat, ratings.get(player.pk) if player else None)


def _unknown(one: Field, name: str) -> None:
    one.error = _("There is no player “%(name)s”.") % {"name": name}
    if len(name) <= NAME_MAX:
        one.suggested = suggestions(name)


def _read_seat(pool: Pool, system: RatingSystem, seat: SeatFields, rating: Rating | None) -> None:
    """What is typed goes before what the player has; what is left empty is his, else a new player's."""
    value, experience = (rating.value, rating.experience) if rating else (system.start, 0)
    seat.rating.placeholder, seat.experience.placeholder = format_rating(value, pool.shown_decimals), format_number(experience, 0)
    typed_value = _read(seat.rating, lambda name, text: cells.real("rating", text, -RATING_LIMIT, RATING_LIMIT))
    typed_experience = _read(seat.experience, lambda name, text: cells.whole("experience", text, 0, EXPERIENCE_LIMIT))
    if not any(one.error for one in seat.fields):
        seat.seat = Seat(
            value if typed_value is None else typed_value, experience if typed_experience is None else typed_experience
        )


def _read_terms(system: RatingSystem, page: Simulation) -> Result:
    # The system judges all this too; here it is said of all fields at once.
    def whole(accepted: range) -> Callable[[str, str], int]:
        return lambda name, text: cells.whole(name, text, accepted.start, accepted.stop - 1)

    def stake(name: str, text: str) -> Decimal:
        amount = cells.amount(name, text)
        check_stake(amount)
        return amount

    readers: dict[str, Callable[[str, str], Any]] = {
        "length": whole(LENGTHS),
        "points": whole(POINTS),
        "deals": whole(DEALS),
        "stake": stake,
        "chance": lambda name, text: cells.real(name, text, 0, 1),
        "real_money": cells.yes_or_no,
        "kind": cells.kind,
    }
    values = {one.name: _read(one, readers[one.name]) for one in page.terms}
    terms = Result(**{name: value for name, value in values.items() if value is not None})
    if "kind" not in values:
        terms = replace(terms, kind=counted(system, terms).kind)
    return terms


# --- What comes of it ---


def _reckon(pool: Pool, system: RatingSystem, page: Simulation, terms: Result) -> None:
    seats = [seat.seat for seat in page.seats if seat.seat is not None]
    try:
        page.why_not = _why_not(system, terms)
        several = ways(system, seats, terms, pool.shown_decimals)
    except Refused as refused:
        at_fault = [one for one in page.terms if one.name == refused.field]
        if not page.why_not:
            for one in at_fault or page.terms[:1] or page.seats[0].fields[:1]:
                one.error = _beside(refused)
        return
    page.link = _link(page, seats)
    _take_rake(pool, system, page, terms, seats)
    titles = [seat.title for seat in page.seats]
    if "places" in system.uses:
        page.standings = tuple(_standing(pool, system, several, seats, titles, number) for number in range(len(seats)))
    else:
        page.expected = tuple(zip(titles, several[0].rated.expected, strict=True))
        page.endings = tuple(_ending(pool, way, seats, titles) for way in several)


def _take_rake(pool: Pool, system: RatingSystem, page: Simulation, terms: Result, seats: Sequence[Seat]) -> None:
    if "stake" not in system.uses or not terms.real_money:
        return
    bands = bands_of(pool)
    page.rake_is_example = any(band.example for band in bands)
    page.rake = rake_for(
        bands,
        ratings=[seat.rating for seat in seats],
        length=terms.length,
        stake=terms.stake,
        points=terms.points,
        real_money=terms.real_money,
    )


def _why_not(system: RatingSystem, terms: Result) -> str:
    """Why such a match would not count, as a sentence; "" where it would."""
    # However it ends: that makes no difference.
    supposed = replace(terms, places=(1, 2, 3, 4)) if "places" in system.uses else terms
    if "scores" in system.uses and terms.chance is None:
        supposed = replace(supposed, scores=(1.0, 0.0))
    system.check(supposed)
    not_counted = system.not_counted(supposed)
    return reason(not_counted.code, not_counted.values) if not_counted else ""


def _link(page: Simulation, seats: Sequence[Seat]) -> str:
    pairs: list[tuple[str, str]] = []
    for fields, seat in zip(page.seats, seats, strict=True):
        pairs += [(fields.rating.name, _typed(seat.rating)), (fields.experience.name, str(seat.experience))]
    pairs += [(one.name, one.value.strip()) for one in page.terms if one.value.strip()]
    return "?" + urlencode(pairs)


def _typed(value: float) -> str:
    """A rating with every digit that it needs, as somebody types it."""
    return format_plain(value).removesuffix(".0")


def _cell(pool: Pool, way: Way, seats: Sequence[Seat], titles: Sequence[str], number: int) -> Cell:
    before, change = seats[number].rating, way.rated.changes[number]
    after, decimals = before + change, pool.shown_decimals
    experience = seats[number].experience
    return Cell(
        title=titles[number],
        before=before,
        change=change,
        after=after,
        experience=(experience, experience + way.rated.gained),
        rounded=shown(before, decimals) + shown(change, decimals) != shown(after, decimals),
        sum=way.sums[number],
    )


def _ending(pool: Pool, way: Way, seats: Sequence[Seat], titles: Sequence[str]) -> Ending:
    scores = way.result.scores
    if scores is None:
        title = _("Broken off")
    elif scores[0] == scores[1]:
        title = _("A draw")
    else:
        title = _("%(player)s wins") % {"player": titles[0 if scores[0] > scores[1] else 1]}
    return Ending(title, tuple(_cell(pool, way, seats, titles, number) for number in range(len(seats))))


def _standing(
    pool: Pool, system: Any, several: Sequence[Way], seats: Sequence[Seat], titles: Sequence[str], number: int
) -> Standing:
    chances = system.place_chances(seats)[number]
    return Standing(
        title=titles[number],
        before=seats[number].rating,
        experience=seats[number].experience,
        expected=several[0].rated.expected[number],
        places=tuple(
            (place, chances[place - 1], _cell(pool, way_at_place(several, number, place), seats, titles, number))
            for place in range(1, len(seats) + 1)
        ),
    )
