"""The admin of players, pools, ratings and the history of ratings."""

from players.admin import claims, keys, people, pools, ratings
from players.admin.base import ByPlayerName, FindsRows, FoundSelect, ReadOnlyAdmin, SiteAdmin, in_own_zone, listed, moment_column

__all__ = [
    "ByPlayerName",
    "FindsRows",
    "FoundSelect",
    "ReadOnlyAdmin",
    "SiteAdmin",
    "claims",
    "in_own_zone",
    "keys",
    "listed",
    "moment_column",
    "people",
    "pools",
    "ratings",
]
