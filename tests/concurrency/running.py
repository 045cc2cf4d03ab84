"""Jobs that run at the same moment, each on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

from matches.models import Match, Participant
from matches.verify import verify
from players.models import Pool, RatingChange


def at_once(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run the jobs in a thread each, all released at the same moment: their answers, or the errors they raised."""
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        try:
            gate.wait(timeout=60)
            return job()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(run, jobs))


def elsewhere(job: Callable[[], Any]) -> Any:
    """Run the job on another connection, to its end."""
    [answer] = at_once([job])
    if isinstance(answer, Exception):
        raise answer
    return answer


def assert_whole(pool: Pool, matches: int, counted: int | None = None) -> None:
    """As many matches as meant, each rated once and rightly, no half match, no orphan."""
    counted = matches if counted is None else counted
    assert verify(pool) == (counted, None)
    assert Match.objects.filter(pool=pool).count() == matches
    assert Participant.objects.filter(match__pool=pool).count() == matches * pool.rating_system.seats
    assert RatingChange.objects.filter(rating__pool=pool).count() == counted * pool.rating_system.seats
