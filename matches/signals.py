"""The signals of the matches app."""

from django.dispatch import Signal

match_completed = Signal()
"""Sent once per call of `complete_matches`, inside its transaction, by `send`, so that an error in a receiver rolls it all back.

Arguments: `matches` (the completed matches, in the order of rating), `seats` (their participants, by match id), `pool` (held
until the transaction ends), `exclusive` (the pool is held exclusively), `now`.
"""
