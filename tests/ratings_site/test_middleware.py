"""A database that is busy for longer than a request waits."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, OperationalError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from players.api.errors import is_away
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


@pytest.mark.parametrize("address", ["/", "/rankings/fibs/", "/cashier/", "/admin/", "/api/v1/pools/", "/api/v1/feed/"])
def test_a_database_that_is_away_is_said_to_come_back(address: str, client: Client, admin_user: User) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the connection is lost") from connection.Database.OperationalError("server closed the connection")

    client.force_login(admin_user)
    client.raise_request_exception = False
    with connection.execute_wrapper(away):
        answer = client.get(address)
    if connection.vendor == "sqlite":
        assert answer.status_code == 500
        return
    assert answer.status_code == 503 and answer["Retry-After"] == "10"
    assert "Please try again in a minute" in answer.text and (answer["Content-Type"] == "application/json") == ("api" in address)


def test_what_the_database_says_of_a_statement_is_no_outage() -> None:
    def raised(sql: str) -> Exception:
        with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)
        return caught.value

    assert not is_away(raised("SELECT nothing")) and not is_away(None) and not is_away(OperationalError("ours"))
    if connection.vendor == "postgresql":
        assert not is_away(raised("SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)"))


def test_a_number_that_no_column_holds_is_a_bad_request(admin_client: Client) -> None:
    answer = admin_client.post("/admin/auth/group/add/", {"name": "A", "permissions": "9" * 30})
    if connection.vendor == "sqlite":  # PostgreSQL compares any numbers, and the form finds that there is no such row
        assert answer.status_code == 400 and "could not read this request" in answer.text
    else:
        assert answer.status_code == 200 and answer.context["adminform"].form.errors
    assert not Group.objects.exists()
