"""The signals of the players app."""

from django.dispatch import Signal

player_leaves = Signal()
"""Sent by `send` inside the transaction that makes a player anonymous, before anything of his is held: whatever comes before
players in the order of locks lets go of him now.

Arguments: `player`, `now`.
"""

player_anonymised = Signal()
"""Sent by `send` inside the transaction that makes a player anonymous, so that an error in a receiver rolls it back.

Arguments: `player` (as he is called from now on), `duplicates` (those who were merged into him) and `names` (all that he and they
were ever called here).
"""

standings_moved = Signal()
"""Sent by `send` inside the transaction in which time moves standings of a pool, so that an error in a receiver rolls it back.

Arguments: `pool`, `moved` (a list of [player id, standing before, standing after], in points), `now`.
"""
