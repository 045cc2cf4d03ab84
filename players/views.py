"""The pages of rankings, and light or dark."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from players.models import Player, Pool
from players.pages.pools import all_pools
from players.pages.ranking import ranking
from players.pages.reader import page

LAST_PAGE = 1_000_000
THEME_SECONDS = 365 * 24 * 3600


def choose(pools: list[Pool], slug: str) -> Pool:
    """The pool with this address, or the page that says that there is none."""
    for pool in pools:
        if pool.slug == slug:
            return pool
    raise Http404(_("There is no such pool."))


def page_number(request: HttpRequest) -> int:
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
    found = ranking(pool, reader, page_number(request), request.GET, timezone.now())
    context = {"reader": reader, "pools": pools, "pool": pool, "ranking": found}
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
