"""How a player's counted matches in a pool ended: by length, by time, by how strong the opponents were, and against whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.db.models import Case, Count, F, FilteredRelation, IntegerField, Max, Q, QuerySet, Sum, When
from django.db.models.functions import Floor
from django.utils import timezone

from players.dbfunctions import Stretch
from players.graph import nice_step
from players.models import Player, Pool, Rating
from players.pages.history import in_order
from players.pages.matches import COUNTED, RESULTS

MONTHS = 12
OPPONENTS = 10
MOST_BANDS = 8
FINEST_BAND = 10
"""Points: opponents are told apart by no less."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Matches by how they ended, and what they changed in all (points). In games for four `places` are the first to fourth."""

    matches: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    broken_off: int = 0
    places: tuple[int, int, int, int] = (0, 0, 0, 0)
    change: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        one, two, three, four = map(sum, zip(self.places, other.places, strict=True))
        return Tally(
            matches=self.matches + other.matches,
            won=self.won + other.won,
            drawn=self.drawn + other.drawn,
            lost=self.lost + other.lost,
            broken_off=self.broken_off + other.broken_off,
            places=(one, two, three, four),
            change=self.change + other.change,
        )

    @property
    def score(self) -> float | None:
        """The share won, draws half; of places the mean score is no share, so None."""
        decided = self.won + self.drawn + self.lost
        return (self.won + self.drawn / 2) / decided if decided else None


@dataclass(frozen=True, slots=True)
class Period:
    """A month or a year of the reader's, by its first day; `unit` is month or year."""

    day: date
    unit: str


@dataclass(frozen=True, slots=True)
class Band:
    """Opponents rated from `low` up to below `high` before the match, in points."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Opponent:
    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class BestWin:
    """The strongest opponent beaten, or left behind at a table: his rating and experience before the match."""

    match_id: int
    ended_at: datetime
    timed: bool
    opponent: Opponent
    rating: float
    experience: int


@dataclass(frozen=True, slots=True)
class Streaks:
    """Wins in a row, in games for four first places: now and at most; `losing_now` counts losses (last places)."""

    winning_now: int = 0
    losing_now: int = 0
    longest: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """All of it. Lines come in the order in which they are shown; lengths are points or deals, None is unlimited play."""

    in_places: bool
    total: Tally
    lengths: tuple[tuple[int | None, Tally], ...]
    periods: tuple[tuple[Period, Tally], ...]
    bands: tuple[tuple[Band, Tally], ...]
    opponents: tuple[tuple[Opponent, Tally], ...]
    best_win: BestWin | None
    streaks: Streaks


def statistics(player: Player, pool: Pool, rating: Rating, today: date) -> Statistics:
    """The statistics of a player with a counted match in the pool. Five queries. The rating comes with `began`."""
    in_places = "places" in pool.rating_system.uses
    lengths, periods = _by_length_and_period(player, pool, rating, today)
    bands, best = _bands(player, pool)
    return Statistics(
        in_places=in_places,
        total=sum((tally for _, tally in lengths), Tally()),
        lengths=lengths,
        periods=periods,
        bands=bands,
        opponents=_opponents(player, pool),
        best_win=_best_win(player, pool, best),
        streaks=streaks(_scores(player, pool)),
    )


def own_seats(player: Player, pool: Pool) -> QuerySet[Any]:
    """The player's seats at counted matches of the pool, with `line`, what each did to his rating."""
    line = FilteredRelation("match__changes", condition=Q(match__changes__player=player.pk))
    return player.participations.filter(COUNTED["yes"], match__pool=pool).annotate(line=line)


def pairs(player: Player) -> QuerySet[Any]:
    """Everybody whom the player has met in counted matches: their seats, with `own`, the player's seat at the same match, `line`,
    what the match did to theirs, and `own_line`, what it did to his."""
    seats = player.participations.model.objects.filter(COUNTED["yes"]).exclude(player=player)
    # The same player, written as a range: else PostgreSQL may read all lines of each opponent to find that of the match.
    same = Q(match__changes__player__gte=F("player"), match__changes__player__lte=F("player"))
    return seats.annotate(
        own=FilteredRelation("match__participants", condition=Q(match__participants__player=player.pk)),
        line=FilteredRelation("match__changes", condition=same),
        own_line=FilteredRelation("match__changes", condition=Q(match__changes__player=player.pk)),
    ).filter(own__player=player)


AHEAD = Q(own__score=1.0) | Q(own__place__lt=F("place"))
LEVEL = Q(own__score=0.5) | Q(own__place=F("place"))
BEHIND = Q(own__score=0.0) | Q(own__place__gt=F("place"))
OF_PAIRS: dict[str, Any] = {
    "matches": Count("pk"),
    "won": Count("pk", filter=AHEAD),
    "drawn": Count("pk", filter=LEVEL),
    "lost": Count("pk", filter=BEHIND),
    "broken_off": Count("pk", filter=Q(own__score=None, own__place=None)),
    "change": Sum("own_line__change"),
}
"""A tally against opponents: at a table of four, who is placed higher has won."""
OF_SEATS: dict[str, Any] = {
    "matches": Count("pk"),
    **{name: Count("pk", filter=RESULTS[name]) for name in ("won", "drawn", "lost")},
    "broken_off": Count("pk", filter=RESULTS["broken"]),
    **{f"place{place}": Count("pk", filter=Q(place=place)) for place in range(1, 5)},
    "change": Sum("line__change"),
}


def tally_of(row: dict[str, Any]) -> Tally:
    """The tally of a row of OF_PAIRS or OF_SEATS."""
    one, two, three, four = (row.get(f"place{place}", 0) for place in range(1, 5))
    names = ("matches", "won", "drawn", "lost", "broken_off")
    return Tally(**{name: row[name] for name in names}, places=(one, two, three, four), change=row["change"] or 0.0)


def _by_length_and_period(
    player: Player, pool: Pool, rating: Rating, today: date
) -> tuple[tuple[tuple[int | None, Tally], ...], tuple[tuple[Period, Tally], ...]]:
    """The last twelve months one by one, the years before them, the newest first."""
    began = getattr(rating, "began", None) or rating.last_ended_at
    known = _periods(timezone.localtime(began).date() if began else today, today)
    rows = own_seats(player, pool).annotate(period=_period([period.day for period in known[1:]]))
    lengths: dict[int | None, Tally] = {}
    periods: dict[int, Tally] = {}
    for row in rows.order_by().values("match__length", "match__deals", "period").annotate(**OF_SEATS):
        tally, length = tally_of(row), row["match__length"] or row["match__deals"]
        lengths[length] = lengths.get(length, Tally()) + tally
        periods[row["period"]] = periods.get(row["period"], Tally()) + tally
    return (
        tuple(sorted(lengths.items(), key=lambda item: (item[0] is None, item[0]))),
        tuple((known[number], periods[number]) for number in sorted(periods, reverse=True)),
    )


def _periods(first: date, today: date) -> list[Period]:
    """Years from that of `first` on, and the last MONTHS months by themselves, in order."""
    month = today.year * 12 + today.month - MONTHS
    begins = date(month // 12, month % 12 + 1, 1)
    years = [Period(date(year, 1, 1), "year") for year in range(min(first.year, begins.year), begins.year + 1)]
    months = [Period(date(each // 12, each % 12 + 1, 1), "month") for each in range(month, month + MONTHS)]
    if begins.month == 1:
        years.pop()
    return [*years, *months]


def _period(days: Sequence[date]) -> Case:
    zone = timezone.get_current_timezone()
    local, utc = ([datetime.combine(day, time.min, place).astimezone(UTC) for day in days] for place in (zone, UTC))
    ended = F("match__ended_at")
    return Case(When(match__timed=True, then=Stretch(ended, local)), default=Stretch(ended, utc), output_field=IntegerField())


def _bands(player: Player, pool: Pool) -> tuple[tuple[tuple[Band, Tally], ...], float | None]:
    """The bands, and the rating of the strongest opponent beaten, before the match."""
    fine = pairs(player).filter(match__pool=pool).annotate(band=Floor(F("line__before") / float(FINEST_BAND)))
    best = Max("line__before", filter=AHEAD)
    rows = list(fine.order_by().values("band").annotate(**OF_PAIRS, best=best))
    beaten = [row["best"] for row in rows if row["best"] is not None]
    return widened({int(row["band"]): tally_of(row) for row in rows}), max(beaten, default=None)


def widened(fine: dict[int, Tally]) -> tuple[tuple[Band, Tally], ...]:
    """Bands of FINEST_BAND points put together to at most about MOST_BANDS of a round width, the strongest first."""
    if not fine:
        return ()
    width = max(1, round(nice_step((max(fine) - min(fine) + 1) * FINEST_BAND / MOST_BANDS) / FINEST_BAND))
    bands: dict[int, Tally] = {}
    for number, tally in fine.items():
        bands[number // width] = bands.get(number // width, Tally()) + tally
    points = width * FINEST_BAND
    return tuple((Band(float(n * points), float((n + 1) * points)), bands[n]) for n in sorted(bands, reverse=True))


def _opponents(player: Player, pool: Pool) -> tuple[tuple[Opponent, Tally], ...]:
    rows = pairs(player).filter(match__pool=pool).order_by().values("player__name", "player__slug").annotate(**OF_PAIRS)
    most = rows.order_by("-matches", "player__name")[:OPPONENTS]
    return tuple((Opponent(row["player__name"], row["player__slug"]), tally_of(row)) for row in most)


def _best_win(player: Player, pool: Pool, rating: float | None) -> BestWin | None:
    """The first win over an opponent of this rating."""
    # To look for the rating itself spares the database sorting everybody's.
    beaten = pairs(player).filter(AHEAD, match__pool=pool, line__before=rating).order_by("match__ended_at", "match_id")
    names = ("match_id", "match__ended_at", "match__timed", "player__name", "player__slug", "line__before")
    row = beaten.values_list(*names, "line__experience_before").first() if rating is not None else None
    if row is None:
        return None
    match_id, ended_at, timed, name, slug, before, experience = row
    return BestWin(match_id, ended_at, timed, Opponent(name, slug), before, experience)


def _scores(player: Player, pool: Pool) -> Iterable[tuple[float | None, int | None]]:
    return in_order(own_seats(player, pool), newest_first=False).values_list("score", "place")


def streaks(results: Iterable[tuple[float | None, int | None]]) -> Streaks:
    """The streaks of results in order, each a score or a place. Anything but a win ends a winning streak."""
    winning = losing = longest = 0
    for score, place in results:
        winning = winning + 1 if score == 1 or place == 1 else 0
        losing = losing + 1 if score == 0 or place == 4 else 0
        longest = max(longest, winning)
    return Streaks(winning, losing, longest)
