"""The pictures that the README shows: `make screenshots` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from matches.models import Match
from tests.e2e.conftest import DESKTOP, PHONE, Visitor
from tests.e2e.test_pages import loaded

pytestmark = [
    pytest.mark.browser,
    pytest.mark.screenshots,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


def test_write_the_pictures(visit: Callable[..., Visitor]) -> None:
    vera = loaded()
    match = Match.objects.filter(pool__slug="crowns-cup", participants__player=vera, status="completed", not_counted="")
    sheet = match.filter(chance=None, length__gt=1).latest("ended_at")
    FOLDER.mkdir(exist_ok=True)
    for name, path, width, height, scheme in (
        ("rating", "/cashier/crowns-cup/", DESKTOP, 1180, "light"),
        ("rating-phone", "/cashier/online-backgammon/", PHONE, 1100, "dark"),
        ("calculation", sheet.get_absolute_url(), DESKTOP, 1180, "light"),
        ("lobby", "/lobby/crowns-cup/", DESKTOP, 820, "dark"),
        ("rankings", "/rankings/online-backgammon/", DESKTOP, 1000, "light"),
        ("rules", "/rules/fibs/", DESKTOP, 1180, "light"),
    ):
        visitor = visit(vera, width=width, scheme=scheme)
        page = visitor.goto(path)
        page.set_viewport_size({"width": width, "height": height})
        page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")
        assert visitor.complaints == []
