"""Results from game servers: one, or up to a thousand at once. Nothing is stored that `matches.completion` would not store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample
from rest_framework.response import Response

from matches.api import result_shapes as shapes
from matches.api.finishing import own_match
from matches.api.posting import NotStored, Stored, post_results
from matches.api.published import results_of
from matches.api.reads import MatchReads
from matches.api.results import SENT, Sent, read_sent, sent_of
from matches.entries import OUTCOME_FIELDS, Conflict, described
from matches.words import label_of, value_in_words
from players.api import reading
from players.api.actors import Actor, actor_of
from players.api.base import ApiView, named_pool
from players.api.errors import ApiError, field_error, invalid
from players.api.reading import Unfits, read_object
from players.api.schema import WRITE_ERRORS
from players.api.schema import described as documented
from players.models import Pool
from players.systems.base import Refused

MOST = 1000
"""Matches in a batch."""
WRITES = (*WRITE_ERRORS, 409)


def _slug(name: str, value: Any) -> str:
    return reading.text(name, value, 50)


EXAMPLES = [
    OpenApiExample(
        "backgammon",
        value={
            "pool": "fibs",
            "external_id": "game-1007",
            "players": [{"external_id": "u77", "name": "Vera"}, {"name": "Didrik"}],
            "scores": [1, 0],
            "length": 7,
            "ended_at": "2026-11-29T20:15:00+01:00",
        },
        request_only=True,
    ),
    OpenApiExample(
        "broken off, for money",
        value={
            "pool": "crowns-cup",
            "external_id": "game-1008",
            "players": [{"id": 12}, {"id": 31}],
            "chance": 0.72,
            "length": 5,
            "stake": 10,
            "real_money": True,
            "kind": "table",
            "ended_at": "2026-11-29T20:15:00Z",
        },
        request_only=True,
    ),
    OpenApiExample(
        "four at a table, known by the date",
        value={
            "pool": "freewhist",
            "external_id": "2026-11-29/4",
            "players": [{"name": "Vera"}, {"name": "Didrik"}, {"name": "Inger"}, {"name": "Rune"}],
            "places": [1, 2, 2, 4],
            "deals": 24,
            "date": "2026-11-29",
            "sequence": 4,
        },
        request_only=True,
    ),
    OpenApiExample(
        "of a match that started at your table",
        value={
            "pool": "fibs",
            "match": 911,
            "external_id": "game-1009",
            "players": [{"external_id": "u77"}, {"external_id": "u31"}],
            "scores": [1, 0],
            "ended_at": "2026-11-29T20:15:00Z",
        },
        request_only=True,
    ),
]


class Matches(MatchReads):
    rates = {"POST": "write"}

    @documented(
        "Post a result",
        "Stores the match and rates it. The same request again, also ten at once, makes no second match and gets the same "
        "answer: the values as they were first published, and `revised` where they have changed since. Another result under the "
        "same external_id is a conflict. A match that does not count is stored and says why. With `match` it completes the match "
        "that started at a table of yours, where players and terms are as agreed there.",
        {201: shapes.MatchResult},
        tag="matches",
        errors=(*WRITES, 404),
        request=shapes.MatchSent,
        shapes={409: shapes.ConflictError},
        examples=EXAMPLES,
        operation_id="matches_create",
    )
    def post(self, request: Any) -> Response:
        actor = actor_of(request)
        values = read_object(request.data, {"pool": _slug, **SENT}, required=("pool", "external_id", "players"))
        pool = named_pool(values)
        actor.require("results", pool)
        sent = sent_of(values)
        if sent.match is not None:
            own_match(sent.match, actor)
        try:
            [stored] = post_results(actor, pool, [sent], each=False, now=timezone.now())
        except NotStored as error:
            raise _why(error.rows[0], pool, sent) from None
        assert stored.match is not None
        return Response(results_of([stored.match], actor)[stored.match], status=201)


class Batch(ApiView):
    rate = "write"

    @documented(
        "Post results",
        "Up to 1,000 of one pool, each as if it had been posted alone, in one transaction: all or none, or with `each` all that "
        "can be stored. Order makes no difference: they are rated by when they ended. With `match` a row completes the match "
        "that started at a table of yours.",
        {200: shapes.BatchResult},
        tag="matches",
        errors=WRITES,
        request=shapes.BatchSent,
        shapes={409: shapes.BatchError},
        operation_id="matches_create_batch",
    )
    def post(self, request: Any) -> Response:
        actor = actor_of(request)
        readers: dict[str, reading.Reader] = {
            "pool": _slug,
            "matches": lambda name, value: reading.listed(name, value, 1, MOST),
            "each": reading.flag,
        }
        values = read_object(request.data, readers, required=("pool", "matches"))
        pool = named_pool(values)
        actor.require("results", pool)
        sent, wrong = _read_all(values["matches"])
        each = values.get("each", False)
        if wrong and not each:
            raise invalid([(_path(index, path), refused) for index, one in wrong.items() for path, refused in one])
        rows = self._post(actor, pool, sent, each)
        results = results_of([row.match for row in rows.values() if row.match is not None], actor)
        answer = []
        for index, one in enumerate(values["matches"]):
            if index in wrong:
                error = {**invalid(wrong[index]).body(), "match": None}
                external_id = one.get("external_id") if isinstance(one, dict) else None
                answer.append(_row(index, external_id, None, error))
            elif (match := rows[index].match) is not None:
                answer.append(_row(index, sent[index].external_id, results[match], None))
            else:
                error = _why(rows[index], pool, sent[index]).body()
                answer.append(_row(index, sent[index].external_id, None, {"match": None, **_plain(error)}))
        refused = sum(row["error"] is not None for row in answer)
        return Response({"stored": len(answer) - refused, "refused": refused, "rows": answer})

    @staticmethod
    def _post(actor: Actor, pool: Pool, sent: dict[int, Sent], each: bool) -> dict[int, Stored]:
        """What became of the rows that could be read. Raises ApiError."""
        if not sent:
            return {}
        indices = list(sent)
        try:
            stored = post_results(actor, pool, list(sent.values()), each=each, now=timezone.now())
        except NotStored as error:
            rows = {indices[place]: row for place, row in error.rows.items()}
            refused = {index: row.refused for index, row in rows.items() if row.refused is not None}
            fields = [field_error(_path(index, one.field), one) for index, one in refused.items()]
            for index, row in rows.items():
                if row.conflict is not None:
                    conflict = _conflict(row.conflict, pool, sent[index]).body()
                    fields += [{**_plain_field(one), "field": _path(index, one["field"])} for one in conflict["fields"]]
            status = 400 if refused else 409
            raise ApiError(status, fields[0]["detail"], fields=fields) from None
        return dict(zip(indices, stored, strict=True))


def _read_all(rows: Sequence[Any]) -> tuple[dict[int, Sent], dict[int, list[tuple[str, Refused]]]]:
    """By row, what was sent, and what is wrong with the rows that cannot be read."""
    sent, wrong = {}, {}
    for index, row in enumerate(rows):
        try:
            sent[index] = read_sent(row, "row")
        except Unfits as unfits:
            wrong[index] = unfits.refusals
    return sent, wrong


def _path(index: int, path: str) -> str:
    return f"matches[{index}]" if path == "row" else f"matches[{index}].{path}"


def _row(index: int, external_id: Any, result: Any, error: Any) -> dict[str, Any]:
    return {
        "index": index,
        "external_id": external_id if isinstance(external_id, str) else None,
        "result": result,
        "error": error,
    }


def _plain(error: dict[str, Any]) -> dict[str, Any]:
    return {**error, "fields": [_plain_field(one) for one in error["fields"]]}


def _plain_field(one: dict[str, Any]) -> dict[str, str]:
    return {name: one[name] for name in ("field", "code", "detail")}


# --- Why a row was not stored ---


def _why(row: Stored, pool: Pool, sent: Sent) -> ApiError:
    if row.conflict is not None:
        return _conflict(row.conflict, pool, sent)
    assert row.refused is not None
    return invalid([(row.refused.field, row.refused)])


def _conflict(conflict: Conflict, pool: Pool, sent: Sent) -> ApiError:
    """What is stored under the id, and what was sent, field by field."""
    match = conflict.match
    seats = list(match.participants.select_related("player"))
    stored = described(match, seats) | {"pool": match.pool.slug, "external_id": match.external_id or None, "match": match.pk}
    named = {seat.player_id: seat.player.name for seat in seats}
    fields = []
    for name in conflict.fields:
        given = sent.match if name == "match" else _sent_value(name, pool, sent)
        words = value_in_words("result" if name in OUTCOME_FIELDS else name, stored | {"pool": match.pool.name}, named)
        fields.append(
            {
                "field": name,
                "code": "stored_differs",
                "detail": _("%(field)s: stored is %(stored)s.") % {"field": label_of(name), "stored": words},
                "stored": stored[name],
                "sent": given,
            }
        )
    labels = ", ".join(dict.fromkeys(label_of(name) for name in conflict.fields))
    return ApiError(
        409,
        (
            _("Your match %(id)s is stored already and says something else. It differs in: %(fields)s.")
            if sent.match is None
            else _("Match %(match)s is not as your %(id)s says. It differs in: %(fields)s.")
        )
        % {"id": sent.external_id, "match": match.pk, "fields": labels},
        fields=fields,
        match=match.pk,
    )


def _sent_value(name: str, pool: Pool, sent: Sent) -> Any:
    if name == "pool":
        return pool.slug
    if name == "players":
        return [one.id or one.external_id or one.name for one in sent.players]
    if name == "ended_at":
        return sent.ended_at.isoformat() if sent.timed else sent.ended_at.date().isoformat()
    if name == "sequence":
        return sent.sequence
    if name == "external_id":
        return sent.external_id
    value = getattr(sent.result, name, None)
    if name == "stake" and value is not None:
        return f"{value:.2f}"
    return list(value) if isinstance(value, tuple) else value
