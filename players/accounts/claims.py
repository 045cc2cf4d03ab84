"""Claims: a login asks to be attached to a player who has none, and somebody who may decides.

The user's row is held first and the player's second, so that clicks that race have one effect.
"""

from __future__ import annotations

from datetime import datetime

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from players.accounts.models import NOTE_MAX, Claim
from players.models import Player, Rating
from players.names import clean_name, name_key
from players.permissions import ATTACH_LOGINS, CORRECT, may_everywhere, pools_for
from players.services import create_player

State = Claim.State


def is_confirmed(user: User) -> bool:
    """Whether the user has shown that his e-mail address is his. One query."""
    return EmailAddress.objects.filter(user=user, verified=True).exists()


def free_name(name: str) -> str:
    """The name, cleaned, if nobody has it. Raises ValidationError."""
    name = clean_name(name)
    if Player.objects.filter(name_key=name_key(name)).exists():
        raise taken(name)
    return name


def taken(name: str) -> ValidationError:
    sentence = _(
        "There is a player called %(name)s already. Choose another name. If it is you, leave the name empty: once you are "
        "logged in, you can say so."
    )
    return ValidationError(sentence % {"name": name})


@transaction.atomic
def begin_as(user: User, name: str, **fields: object) -> Player:
    """Make the player of a login that has none; a second click finds him. Raises ValidationError for a name that is taken."""
    _hold(user)
    known = Player.objects.filter(user=user).first()
    if known is not None:
        return known
    name = free_name(name)
    try:
        with transaction.atomic():
            made = create_player(name, user=user, **fields)
            if made.name != name:
                raise IntegrityError("a namesake got a number")
    except IntegrityError:  # somebody else took the name, or the address, between the look and the write
        raise taken(name) from None
    Claim.objects.filter(user=user, state=State.OPEN).update(state=State.WITHDRAWN, answered_at=timezone.now())
    return made


@transaction.atomic
def claim(*, user: User, player: Player, note: str = "", now: datetime | None = None) -> Claim:
    """Say that one is a player. The same again finds the claim that waits; another one takes its place.

    Raises ValidationError where the login has a player or the player a login, or where the address is not confirmed.
    """
    note = note.strip()
    if len(note) > NOTE_MAX:
        raise ValidationError({"note": _("At most %(most)d characters.") % {"most": NOTE_MAX}})
    _hold(user)
    _check(user, player)
    if not is_confirmed(user):
        raise ValidationError(_("Confirm your e-mail address first: the link is in the mail that we sent you."))
    waiting = Claim.objects.filter(user=user, state=State.OPEN).first()
    if waiting is not None:
        if (waiting.player_id, waiting.note) == (player.pk, note):
            return waiting
        waiting.state, waiting.answered_at = State.WITHDRAWN, now or timezone.now()
        waiting.save()
    return Claim.objects.create(user=user, player=player, note=note, made_at=now or timezone.now())


@transaction.atomic
def answer(*, claim_id: int, grant: bool, answered_by: User, text: str = "", now: datetime | None = None) -> Claim:
    """Grant a claim, so that the login is the player's, or reject it. The same answer again changes nothing.

    Nobody answers his own, a superuser neither: who is the only one sets the login on the player's page, where that is recorded.
    Raises Claim.DoesNotExist, and ValidationError where it is his own, is answered otherwise already or cannot be granted.
    """
    user_id = Claim.objects.values_list("user_id", flat=True).get(pk=claim_id)
    user = User.objects.select_for_update(of=("self",)).get(pk=user_id)
    if user == answered_by:
        raise ValidationError(_("This claim is your own. Somebody else must answer it."), code="own_claim")
    found = Claim.objects.select_related("player").get(pk=claim_id)
    wanted = State.GRANTED if grant else State.REJECTED
    if found.state == wanted:
        return found
    if found.state != State.OPEN:
        raise ValidationError(_("This claim is settled already: %(state)s.") % {"state": found.get_state_display()})
    if grant:
        player = Player.objects.select_for_update(no_key=True, of=("self",)).get(pk=found.player_id)
        _check(user, player)
        player.user = user
        player.save(update_fields=["user"])
    found.state, found.answer, found.answered_by, found.answered_at = wanted, text, answered_by, now or timezone.now()
    found.save()
    return found


def may_answer(user: User, player: Player) -> bool:
    """Whether the user may attach a login to the player: with the permission for players, or as an organiser of every pool that
    he plays in."""
    if may_everywhere(user, ATTACH_LOGINS):
        return True
    pools = set(player.ratings.values_list("pool", flat=True))
    return bool(pools) and pools <= set(pools_for(user, CORRECT).values_list("pk", flat=True))


def answerable(user: User) -> QuerySet[Claim]:
    """The claims that the user may answer."""
    found = Claim.objects.select_related("user", "player", "answered_by")
    if may_everywhere(user, ATTACH_LOGINS):
        return found
    own = pools_for(user, CORRECT)
    elsewhere = Rating.objects.exclude(pool__in=own).values("player")
    here = Rating.objects.filter(pool__in=own).values("player")
    return found.filter(player__in=here).exclude(player__in=elsewhere)


def _hold(user: User) -> None:
    User.objects.select_for_update(of=("self",)).get(pk=user.pk)


def _check(user: User, player: Player) -> None:
    if Player.objects.filter(user=user).exists():
        raise ValidationError(_("This login has a player already."))
    if player.user_id is not None:
        raise ValidationError(_("%(name)s has a login already. Ask an organiser.") % {"name": player.name})
    if player.merged_into_id is not None or player.anonymised_at is not None:
        raise ValidationError(_("There is no such player."))
