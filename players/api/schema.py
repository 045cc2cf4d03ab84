"""The description of the API: what the generator of the OpenAPI schema is told about each view.

`described` says it all in one place: what comes in, what goes out, and which errors there are; the schema, the page at
/api/v1/docs/ and the test that sends everything imaginable go by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from players.api.reading import Reader

INVALID = {
    "code": "invalid",
    "detail": "Match length: must be from 1 to 99.",
    "fields": [{"field": "length", "code": "out_of_range", "detail": "Match length: must be from 1 to 99."}],
}
EXAMPLES: dict[int, tuple[str, dict[str, Any]]] = {
    400: ("The request is at fault; every field is named with the rule.", INVALID),
    401: (
        "No key or login, or one that is not good.",
        {"code": "bad_key", "detail": "This key is not good: it is mistyped, revoked or replaced by a newer one.", "fields": []},
    ),
    403: (
        "The key or login may not do this.",
        {"code": "permission_denied", "detail": "This key lacks the scope “results”.", "fields": []},
    ),
    404: ("There is no such thing.", {"code": "not_found", "detail": "There is no such match.", "fields": []}),
    409: (
        "What is stored says something else.",
        {
            "code": "conflict",
            "detail": "Your match game-1007 is stored already and differs in: length.",
            "fields": [{"field": "length", "code": "stored_differs", "detail": "stored: 5, sent: 7"}],
        },
    ),
    410: (
        "It is no longer kept.",
        {
            "code": "gone",
            "detail": "Events after position 17 are no longer kept. Read what you need anew, and begin with after=0.",
            "fields": [],
        },
    ),
    413: ("The body is too large.", {"code": "too_large", "detail": "At most 2097152 bytes are taken.", "fields": []}),
    415: ("The body is no JSON.", {"code": "unsupported_media_type", "detail": "Send JSON.", "fields": []}),
    429: (
        "Too many requests; the header Retry-After says how many seconds to wait.",
        {"code": "throttled", "detail": "Too many requests. Try again in 23 s.", "fields": []},
    ),
    503: (
        "Too many others are writing; the header Retry-After says how many seconds to wait.",
        {"code": "busy", "detail": "Others are writing all the time. Nothing was stored; please try again.", "fields": []},
    ),
}
MALFORMED = {"code": "malformed", "detail": "This is no JSON: Expecting value: line 1 column 1 (char 0)", "fields": []}
READ_ERRORS = (400, 401, 403, 429, 503)
"""Errors of all that can be read: also a public list is refused to a key that is not good."""
WRITE_ERRORS = (400, 401, 403, 413, 415, 429, 503)


class FieldError(serializers.Serializer):
    field = serializers.CharField(help_text="The path to the field, as in `matches[3].length`.")
    code = serializers.CharField(help_text="The rule, for programs.")
    detail = serializers.CharField(help_text="The rule, in the language of Accept-Language.")


class Error(serializers.Serializer):
    code = serializers.CharField(help_text="What is wrong, for programs.")
    detail = serializers.CharField(help_text="What is wrong and how to go on, in the language of Accept-Language.")
    fields = FieldError(many=True, help_text="What is wrong with the request, field by field; empty where it is not at fault.")


@dataclass(frozen=True)
class Param:
    """A parameter of a query: how it is described, and how it is read."""

    name: str
    description: str
    read: Reader
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    required: bool = False
    example: Any = None

    def described(self) -> OpenApiParameter:
        examples = [] if self.example is None else [OpenApiExample("example", value=self.example)]
        return OpenApiParameter(
            self.name,
            type=dict(self.schema),
            location=OpenApiParameter.QUERY,
            required=self.required,
            description=self.description,
            examples=examples,
        )


def readers(params: Iterable[Param]) -> dict[str, Reader]:
    return {param.name: param.read for param in params}


def required(params: Iterable[Param]) -> list[str]:
    return [param.name for param in params if param.required]


def error_response(status: int, shape: Any = Error) -> OpenApiResponse:
    description, example = EXAMPLES[status]
    examples = [OpenApiExample(example["code"], value=example)]
    if status == 400:
        examples.append(OpenApiExample("malformed", value=MALFORMED))
    return OpenApiResponse(shape, description, examples)


def described(
    summary: str,
    description: str,
    answers: Mapping[int, Any],
    *,
    tag: str,
    errors: Collection[int] = READ_ERRORS,
    params: Sequence[Param] = (),
    request: Any = None,
    examples: Sequence[OpenApiExample] = (),
    operation_id: str | None = None,
    shapes: Mapping[int, Any] | None = None,
    conditional: bool = False,
) -> Callable[[Any], Any]:
    """A view's method, described; `shapes` are those of errors that say more than all do."""
    responses: dict[int, Any] = dict(answers)
    if conditional:
        responses[304] = OpenApiResponse(None, "What you have (If-None-Match) is as it is now.")
    for status in sorted(errors):
        responses[status] = error_response(status, (shapes or {}).get(status, Error))
    parameters: list[Any] = [param.described() for param in params]
    parameters.append(
        OpenApiParameter(
            "Accept-Language", OpenApiTypes.STR, OpenApiParameter.HEADER, description="en, de, da or nl: of the sentences."
        )
    )
    found: Callable[[Any], Any] = extend_schema(
        summary=summary,
        description=description,
        responses=responses,
        parameters=parameters,
        request=request,
        examples=list(examples),
        operation_id=operation_id,
        tags=[tag],
    )
    return found


def readable(summary: str, description: str, answer: Any, **more: Any) -> Callable[[Any], Any]:
    """A public read, described."""
    errors = (*READ_ERRORS, *more.pop("errors", ()))
    return described(summary, description, {200: answer}, errors=errors, conditional=True, **more)


class Schema(AutoSchema):
    """Lists are what their shape says, and not guessed to be pages of the framework's."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False
