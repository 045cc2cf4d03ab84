"""The pages of matches: the front page, the lobby and the calculation sheet."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from matches.models import Match
from matches.results import last_results, pool_cards
from matches.sheet import sheet
from players.models import Player
from players.pages.pools import all_pools, ratings_of
from players.pages.reader import page


@require_safe
@page
def home(request: HttpRequest, reader: Player | None) -> HttpResponse:
    pools = all_pools()
    cards, results = pool_cards(pools, ratings_of(reader)), last_results(pools)
    return render(request, "matches/home.html", {"reader": reader, "cards": cards, "results": results})


@require_safe
@page
def match(request: HttpRequest, reader: Player | None, match_id: int) -> HttpResponse:
    return render(request, "matches/match.html", _sheet(request, reader, match_id))


@require_safe
@page
def slip(request: HttpRequest, reader: Player | None, match_id: int, seat: int) -> HttpResponse:
    """The part of the sheet that is about one seat, without the frame of a page."""
    context = _sheet(request, reader, match_id)
    for column in context["sheet"].columns:
        if column.seat.seat == seat:
            return render(request, "matches/slip.html", context | {"column": column})
    raise Http404(_("There is no such match."))


def _sheet(request: HttpRequest, reader: Player | None, match_id: int) -> dict[str, Any]:
    try:
        found = sheet(match_id, reader, request.user)
    except Match.DoesNotExist:
        raise Http404(_("There is no such match.")) from None
    return {"reader": reader, "sheet": found, "match": found.match, "pool": found.match.pool}
