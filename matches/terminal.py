"""What the commands that revise ratings share: progress, what a preview shows, and words for what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from tqdm import tqdm

from matches.replay import Overtaken, Progress
from matches.revising import Moved, Preview
from matches.words import busy_sentence
from players import wording
from players.formatting import format_change, format_rating
from players.models import Pool
from players.systems.base import Refused
from players.terminal import saying_why

SHOWN = 40
"""Moves that a preview prints."""


@contextmanager
def counting(command: BaseCommand, total: int | None = None) -> Iterator[Progress]:
    """A bar that counts matches while it is open, where somebody watches."""
    with tqdm(total=total, unit=" matches", disable=None, file=command.stderr) as bar:
        yield lambda done: None if done < bar.n else bar.update(done - bar.n)


def print_preview(command: BaseCommand, pool: Pool, seen: Preview) -> None:
    """Whom it moves, the first SHOWN of them, and how much of the history."""
    rank = _("rank")
    for move in seen.moves[:SHOWN]:
        before, after = (format_rating(value, pool.shown_decimals) for value in move.rating)
        change = format_change(move.rating[1] - move.rating[0], pool.shown_decimals)
        ranks = " → ".join("–" if rank is None else str(rank) for rank in move.rank)
        command.stdout.write(f"{move.player.name}: {before} → {after} ({change}), {rank} {ranks}")
    if len(seen.moves) > SHOWN:
        command.stdout.write(_("… and %(count)d more players.") % {"count": len(seen.moves) - SHOWN})
    command.stdout.write(
        _("%(players)d players move; %(lines)d lines of the history from %(matches)d matches.")
        % {"players": len(seen.moves), "lines": seen.lines, "matches": seen.matches}
    )


@contextmanager
def saying_what_stops() -> Iterator[None]:
    """Raise what makes a revision impossible as a CommandError."""
    try:
        with saying_why():
            yield
    except Refused as refused:
        raise CommandError(wording.refusal(refused)) from None
    except Moved:
        raise CommandError(_("The pool has moved on since the preview. Look at it again.")) from None
    except Overtaken:
        raise CommandError(busy_sentence()) from None
