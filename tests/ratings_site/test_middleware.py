"""A database that is busy for longer than a request waits."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from ratings_site.middleware import BusyDatabase

pytestmark = pytest.mark.django_db


def answer(error: Exception) -> HttpResponse | None:
    request: Any = RequestFactory().post("/admin/")
    request.user = request.resolver_match = None

    def never(_: HttpRequest) -> HttpResponse:
        raise AssertionError("not asked")

    return BusyDatabase(never).process_exception(request, error)


def test_a_locked_sqlite_is_busy_and_says_when_to_come_back() -> None:
    response = answer(OperationalError("database is locked"))
    if connection.vendor != "sqlite":
        assert response is None
        return
    assert response is not None and response.status_code == 503
    assert response["Retry-After"] == "10" and "not stored" in response.text


def test_other_errors_stay_errors() -> None:
    assert answer(OperationalError("no such table: players_player")) is None
    assert answer(ValueError("database is locked")) is None


def test_a_number_that_no_column_holds_is_a_bad_request(admin_client: Client) -> None:
    answer = admin_client.post("/admin/auth/group/add/", {"name": "A", "permissions": "9" * 30})
    if connection.vendor == "sqlite":  # PostgreSQL compares any numbers, and the form finds that there is no such row
        assert answer.status_code == 400 and "could not read this request" in answer.text
    else:
        assert answer.status_code == 200 and answer.context["adminform"].form.errors
    assert not Group.objects.exists()
