"""Errors, all of one shape: {"code", "detail", "fields"}. `code` is for programs, `detail` for people, in their language.

`fields` lists {"field", "code", "detail"} where the request is at fault, with the path to each field: `matches[3].length`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError, connection
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response

from players.api import words
from players.api.reading import Unfits
from players.systems.base import Refused

logger = logging.getLogger(__name__)
RETRY_AFTER = 10
"""Seconds until a client that met a busy site tries again."""
CODES = {
    400: "invalid",
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
    503: "busy",
}


class ApiError(Exception):
    """An answer that is an error; `more` are fields beside those that every error has."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str = "",
        fields: Sequence[dict[str, str]] = (),
        retry_after: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.fields = status, detail, code or CODES[status], list(fields)
        self.retry_after, self.more = retry_after, more

    def body(self) -> dict[str, Any]:
        return {"code": self.code, "detail": self.detail, "fields": self.fields, **self.more}


class TooLarge(ApiError):
    """`most` bytes are taken."""

    def __init__(self, most: int) -> None:
        super().__init__(413, _("The body is too large. At most %(most)s bytes are taken.") % {"most": most})


def busy() -> ApiError:
    return ApiError(503, _("Others are writing all the time. Nothing was stored; please try again."), retry_after=RETRY_AFTER)


AWAY = {"53300", "57P01", "57P02", "57P03"}
"""SQLSTATEs: too many connections; shut down, crashed, starting."""


def is_away(error: BaseException | None) -> bool:
    """Whether PostgreSQL could not be reached, or went away meanwhile. Whether it has stored anything is not known then."""
    if connection.vendor != "postgresql" or not isinstance(error, (OperationalError, InterfaceError)):
        return False
    state = getattr(error.__cause__, "sqlstate", "")
    return state is None or state in AWAY or state.startswith("08")


def away() -> ApiError:
    text = _("Nothing that was stored before is lost. Please try again in a minute.")
    return ApiError(503, text, code="unavailable", retry_after=RETRY_AFTER)


def not_found(detail: str) -> ApiError:
    return ApiError(404, detail)


def forbidden(detail: str) -> ApiError:
    return ApiError(403, detail)


def field_error(path: str, refused: Refused) -> dict[str, str]:
    return {"field": path, "code": refused.code, "detail": words.sentence(refused)}


def invalid(refusals: Sequence[tuple[str, Refused]]) -> ApiError:
    """What is wrong with a request, field by field; the first of it is also the detail."""
    fields = [field_error(path, refused) for path, refused in refusals]
    return ApiError(400, fields[0]["detail"], fields=fields)


def answer_of(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to an error that a view raised; None for one of ours, which the site logs and answers with 500."""
    found = _api_error(error)
    if found is None:
        return None
    response = Response(found.body(), status=found.status)
    if found.status == 401:
        response["WWW-Authenticate"] = 'Api-Key realm="api"'
    if found.retry_after is not None:
        response["Retry-After"] = str(found.retry_after)
    if isinstance(error, exceptions.MethodNotAllowed):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    return response


def _api_error(error: Exception) -> ApiError | None:
    match error:
        case ApiError():
            return error
        case Unfits():
            return invalid(error.refusals)
        case Refused():
            return invalid([(error.field, error)])
        case exceptions.Throttled():
            wait = max(1, round(error.wait or 1))
            return ApiError(429, _("Too many requests. Try again in %(wait)s s.") % {"wait": wait}, retry_after=wait)
        case exceptions.NotAuthenticated():
            return ApiError(401, _("This needs a key, in the header “Authorization: Api-Key …”, or a login."))
        case exceptions.UnsupportedMediaType():
            return ApiError(415, _("Send JSON, with the header “Content-Type: application/json”."))
        case exceptions.MethodNotAllowed():
            return ApiError(405, str(error.detail))
        case exceptions.APIException() if error.status_code in CODES:
            codes = error.get_codes()
            return ApiError(error.status_code, str(error.detail), code=codes if isinstance(codes, str) else "")
        case Http404():
            return not_found(str(error) or _("There is no such thing here."))
        case PermissionDenied():
            return forbidden(_("You may not do this."))
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            return ApiError(400, _("The request is malformed."), code="malformed")
        case OperationalError() if connection.vendor == "sqlite" and "locked" in str(error):
            logger.warning("the database is busy")
            return busy()
        case OperationalError() | InterfaceError() if is_away(error):
            logger.error("the database is away: %s", error)
            return away()
    return None
