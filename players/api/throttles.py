"""How often a client may ask: by the minute, counted in the cache. Where there is none, nobody is held up."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.throttling import BaseThrottle

logger = logging.getLogger(__name__)
WINDOW = 60
"""Seconds."""


class MinuteThrottle(BaseThrottle):
    """A key has its own rate, for everything; others that of the view (`settings.API_RATES`), by login or address."""

    wait_for = 0

    def allow_request(self, request: Any, view: Any) -> bool:
        if request.auth is not None:
            who, most = f"key-{request.auth.pk}", request.auth.rate
        else:
            who = f"login-{request.user.pk}" if request.user.is_authenticated else f"at-{self.get_ident(request)}"
            rate = view.rates.get(request.method, view.rate)
            who, most = f"{rate}-{who}", settings.API_RATES[rate]
        minute, into = divmod(time.time(), WINDOW)
        self.wait_for = int(WINDOW - into) + 1
        return self._count(f"api-{who[:150]}-{minute:.0f}") <= most

    def _count(self, name: str) -> int:
        try:
            cache.add(name, 0, timeout=2 * WINDOW)
            return cache.incr(name)
        except Exception as error:
            logger.warning("requests are not counted: %s", error)
            return 0

    def wait(self) -> float:
        return self.wait_for
