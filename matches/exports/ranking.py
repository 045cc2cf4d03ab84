"""The ranking as a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from matches.exports.tables import TABLES, Row
from matches.exports.views import download
from matches.exports.writing import FORMATS, lines
from players.models import Pool
from players.pages.pools import all_pools
from players.pages.ranking import criteria_of
from players.permissions import StakeSight
from players.rankings import Criteria, marked
from players.rows import walk
from players.views import choose

FIELDS = ("rank", "player__name", "value", "standing", "experience", "matches", "wanted")


@require_safe
def ranking_csv(request: HttpRequest, pool_slug: str) -> HttpResponseBase:
    """The ranking with every digit, as it is read; with the criteria of the page, those who meet them, with their ranks in the
    whole."""
    pool = choose(all_pools(), pool_slug)
    asked = criteria_of(pool, list(pool.tiers.all()), request.GET, timezone.now())
    table = TABLES["ratings"]
    if asked.criteria:
        table = replace(table, rows=lambda pool, stakes: _wanted(pool, asked.criteria, stakes))
    return download(lines(table, pool, "csv"), FORMATS["csv"], f"{pool.slug}.csv")


def _wanted(pool: Pool, criteria: Criteria, stakes: StakeSight) -> Iterator[Row]:
    found = marked(pool, list(pool.tiers.all()), criteria).values_list(*FIELDS)
    return (list(row) for *row, wanted in walk(found) if wanted)
