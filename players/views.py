"""The pages of players and rankings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from players import graph
from players.models import Player, Pool, Rating
from players.pages.history import RANGES, matches_of, peak_in, series, usual_range
from players.pages.pools import all_pools, ratings_of
from players.pages.profile import Profile, profile
from players.pages.ranking import ranking
from players.pages.reader import page
from players.permissions import stakes_for
from players.services import find_by_address

LAST_PAGE = 1_000_000
THEME_SECONDS = 365 * 24 * 3600


@require_safe
@login_required
@page
def cashier(request: HttpRequest, reader: Player | None, pool_slug: str | None = None) -> HttpResponse:
    """The cashier's window of the reader: nobody else's can be asked for."""
    if reader is None:
        return render(request, "players/no_player.html")
    return render(request, "players/cashier.html", _rating_page(request, reader, pool_slug, _cashier_address))


@require_safe
@page
def player(request: HttpRequest, reader: Player | None, slug: str, pool_slug: str | None = None) -> HttpResponse:
    """What everybody may know of a player. An address that he had before leads to the present one."""
    try:
        shown, is_current = find_by_address(slug)
    except Player.DoesNotExist:
        raise Http404(_("There is no such player.")) from None
    if not is_current:
        return redirect("player_pool", shown.slug, pool_slug) if pool_slug else redirect("player", shown.slug)
    return render(request, "players/player.html", {"reader": reader, **_rating_page(request, shown, pool_slug, _player_address)})


def _cashier_address(player: Player, pool: Pool) -> str:
    return reverse("cashier_pool", args=[pool.slug])


def _player_address(player: Player, pool: Pool) -> str:
    return reverse("player_pool", args=[player.slug, pool.slug])


@dataclass(frozen=True, slots=True)
class PoolLink:
    """A pool in the overview, with the player's rating there and the address of the page that shows it."""

    pool: Pool
    rating: Rating | None
    address: str


def _rating_page(
    request: HttpRequest, shown: Player, pool_slug: str | None, address: Callable[[Player, Pool], str]
) -> dict[str, Any]:
    """What both pages show of a player: an overview of all pools, and one pool with graph and matches."""
    now = timezone.now()
    pools, ratings = all_pools(request.user), ratings_of(shown)
    pool = choose(pools, pool_slug) if pool_slug else _liveliest(pools, ratings)
    overview = [PoolLink(each, ratings.get(each.pk), address(shown, each)) for each in pools]
    context: dict[str, Any] = {"player": shown, "pool": pool, "overview": overview}
    if pool is None:
        return context
    facts = profile(shown, pool, ratings.get(pool.pk), now)
    stakes = stakes_for(request.user, pool)
    matches = matches_of(shown, pool, facts.rating, _page_number(request), stakes=stakes)
    if matches.page > 1 and not matches.lines:
        raise Http404(_("The list has no such page."))
    context |= {"address": address(shown, pool), "facts": facts, "matches": matches}
    return context | _graph(facts, request.GET.get("range", ""), now) if facts.played else context


def _graph(facts: Profile, wanted: str, now: datetime) -> dict[str, Any]:
    """The graph over the range that is asked for; over the usual one where that is none."""
    rating = facts.rating
    chosen = wanted if wanted in RANGES else usual_range(rating, now)
    today = timezone.localtime(now).date()
    line = series(rating, facts.pool, RANGES[chosen], today)
    peak = peak_in(rating, line)
    drawn = graph.draw(
        line.points, start=line.start, start_provisional=line.start_provisional, first=line.first, last=line.last, peak=peak
    )
    return {"ranges": RANGES, "range": chosen, "series": line, "graph": drawn, "peak_shown": peak is not None}


def choose(pools: list[Pool], slug: str) -> Pool:
    """The pool with this address, or the page that says that there is none."""
    for pool in pools:
        if pool.slug == slug:
            return pool
    raise Http404(_("There is no such pool."))


def _liveliest(pools: list[Pool], ratings: dict[int, Any]) -> Pool | None:
    """The pool of the player's last counted match; else the first."""
    played = [pool for pool in pools if pool.pk in ratings and ratings[pool.pk].last_ended_at]
    if played:
        return max(played, key=lambda pool: ratings[pool.pk].last_ended_at)
    return pools[0] if pools else None


def _page_number(request: HttpRequest) -> int:
    """The page asked for, at most LAST_PAGE; the first where it is no number."""
    text = request.GET.get("page", "")
    if not (text.isascii() and text.isdigit()):
        return 1
    return max(1, min(int(text[:20]), LAST_PAGE))


@require_safe
@page
def rankings_index(request: HttpRequest, reader: Player | None) -> HttpResponse:
    """The first pool's ranking, or the page that says that there is no pool."""
    pools = all_pools()
    if pools:
        return redirect("rankings", pools[0].slug)
    return render(request, "players/no_pools.html", {"reader": reader})


@require_safe
@page
def rankings(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    pools = all_pools()
    pool = choose(pools, pool_slug)
    context = {"reader": reader, "pools": pools, "pool": pool, "ranking": ranking(pool, reader, _page_number(request))}
    return render(request, "players/rankings.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember light or dark; anything else goes back to what the reader's system says."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = HttpResponseRedirect(back)
    chosen = request.POST.get("theme")
    if chosen in ("light", "dark"):
        response.set_cookie("theme", chosen, max_age=THEME_SECONDS, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
