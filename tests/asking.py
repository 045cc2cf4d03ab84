"""Asks the API, and holds every answer against its own description: the status is documented, and the body is as described and
holds nothing else."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from threading import Lock
from typing import Any

import jsonschema
from django.test import Client
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator

BASE = "/api/v1/"


_FIRST = Lock()


def spec() -> dict[str, Any]:
    """The OpenAPI description; answers may hold nothing beyond it. Made once, also where several threads ask at once."""
    with _FIRST:
        return _spec()


@cache
def _spec() -> dict[str, Any]:
    found = copy.deepcopy(SchemaGenerator().get_schema(request=None, public=True))
    for shape in found["components"]["schemas"].values():
        if shape.get("properties"):
            shape["additionalProperties"] = False
    return json.loads(json.dumps(found))


def operation(method: str, path: str) -> dict[str, Any] | None:
    for pattern, item in spec()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path) and method.lower() in item:
            return item[method.lower()]
    return None


def check(method: str, path: str, response: Any) -> None:
    """Fail unless the answer is one that the description knows."""
    described = operation(method, path)
    assert described is not None, f"{method} {path} is not described"
    answers = described["responses"]
    assert str(response.status_code) in answers, f"{response.status_code} is not described: {response.content[:300]!r}"
    content = answers[str(response.status_code)].get("content")
    if content is None:
        assert not response.content
        return
    assert response["Content-Type"] == "application/json"
    schema = {**content["application/json"]["schema"], "components": spec()["components"]}
    jsonschema.Draft202012Validator(schema).validate(response.json())


class Asker:
    """A client of the API, with a key or without."""

    def __init__(self, secret: str = "", client: Client | None = None, **headers: str) -> None:
        self.client = client or Client()
        self.headers = {**headers, **({"Authorization": f"Api-Key {secret}"} if secret else {})}

    def send(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str) -> Any:
        kind = headers.pop("content_type", "application/json")
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(method, BASE + path, data, content_type=kind, headers={**self.headers, **headers})
        check(method, (BASE + path).partition("?")[0], response)
        return response

    def get(self, path: str, status: int = 200, **headers: str) -> Any:
        """The JSON of a read."""
        response = self.send("GET", path, **headers)
        assert response.status_code == status, response.content
        return response.json()

    def post(self, path: str, body: Any, status: int = 200, **headers: str) -> Any:
        response = self.send("POST", path, body, **headers)
        assert response.status_code == status, response.content
        return response.json()

    def queries(self, path: str) -> int:
        from django.db import connection

        with CaptureQueriesContext(connection) as queries:
            self.get(path)
        return len(queries)


def fields(answer: dict[str, Any]) -> dict[str, str]:
    """The fields at fault, each with its code."""
    return {one["field"]: one["code"] for one in answer["fields"]}
