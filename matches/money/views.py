"""The tab Statement of the cashier's window, and the same as a file. Nobody sees another's."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from matches.money.rake import are_examples
from matches.money.statement import months_of, statement_lines, whole_statement, with_others, write_csv
from players.models import Player
from players.pages.window import Window

MOST_LINES = 500
"""A page shows no more of a month; the file has all."""


def statement(request: HttpRequest, reader: Player | None, window: Window) -> HttpResponse:
    """All months, and the matches of the one that is asked for, else of the newest."""
    months = months_of(statement_lines(window.player))
    wanted = request.GET.get("month", "")
    chosen = next((month for month in months if month.key == wanted), None)
    if wanted and chosen is None:
        raise Http404(_("There is no such month in your statement."))
    if chosen is None and months:
        chosen = months[0]
    context: dict[str, Any] = {
        "reader": reader,
        "window": window,
        "tab": "statement",
        "pool": None,
        "months": months,
        "chosen": chosen,
        "lines": with_others(chosen.lines[:MOST_LINES]) if chosen else (),
        "most": MOST_LINES,
        "rake_is_example": are_examples(
            {line.match.pool_id for month in months for line in month.lines if line.rake is not None}
        ),
    }
    return render(request, "matches/statement.html", context)


def statement_csv(request: HttpRequest, reader: Player | None, window: Window) -> HttpResponse:
    """The whole statement, for a spreadsheet."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="statement.csv"'
    response["Cache-Control"] = "private, no-store"
    write_csv(whole_statement(window.player), response)
    return response
