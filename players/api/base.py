"""What every view of the API is made from: JSON in the language of Accept-Language, errors of one shape, caching, throttles."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import get_supported_language_variant, parse_accept_lang_header
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from players.api.actors import KeyAuthentication, LoginAuthentication, actor_of
from players.api.errors import forbidden, not_found
from players.api.parsing import AlwaysJson, JsonParser, JsonRenderer
from players.api.reading import Unfit
from players.api.throttles import MinuteThrottle
from players.models import Pool
from players.pages.pools import all_pools

VARIES = ("Accept-Language", "Authorization", "Cookie")


class InScope(BasePermission):
    """Reads are everybody's, but a key reads only with the scope for it; writes take a key or a login, and which is judged once
    the pool is known."""

    def has_permission(self, request: Any, view: Any) -> bool:
        if not hasattr(view, request.method.lower()):
            return True  # it will say that there is no such method
        if request.method in view.open_to_all:
            if request.auth is not None and not request.auth.read:
                raise forbidden(_("This key lacks the scope “%(scope)s”.") % {"scope": "read"})
        else:
            actor_of(request)
        return True


class ApiView(APIView):
    """A view of the API. `rate` names the limit for those without a key, with others by method in `rates`; `max_age` (seconds)
    says how long an answer keeps."""

    authentication_classes = (KeyAuthentication, LoginAuthentication)
    permission_classes = (InScope,)
    throttle_classes = (MinuteThrottle,)
    parser_classes = (JsonParser,)
    renderer_classes = (JsonRenderer,)
    content_negotiation_class = AlwaysJson
    rate: ClassVar[str] = "read"
    rates: ClassVar[Mapping[str, str]] = {}
    max_age: ClassVar[int] = 10
    open_to_all: ClassVar[frozenset[str]] = frozenset({"GET", "HEAD", "OPTIONS"})

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with translation.override(language_of(request)):
            response = super().dispatch(request, *args, **kwargs)
            response.render()
            response["Content-Language"] = translation.get_language() or settings.LANGUAGE_CODE
        patch_vary_headers(response, VARIES)
        if response.status_code != 200 or request.method not in ("GET", "HEAD"):
            patch_cache_control(response, no_store=True)
            return response
        # What a key or a login reads can hold its own ids: no cache between may give it to others.
        own = "HTTP_AUTHORIZATION" in request.META or settings.SESSION_COOKIE_NAME in request.COOKIES
        patch_cache_control(response, **{"private" if own else "public": True}, max_age=self.max_age)
        response["ETag"] = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
        found = get_conditional_response(request, etag=response["ETag"], response=response) or response
        if found is not response:
            patch_vary_headers(found, VARIES)
        return found

    def options(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Only what may be asked here: the schema says the rest."""
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})


def language_of(request: HttpRequest) -> str:
    """The first language of Accept-Language that the site speaks. The cookie of the pages does not count: caches know of none."""
    for code, _quality in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        if code == "*":
            break
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def pool_at(slug: str, user: User | None = None) -> Pool:
    """The pool of an address, with its tiers, and whether the user organises it. Two queries. Raises ApiError (404)."""
    for pool in all_pools(user):
        if pool.slug == slug:
            return pool
    raise not_found(_("There is no such pool."))


def named_pool(values: Mapping[str, Any], name: str = "pool") -> Pool:
    """The pool that a request names. Two queries. Raises Unfit."""
    for pool in all_pools():
        if pool.slug == values[name]:
            return pool
    raise Unfit(name, "no_pool")
