"""The pages of a player's window: at the cashier for himself, and the same for all under his own address."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from players import graph
from players.match_filter import MatchFilter
from players.models import Player, Pool
from players.pages import progress, readings
from players.pages.matches import NoSuchMatch, Page, Wanted, latest, page_of
from players.pages.pools import PoolLink, all_pools, liveliest, ratings_of
from players.pages.profile import Profile, profile
from players.pages.reader import page
from players.pages.statistics import statistics as numbers
from players.pages.versus import versus
from players.pages.window import Window
from players.services import find_by_address
from players.views import choose, page_number

View = Callable[..., HttpResponseBase]


def at_cashier(view: View) -> View:
    """The reader's own window: nobody else's can be asked for."""

    @require_safe
    @login_required
    @page
    @wraps(view)
    def own(request: HttpRequest, reader: Player | None, **asked: Any) -> HttpResponseBase:
        if reader is None:
            return render(request, "players/no_player.html")
        return view(request, reader, Window(reader, own=True), **asked)

    return own


def at_players(view: View) -> View:
    """What everybody may know of a player. An address that he had before leads to the present one."""

    @require_safe
    @page
    @wraps(view)
    def public(request: HttpRequest, reader: Player | None, slug: str, **asked: Any) -> HttpResponseBase:
        shown, is_current = _player(slug)
        if not is_current and request.resolver_match:
            address = reverse(request.resolver_match.view_name, kwargs={"slug": shown.slug, **asked})
            query = request.META.get("QUERY_STRING", "")
            return redirect(f"{address}?{query}" if query else address)
        return view(request, reader, Window(shown, own=False), **asked)

    return public


def _player(slug: str) -> tuple[Player, bool]:
    try:
        return find_by_address(slug)
    except Player.DoesNotExist:
        raise Http404(_("There is no such player.")) from None


# --- Rating ---


def rating(request: HttpRequest, reader: Player | None, window: Window, pool_slug: str | None = None) -> HttpResponse:
    """An overview of all pools, and of one pool the rating with all that is said of it, the graph and the latest changes."""
    now = timezone.now()
    context = _in_pool(request, reader, window, "rating", pool_slug)
    if context["pool"] is None:
        return render(request, "players/rating.html", context)
    facts = _facts(context, now)
    context |= {"facts": facts, "matches": latest(window.player, facts.pool, facts.rating, request.user)}
    context["matches_address"] = window.address("matches")
    if facts.played:
        context |= _graph(request, window, facts, now)
    return render(request, "players/rating.html", context)


def points(request: HttpRequest, reader: Player | None, window: Window, pool_slug: str) -> HttpResponse:
    """What a script reads out of the graph, point by point."""
    now = timezone.now()
    facts = _facts(_in_pool(request, reader, window, "rating", pool_slug), now)
    if not facts.played:
        return JsonResponse({"points": []})
    drawn = _graph(request, window, facts, now)
    return JsonResponse({"points": readings.points(facts, drawn["line"], drawn["graph"])})


def history(request: HttpRequest, reader: Player | None, window: Window, pool_slug: str) -> HttpResponse:
    """The numbers of the graph as a table: every counted match."""
    context = _in_pool(request, reader, window, "rating", pool_slug)
    facts = _facts(context, timezone.now())
    found = readings.table(facts, page_number(request), request.user)
    if found.page > 1 and not found.lines:
        raise Http404(_("The list has no such page."))
    context |= {"facts": facts, "table": found, "address": window.address("history", facts.pool.slug)}
    context["rating_address"] = window.address("rating_pool", facts.pool.slug)
    return render(request, "players/history.html", context)


def _in_pool(request: HttpRequest, reader: Player | None, window: Window, tab: str, pool_slug: str | None) -> dict[str, Any]:
    """What the tabs that show one pool have in common."""
    pools, ratings = all_pools(request.user), ratings_of(window.player)
    pool = choose(pools, pool_slug) if pool_slug else liveliest(pools, ratings)
    overview = [PoolLink(each, ratings.get(each.pk), window.address(f"{tab}_pool", each.slug)) for each in pools]
    return {"reader": reader, "window": window, "tab": tab, "pool": pool, "overview": overview, "ratings": ratings}


def _facts(context: dict[str, Any], now: datetime) -> Profile:
    pool: Pool = context["pool"]
    return profile(context["window"].player, pool, context["ratings"].get(pool.pk), now)


def _graph(request: HttpRequest, window: Window, facts: Profile, now: datetime) -> dict[str, Any]:
    """The graph as it is asked for: over the usual range and time where that is none."""
    wanted, across = request.GET.get("range", ""), request.GET.get("by", "")
    chosen = wanted if wanted in progress.RANGES else progress.usual_range(facts.rating, now)
    axis = across if across in progress.AXES else progress.TIME
    line = progress.of_rating(facts.rating, facts.pool, chosen, now, axis=axis)
    beside = progress.standing_beside(line, facts.rating, facts.pool.standing_rule, now)
    notes = progress.notes_of(line, facts.rating)
    drawn = graph.draw(
        [graph.Point(step.at, step.rating, step.provisional) for step in line.steps],
        span=line.span,
        start=line.start,
        start_provisional=line.start_provisional,
        peak=line.peak,
        beside=beside,
        notes=[note.at for note in notes],
    )
    if axis == progress.MATCHES and line.steps:
        marks: Any = graph.number_marks(line.first_number, facts.rating.matches)
    else:
        marks = graph.date_marks(line.first, line.last)
    address = window.address("rating_pool", facts.pool.slug)
    return {
        "line": line,
        "graph": drawn,
        "marks": marks,
        "notes": notes,
        "axis": axis,
        "ranges": [(name, _query(address, name, axis), name == chosen) for name in progress.RANGES],
        "axes": [(name, _query(address, chosen, name), name == axis) for name in progress.AXES],
        "points_address": _query(window.address("points", facts.pool.slug), chosen, axis, fragment=""),
        "history_address": window.address("history", facts.pool.slug),
    }


def _query(address: str, chosen: str, axis: str, *, fragment: str = "#graph") -> str:
    return f"{address}?{urlencode({'range': chosen} | ({'by': axis} if axis != progress.TIME else {}))}{fragment}"


# --- Matches ---


def matches(request: HttpRequest, reader: Player | None, window: Window) -> HttpResponse:
    """The player's matches in all pools, or those that a form asks for."""
    pools = all_pools(request.user)
    form = MatchFilter(pools, request.GET)
    context: dict[str, Any] = {"reader": reader, "window": window, "tab": "matches", "form": form}
    context["address"] = window.address("matches")
    if not form.is_valid():
        return render(request, "players/matches.html", context, status=400)
    found = _page_of(request, window.player, pools, form.wanted(), form.cleaned_data)
    asked = form.asked()
    context |= {"matches": found, "asked": asked, **_pages(window.address("matches"), asked, found)}
    return render(request, "players/matches.html", context)


def _page_of(request: HttpRequest, player: Player, pools: list[Pool], wanted: Wanted, place: dict[str, int | None]) -> Page:
    try:
        return page_of(player, pools, wanted, request.user, older=place["older"], newer=place["newer"])
    except NoSuchMatch:
        raise Http404(_("There is no such match.")) from None


def _pages(address: str, asked: dict[str, Any], found: Page) -> dict[str, str]:
    """The addresses of the neighbouring pages, "" where there is none."""
    places = {"older": found.older, "newer": found.newer}
    return {
        f"{name}_address": f"{address}?{urlencode({**asked, name: match_id})}#matches" if match_id else ""
        for name, match_id in places.items()
    }


# --- Statistics ---


def statistics(request: HttpRequest, reader: Player | None, window: Window, pool_slug: str | None = None) -> HttpResponse:
    """How the player's counted matches in a pool ended."""
    context = _in_pool(request, reader, window, "statistics", pool_slug)
    pool: Pool | None = context["pool"]
    found = context["ratings"].get(pool.pk) if pool else None
    if pool is not None and found is not None and found.matches:
        context["statistics"] = numbers(window.player, pool, found, timezone.localdate())
    return render(request, "players/statistics.html", context)


def head_to_head(request: HttpRequest, reader: Player | None, window: Window, other: str) -> HttpResponse:
    """Two players against each other, as the first of them sees it."""
    opponent, is_current = _player(other)
    if not is_current:
        return redirect("head_to_head", window.player.slug, opponent.slug)
    if opponent == window.player:
        raise Http404(_("Nobody plays against himself."))
    pools = all_pools(request.user)
    form = MatchFilter(pools, {name: request.GET[name] for name in ("older", "newer") if name in request.GET})
    if not form.is_valid():
        raise Http404(_("The place in the list is the number of a match."))
    found = _page_of(request, window.player, pools, Wanted(against=opponent), form.cleaned_data)
    address = reverse("head_to_head", args=[window.player.slug, opponent.slug])
    context = {"reader": reader, "window": window, "opponent": opponent, "met": versus(window.player, opponent, pools)}
    return render(request, "players/versus.html", context | {"matches": found, **_pages(address, {}, found)})
