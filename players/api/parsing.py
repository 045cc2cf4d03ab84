"""JSON in and out. What comes in is read strictly, since a program that sends nonsense should hear of it at once."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NoReturn

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from players.api.errors import TooLarge

MOST_BYTES = 2 * 2**20
"""A body holds no more: a batch of 1,000 matches takes a fifth of it."""


class JsonParser(BaseParser):
    """Strict JSON: no NaN or infinity, no name twice in an object, no half of a surrogate pair. Fractions come as Decimal."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise TooLarge(MOST_BYTES)
        try:
            data = json.loads(body.decode(), parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_name_twice)
            if b"\\u" in body:
                json.dumps(data, ensure_ascii=False, default=str).encode()
        except RecursionError:
            raise ParseError(_("The JSON is nested too deeply."), code="malformed") from None
        except ValueError as error:
            raise ParseError(_("This is no JSON: %(error)s") % {"error": _plain(error)}, code="malformed") from None
        return data


def _plain(error: ValueError) -> str:
    if isinstance(error, UnicodeError):
        return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "half of a surrogate pair"
    return str(error)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


class JsonRenderer(BaseRenderer):
    """Compact JSON in UTF-8; whatever is not finite would be an error of ours."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class AlwaysJson(BaseContentNegotiation):
    """Everything is JSON, whatever a client would rather have."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type
