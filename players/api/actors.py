"""Who sends a request, and what he may do: a key within its scopes and pools, or a login within its rights on the site."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import NotAuthenticated

from players.api.errors import ApiError, forbidden
from players.api.keys import find_key
from players.api.models import ApiKey
from players.models import Pool
from players.permissions import CORRECT, ENTER, may

PERMISSIONS = {"results": ENTER, "corrections": CORRECT, "lobby": ENTER}
"""What a login needs for a scope."""


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Api-Key …` or `Authorization: Bearer …`."""

    def authenticate(self, request: Any) -> tuple[User, ApiKey] | None:
        header = get_authorization_header(request).split()
        if not header or header[0].lower() not in (b"api-key", b"bearer"):
            return None
        secret = header[1].decode("latin-1") if len(header) == 2 else ""
        key = find_key(secret, timezone.now())
        if key is None:
            raise ApiError(401, _("This key is not good: it is mistyped, revoked or replaced by a newer one."), code="bad_key")
        return key.login, key

    def authenticate_header(self, request: Any) -> str:
        return 'Api-Key realm="api"'


class KeyScheme(OpenApiAuthenticationExtension):
    target_class = KeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Api-Key rr_…`, or `Bearer rr_…`: the key that an administrator of the site made for you.",
        }


class LoginAuthentication(SessionAuthentication):
    """The login of the site's pages; what it sends needs the token against forged requests."""


class LoginScheme(OpenApiAuthenticationExtension):
    target_class = LoginAuthentication
    name = "login"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The login of the site's pages; writes carry `X-CSRFToken` too, as this page does by itself.",
        }


@dataclass(frozen=True)
class Actor:
    """Who writes. `source` names where his matches come from, `login` is on record for them."""

    login: User
    key: ApiKey | None

    @property
    def source(self) -> str:
        return self.key.source if self.key else f"login:{self.login.pk}"

    @cached_property
    def pool_ids(self) -> frozenset[int]:
        assert self.key is not None
        return frozenset(self.key.pools.values_list("pk", flat=True))

    @property
    def may_create_players(self) -> bool:
        if self.key is not None:
            return self.key.may_create_players
        return self.login.is_staff and self.login.has_perm("players.add_player")

    def require(self, scope: str, pool: Pool) -> None:
        """Raise ApiError (403) unless he may do this in the pool. One query for a key."""
        if self.key is None:
            if not may(self.login, PERMISSIONS[scope], pool):
                raise forbidden(_("Your login may not do this in the pool %(pool)s.") % {"pool": pool.slug})
        elif not getattr(self.key, scope):
            raise forbidden(_("This key lacks the scope “%(scope)s”.") % {"scope": scope})
        elif pool.pk not in self.pool_ids:
            raise forbidden(_("This key is not for the pool %(pool)s.") % {"pool": pool.slug})

    def require_own(self, source: str) -> None:
        """Raise ApiError (403) where a key would touch what came from another source."""
        if self.key is not None and source != self.key.source:
            raise forbidden(_("This match did not come from your source."))


def actor_of(request: Any) -> Actor:
    """Who writes. Raises NotAuthenticated."""
    if request.auth is None and not request.user.is_authenticated:
        raise NotAuthenticated
    return Actor(request.user, request.auth)


def reader_of(request: Any) -> User | None:
    """The login that reads, as the pages know it; None for the public, and for keys, whose login is nobody's."""
    return request.user if request.auth is None and request.user.is_authenticated else None


def source_of(request: Any) -> str | None:
    """The source whose ids the reader may see: his own; None for a public one."""
    return actor_of(request).source if request.auth is not None or request.user.is_authenticated else None
