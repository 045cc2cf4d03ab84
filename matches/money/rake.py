"""The rake: what the site keeps of a stake, by the rating difference before the match. The rules are in docs/rake.md.

`rake_for` computes, `bands_of` reads, `check_bands` says what is wrong with a pool's bands. What a match has cost is stored with
its participants when it completes and stays: neither other bands nor a replay or a correction change it. The site moves no money.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from itertools import pairwise

from django.db.models import F, FilteredRelation, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from matches.models import ORDER, Match, Participant, RakeBand
from players import rows
from players.ledger import chunks
from players.models import Pool, Rating, RatingChange

CENT = Decimal("0.01")
EXACT = Context(prec=60, rounding=ROUND_HALF_UP)
"""Wide enough for any stake times any percentage, so that nothing is rounded but the cents at the end."""


# --- Computing ---


def rake_for(
    bands: Sequence[RakeBand],
    *,
    ratings: Sequence[float],
    length: int | None,
    stake: Decimal | None,
    points: int | None = None,
    real_money: bool | None,
) -> Decimal | None:
    """What each player of a match pays, in euros and whole cents; None where no rake is taken.

    None without bands, without real money or without a stake. `ratings` are those of the players before the match, in points;
    `stake` in euros per player, in a money game (no length) per point, of which `points` were won (before its end: 1).
    Percent of the stake, half up to the cent, then held between the band's minimum and cap. The bands are those of one pool.
    """
    amount = at_stake(length=length, stake=stake, points=1 if points is None else points)
    if not real_money or amount is None:
        return None
    band = band_for(bands, difference=difference_of(ratings), length=length)
    if band is None:
        return None
    with localcontext(EXACT):
        share = (amount * band.percent / 100).quantize(CENT)
        share = max(share, band.minimum)
        return (share if band.cap is None else min(share, band.cap)).quantize(CENT)


def at_stake(*, length: int | None, stake: Decimal | None, points: int | None) -> Decimal | None:
    """What a player has at stake, in euros: in a money game (no length) the stake per point times the points won."""
    if stake is None or (length is None and points is None):
        return None
    with localcontext(EXACT):
        return stake if length is not None else stake * (points or 0)


def difference_of(ratings: Sequence[float]) -> Decimal:
    """The highest rating less the lowest, in points, exactly: on the shortest decimals that stand for the doubles."""
    with localcontext(Context(prec=400)):
        exact = [Decimal(repr(float(rating))) for rating in ratings]
        return max(exact) - min(exact)


def band_for(bands: Iterable[RakeBand], *, difference: Decimal, length: int | None) -> RakeBand | None:
    """The band of a match: among those of its length, else among those of every length, the last that begins at its difference
    or below."""
    fitting = [band for band in bands if band.difference <= difference and (band.is_general or band.covers(length))]
    return max(fitting, key=lambda band: (not band.is_general, band.difference), default=None)


# --- Reading ---


def bands_of(pool: Pool) -> list[RakeBand]:
    """The pool's bands, in order. One query."""
    return list(RakeBand.objects.filter(pool=pool))


def are_examples(pool_ids: Collection[int]) -> bool:
    """Whether the bands of one of these pools are those that the site came with. One query."""
    return RakeBand.objects.filter(pool__in=pool_ids, example=True).exists()


def bands_statement(pool_id: int) -> rows.Statement:
    """The statement that reads the bands, for a completion, which sends it along with others."""
    return f"SELECT {rows.columns(RakeBand)} FROM matches_rakeband WHERE pool_id = %s", [pool_id]


@dataclass(frozen=True, slots=True)
class BandGroup:
    """The bands of one range of lengths, or of all lengths that have none of their own (None), in order."""

    lengths: tuple[int, int] | None
    bands: tuple[RakeBand, ...]


def grouped(bands: Iterable[RakeBand]) -> list[BandGroup]:
    """Bands by the lengths that they are for, those for every other length first."""
    groups: dict[tuple[int, int] | None, list[RakeBand]] = defaultdict(list)
    for band in bands:
        groups[band.lengths].append(band)
    return [
        BandGroup(lengths, tuple(sorted(groups[lengths], key=lambda band: band.difference)))
        for lengths in sorted(groups, key=lambda lengths: lengths or (0, 0))
    ]


# --- Checking ---


@dataclass(frozen=True, slots=True)
class BadBand:
    """What is wrong with one band of a set: its place in the list, from 0, the field, and a code for the rule."""

    index: int
    field: str
    code: str


def check_bands(bands: Sequence[RakeBand]) -> list[BadBand]:
    """What keeps bands, each possible by itself, from being those of a pool: a gap, a range of lengths that crosses another, a
    percent, minimum or cap that falls while the difference grows."""
    place = {id(band): index for index, band in enumerate(bands)}
    bad: list[BadBand] = []

    def found(band: RakeBand, field: str, code: str) -> None:
        bad.append(BadBand(place[id(band)], field, code))

    groups = grouped(bands)
    for group in groups:
        if group.bands[0].difference != 0:
            found(group.bands[0], "difference", "not_from_0")
        for lower, higher in pairwise(group.bands):
            if higher.difference == lower.difference:
                found(higher, "difference", "twice")
                continue
            for name in ("percent", "minimum"):
                if getattr(higher, name) < getattr(lower, name):
                    found(higher, name, "falls")
            # Without a cap is above every cap.
            if higher.cap is not None and (lower.cap is None or higher.cap < lower.cap):
                found(higher, "cap", "falls")
    ranged = [group for group in groups if group.lengths is not None]
    if ranged and len(ranged) == len(groups):
        found(ranged[0].bands[0], "length_from", "no_other_lengths")
    for one, other in pairwise(ranged):
        if other.lengths[0] <= one.lengths[1]:  # type: ignore[index]
            found(other.bands[0], "length_from", "crosses")
    return bad


# --- Charging ---


def may_cost(match: Match) -> bool:
    """Whether the match is one of which a rake is taken where there are bands."""
    return bool(match.real_money) and at_stake(length=match.length, stake=match.stake, points=match.points) is not None


def charge(pool: Pool, matches: Collection[Match], bands: Sequence[RakeBand]) -> None:
    """Store what matches cost their players, which are stored as completed and rated a moment ago, in the same transaction.

    Nothing where the pool has no bands; else one statement to read for 500 matches, and one to write.
    """
    costing = {match.pk: match for match in matches if may_cost(match)} if bands else {}
    charged: list[tuple[int, Decimal]] = []
    for chunk in chunks(list(costing)):
        seats: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for seat_id, match_id, before in _before(pool, chunk):
            seats[match_id].append((seat_id, before))
        for match_id, at_table in seats.items():
            match = costing[match_id]
            rake = rake_for(
                bands,
                ratings=[before for _, before in at_table],
                length=match.length,
                stake=match.stake,
                points=match.points,
                real_money=match.real_money,
            )
            if rake is not None:
                charged += [(seat_id, rake) for seat_id, _ in at_table]
    rows.write(rows.Update(Participant, ("id", "rake"), charged))


def _before(pool: Pool, match_ids: Sequence[int]) -> Iterable[tuple[int, int, float]]:
    """Of every seat its id, its match and the player's rating before it; where the match does not count, what it was by then."""
    line = FilteredRelation("match__changes", condition=Q(match__changes__player=F("player")))
    earlier = Q(ended_at__lt=OuterRef("match__ended_at"))
    same: dict[str, OuterRef] = {"ended_at": OuterRef("match__ended_at")}
    for name in (*ORDER[1:-1], "match_id"):
        own = OuterRef("match_id" if name == "match_id" else f"match__{name}")
        earlier |= Q(**same, **{f"{name}__lt": own})
        same[name] = own
    rating = Rating.objects.filter(pool=pool, player=OuterRef("player"))
    last = RatingChange.objects.filter(earlier, rating__pool=pool, player=OuterRef("player"))
    newest = last.order_by(*(f"-{name}" for name in ORDER[:-1]), "-match_id")
    seats = Participant.objects.filter(match__in=match_ids).annotate(line=line)
    before = Coalesce(F("line__before"), Subquery(newest.values("after")[:1]), Subquery(rating.values("opening")[:1]))
    for seat_id, match_id, value in seats.order_by("match_id", "seat").values_list("pk", "match_id", before):
        yield seat_id, match_id, pool.rating_system.start if value is None else value


def carry_over(stored: Sequence[Participant], seats: Sequence[Participant]) -> None:
    """Leave with the seats of a match, which a correction fills anew, what they have cost."""
    for old, new in zip(stored, seats, strict=False):
        new.rake = old.rake


def money_result(*, amount: Decimal, score: float | None, chance: float | None) -> Decimal | None:
    """What a player has won (or lost: below 0) of the amount at stake, in euros and whole cents, before the rake.

    `score` is 1, 0.5 or 0; where the match was broken off, `chance` is his own winning chance and the amount is divided by it
    (ours), half up away from zero, so that the two results cancel.
    """
    share = score if score is not None else chance
    if share is None:
        return None
    with localcontext(EXACT):
        return (amount * (2 * Decimal(repr(float(share))) - 1)).quantize(CENT)
