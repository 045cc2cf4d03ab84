"""The lobby's pages, and what can be done in it: every act is a POST by the player of the login, for himself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from matches.lobby import matchmaking, reads, tables
from matches.lobby.forms import TermsForm, WantedForm
from matches.lobby.prospects import why_not_counted
from matches.models import Match, Table
from players.models import Player, Pool
from players.numbers import whole
from players.pages.pools import all_pools
from players.pages.reader import page
from players.permissions import stakes_for
from players.services import find_by_address
from players.systems.base import Kind, Refused, Result
from players.views import choose
from players.wording import refusal

POLL_SECONDS = 4
LATEST = 253_402_300_000
"""Seconds: the last second that a calendar knows, nearly."""


# --- Who acts ---


def acting(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A POST by the player of the login. What the services refuse is said on the page that he comes from."""

    @require_POST
    @page
    @wraps(view)
    def act(request: HttpRequest, reader: Player | None, **where: Any) -> HttpResponseBase:
        back = _page_of(**where)
        if not request.user.is_authenticated:
            return redirect_to_login(back)
        if reader is None:
            return render(request, "players/no_player.html", status=403)
        try:
            return view(request, reader, **where)
        except (Table.DoesNotExist, Match.DoesNotExist):
            raise Http404(_("There is no such table.")) from None
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        except Refused as refused:
            messages.error(request, refusal(refused))
        return redirect(back)

    return act


def _page_of(
    pool_slug: str = "", table_id: int | None = None, token: str = "", match_id: int | None = None, slug: str = ""
) -> str:
    """Where an act is done."""
    if slug:
        return reverse("challenge", args=[pool_slug, slug])
    if pool_slug:
        return reverse("lobby", args=[pool_slug])
    if token:
        return reverse("invitation", args=[token])
    return reverse("match", args=[match_id]) if match_id is not None else reverse("table", args=[table_id])


# --- The lobby ---


@require_safe
@page
def lobby_index(request: HttpRequest, reader: Player | None) -> HttpResponse:
    """The first pool's lobby, or the page that says that there is no pool."""
    pools = all_pools(request.user, tiers=False)
    if pools:
        return redirect("lobby", pools[0].slug)
    return render(request, "players/no_pools.html", {"reader": reader})


@require_safe
@page
def lobby_page(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    pools = all_pools(request.user, tiers=False)
    return _lobby(request, reader, pools, choose(pools, pool_slug))


def _lobby(
    request: HttpRequest, reader: Player | None, pools: list[Pool], pool: Pool, form: TermsForm | None = None
) -> HttpResponse:
    """The page; with a form that was refused it is open."""
    # Before the tables are read: what changes in between is then fetched once more.
    etag = _etag(request, pool.slug, reader)
    context = _tables(request, reader, pool, etag) | {
        "pools": reads.tables_by_pool(pools),
        "form": form or TermsForm(pool, limits=True),
        "uncounted": uncounted_ways(pool),
        "refused": form is not None,
        "login_address": f"{reverse('account_login')}?{urlencode({'next': reverse('lobby', args=[pool.slug])})}",
    }
    return render(request, "matches/lobby.html", context, status=200 if form is None else 400)


@require_safe
@page
def lobby_tables(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    """The part of the page that is asked for again and again: 304 where it is as the browser has it.

    A player whose match has started since `since` (seconds) is led to it.
    """
    try:
        etag = _etag(request, pool_slug, reader)
    except Pool.DoesNotExist:
        raise Http404(_("There is no such pool.")) from None
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None and unchanged.status_code == 304:
        return _for_this_reader(unchanged, etag)
    match = _started(request, reader)
    if match is not None:
        return HttpResponse(headers={"HX-Redirect": match.get_absolute_url()})
    pool = Pool.objects.get(slug=pool_slug)
    return _for_this_reader(render(request, "matches/_tables.html", _tables(request, reader, pool, etag)), etag)


def _for_this_reader(response: HttpResponse, etag: str) -> HttpResponse:
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Cookie", "Accept-Language"])
    return response


def _etag(request: HttpRequest, pool_slug: str, reader: Player | None) -> str:
    """Of the tables as this reader sees them, with his filters, in his language and zone."""
    state = reads.state_of(pool_slug, reader)
    filters = sorted((name, value) for name, value in request.GET.items() if name != "since")
    seen = repr((state, filters, request.user.is_authenticated, get_language(), timezone.get_current_timezone_name()))
    return f'"{hashlib.blake2b(seen.encode(errors="replace"), digest_size=12).hexdigest()}"'


def _started(request: HttpRequest, reader: Player | None) -> Match | None:
    since = whole(request.GET.get("since", ""))
    if reader is None or since is None:
        return None
    return reads.started_since(reader, datetime.fromtimestamp(min(since, LATEST), UTC))


def _tables(request: HttpRequest, reader: Player | None, pool: Pool, etag: str) -> dict[str, Any]:
    shows_stakes = stakes_for(request.user, pool).of_tables
    wanted = WantedForm(pool, request.GET, reader=reader is not None, stakes=shows_stakes)
    found = reads.tables(pool, reader, wanted.wanted())
    query = request.GET.copy()
    query.pop("since", None)
    if found.own.waits:
        query["since"] = str(int(timezone.now().timestamp()))
    return {
        "reader": reader,
        "pool": pool,
        "uses": pool.rating_system.uses,
        "four": pool.rating_system.seats > 2,
        "shows_stakes": shows_stakes,
        "found": found,
        "wanted": wanted,
        "etag": etag,
        "seconds": POLL_SECONDS,
        "poll": reverse("lobby_tables", args=[pool.slug]) + (f"?{query.urlencode()}" if query else ""),
    }


def uncounted_ways(pool: Pool) -> list[str]:
    """Why matches that come about in one way or another do not count here, a sentence for each of the ways on the page."""
    kinds = (Kind.TABLE, Kind.MATCHMADE, Kind.CHALLENGE, Kind.INVITATION, Kind.REMATCH)
    return [reason for kind in kinds if (reason := why_not_counted(pool, usual(kind)))]


def usual(kind: Kind) -> Result:
    """Terms on which a match counts wherever its kind does."""
    return Result(length=5, deals=24, real_money=True, kind=kind.value)


# --- Beginning to wait ---


def on_terms(view: Callable[[HttpRequest, Player, Pool, TermsForm], HttpResponse]) -> Callable[..., HttpResponseBase]:
    """An act on the terms of the form that stands in the lobby; what makes no sense of them is shown there."""

    @acting
    @wraps(view)
    def act(request: HttpRequest, reader: Player, pool_slug: str) -> HttpResponse:
        pools = all_pools(request.user, tiers=False)
        pool = choose(pools, pool_slug)
        form = TermsForm(pool, request.POST, limits=True)
        return view(request, reader, pool, form) if form.is_valid() else _lobby(request, reader, pools, pool, form)

    return act


@on_terms
def open_table(request: HttpRequest, reader: Player, pool: Pool, form: TermsForm) -> HttpResponse:
    tables.open_table(pool, reader, form.terms(), **form.limits())
    messages.success(request, _("Your table stands in the lobby. When somebody sits down, this page leads you to your match."))
    return redirect("lobby", pool.slug)


@on_terms
def seek(request: HttpRequest, reader: Player, pool: Pool, form: TermsForm) -> HttpResponse:
    """Wait to be paired."""
    matchmaking.seek(pool, reader, form.terms())
    return redirect("lobby", pool.slug)


@on_terms
def invite(request: HttpRequest, reader: Player, pool: Pool, form: TermsForm) -> HttpResponse:
    return redirect(tables.invite(pool, reader, form.terms()))


@acting
def give_up(request: HttpRequest, reader: Player, pool_slug: str) -> HttpResponse:
    pool = choose(all_pools(request.user, tiers=False), pool_slug)
    if not matchmaking.give_up(pool, reader):
        messages.info(request, _("You are waiting no more. If you have just been paired, your match is below."))
    return redirect("lobby", pool.slug)


@page
def challenge(request: HttpRequest, reader: Player | None, pool_slug: str, slug: str) -> HttpResponseBase:
    """The page on which a player is challenged."""
    pool = choose(all_pools(request.user, tiers=False), pool_slug)
    try:
        invited, is_current = find_by_address(slug)
    except Player.DoesNotExist:
        raise Http404(_("There is no such player.")) from None
    if not is_current and request.method != "POST":
        return redirect("challenge", pool.slug, invited.slug)
    if request.method == "POST":
        return _challenge(request, pool_slug=pool_slug, slug=slug)
    return _challenge_page(request, reader, pool, invited, TermsForm(pool))


def _challenge_page(
    request: HttpRequest, reader: Player | None, pool: Pool, invited: Player, form: TermsForm, status: int = 200
) -> HttpResponse:
    context = {
        "reader": reader,
        "pool": pool,
        "invited": invited,
        "form": form,
        "why_not": why_not_counted(pool, usual(Kind.CHALLENGE)),
        "possible": pool.rating_system.seats == 2 and reader != invited and invited.user_id is not None,
    }
    return render(request, "matches/challenge.html", context, status=status)


@acting
def _challenge(request: HttpRequest, reader: Player, pool_slug: str, slug: str) -> HttpResponse:
    pool = choose(all_pools(request.user, tiers=False), pool_slug)
    invited, _current = find_by_address(slug)
    form = TermsForm(pool, request.POST)
    if not form.is_valid():
        return _challenge_page(request, reader, pool, invited, form, status=400)
    if invited.user_id is None:
        raise ValidationError(_("This player has no login here, and could not answer."))
    return redirect(tables.challenge(pool, reader, invited, form.terms()))


@acting
def rematch(request: HttpRequest, reader: Player, match_id: int) -> HttpResponse:
    found = Match.objects.select_related("pool").get(pk=match_id)
    table = tables.offer_rematch(found, reader)
    return redirect(table.match or table)


# --- A table ---


@require_safe
@page
def table_page(request: HttpRequest, reader: Player | None, table_id: int | None = None, token: str = "") -> HttpResponse:
    """A table: an open one for everybody, any other for those whom it is for."""
    try:
        table = tables.find_table(reader, table_id=table_id, token=token)
    except Table.DoesNotExist:
        raise Http404(_("There is no such table.")) from None
    waits = table.status == Table.Status.WAITING
    if table.match is not None and reader is not None and table.match.participants.filter(player=reader).exists():
        return redirect(table.match)
    context = {
        "reader": reader,
        "pool": table.pool,
        "uses": table.pool.rating_system.uses,
        "four": table.pool.rating_system.seats > 2,
        "shows_stakes": stakes_for(request.user, table.pool).of_tables,
        "table": table,
        "row": reads.one_table(table, reader) if waits else None,
        "link": request.build_absolute_uri(reverse("invitation", args=[table.token])) if table.token else "",
        "seat_address": reverse("invitation_seat", args=[token]) if token else reverse("take_seat", args=[table.pk]),
    }
    return render(request, "matches/table.html", context)


@acting
def take_seat(request: HttpRequest, reader: Player, table_id: int | None = None, token: str = "") -> HttpResponse:
    found = tables.find_table(reader, table_id=table_id, token=token)
    try:
        table = tables.take_seat(found.pk, reader, token=token)
    except (ValidationError, Refused) as error:
        if found.kind != Kind.TABLE:
            raise
        messages.error(request, refusal(error) if isinstance(error, Refused) else " ".join(error.messages))
        return redirect("lobby", found.pool.slug)
    if table.match is not None:
        return redirect(table.match)
    if found.kind == Kind.TABLE:
        return redirect("lobby", found.pool.slug)
    return redirect("invitation", token) if token else redirect(table)


@acting
def leave_table(request: HttpRequest, reader: Player, table_id: int) -> HttpResponse:
    found = tables.find_table(reader, table_id=table_id)
    tables.leave_table(table_id, reader)
    return redirect("lobby", found.pool.slug)


@acting
def decline(request: HttpRequest, reader: Player, table_id: int) -> HttpResponse:
    found = tables.find_table(reader, table_id=table_id)
    tables.decline(table_id, reader)
    return redirect("lobby", found.pool.slug)
