"""The signals of the players app."""

from django.dispatch import Signal

player_anonymised = Signal()
"""Sent by `send` inside the transaction that makes a player anonymous, so that an error in a receiver rolls it back.

Arguments: `player` (as he is called from now on), `duplicates` (those who were merged into him) and `names` (all that he and they
were ever called here).
"""
