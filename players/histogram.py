"""The geometry of the distribution's picture: bars side by side, and the reader's place among them. Pure numbers, no words.

Drawn for a phone's width; it grows with the page, its text with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 344, 132
LEFT, RIGHT, TOP, BOTTOM = 4, 340, 22, 108
SLIT = 1.0
"""Between two bars."""
EDGE = 60
"""Text nearer to an edge than this is set towards the middle."""


@dataclass(frozen=True, slots=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    low: float
    high: float
    count: int
    own: bool


@dataclass(frozen=True, slots=True)
class Mark:
    x: str
    anchor: str
    value: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """What a template needs to draw; every number that SVG reads is text already, so that no language puts a comma into it."""

    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    own: Mark | None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


def draw(bins: Sequence[tuple[float, float, int]], own: float | None) -> Histogram | None:
    """Bins (low, high, count), one beside the other, and the reader's value among them; None where there are none."""
    if not bins:
        return None
    first, last = bins[0][0], bins[-1][1]
    most = max(count for _low, _high, count in bins)

    def across(value: float) -> float:
        return LEFT + (value - first) / (last - first) * (RIGHT - LEFT)

    bars = []
    for low, high, count in bins:
        # Whoever stands there is seen, however few they are among a million.
        height = max(1.5, count / most * (BOTTOM - TOP)) if count else 0.0
        left, right = across(low), across(high)
        bars.append(
            Bar(
                x=f"{left:.2f}",
                y=f"{BOTTOM - height:.2f}",
                width=f"{max(right - left - SLIT, 0.5):.2f}",
                height=f"{height:.2f}",
                low=low,
                high=high,
                count=count,
                own=own is not None and low <= own < high,
            )
        )
    middle = bins[len(bins) // 2][0]
    values = dict.fromkeys([first, middle, last]) if len(bins) > 2 else dict.fromkeys([first, last])
    return Histogram(
        bars=tuple(bars),
        marks=tuple(_mark(across(value), value) for value in values),
        own=None if own is None else _mark(min(max(across(own), LEFT), RIGHT), own),
    )


def _mark(x: float, value: float) -> Mark:
    return Mark(f"{x:.2f}", "start" if x < EDGE else "end" if x > WIDTH - EDGE else "middle", value)
