"""A player's window: the reader's own at the cashier, or anybody's page that all may see. Both have the same tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from players.models import Player, Pool


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: its word and the name of its address, which begins with `cashier_` at the cashier and with `player_` on the page
    that all may see. `of_pool`: it shows one pool, and its address with a pool ends in `_pool`."""

    key: str
    word: Any
    of_pool: bool = False
    private: bool = False


TABS = (
    Tab("rating", _("Rating"), of_pool=True),
    Tab("matches", _("Matches")),
    Tab("statistics", _("Statistics"), of_pool=True),
    Tab("statement", _("Statement"), private=True),
    Tab("messages", _("Messages"), private=True),
    Tab("profile", _("Profile"), private=True),
)
"""The tabs in their order. One more is a line here, an address `cashier_KEY` and a template that extends players/window.html."""


@dataclass(frozen=True, slots=True)
class TabLink:
    word: Any
    address: str
    chosen: bool
    count: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """Whose window is shown; `own`: to himself, at the cashier."""

    player: Player
    own: bool

    def address(self, name: str, *more: object) -> str:
        """The address of a page of this window, such as `statistics_pool` with the pool's slug.

        The rating is the first page: its addresses are `cashier`, `cashier_pool`, `player` and `player_pool`.
        """
        view = "_".join(part for part in ("cashier" if self.own else "player", *name.split("_")) if part != "rating")
        return reverse(view, args=more if self.own else [self.player.slug, *more])

    def tabs(self, chosen: str, pool: Pool | None) -> list[TabLink]:
        """Links to the tabs; those that show one pool stay with the pool that is shown. One query for one's own, which says how
        many messages are unread."""
        unread = (
            self.player.messages.model.objects.filter(player__in=self.player.any_of_him, read_at=None).count() if self.own else 0
        )
        return [
            TabLink(
                tab.word,
                self.address(f"{tab.key}_pool", pool.slug) if tab.of_pool and pool else self.address(tab.key),
                tab.key == chosen,
                unread if tab.key == "messages" else 0,
            )
            for tab in TABS
            if self.own or not tab.private
        ]
