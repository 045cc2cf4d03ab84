"""Entering a match in the admin as a browser does: the form is fetched, filled in and sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from html.parser import HTMLParser
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


class Filled(HTMLParser):
    """What a browser would send if a page's form of this id were sent as it came, without a button."""

    def __init__(self, page: str, form_id: str) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self.form_id, self.inside = form_id, False
        self.select = self.textarea = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value")
        if tag == "form":
            self.inside = given.get("id") == self.form_id
        elif not self.inside:
            return
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and ("selected" in given or self.select not in self.values):
            self.values[self.select] = [value or ""]
        elif tag == "textarea":
            self.textarea = name
            self.values[name] = [""]
        elif tag == "input" and name and name != "csrfmiddlewaretoken" and self._is_sent(given):
            sent = "on" if value is None and given.get("type") == "checkbox" else value or ""
            self.values.setdefault(name, []).append(sent)

    @property
    def data(self) -> dict[str, Any]:
        """By name, the value; several in a list."""
        return {name: values if values[1:] else values[0] for name, values in self.values.items()}

    @staticmethod
    def _is_sent(given: dict[str, str | None]) -> bool:
        kind = given.get("type")
        return "checked" in given if kind in ("checkbox", "radio") else kind not in ("submit", "button")

    def handle_data(self, data: str) -> None:
        if self.textarea:
            self.values[self.textarea][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self.select = self.textarea = ""


def opened_form(client: Client, url: str) -> dict[str, Any]:
    """What a browser would send if the form of a match were sent as it came."""
    response = client.get(url)
    assert response.status_code == 200
    return Filled(response.text, "match_form").data


def seated(players: Sequence[Player | None], places: Sequence[object] = ()) -> dict[str, str]:
    """The rows of the players."""
    data = {f"participants-{row}-player": str(player.pk) if player else "" for row, player in enumerate(players)}
    return data | {f"participants-{row}-place": str(place) for row, place in enumerate(places)}


def correct_url(match: Match) -> str:
    return reverse("admin:matches_match_correct", args=[match.pk])


def void_url(*matches: Match, void: bool = True) -> str:
    query = "&".join(f"match={match.pk}" for match in matches)
    return f"{reverse('admin:matches_match_void' if void else 'admin:matches_match_unvoid')}?{query}"


def shown_preview(response: Any) -> Any:
    """The preview on the page, which must be one."""
    assert response.status_code == 200, response.status_code
    assert "preview" in response.context, errors(response) if "adminform" in response.context else response.text
    return response.context["preview"]


def press(client: Client, response: Any, button: str = "_confirm") -> Any:
    """Press a button of a preview: everything is sent on, with its token."""
    assert response.status_code == 200 and 'id="preview_form"' in response.text
    # By the page and not by its context, in which the test client mixes what is rendered at the same moment.
    data = Filled(response.text, "preview_form").data | {button: "1"}
    return client.post(response.request["PATH_INFO"] + "?" + response.request["QUERY_STRING"], data)


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
