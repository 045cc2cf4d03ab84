"""What a correction would move, as JSON values."""

from __future__ import annotations

from matches.jobs import SHOWN_MOVES
from matches.revising import Preview
from players.api.answers import Json, points
from players.models import Pool


def preview_answer(seen: Preview, pool: Pool, moved: int | None = None) -> Json:
    """What would move; a stored preview keeps the first moves and how many there are in all."""
    return {
        "token": seen.token,
        "lines": seen.lines,
        "matches": seen.matches,
        "moved": len(seen.moves) if moved is None else moved,
        "moves": [
            {
                "player": {"id": move.player.pk, "name": move.player.name},
                "rating": [points(value, pool) for value in move.rating],
                "rank": list(move.rank),
            }
            for move in seen.moves[:SHOWN_MOVES]
        ],
    }
