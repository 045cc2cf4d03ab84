"""The reader's language: what he switches to is kept with his player, and is what the site speaks at his next log-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.i18n import set_language

from players.models import Player


def switch(request: HttpRequest) -> HttpResponse:
    """Speak another language from now on: in this browser, and for a logged-in player also after his next log-in.

    A language that the site does not speak changes nothing.
    """
    chosen = request.POST.get("language")  # a link, by GET, switches nothing
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        Player.objects.filter(user=request.user).update(language=chosen)
    return set_language(request)


def remember_at_login(sender: Any, request: HttpRequest | None, user: User, **_: Any) -> None:
    """Receiver of `user_logged_in`: the answer to the log-in takes the player's language along."""
    if request is None:
        return
    language = Player.objects.filter(user=user).values_list("language", flat=True).first()
    if language:
        request.language_at_login = language  # type: ignore[attr-defined]


class LanguageAtLogin:
    """Put the language of who has just logged in where the following pages look for it: into the browser's cookie."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        language = getattr(request, "language_at_login", None)
        if language:
            response.set_cookie(
                settings.LANGUAGE_COOKIE_NAME,
                language,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                path=settings.LANGUAGE_COOKIE_PATH,
                domain=settings.LANGUAGE_COOKIE_DOMAIN,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite=settings.LANGUAGE_COOKIE_SAMESITE,  # type: ignore[arg-type]
            )
        return response
