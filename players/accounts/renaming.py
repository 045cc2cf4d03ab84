"""A player gives himself another name, once in a while."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from players.models import Player, PlayerRecord
from players.names import clean_name
from players.services import rename_player

EVERY = timedelta(days=30)
"""How long a player keeps the name that he gave himself."""


@transaction.atomic
def rename_oneself(player: Player, name: str, *, now: datetime | None = None) -> Player:
    """Rename a player as he asks; nothing happens where that is his name already.

    Of several clicks at once, each with another name, one has an effect. Raises ValidationError as `rename_player` does, and
    where he has done so within EVERY.
    """
    held = Player.objects.select_for_update(no_key=True, of=("self",)).select_related("user").get(pk=player.pk)
    if clean_name(name) != held.name:
        check_not_lately(held, now)
    return rename_player(held, name, made_by=held.user, now=now)


def check_not_lately(player: Player, now: datetime | None = None) -> None:
    """Raise ValidationError where the player has renamed himself within EVERY. One query."""
    own = PlayerRecord.objects.filter(player=player, kind=PlayerRecord.Kind.RENAMED, made_by=player.user)
    if own.filter(made_at__gt=(now or timezone.now()) - EVERY).exists():
        raise ValidationError(_("You have changed your name within the last %(days)d days.") % {"days": EVERY.days})
