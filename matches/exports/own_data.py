"""All that is kept of one player, as JSON that a program and a person can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import Exists, OuterRef, Q

from matches.models import Appeal, Match, Message, PairingRequest, Participant, Report, Table, TableSeat
from players.accounts.models import Claim
from players.api.models import ExternalPlayer
from players.models import Player, PlayerRecord, PublishedChange, Rating, RatingChange
from players.rows import walk

TERMS = ("sequence", "length", "deals", "points", "stake", "real_money", "kind")


def own_data(player: Player, now: datetime) -> Iterator[str]:
    """A JSON object in pieces: who the player is to the site, and each list of what is kept of him.

    Of those whom he met it has the names, as his pages do.
    """
    ids = player.ids
    parts: dict[str, Iterator[Any]] = {
        "ratings": _rows(
            Rating.objects.filter(player__in=ids).order_by("pool"),
            *("pool__slug", "value", "experience", "matches", "standing", "peak", "opening", "opening_experience", "opened_on"),
        ),
        "matches": _matches(ids),
        "history": _rows(
            RatingChange.objects.filter(player__in=ids).order_by("ended_at", "timed", "sequence", "match_id"),
            *("rating__pool__slug", "match_id", "before", "change", "after", "experience_before", "experience_after"),
            *("score", "expected"),
        ),
        "published_before_revisions": _rows(
            PublishedChange.objects.filter(player__in=ids).order_by("match_id"),
            *("match_id", "before", "change", "after", "experience_before", "experience_after"),
        ),
        "tables": _rows(Table.objects.filter(host__in=ids).order_by("pk"), "pool__slug", "opened_at", "length", "deals", "stake"),
        "challenges": _rows(
            Table.objects.filter(invited__in=ids).order_by("pk"),
            *("pool__slug", "host__name", "opened_at", "length", "deals", "stake", "status", "closed_because"),
        ),
        "sits_at": _rows(
            TableSeat.objects.filter(player__in=ids).order_by("pk"), "table__pool__slug", "table__host__name", "taken_at"
        ),
        "waits_to_be_paired": _rows(
            PairingRequest.objects.filter(player__in=ids).order_by("pk"), "pool__slug", "since", "length", "deals", "stake"
        ),
        "reports": _rows(
            _by_seat("seat", ids),
            *("match_id", "outcome", "scores", "places", "points", "played_at", "note", "state", "made_at", "decision"),
        ),
        "disputes": _rows(_by_seat("disputed_seat", ids), "match_id", "other", "dispute_note", "disputed_at", "decision"),
        "appeals": _rows(
            Appeal.objects.filter(player__in=ids).order_by("pk"),
            *("match_id", "text", "state", "made_at", "answer", "answered_at"),
        ),
        "messages": _rows(
            Message.objects.filter(player__in=ids).order_by("pk"),
            *("kind", "pool__slug", "match_id", "details", "made_at", "read_at", "mail"),
        ),
        "claims": _rows(
            Claim.objects.filter(Q(user__player=player.pk) | Q(player__in=ids)).order_by("pk"),
            *("player__name", "note", "state", "made_at", "answer", "answered_at"),
        ),
        "ids_at_game_servers": _rows(
            ExternalPlayer.objects.filter(player__in=ids).order_by("pk"), "source", "external_id", "made_at"
        ),
        "records": _rows(PlayerRecord.objects.filter(player__in=ids).order_by("pk"), "kind", "details", "made_at"),
    }
    yield "{\n"
    yield f'"exported_at": {_json(now)},\n"player": {_json(_player(player))}'
    for name, rows in parts.items():
        yield f',\n"{name}": ['
        for number, row in enumerate(rows):
            yield ("," if number else "") + "\n " + _json(row)
        yield "]"
    yield "\n}\n"


def _by_seat(field: str, ids: list[int]) -> Any:
    """The reports of which this field names one of his seats."""
    sat = Participant.objects.filter(match=OuterRef("match"), seat=OuterRef(field), player__in=ids)
    return Report.objects.filter(Exists(sat)).order_by("pk")


def _player(player: Player) -> dict[str, Any]:
    user = player.user
    login = user and {
        "user_name": user.username,
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "since": user.date_joined,
        "last_login": user.last_login,
        "addresses": list(EmailAddress.objects.filter(user=user.pk).values("email", "verified", "primary")),
    }
    return {
        "id": player.pk,
        "name": player.name,
        "address": player.slug,
        "old_addresses": list(player.old_addresses.values_list("slug", flat=True)),
        "merged_duplicates": list(Player.objects.filter(pk__in=player.ids[1:]).order_by("pk").values_list("name", flat=True)),
        "time_zone": player.time_zone,
        "language": player.language,
        "country": player.country,
        "mail_wanted": player.mail_wanted,
        "created_at": player.created_at,
        "login": login,
    }


def _rows(found: Any, *fields: str) -> Iterator[dict[str, Any]]:
    named = (field.removesuffix("__slug").removesuffix("__name").rpartition("__")[2] for field in fields)
    names = ["match" if name == "match_id" else name for name in named]
    for row in walk(found.values_list(*fields)):
        yield dict(zip(names, row, strict=True))


def _matches(ids: list[int]) -> Iterator[dict[str, Any]]:
    """His matches with all who sat at the table, his own seat marked. One query for some matches, and one for their seats."""
    played = Participant.objects.filter(player__in=ids).values("match")
    seats = Participant.objects.filter(match__in=played).select_related("player", "match__pool").order_by("match_id", "seat")
    match: Match | None = None
    row: dict[str, Any] = {}
    for seat in walk(seats):
        if match is None or seat.match_id != match.pk:
            if row:
                yield row
            match = seat.match
            row = {"match": match.pk, "pool": match.pool.slug, "status": match.status, "ended_at": _end(match)}
            row |= {name: getattr(match, name) for name in TERMS}
            row |= {"chance_of_player_1": match.chance, "not_counted": match.not_counted, "seats": []}
        own = seat.player_id in ids
        told = {"player": seat.player.name, "you": own, "score": seat.score, "place": seat.place}
        row["seats"].append(told | {"rake": seat.rake} if own else told)
    if row:
        yield row


def _end(match: Match) -> date | datetime | None:
    return match.ended_at if match.timed else match.ended_on


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(type(value))
