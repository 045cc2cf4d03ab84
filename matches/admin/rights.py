"""Who may correct matches in the admin."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User

from players.models import Pool


def may_correct(user: User | AnonymousUser, pool: Pool | None = None) -> bool:
    """Whether the user may correct and void the matches of the pool; without one, of any."""
    return user.has_perm("matches.change_match")
