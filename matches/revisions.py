"""Reads of revisions: what they did to a match, and which matches they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from matches.models import Match, Revision
from matches.words import Changed, changes_in_words, names_in
from players.models import PublishedChange


@dataclass(frozen=True, slots=True)
class Note:
    """A revision of what was published of a match, on the reader's day `on`, and why.

    `changes`: what it changed of the match itself. One that was made for the sake of other matches has the number of the first
    of them in `match_id`, and how many `more` there are.
    """

    revision: Revision
    on: date
    changes: Sequence[Changed] = ()
    match_id: int | None = None
    more: int = 0


def with_matches(revisions: QuerySet[Revision]) -> QuerySet[Any]:
    """With the number of the first of its matches and how many there are, as `first_match` and `match_count` (None: none)."""
    through: Any = Revision.matches.through.objects.filter(revision=OuterRef("pk")).order_by().values("revision")
    first = Subquery(through.annotate(first=Min("match")).values("first"))
    count = Subquery(through.annotate(count=Count("match")).values("count"))
    return revisions.annotate(first_match=first, match_count=count)


def notes_of(match: Match, published: Iterable[PublishedChange], *, shows_stake: bool = True) -> list[Note]:
    """The revisions of a match, and the first and the last ones of what was published of it; the last one first. Without
    `shows_stake`, what became of the stake is left out.

    One query, and one more for the names of players who were corrected.
    """
    by = {revision_id for row in published for revision_id in (row.first_revision_id, row.revision_id)}
    about = Revision.matches.through.objects.filter(match=match)
    named = Q(pk__in=about.values("revision")) | Q(pk__in=by)
    revisions = list(with_matches(Revision.objects.filter(named)).annotate(own=Exists(about.filter(revision=OuterRef("pk")))))
    details = {revision.pk: _of_result(revision, match, shows_stake) for revision in revisions if revision.own}
    players = names_in(details.values())
    return [
        Note(revision, timezone.localdate(revision.made_at), changes=changes_in_words(details[revision.pk], players))
        if revision.own
        else Note(
            revision,
            timezone.localdate(revision.made_at),
            match_id=revision.first_match,
            more=max(0, (revision.match_count or 0) - 1),
        )
        for revision in revisions
    ]


def _of_result(revision: Revision, match: Match, shows_stake: bool) -> dict[str, list[Any]]:
    """What it changed of the match, without the status: that the match was voided is what the revision says anyway."""
    left_out = {"status"} if shows_stake else {"status", "stake"}
    return {name: pair for name, pair in revision.details.get(str(match.pk), {}).items() if name not in left_out}
