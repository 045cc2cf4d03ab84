"""Making a player anonymous: what tells who he is goes, what he played stays.

His ratings, his matches and his opponents' history are as before, under a name that says nothing. The names that staff wrote down
of him go as well: in the records of his renames, in the admin's log, and in reasons, as far as they are this site's own tables.
Nobody waits for him at a table any more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import datetime

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from players.accounts.models import Claim
from players.models import Player, PlayerRecord
from players.names import name_key, name_slug
from players.services import Taken, merged_message, numbered
from players.signals import player_anonymised, player_leaves


@transaction.atomic
def anonymise_player(player: Player, *, reason: str = "", made_by: User | None = None, now: datetime | None = None) -> Player:
    """Take name, addresses, login, country, time zone and language from a player and from the duplicates merged into him.

    His old addresses lead nowhere any more. An account that is nothing but his login is deleted; one that is staff's, or that has
    written the admin's log, only stops being his. A second time changes nothing. Raises ValidationError for a merged duplicate.
    """
    now = now or timezone.now()
    player_leaves.send(sender=Player, player=player, now=now)
    player = Player.objects.select_for_update(no_key=True, of=("self",)).get(pk=player.pk)
    if player.merged_into_id is not None:
        raise ValidationError(merged_message(player))
    duplicates = _merged_into(player)
    known = [each for each in (player, *duplicates) if not _is_anonymous(each)]
    if not known:
        return player
    names = frozenset(name for each in known for name in _anonymise(each, now))
    player.refresh_from_db()
    _relabel_log(known, names, player)
    player_anonymised.send(sender=Player, player=player, duplicates=duplicates, names=names)
    PlayerRecord.objects.create(
        player=player,
        kind=PlayerRecord.Kind.ANONYMISED,
        reason=without_names(reason, names, player.name),
        made_by=made_by,
        made_at=now,
    )
    return player


def _is_anonymous(player: Player) -> bool:
    """Whether nothing is left to take from him."""
    return player.anonymised_at is not None and player.user_id is None and not player.old_addresses.exists()


def _merged_into(player: Player) -> list[Player]:
    """The duplicates that were merged into the player, and those that were merged into them."""
    found: list[Player] = []
    level = [player]
    while level:
        rows = Player.objects.select_for_update(no_key=True, of=("self",)).filter(merged_into__in=level)
        level = list(rows.order_by("pk"))
        found += level
    return found


def _anonymise(player: Player, now: datetime) -> set[str]:
    """Take from the row what tells who he is, and return what he was called."""
    records = PlayerRecord.objects.filter(player=player)
    names = {player.name}
    for details in records.values_list("details", flat=True):
        names.update(details.get("name", ()))
    login, player.user = player.user, None
    if player.anonymised_at is None:
        player.name, player.slug = _neutral(player)
        player.name_key = name_key(player.name)
    player.time_zone, player.language, player.anonymised_at = "UTC", Player._meta.get_field("language").default, now
    player.country, player.mail_wanted = "", False
    player.save()
    player.old_addresses.all().delete()
    records.update(details={}, reason="")
    Claim.objects.filter(player=player).delete()  # each tells whose he is, or was said to be
    _forget_login(login)
    return names - {player.name}


def _neutral(player: Player) -> tuple[str, str]:
    """A name that tells nothing, in the site's language, and its address."""
    with translation.override(settings.LANGUAGE_CODE):
        plain = _("Player %(number)d") % {"number": player.pk}
    names = Taken("name_key", [plain], key=name_key)
    name = names.free(f"{plain} ({number})" if number else plain for number in numbered())
    slugs = Taken("slug", [name_slug(name)])
    return name, slugs.free(f"{name_slug(name)}-{number}" if number else name_slug(name) for number in numbered())


def _forget_login(login: AbstractBaseUser | None) -> None:
    """Delete the account, unless it is more than a player's login."""
    user = User.objects.filter(pk=login.pk).first() if login is not None else None
    if user is None:
        return
    AccessAttempt.objects.filter(username__in={name.casefold() for name in (user.username, user.email) if name}).delete()
    if user.is_staff or user.is_superuser or LogEntry.objects.filter(user=user).exists():
        return
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk)).update(
        object_repr="", change_message=""
    )
    user.delete()


def _relabel_log(players: Iterable[Player], names: Collection[str], whole: Player) -> None:
    """The admin's log calls a row by what it was called when it was changed: by a player, his name, and a pool, for example."""
    players_type = ContentType.objects.get_for_model(Player)
    for player in players:
        LogEntry.objects.filter(content_type=players_type, object_id=str(player.pk)).update(object_repr=player.name)
    other = LogEntry.objects.filter(content_type__app_label__in=("players", "matches")).exclude(content_type=players_type)
    for name in names:
        for entry in other.filter(object_repr__contains=name):
            parts = [whole.name if part == name else part for part in re.split("( · | → )", entry.object_repr)]
            LogEntry.objects.filter(pk=entry.pk).update(object_repr="".join(parts)[:200])


def without_names(text: str, names: Iterable[str], instead: str) -> str:
    """The text with whole names, in capitals or not, replaced."""
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda match: instead, text, flags=re.IGNORECASE)
    return text
