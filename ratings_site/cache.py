"""The cache in Redis, without which everything goes on: one that does not answer is an empty one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)
PAUSE = 5.0
"""Seconds in which a cache that did not answer is not asked again: else each request would wait for it anew."""
_asked_again_at: dict[str, float] = {}


def _soft(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        where = str(self._servers)
        if time.monotonic() < _asked_again_at.get(where, 0.0):
            return otherwise(*args, **kwargs)
        try:
            return getattr(RedisCache, name)(self, *args, **kwargs)
        except (RedisError, OSError) as error:
            _asked_again_at[where] = time.monotonic() + PAUSE
            log.warning("The cache does not answer: %s", error)
            return otherwise(*args, **kwargs)

    return method


class Cache(RedisCache):
    """What it holds are counts of requests and progress: nothing depends on it."""

    get = _soft("get", lambda key, default=None, version=None: default)
    get_many = _soft("get_many", lambda keys, version=None: {})
    set = _soft("set", lambda *args, **kwargs: None)
    set_many = _soft("set_many", lambda data, *args, **kwargs: list(data))
    add = _soft("add", lambda *args, **kwargs: True)
    touch = _soft("touch", lambda *args, **kwargs: False)
    delete = _soft("delete", lambda *args, **kwargs: False)
    delete_many = _soft("delete_many", lambda *args, **kwargs: None)
    has_key = _soft("has_key", lambda *args, **kwargs: False)
    incr = _soft("incr", lambda key, delta=1, version=None: delta)
