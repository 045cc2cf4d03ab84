"""The page of the API: within the content security policy, and nothing from elsewhere."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client, RequestFactory
from drf_spectacular.generators import SchemaGenerator

from ratings_site.api import SchemaView
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db


def test_the_page_needs_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = Client().get("/api/v1/docs/")
    assert page.status_code == 200 and "default-src 'self'" in page["Content-Security-Policy"]
    assert Inline(page.content.decode()).found == []
    script = re.search(r'<script src="(/api/v1/docs/[^"]*)"', page.content.decode())[1]  # type: ignore[index]
    answer = Client().get(script.replace("&amp;", "&"))
    assert answer["Content-Type"].startswith("application/javascript")
    assert "/api/v1/schema/" in answer.content.decode() and "X-CSRFTOKEN" in answer.content.decode()


def test_the_description_names_every_error_with_an_example() -> None:
    found = Client().get("/api/v1/schema/").json()
    assert found["openapi"].startswith("3.")
    for path, item in found["paths"].items():
        for method, operation in item.items():
            errors = {status for status in operation["responses"] if status >= "4"}
            assert {"400", "401", "403", "429", "503"} <= errors, (method, path)
            if method != "get":
                assert {"413", "415"} <= errors, (method, path)
            for status in errors - {"410"}:
                [body] = operation["responses"][status]["content"].values()
                assert body["examples"], (method, path, status)


def test_what_can_be_one_of_a_few_words_has_a_name_that_lasts() -> None:
    shapes = Client().get("/api/v1/schema/").json()["components"]["schemas"]
    named = {name for name, shape in shapes.items() if "enum" in shape}
    assert named == {"MatchKind", "MatchStatus", "TableStatus", "JobStatus", "RevisionKind", "EventType", "Unit"}


def test_the_description_is_made_by_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work = threading.Semaphore(1)

    def make(*args: Any, **kwargs: Any) -> dict[str, Any]:
        assert at_work.acquire(blocking=False), "somebody else is at it"
        time.sleep(0.05)
        at_work.release()
        return {}

    monkeypatch.setattr(SchemaGenerator, "get_schema", make)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(SchemaView.as_view(), [RequestFactory().get("/api/v1/schema/") for _ in range(4)]))
    assert [answer.status_code for answer in answers] == [200] * 4
