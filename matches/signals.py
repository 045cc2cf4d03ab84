"""The signals of the matches app."""

from django.dispatch import Signal

match_completed = Signal()
"""Sent once per call of `complete_matches`, inside its transaction, by `send`, so that an error in a receiver rolls it all back.

Arguments: `matches` (the completed matches, in the order of rating), `seats` (their participants, by match id), `pool` (held
until the transaction ends), `exclusive` (the pool is held exclusively), `now`, and `rated` where they are rated by a revision,
since they came before others that their players have played: before it is sent, or in an import before the transaction ends.
"""

report_changed = Signal()
"""Sent inside the transaction in which a report was made, disputed, agreed to, withdrawn or settled, by `send`.

Arguments: `report` (as stored, with its match and the match's pool), `seats` (the participants with their players, in
order), `now`.
"""

appeal_changed = Signal()
"""Sent inside the transaction in which an appeal was made or answered. Arguments: `appeal`, `now`."""
