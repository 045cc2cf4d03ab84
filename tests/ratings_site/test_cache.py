"""A cache that takes connections and never answers holds nobody up for long."""

from __future__ import annotations

import socket
import time

import pytest

from ratings_site import cache as module
from ratings_site.cache import Cache


def test_one_that_hangs_is_waited_for_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_asked_again_at", {})
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        address = f"redis://127.0.0.1:{hanging.getsockname()[1]}/0"
        cache = Cache(address, {"OPTIONS": {"socket_connect_timeout": 0.2, "socket_timeout": 0.2}})
        began = time.monotonic()
        assert cache.get("a", 7) == 7
        waited = time.monotonic() - began
        for _ in range(20):
            assert cache.add("a", 1) and cache.incr("a") == 1
        assert waited >= 0.2 and time.monotonic() - began - waited < 0.2
        # After the pause it is asked again.
        monkeypatch.setattr(module, "_asked_again_at", {})
        began = time.monotonic()
        assert cache.get("a") is None and time.monotonic() - began >= 0.2
