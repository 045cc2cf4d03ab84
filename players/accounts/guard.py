"""Who is kept out: how failed log-ins are counted, and from where they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

KEPT = 255
"""Characters of a name that axes counts by."""


def name_tried(request: HttpRequest | None, credentials: Mapping[str, Any] | None) -> str:
    """The name or address by which somebody tries to log in; the same however it is written, and no longer than can be kept."""
    tried = credentials or {}
    return str(tried.get("username") or tried.get("email") or "").strip().casefold()[:KEPT]


def comes_from(request: HttpRequest) -> str:
    """The address of the one who asks; behind a proxy, as the proxy says. Empty where it is not known."""
    try:
        return str(get_adapter().get_client_ip(request))
    except PermissionDenied:
        return ""


def locked_out(request: HttpRequest, credentials: Mapping[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
    return render(request, "account/locked_out.html", status=429)
