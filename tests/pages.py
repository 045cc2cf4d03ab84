"""What tests of pages read them with."""

from __future__ import annotations

import html
import re
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from players.models import Player


def text_of(response: HttpResponse | str) -> str:
    """What a reader reads: the page without tags, single spaces between words."""
    page = response if isinstance(response, str) else response.content.decode()
    visible = re.sub(r"<(head|script|title|desc)\b.*?</\1>", " ", page, flags=re.DOTALL)
    # A cell, an item or a line of its own is set apart; what is only marked up is not.
    visible = re.sub(r"</?(?:a|b|bdi|small|span|strong|time)\b[^>]*>", "", visible)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", visible)).split())


def rows_of(response: HttpResponse, name: str) -> list[str]:
    """The lines of the table with this class, as text, without its head."""
    found = re.search(rf'<table class="{name}"[^>]*>.*?<tbody[^>]*>(.*?)</tbody>', response.content.decode(), flags=re.DOTALL)
    return [text_of(row) for row in re.findall(r"<tr\b.*?</tr>", found[1], flags=re.DOTALL)] if found else []


def login_of(player: Player, **fields: Any) -> Client:
    """A client that is logged in as the player, whose fields are set first."""
    player.user = get_user_model().objects.create_user(f"login-{player.pk}")
    for name, value in fields.items():
        setattr(player, name, value)
    player.save()
    client = Client()
    client.force_login(player.user)
    return client


def queries_of(client: Client, address: str) -> int:
    """How many queries a page takes."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200
    return len(queries)
