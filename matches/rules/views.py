"""The pages that explain a pool: its rules, and the simulator."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from matches.money.rake import bands_of, grouped
from matches.rules.simulator import simulation
from players.models import Player
from players.pages.pools import all_pools
from players.pages.reader import page
from players.pages.rules import rules_of
from players.searching import suggestions
from players.views import choose

LONGEST_NAME = 80


@require_safe
@page
def rules_index(request: HttpRequest, reader: Player | None) -> HttpResponse:
    return _first_pool(request, reader, "rules")


@require_safe
@page
def rules(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    pools = all_pools()
    pool = choose(pools, pool_slug)
    bands = bands_of(pool) if "stake" in pool.rating_system.uses else []
    context = {
        "reader": reader,
        "pools": pools,
        "pool": pool,
        "rules": rules_of(pool),
        "rake": grouped(bands),
        "rake_is_example": any(band.example for band in bands),
    }
    return render(request, "rules/rules.html", context)


@require_safe
@page
def simulator_index(request: HttpRequest, reader: Player | None) -> HttpResponse:
    return _first_pool(request, reader, "simulator")


@require_safe
@page
def simulator(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    pools = all_pools()
    pool = choose(pools, pool_slug)
    context = {"reader": reader, "pools": pools, "pool": pool, "page": simulation(pool, request.GET, reader)}
    return render(request, "rules/simulator.html", context)


@require_safe
def simulator_players(request: HttpRequest) -> JsonResponse:
    """Names that begin with `q`, for the field's suggestions. One query at most."""
    return JsonResponse({"names": suggestions(request.GET.get("q", "")[:LONGEST_NAME])})


def _first_pool(request: HttpRequest, reader: Player | None, name: str) -> HttpResponse:
    """The page of the first pool, or the one that says that there is no pool."""
    pools = all_pools()
    if pools:
        return redirect(name, pools[0].slug)
    return render(request, "players/no_pools.html", {"reader": reader})
