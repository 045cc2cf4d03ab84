"""The pages of matches: the front page, the lobby and the calculation sheet."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from matches.lobby import tables_by_pool, waiting_tables
from matches.models import Match
from matches.results import last_results, pool_cards
from matches.sheet import sheet
from players.models import Player
from players.pages.pools import all_pools, ratings_of
from players.pages.reader import page
from players.permissions import stakes_for
from players.views import choose


@require_safe
@page
def home(request: HttpRequest, reader: Player | None) -> HttpResponse:
    pools = all_pools()
    cards, results = pool_cards(pools, ratings_of(reader)), last_results(pools)
    return render(request, "matches/home.html", {"reader": reader, "cards": cards, "results": results})


@require_safe
@page
def lobby_index(request: HttpRequest, reader: Player | None) -> HttpResponse:
    """The first pool's lobby, or the page that says that there is no pool."""
    pools = all_pools()
    if pools:
        return redirect("lobby", pools[0].slug)
    return render(request, "players/no_pools.html", {"reader": reader})


@require_safe
@page
def lobby(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    pools = all_pools(request.user)
    pool = choose(pools, pool_slug)
    context = {
        "reader": reader,
        "pools": tables_by_pool(pools),
        "pool": pool,
        "tables": waiting_tables(pool),
        "shows_stakes": stakes_for(request.user, pool).of_tables,
    }
    return render(request, "matches/lobby.html", context)


@require_safe
@page
def match(request: HttpRequest, reader: Player | None, match_id: int) -> HttpResponse:
    try:
        found = sheet(match_id, reader, request.user)
    except Match.DoesNotExist:
        raise Http404(_("There is no such match.")) from None
    return render(
        request, "matches/match.html", {"reader": reader, "sheet": found, "match": found.match, "pool": found.match.pool}
    )


@require_safe
@page
def table(request: HttpRequest, reader: Player | None, table_id: int) -> HttpResponse:
    raise Http404
