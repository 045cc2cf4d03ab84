"""The API's reads of pools, players, ratings and rankings, and what a match would do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample
from rest_framework.response import Response

from players import rankings
from players.api import answers, cursors, reading, shapes
from players.api.base import ApiView, pool_at
from players.api.errors import not_found
from players.api.reading import Unfit, read_object, read_query
from players.api.schema import WRITE_ERRORS, Param, described, readable, readers, required
from players.ledger import new_rating
from players.models import Player, Pool, Rating, RatingChange
from players.names import NAME_MAX, clean_name, name_key
from players.pages.pools import all_pools, ratings_of
from players.pages.profile import record_of
from players.services import present_players
from players.simulation import simulate
from players.systems.base import DEALS, EXPERIENCE_LIMIT, Seat

LIMIT = Param(
    "limit",
    f"Lines a page, 1 to {cursors.MOST}; {cursors.PAGE_SIZE} where it is left out.",
    lambda name, value: reading.whole(name, reading.json_number(value), 1, cursors.MOST),
    {"type": "integer", "minimum": 1, "maximum": cursors.MOST},
)
MOST_AROUND = 50
LAST_PAGE = 1_000_000


def cursor(*kinds: type) -> Param:
    return Param("cursor", "The `next` of the page before.", cursors.reader(kinds))


def id_param(name: str, description: str, **more: Any) -> Param:
    return Param(
        name,
        description,
        lambda name, value: reading.whole(name, reading.json_number(value), 1, reading.BIG - 1),
        {"type": "integer", "minimum": 1},
        **more,
    )


def the_player(pk: int) -> Player:
    """The player of an id; a merged duplicate's leads to the one whom he is. Raises ApiError (404)."""
    found = Player.objects.filter(pk=pk).first()
    if found is None:
        raise not_found(_("There is no such player."))
    return present_players([found])[0] if found.merged_into_id is not None else found


class Pools(ApiView):
    max_age = 60

    @readable(
        "Pools",
        "All pools, each with the name by which the rest of the API takes it.",
        shapes.PoolList,
        tag="pools",
        operation_id="pools_list",
    )
    def get(self, request: HttpRequest) -> Response:
        read_query(request.GET, {})
        pools = all_pools()
        sizes = rankings.sizes(pools)
        return Response({"pools": [answers.pool_line(pool, sizes.get(pool.pk, 0)) for pool in pools]})


class PoolDetail(ApiView):
    max_age = 60

    @readable(
        "A pool", "Its rating system with all parameters, what a result says here, and its tiers.", shapes.PoolPage,
        tag="pools", errors=(404,),
    )  # fmt: skip
    def get(self, request: HttpRequest, pool: str) -> Response:
        read_query(request.GET, {})
        found = pool_at(pool)
        return Response(answers.pool_page(found, rankings.count(found)))


RANKING = (
    Param(
        "page",
        "From 1; beyond the end, the last page.",
        lambda name, value: reading.whole(name, reading.json_number(value), 1, LAST_PAGE),
        {"type": "integer", "minimum": 1, "maximum": LAST_PAGE},
    ),
    LIMIT,
    id_param("around", "A player's id: the lines around him, instead of a page."),
    Param(
        "each",
        f"How many lines before and after him, 0 to {MOST_AROUND}; 5 where it is left out.",
        lambda name, value: reading.whole(name, reading.json_number(value), 0, MOST_AROUND),
        {"type": "integer", "minimum": 0, "maximum": MOST_AROUND},
    ),
)


class Rankings(ApiView):
    @readable(
        "A pool's ranking",
        "A page of it, or the lines around a player. Players with at least one counted match are listed by standing; equal shown "
        "standings share a rank.",
        shapes.RankingPage,
        params=RANKING,
        tag="pools",
        errors=(404,),
    )
    def get(self, request: HttpRequest, pool: str) -> Response:
        values = read_query(request.GET, readers(RANKING))
        found = pool_at(pool)
        size = values.get("limit", cursors.PAGE_SIZE)
        page = pages = None
        if "around" in values:
            who = the_player(values["around"])
            rating = Rating.objects.filter(pool=found, player=who).first()
            if rating is not None:
                rating.pool = found
            listing = rankings.neighbours(rating, values.get("each", 5)) if rating is not None else None
            if listing is None:
                raise not_found(_("%(name)s has no counted match in this pool.") % {"name": who.name})
        else:
            listing = rankings.page(found, values.get("page", 1), size)
            page, pages = listing.start // size + 1, max(1, -(-listing.of // size))
        lines = [answers.ranked(line, found) for line in listing.rows]
        whole = {"listed": listing.of, "start": listing.start, "page": page, "pages": pages, "lines": lines}
        return Response({"pool": found.slug, **whole})


PLAYERS = (
    Param("search", "Part of a name, in capitals or not.", lambda name, value: reading.text(name, value, NAME_MAX)),
    cursor(str),
    LIMIT,
)


class Players(ApiView):
    @readable(
        "Players",
        "By name, page by page. Merged duplicates are not among them.",
        shapes.PlayerList,
        params=PLAYERS,
        tag="players",
        operation_id="players_list",
    )
    def get(self, request: HttpRequest) -> Response:
        values = read_query(request.GET, readers(PLAYERS))
        rows = Player.objects.filter(merged_into=None).order_by("name_key")
        if "search" in values:
            rows = rows.filter(name_key__contains=name_key(clean_name(values["search"])))
        if "cursor" in values:
            rows = rows.filter(name_key__gt=values["cursor"][0])
        size = values.get("limit", cursors.PAGE_SIZE)
        found = list(rows[: size + 1])
        following = cursors.encode([found[size - 1].name_key]) if len(found) > size else None
        return Response({"players": [answers.player(one) for one in found[:size]], "next": following})


class PlayerDetail(ApiView):
    @readable(
        "A player",
        "With his ratings in all pools. The id of a merged duplicate answers the player whom he is.",
        shapes.PlayerPage,
        tag="players",
        errors=(404,),
    )
    def get(self, request: HttpRequest, player: int) -> Response:
        read_query(request.GET, {})
        who = the_player(player)
        pools, ratings = all_pools(), ratings_of(who)
        return Response(
            {
                **answers.player(who),
                "ratings": [answers.rating(ratings[pool.pk], pool) for pool in pools if pool.pk in ratings],
            }
        )


class RatingDetail(ApiView):
    @readable(
        "A player's rating in a pool",
        "With rank and record. One who has not played there has the rating that he would start with.",
        shapes.RatingPage,
        tag="players",
        errors=(404,),
    )
    def get(self, request: HttpRequest, player: int, pool: str) -> Response:
        read_query(request.GET, {})
        found, who = pool_at(pool), the_player(player)
        rating = Rating.objects.filter(pool=found, player=who).first() or _unplayed(found, who)
        rating.pool = found
        place, record = rankings.place(rating), record_of(who, found)
        return Response(
            {
                **answers.rating(rating, found),
                "player": answers.player(who),
                "rank": place.rank if place else None,
                "of": place.of if place else None,
                "better_than": place.better_than if place else None,
                "record": {name: getattr(record, name) for name in ("won", "drawn", "lost", "broken_off")}
                | {"places": list(record.places)},
            }
        )


def _unplayed(pool: Pool, who: Player) -> Rating:
    return new_rating(pool, who.pk, timezone.now())


HISTORY_ORDER = ("ended_at", "timed", "sequence", "match_id")
HISTORY = (
    Param(
        "since",
        "Only matches that ended then or later: a time with its offset, or a date (UTC).",
        reading.moment,
        {"type": "string"},
        example="2026-11-01",
    ),
    cursor(datetime, bool, int, int),
    LIMIT,
)


class History(ApiView):
    @readable(
        "A player's history in a pool",
        "What each counted match did to the rating, in the order of rating, the first one first.",
        shapes.HistoryList,
        params=HISTORY,
        tag="players",
        errors=(404,),
    )
    def get(self, request: HttpRequest, player: int, pool: str) -> Response:
        values = read_query(request.GET, readers(HISTORY))
        found, who = pool_at(pool), the_player(player)
        rows = RatingChange.objects.filter(rating__pool=found, rating__player=who).order_by(*HISTORY_ORDER)
        if "since" in values:
            rows = rows.filter(ended_at__gte=values["since"])
        if "cursor" in values:
            rows = cursors.after(rows, HISTORY_ORDER, values["cursor"])
        size = values.get("limit", cursors.PAGE_SIZE)
        lines = list(rows[: size + 1])
        following = None
        if len(lines) > size:
            following = cursors.encode([getattr(lines[size - 1], name) for name in HISTORY_ORDER])
        changes = [answers.history_line(line, found) for line in lines[:size]]
        return Response({"player": answers.player(who), "pool": found.slug, "changes": changes, "next": following})


# --- What a match would do ---

TERM_READERS: dict[str, reading.Reader] = {
    "length": lambda name, value: reading.whole(name, value, 1, 99),
    "stake": reading.amount,
    "points": lambda name, value: reading.whole(name, value, 1, 9999),
    "deals": lambda name, value: reading.whole(name, value, DEALS.start, DEALS.stop - 1),
    "chance": reading.number,
}


def _term(name: str, description: str, kind: str, **limits: Any) -> Param:
    read = TERM_READERS[name]
    return Param(name, description, lambda name, value: read(name, reading.json_number(value)), {"type": kind, **limits})


PREDICTION = (
    *(id_param(name, f"The id of player {number}.", required=number <= 2) for number, name in enumerate("abcd", start=1)),
    _term("length", "Match length in points; without it, a money game.", "integer", minimum=1, maximum=99),
    _term("stake", "Euros per player; in a money game per point.", "number", minimum=0.01),
    _term("points", "Points won in a money game.", "integer", minimum=1, maximum=9999),
    _term("deals", "Deals, at FreeWhist.", "integer", minimum=1, maximum=999),
    _term("chance", "Player 1's winning chance where the match is broken off.", "number", minimum=0, maximum=1),
)


class Prediction(ApiView):
    rate = "compute"

    @readable(
        "What a match between players would do",
        "Their chances, and what every outcome would move, if it counted. Who has not played yet has the rating of a beginner.",
        shapes.Simulation,
        params=PREDICTION,
        tag="pools",
        errors=(404,),
    )
    def get(self, request: HttpRequest, pool: str) -> Response:
        values = read_query(request.GET, readers(PREDICTION), required(PREDICTION))
        found = pool_at(pool)
        names = [name for name in "abcd" if name in values]
        rows = Player.objects.in_bulk([values[name] for name in names])
        for name in names:
            if values[name] not in rows:
                raise Unfit(name, "no_player", name=values[name])
        who = present_players([rows[values[name]] for name in names])
        if len({one.pk for one in who}) < len(who):
            raise Unfit(names[-1], "same_player")
        ratings = {rating.player_id: rating for rating in Rating.objects.filter(pool=found, player__in=who)}
        seats = [
            Seat(ratings[one.pk].value, ratings[one.pk].experience) if one.pk in ratings else Seat(found.rating_system.start)
            for one in who
        ]
        simulated = simulate(found.rating_system, seats, **_terms(values))
        sitting = [answers.seat(seat.rating, seat.experience, found, one) for seat, one in zip(seats, who, strict=True)]
        return Response(answers.simulation(simulated, found, sitting))


def _terms(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in TERM_READERS if name in values}


def _seat(name: str, value: Any) -> Seat:
    sent = {"rating": reading.number, "experience": lambda name, value: reading.whole(name, value, 0, EXPERIENCE_LIMIT)}
    values = read_object(value, sent, name, required=("rating",))
    return Seat(values["rating"], values.get("experience", 0))


def _seats(name: str, value: Any) -> list[Seat]:
    wrong, seats = [], []
    for index, one in enumerate(reading.listed(name, value, 1, 4)):
        try:
            seats.append(_seat(name, one))
        except reading.Unfits as unfits:
            where = f"{name}[{index}]"
            wrong += [(where if path == name else f"{where}.{path}", refused) for path, refused in unfits.refusals]
    if wrong:
        raise reading.Unfits(wrong)
    return seats


class Simulate(ApiView):
    rate = "compute"
    open_to_all = frozenset({"POST", "OPTIONS"})

    @described(
        "What a match would do",
        "For given ratings: every outcome's changes in a match that counts in the pool. Nothing is stored.",
        {200: shapes.Simulation},
        tag="pools",
        errors=(*WRITE_ERRORS, 404),
        request=shapes.SimulationSent,
        examples=[
            OpenApiExample(
                "backgammon for a stake",
                value={
                    "players": [{"rating": 1650, "experience": 400}, {"rating": 1500, "experience": 400}],
                    "length": 5,
                    "stake": 10,
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Any, pool: str) -> Response:
        values = read_object(request.data, {"players": _seats, **TERM_READERS}, required=("players",))
        found = pool_at(pool)
        simulated = simulate(found.rating_system, values["players"], **_terms(values))
        return Response(
            answers.simulation(simulated, found, [answers.seat(one.rating, one.experience, found) for one in values["players"]])
        )
