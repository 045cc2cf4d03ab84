"""Everything imaginable is sent to the API, as its own description says and otherwise: no answer is an error of ours, and none is
one that the description does not know."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as bounded
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from matches.lobby.tables import open_table, take_seat
from matches.models import Match
from players.api.models import ApiKey, ExternalPlayer
from players.models import Pool
from players.systems.base import Result
from tests.asking import spec
from tests.building import at, complete, people, pool_of, won
from tests.serving import key_of

pytestmark = [pytest.mark.contract, pytest.mark.django_db]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = {GenerationMode.POSITIVE: 12, GenerationMode.NEGATIVE: 6}
OPERATIONS = [(method, path) for path, item in spec()["paths"].items() for method in item if method != "parameters"]


def _likely(schema: dict[str, Any], likely: list[Any]) -> None:
    """Let values that mean something come as often as any others."""
    kept = {key: schema.pop(key) for key in list(schema)}
    schema["anyOf"] = [{"enum": likely}, kept]


def _with_likely_values() -> dict[str, Any]:
    """The description with hints at what is there: else hardly anything would ever be found."""
    found = copy.deepcopy(spec())
    slugs, ids = (
        [pool[0] for pool in Pool.objects.values_list("slug")],
        list(Match.objects.order_by("pk").values_list("pk", flat=True)),
    )
    for item in found["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "pool":
                    _likely(parameter["schema"], slugs)
                elif parameter["in"] == "path" or parameter["name"] in ("player", "around", "a", "b"):
                    parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": ids[-1] + 2}
                elif parameter["name"] == "cursor":
                    _likely(parameter["schema"], ["WyJhIl0", "WyIyMDI2LTAzLTAxVDIwOjAwOjAwKzAwOjAwIiwgdHJ1ZSwgMCwgMV0"])
                elif parameter["name"] == "Accept-Language":
                    _likely(parameter["schema"], ["de", "da", "nl"])
    shapes = found["components"]["schemas"]
    for name in ("MatchSent", "BatchSent", "TableSent"):
        _likely(shapes[name]["properties"]["pool"], ["fibs", "tics", "freewhist"])
    for name in ("ResultSent", "MatchSent", "CorrectionSent"):
        properties = shapes[name]["properties"]
        _likely(properties["scores"], [[1, 0], [0, 1]])
        _likely(properties["players"], [[{"name": "Player 1"}, {"external_id": "u2"}], [{"id": ids[0]}, {"name": "New"}]])
        _likely(properties["ended_at"], ["2026-03-04T20:00:00Z"])
    _likely(shapes["MatchSent"]["properties"]["match"], [Match.objects.get(status="open").pk])
    for name, field in (("TableSent", "host"), ("SitsDownSent", "player")):
        _likely(shapes[name]["properties"][field], [{"id": ids[0]}, {"external_id": "u2"}, {"name": "New"}])
    return found


@pytest.fixture
def asked(settings: Any) -> Any:
    """The API with something in it, and a key that may do everything."""
    settings.ALLOWED_HOSTS = ["localhost"]
    pool, players = pool_of("fibs"), people(3)
    complete(pool, *(won(players[n], players[(n + 1) % 3], at(n), source="server", external_id=str(n)) for n in range(3)))
    ExternalPlayer.objects.create(source="server", external_id="u2", player=players[1])
    own = open_table(pool, players[0], Result(length=5), source="server", external_id="1")
    take_seat(own.pk, players[1])
    open_table(pool, players[0], Result(length=5), source="server", external_id="2")
    secret = key_of(*Pool.objects.values_list("slug", flat=True), corrections=True, lobby=True, may_create_players=True)
    schema = schemathesis.openapi.from_dict(_with_likely_values())
    schema.app = get_wsgi_application()
    # As Django's own test client does: the connection is the test's, and not a request's to close.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield schema, {"Authorization": f"Api-Key {secret}"}
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
    assert ApiKey.objects.get().last_used_at is not None


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_whatever_is_sent_is_answered_as_described(method: str, path: str, asked: Any) -> None:
    schema, headers = asked
    statuses: Counter[int] = Counter()
    operation = schema[path][method]
    described = spec()["paths"][path][method]
    can_be_wrong = "requestBody" in described or any(one["in"] == "query" for one in described.get("parameters", ()))
    for mode, examples in EXAMPLES.items():
        if mode is GenerationMode.NEGATIVE and not can_be_wrong:
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @bounded(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def send(case: Any) -> None:
            response = case.call(headers=headers)
            statuses[response.status_code] += 1
            case.validate_response(response, checks=CHECKS)

        send()
    assert statuses.total() >= EXAMPLES[GenerationMode.POSITIVE] // 2
