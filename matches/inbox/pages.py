"""Reads of the inbox."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from matches.inbox import words
from matches.inbox.models import Message
from players.models import Player

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class Line:
    message: Message
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Inbox:
    """A page of a player's messages, the last ones first; `unread` of all of them, `page` from 1."""

    lines: list[Line]
    unread: int
    page: int
    more: bool


def messages_of(player: Player) -> QuerySet[Message]:
    """What the player was told, and the duplicates that were merged into him."""
    return Message.objects.filter(player__in=player.any_of_him)


def inbox(player: Player, page: int) -> Inbox:
    """Two queries."""
    start = (page - 1) * PAGE_SIZE
    found = list(messages_of(player).select_related("pool", "revision")[start : start + PAGE_SIZE + 1])
    lines = [Line(message, words.subject(message), words.text(message)) for message in found[:PAGE_SIZE]]
    return Inbox(lines, messages_of(player).filter(read_at=None).count(), page, len(found) > PAGE_SIZE)
