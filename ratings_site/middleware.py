"""What a request meets when the site cannot serve it as usual."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from django.db import DataError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import server_error

from players.api.errors import is_away

RETRY_AFTER = 10
"""Seconds."""
logger = logging.getLogger(__name__)


class UntakenValue:
    """Answer 400 where a form of the framework's own hands on what the database cannot hold, and nothing was stored.

    Our own forms and readers refuse such values by field; what comes here stands in the log.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not (isinstance(error, DataError) or (isinstance(error, OverflowError) and "SQLite" in str(error))):
            return None
        logger.error("%s %s: a value that the database does not take", request.method, request.path, exc_info=error)
        return render(request, "400.html", status=400)


class BusyDatabase:
    """Answer 503 where SQLite's one writer is at it for longer than a request waits: nothing is wrong, and nothing was stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not (isinstance(error, OperationalError) and connection.vendor == "sqlite" and "locked" in str(error)):
            return None
        logger.warning("%s %s: the database is busy", request.method, request.path)
        response = render(request, "503.html", status=503)
        response["Retry-After"] = str(RETRY_AFTER)
        return response


def any_error(request: HttpRequest) -> HttpResponse:
    """Answer what nobody has caught: 503 where the database is away, so that whoever asks comes back by himself."""
    answer = server_error(request)
    if is_away(sys.exc_info()[1]):
        answer.status_code = 503
        answer["Retry-After"] = str(RETRY_AFTER)
    return answer
