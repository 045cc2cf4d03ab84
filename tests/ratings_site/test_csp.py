"""The Content-Security-Policy, and that the administration needs nothing that it forbids."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse


class Inline(HTMLParser):
    """Collects what a browser would refuse to run or apply: inline scripts, styles and handlers, and data: addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        data_only = given.get("type") in ("application/json", "text/template")
        if tag == "style" or (tag == "script" and "src" not in given and not data_only):
            self.found.append(f"<{tag}>")
        self.found += [f"<{tag} {name}>" for name in given if name == "style" or name.startswith("on")]
        self.found += [
            f"<{tag} {name}={value[:30]}>"
            for name, value in attrs
            if name in ("src", "href") and value and value.startswith(("data:", "javascript:", "http:", "https:", "//"))
        ]


def test_the_collector_sees_what_is_inline():
    page = "<style>p{}</style><script>1</script><script src='/a.js'></script>"
    page += "<p style='x' onclick='y'><img src='data:image/png;base64,'>"
    assert Inline(page).found == ["<style>", "<script>", "<p style>", "<p onclick>", "<img src=data:image/png;base64,>"]


def directives(response) -> dict[str, list[str]]:
    parts = (part.split() for part in response.headers["Content-Security-Policy"].split(";"))
    return {name: values for name, *values in parts}


@pytest.mark.django_db
def test_every_answer_carries_the_policy(client):
    for address in (reverse("admin:login"), "/no/such/page/"):
        policy = directives(client.get(address))
        assert policy["default-src"] == ["'self'"]
        assert policy["frame-ancestors"] == ["'none'"]
        values = {value for given in policy.values() for value in given}
        assert values <= {"'self'", "'none'"}, "no inline code, no eval, no other site, no data: address"


@pytest.mark.django_db
def test_the_administration_needs_nothing_inline(client):
    client.force_login(User.objects.create_superuser("root"))
    addresses = [reverse("admin:index")]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses += [reverse(f"{name}_changelist"), reverse(f"{name}_add")]
    assert len(addresses) > 2
    for address in addresses:
        response = client.get(address)
        if response.status_code == 403:  # Some things are never added by hand.
            continue
        assert response.status_code == 200, address
        assert Inline(response.content.decode()).found == [], address
