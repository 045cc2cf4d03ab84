"""The answer to a result: what it did to each player as it was first published, and what became of that.

It is read from what is stored, so the same request gets the same answer however often it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from matches.api.answers import not_counted
from matches.api.first import edits_of, first_described
from matches.models import Match, Participant
from players.api.actors import Actor
from players.api.answers import Json, change, end, euros, player, points
from players.ledger import chunks
from players.models import Player, Pool, PublishedChange, RatingChange
from players.pages.pools import all_pools
from players.permissions import StakeSight, stakes_for
from players.systems.base import Result

Numbers = tuple[float, float, float, int, int]
NUMBERS = ("before", "change", "after", "experience_before", "experience_after")
NOTHING: Json = dict.fromkeys(NUMBERS)


def results_of(ids: Sequence[int], actor: Actor) -> dict[int, Json]:
    """By match id, what is answered of stored matches to whoever wrote them. What he may not see of stakes is left out.

    Six queries for each few hundred, however many there are, and three more
    for those that were edited."""
    answers: dict[int, Json] = {}
    reader = actor.login if actor.key is None else None
    pools = {pool.pk: pool for pool in all_pools(reader)}
    sights: dict[int, StakeSight] = {}
    for chunk in chunks(sorted(set(ids))):
        matches = {match.pk: match for match in Match.objects.filter(pk__in=chunk)}
        seated: dict[int, list[Participant]] = {}
        for seat in Participant.objects.filter(match__in=chunk).select_related("player").order_by("match_id", "seat"):
            seated.setdefault(seat.match_id, []).append(seat)
        now = _numbers(RatingChange.objects.filter(match__in=chunk))
        was = _numbers(PublishedChange.objects.filter(match__in=chunk))
        revised = [pk for pk, match in matches.items() if match.version > 1]
        edits = edits_of(revised) if revised else {}
        gone = _unseated(was, seated)
        for pk, match in matches.items():
            match.pool = pools[match.pool_id]
            if match.pool_id not in sights:
                sights[match.pool_id] = stakes_for(reader, match.pool)
            seats = seated.get(pk, [])
            counted_first = pk not in edits or _counted_first(match, seats, edits[pk])
            shows_rake = is_own(match, actor) or sights[match.pool_id].of(seat.player for seat in seats)
            numbers = now.get(pk, {}), was.get(pk, {})
            answers[pk] = _result(match, seats, *numbers, gone, counted_first, shows_rake)
    return answers


def is_own(match: Match, actor: Actor) -> bool:
    """Whether it came from his source: he knows its stake, since he sent it."""
    return bool(match.external_id) and match.source == actor.source


def _numbers(rows: Any) -> dict[int, dict[int, Numbers]]:
    found: dict[int, dict[int, Numbers]] = {}
    for match_id, player_id, *numbers in rows.values_list("match_id", "player_id", *NUMBERS):
        found.setdefault(match_id, {})[player_id] = tuple(numbers)
    return found


def _unseated(was: dict[int, dict[int, Numbers]], seated: dict[int, list[Participant]]) -> dict[int, Player]:
    """Players of whom something was published who do not sit at the table any more."""
    ids = {
        player_id
        for match_id, numbers in was.items()
        for player_id in numbers.keys() - {seat.player_id for seat in seated.get(match_id, [])}
    }
    return Player.objects.in_bulk(ids) if ids else {}


def _counted_first(match: Match, seats: Iterable[Participant], edits: Any) -> bool:
    """Whether an edited match counted as it first came in."""
    match._prefetched_objects_cache = {"participants": list(seats)}  # type: ignore[attr-defined]
    first = first_described(match, edits)
    names = ("chance", "length", "deals", "points", "stake", "real_money", "kind")
    result = Result(
        scores=first["scores"] and tuple(first["scores"]), places=first["places"] and tuple(first["places"]),
        **{name: first[name] for name in names},
    )  # fmt: skip
    text = str(first["ended_at"])
    ended = datetime.fromisoformat(text if "T" in text else f"{text}T00:00:00+00:00")
    return match.pool.system_at(ended).not_counted(result) is None


def _result(
    match: Match,
    seats: Sequence[Participant],
    now: dict[int, Numbers],
    was: dict[int, Numbers],
    gone: dict[int, Player],
    counted_first: bool,
    shows_rake: bool,
) -> Json:
    pool = match.pool
    players = [(seat.player, seat.rake) for seat in seats]
    players += [(gone[pk], None) for pk in was if pk in gone]
    lines = []
    for who, rake in players:
        line, published = now.get(who.pk), was.get(who.pk)
        first = published or (line if counted_first else None)
        lines.append(
            {
                "player": player(who),
                **(_in_words(first, pool) if first else NOTHING),
                "rake": euros(rake) if shows_rake else None,
                "revised": (_in_words(line, pool) if line else NOTHING) if line != first else None,
            }
        )
    return {
        "match": match.pk,
        "page": match.get_absolute_url(),
        "pool": pool.slug,
        "external_id": match.external_id or None,
        "status": str(match.status),
        "version": match.version,
        **end(match.ended_at, match.timed),
        "counted": match.status == Match.Status.COMPLETED and not match.not_counted,
        "not_counted": not_counted(match, seats, pool),
        "players": lines,
    }


def _in_words(numbers: Numbers, pool: Pool) -> Json:
    before, moved, after, experience_before, experience_after = numbers
    return {
        "before": points(before, pool),
        "change": change(moved, pool),
        "after": points(after, pool),
        "experience_before": experience_before,
        "experience_after": experience_after,
    }
