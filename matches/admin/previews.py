"""What a correction or a late match would move, as the admin shows it before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from matches.corrections import Details, Move, Preview
from matches.models import CorrectionJob, Match
from matches.words import Changed, RulesChanged, changes_in_words, names_in, rules_in_words
from players.formatting import format_number
from players.models import Pool

MOVES, MATCHES = 50, 20
"""How many players and matches a page names; the rest it counts."""
NOT_SENT_ON = frozenset({"csrfmiddlewaretoken", "token", "_confirm", "_back", "_preview", "_save"})


@dataclass(frozen=True, slots=True)
class ChangedMatch:
    """What becomes of a match; `match` is as it is stored now."""

    match: Match
    fields: Sequence[Changed]


@dataclass(frozen=True, slots=True)
class ShownPreview:
    """A preview on a page: the players who move most, what becomes of the matches, and how many of both are not named."""

    pool: Pool
    moves: Sequence[Move]
    moved: int
    lines: int
    matches: int
    token: str
    changes: Sequence[ChangedMatch]
    changed: int
    rules: RulesChanged | None = None

    @property
    def more_moves(self) -> int:
        return self.moved - len(self.moves)

    @property
    def more_changes(self) -> int:
        return self.changed - len(self.changes)


def shown(pool: Pool, seen: Preview, moved: int | None = None) -> ShownPreview:
    """`moved` is the number of all who move, where the preview holds only some of them. At most four queries."""
    return ShownPreview(
        pool=pool,
        moves=seen.moves[:MOVES],
        moved=len(seen.moves) if moved is None else moved,
        lines=seen.lines,
        matches=seen.matches,
        token=seen.token,
        changes=changes_of(seen.details),
        changed=len(seen.details),
        rules=rules_in_words(seen.rules) if seen.rules else None,
    )


def changes_of(details: Details) -> list[ChangedMatch]:
    """What became of the first of the matches, in words. At most four queries."""
    first = {int(match_id): one for match_id, one in islice(details.items(), MATCHES)}
    named = names_in(first.values())
    matches = Match.objects.filter(pk__in=first).select_related("pool").prefetch_related("participants__player")
    return [ChangedMatch(match, changes_in_words(first[match.pk], named)) for match in matches.order_by("-pk")]


def sent_on(request: HttpRequest) -> list[tuple[str, Any]]:
    """What the form held, to be sent once more from the preview."""
    return [(name, value) for name, values in request.POST.lists() if name not in NOT_SENT_ON for value in values]


def preview_response(
    model_admin: Any,
    request: HttpRequest,
    pools: Sequence[tuple[Pool, Preview]],
    context: dict[str, Any],
    *,
    token: str,
    moved: bool,
) -> HttpResponse:
    """The page between what was sent and its being done: it sends everything on, with the preview's token."""
    previews = [shown(pool, seen) for pool, seen in pools]
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "previews": previews,
        "preview": previews[0] if len(previews) == 1 else None,
        "token": token,
        "moved": moved,
        "sent": sent_on(request),
        **context,
    }
    return TemplateResponse(request, "admin/matches/match/preview.html", context)


def job_response(model_admin: Any, request: HttpRequest, job: CorrectionJob) -> HttpResponse:
    """To the page of a job, saying why it became one."""
    sentence = _("This rates %(count)s matches anew, so it is done in the background. Nothing is written before you confirm.")
    model_admin.message_user(request, sentence % {"count": format_number(job.total, 0)})
    return HttpResponseRedirect(reverse("admin:matches_correctionjob_change", args=[job.pk]))
