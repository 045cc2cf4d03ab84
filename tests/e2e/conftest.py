"""Headless Chromium over the real server, on PostgreSQL."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from players.models import Player
from tests.pages import login_of

DESKTOP, PHONE = 1280, 390
"""Pixels of width."""
PATIENCE = 30_000
"""Milliseconds: the machine may be busy."""


@pytest.fixture(scope="module")
def browser(django_db_setup: None) -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail(
            "These tests need Chromium: apt-get install chromium, or leave them out with -m 'not browser'.", pytrace=False
        )
    # The driver runs a loop in this thread, where Django would not touch the database.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    connection = connections["default"]
    with sync_playwright() as driver:
        # Else the loop would have a connection of its own, which does not know the rows that each test begins with.
        connections["default"] = connection
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield chromium
        chromium.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Visitor:
    """Somebody with a browser of his own. What the browser complains about, such as a breach of the content security policy, is
    in `complaints`."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context, self.base = context, base
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def goto(self, path: str) -> Page:
        answer = self.page.goto(self.base + path)
        assert answer is not None and answer.status == 200, f"{path}: {answer and answer.status}"
        return self.page

    def text(self) -> str:
        """What a reader sees of the page, single spaces between words."""
        return " ".join(self.page.inner_text("main").split())


@pytest.fixture
def visit(browser: Browser, live_server: Any) -> Iterator[Callable[..., Visitor]]:
    """`visit(player)`: a browser that is logged in as the player, or a user, or as nobody. `more` are options of its context."""
    contexts = []

    def begin(who: Any = None, *, width: int = DESKTOP, scheme: Any = "light", language: str = "en", **more: Any) -> Visitor:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale=language, reduced_motion="reduce", **more
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        cookies = [{"name": "django_language", "value": language, "url": live_server.url}]
        if who is not None:
            cookies.append({"name": settings.SESSION_COOKIE_NAME, "value": session_of(who), "url": live_server.url})
        context.add_cookies(cookies)
        return Visitor(context, live_server.url)

    yield begin
    for context in contexts:
        context.close()


def session_of(who: Any) -> str:
    """A session in which a user is logged in; or a player, who gets a login where he has none."""
    if isinstance(who, Player) and who.user is None:
        client = login_of(who)
    else:
        client = Client()
        client.force_login(who.user if isinstance(who, Player) else who)
    return client.cookies[settings.SESSION_COOKIE_NAME].value
