"""Records of a pool that anybody can check without the site: `players.systems.check` reads them. The format is in
docs/checking.md.

Each line is a JSON object with a digest over itself and the digest before it, so that a line which is changed, missing or in
another place is noticed. Whoever makes the digests anew is found out by what the ratings are computed from.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils import timezone

from matches.exports.tables import Seated, as_of_one_moment, completed_matches, written
from players.models import Pool, Rating, RatingChange
from players.rows import walk
from players.systems.check import FORMAT, Chain

Line = dict[str, Any]


def records(pool: Pool, now: datetime | None = None) -> Iterator[str]:
    """The records of a pool as lines of JSON, as they come. Read as of one moment."""
    chain = Chain()
    with as_of_one_moment():
        for line in _lines(Pool.objects.get(pk=pool.pk), now or timezone.now()):
            yield chain.sealed(line) + "\n"


def _lines(pool: Pool, now: datetime) -> Iterator[Line]:
    yield {
        "type": "pool",
        "format": FORMAT,
        "pool": pool.slug,
        "name": pool.name,
        "system": pool.system,
        "eras": [{"until": written(era.until), "parameters": era.parameters} for era in pool.rules.past],
        "parameters": pool.parameters,
    }
    ratings = Rating.objects.filter(pool=pool).order_by("player_id")
    openings = ratings.filter(brought=True).values_list("player_id", "opening", "opening_experience", "opened_on")
    for player, rating, experience, on in walk(openings):
        yield {
            "type": "opening",
            "player": player,
            "rating": rating,
            "experience": experience,
            "date": on and on.isoformat(),
        }
    matches = 0
    for line in _matches(pool):
        matches += 1
        yield line
    # Names come after the matches: whoever changes his changes no digest of a match.
    players = 0
    fields = ("player_id", "player__name", "value", "experience", "matches")
    for player, name, value, experience, played in walk(ratings.values_list(*fields)):
        players += 1
        yield {
            "type": "rating",
            "player": player,
            "name": name,
            "rating": value,
            "experience": experience,
            "matches": played,
        }
    yield {"type": "end", "matches": matches, "ratings": players, "exported_at": written(now)}


def _matches(pool: Pool) -> Iterator[Line]:
    fields = ("match_id", "player_id", "before", "change", "after", "experience_before", "experience_after")
    lines = RatingChange.objects.filter(rating__pool=pool).order_by("ended_at", "timed", "sequence", "match_id")
    history = groupby(walk(lines.values_list(*fields)), key=lambda line: line[0])
    published = next(history, None)
    for match, seats in completed_matches(pool):
        line = _record(match, seats)
        if published is not None and published[0] == match["id"]:
            by_player = {player: values for _match, player, *values in published[1]}
            line["published"] = [by_player.get(seat.player_id) for seat in seats]
            published = next(history, None)
        yield line
    if published is not None:
        # The site itself would be wrong; the file says so.
        yield {"type": "orphan", "match": published[0]}


def _record(match: dict[str, Any], seats: list[Seated]) -> Line:
    stake = match["stake"]
    terms = {name: match[name] for name in ("length", "deals", "points", "real_money", "chance") if match[name] is not None}
    if match["kind"]:
        terms["kind"] = match["kind"]
    if stake is not None:
        terms["stake"] = f"{stake:.2f}"
    if seats[0].score is not None:
        terms["scores"] = [seat.score for seat in seats]
    if seats[0].place is not None:
        terms["places"] = [seat.place for seat in seats]
    return {
        "type": "match",
        "match": match["id"],
        "ended_at": written(match["ended_at"]),
        "timed": match["timed"],
        "sequence": match["sequence"],
        "players": [seat.player_id for seat in seats],
        "result": terms,
        "not_counted": match["not_counted"],
    }
