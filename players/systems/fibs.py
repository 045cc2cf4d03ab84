"""FIBS, the First Internet Backgammon Server: the public formula in `players.systems.backgammon`, with its own constants."""

from __future__ import annotations

from players.systems.backgammon import Backgammon
from players.systems.registry import register


@register
class Fibs(Backgammon):
    """FIBS: start 1500, changes of `4 * K * sqrt(n) * (score - expected)`, experience = points of the matches before this one.

    Public sources disagree whether the match being rated counts already for K, so that is a parameter.
    """

    key = "fibs"
    shown_decimals = 2
