"""Entering a match in the admin as a browser does: the form is fetched, filled in and sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from matches.models import Match
from players.models import Player, Pool

SOUND: dict[str, dict[str, str]] = {
    "fibs": {"length": "5", "kind": "table", "outcome": "1"},
    "crowns-cup": {"length": "5", "stake": "10", "real_money": "true", "kind": "table", "outcome": "1"},
    "online-backgammon": {"length": "5", "kind": "matchmade", "outcome": "2"},
    "freewhist": {"deals": "24", "kind": "table"},
    "tics": {"kind": "tournament", "outcome": "1"},
}
"""What makes a counted match in each of the pools."""


def staff(*codenames: str, name: str = "organiser") -> User:
    """A member of the staff with these permissions only."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def add_url(pool: Pool) -> str:
    return f"{reverse('admin:matches_match_add')}?pool={pool.pk}"


def change_url(match: Match) -> str:
    return reverse("admin:matches_match_change", args=[match.pk])


def opened_form(client: Client, url: str) -> dict[str, Any]:
    """What a browser would send if the form were sent as it came."""
    response = client.get(url)
    assert response.status_code == 200
    form = response.context["adminform"].form
    [seats] = [inline.formset for inline in response.context["inline_admin_formsets"]]
    data: dict[str, Any] = {}
    for part in (form, seats.management_form, *seats.forms):
        for field in part:
            values = getattr(field.field.widget, "decompress", lambda value: [value])(field.value())
            names = [field.html_name] if len(values) == 1 else [f"{field.html_name}_{number}" for number in range(len(values))]
            for name, value in zip(names, values, strict=True):
                if value is not None and value is not False:
                    data[name] = "true" if value is True else str(value)
    return data


def seated(players: Sequence[Player | None], places: Sequence[object] = ()) -> dict[str, str]:
    """The rows of the players."""
    data = {f"participants-{row}-player": str(player.pk) if player else "" for row, player in enumerate(players)}
    return data | {f"participants-{row}-place": str(place) for row, place in enumerate(places)}


def ended(moment: datetime) -> dict[str, str]:
    return {"ended_at_0": f"{moment:%Y-%m-%d}", "ended_at_1": f"{moment:%H:%M:%S}"}


def errors(response: Any) -> dict[str, list[str]]:
    """The errors on the page by field; those of a row with its number, those of no field as "form" or "players"."""
    assert response.status_code == 200, response.status_code
    form = response.context["adminform"].form
    found = {("form" if name == "__all__" else name): list(texts) for name, texts in form.errors.items()}
    for inline in response.context["inline_admin_formsets"]:
        for row, seat in enumerate(inline.formset.forms, start=1):
            found |= {f"{name} {row}": list(texts) for name, texts in seat.errors.items()}
        if inline.formset.non_form_errors():
            found["players"] = list(inline.formset.non_form_errors())
    return found


def queries(call: Callable[[], Any]) -> int:
    """How many queries a page makes when nothing is known beforehand."""
    ContentType.objects.clear_cache()
    with CaptureQueriesContext(connection) as captured:
        assert call().status_code == 200
    return len(captured)
