"""The page of a pool's files, the files themselves, and all of a player's own data."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from matches.exports.own_data import own_data
from matches.exports.records import records
from matches.exports.tables import TABLES
from matches.exports.writing import FORMATS, lines
from players.models import Player, Pool
from players.pages.pools import all_pools
from players.pages.reader import page
from players.permissions import StakeSight, stakes_for
from players.views import choose

RECORDS = "records"


@require_safe
@page
def files(request: HttpRequest, reader: Player | None, pool_slug: str) -> HttpResponse:
    """What can be downloaded of a pool, and how to check it."""
    pools = all_pools()
    return _page(request, reader, pools, choose(pools, pool_slug))


def _page(request: HttpRequest, reader: Player | None, pools: list[Pool], pool: Pool, status: int = 200) -> HttpResponse:
    context = {
        "reader": reader,
        "pools": pools,
        "pool": pool,
        "tables": [(what, table.label) for what, table in TABLES.items()],
        "may_check": may_check(pool, stakes_for(request.user, pool)),
    }
    return render(request, "matches/files.html", context, status=status)


@require_safe
@page
def file(request: HttpRequest, reader: Player | None, pool_slug: str, what: str, form: str) -> HttpResponseBase:
    """A table or the records of a pool, sent as it is read."""
    pools = all_pools()
    pool = choose(pools, pool_slug)
    stakes = stakes_for(request.user, pool)
    if what == RECORDS and form == "jsonl":
        if not may_check(pool, stakes):
            return _page(request, reader, pools, pool, status=403)  # it says why
        text = records(pool)
    elif what in TABLES and form in FORMATS:
        text = lines(TABLES[what], pool, form, stakes)
    else:
        raise Http404(_("There is no such file."))
    return download(text, FORMATS[form], f"{pool.slug}-{what}.{form}")


def may_check(pool: Pool, stakes: StakeSight) -> bool:
    """Whether a reader gets the records, from which the ratings follow: not where they hold stakes that he does not see."""
    return stakes.all or "stake" not in pool.rating_system.uses


@require_safe
@login_required
@never_cache
@page
def data(request: HttpRequest, reader: Player | None) -> HttpResponseBase:
    """All that is kept of the player who asks, and nobody else."""
    if reader is None:
        return render(request, "players/no_player.html")
    text = own_data(reader, timezone.now())
    return download(text, "application/json; charset=utf-8", f"{reader.slug}.json")


def download(text: Iterator[str], kind: str, name: str) -> StreamingHttpResponse:
    """A file of this name, sent in pieces as it is read."""
    response = StreamingHttpResponse(_bunched(text), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"' if name.isascii() else "attachment"
    response["X-Accel-Buffering"] = "no"
    return response


def _bunched(text: Iterator[str], size: int = 16_384) -> Iterator[str]:
    """The lines in pieces: to send each by itself would take longer than to make it."""
    held: list[str] = []
    length = 0
    try:
        for line in text:
            held.append(line)
            length += len(line)
            if length >= size:
                yield "".join(held)
                held, length = [], 0
        yield "".join(held)
    finally:
        # A reader who has had enough: what is open in the database is closed.
        if hasattr(text, "close"):
            text.close()
