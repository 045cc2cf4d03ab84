"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.utils import translation
from hypothesis import settings as hypothesis_settings

# No deadline: the machine that runs the tests may be busy. In CI the examples are the same each time.
hypothesis_settings.register_profile("site", deadline=None)
hypothesis_settings.register_profile("site-ci", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("site-ci" if os.environ.get("CI") else "site")


def pytest_configure() -> None:
    from django.conf import settings

    # A slow hash protects passwords, and there are none to protect here.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _no_race_without_row_locks(request: pytest.FixtureRequest) -> None:
    """A race on SQLite, which has one writer at a time, would prove nothing: say so, and do not skip it in silence."""
    if request.node.get_closest_marker("concurrency") and request.config.getoption("--on") != "postgres":
        pytest.fail("This test needs PostgreSQL: add --on postgres, or leave it out with -m 'not concurrency'.", pytrace=False)


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()


@pytest.fixture(autouse=True)
def _no_language_left_over() -> Iterator[None]:
    # A request in another language leaves it active in the thread.
    yield
    translation.deactivate()
