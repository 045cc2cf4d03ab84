"""Measuring on a machine that others use too: what is compared runs in turns, and the ratio within each round counts."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Clock = Callable[[], float]


@dataclass
class Table:
    """What a benchmark found: lines of a table with the first line as its head, and notes below it."""

    head: tuple[str, ...]
    lines: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        rows = [self.head, ("---",) * len(self.head), *self.lines]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return "\n\n".join([table, *self.notes])


class Timed:
    """Seconds of each round, by the name of what ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float) -> None:
        self.seconds.setdefault(name, []).append(seconds)

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, to: str) -> float:
        """The median of the rounds' ratios: how many times as long one takes as the other."""
        return statistics.median(a / b for a, b in zip(self.seconds[name], self.seconds[to], strict=True))


def in_turns(jobs: Mapping[str, Callable[[], object]], rounds: int, clock: Clock = time.perf_counter) -> Timed:
    """Run the jobs one after the other, round after round, and drop what they answer.

    Pure computations are timed by `time.process_time`, which stands still while another process has the processor.
    """
    timed = Timed()
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            start = clock()
            answer = job()
            timed.add(name, clock() - start)
            del answer
    return timed
