"""Reads of the rankings: who is where. Every number comes from the stored standing.

Players with at least one counted match are listed by shown standing; equal ones share a rank (1, 2, 2, 4); inside a tie by
rating, then by player id.

With REDIS_URL set, a sorted set for each pool answers at any size of pool: `players.ledger` tells it of every rating that it
writes, and a worker rebuilds it where it is missing or wrong. Without it, or while it cannot say, the database answers the same.
"""

from players.rankings.filling import Busy, changed, is_right, rebuild
from players.rankings.filtering import Criteria, Filtered, Key, filtered, key_of, marked
from players.rankings.listing import Bin, Listing, Place, Ranked, tier_of
from players.rankings.reads import above, count, distribution, neighbours, page, place, rows, sizes
from players.rankings.sql import listed, ranked
from players.rankings.store import Unavailable

__all__ = [
    "Bin",
    "Busy",
    "Criteria",
    "Filtered",
    "Key",
    "Listing",
    "Place",
    "Ranked",
    "Unavailable",
    "above",
    "changed",
    "count",
    "distribution",
    "filtered",
    "is_right",
    "key_of",
    "listed",
    "marked",
    "neighbours",
    "page",
    "place",
    "ranked",
    "rebuild",
    "rows",
    "sizes",
    "tier_of",
]
