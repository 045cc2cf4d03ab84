"""Messages by mail: each once at most. What a mail server may have taken is never sent again: it stands in the inbox anyway."""

from __future__ import annotations

import logging
import smtplib
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import timezone, translation

from matches.inbox import words
from matches.inbox.models import Message
from players.accounts.claims import is_confirmed
from players.models import Player
from players.pages.reader import zone_of
from players.services import present_players

log = logging.getLogger(__name__)

AT_ONCE = 200
"""Mails of one run: the next sweep goes on."""
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
"""How long until the next attempt after the first, the second ...; after the last one it is given up."""
LOST = timedelta(minutes=10)
"""Whoever has been sending one for as long has died."""
Mail = Message.Mail


def send_waiting(now: datetime) -> int:
    """Send the mails that are due; how many were taken. Stops where the server takes none."""
    sending = Message.objects.filter(mail=Mail.SENDING, mail_due_at__lte=now - LOST)
    if lost := sending.update(mail=Mail.FAILED):
        log.error(
            "%d mails were being sent when their worker died. Whether they went is not known; they are not sent again.", lost
        )
    sent = 0
    due = Message.objects.filter(mail=Mail.WAITS, mail_due_at__lte=now).order_by("mail_due_at", "pk")
    for pk in list(due.values_list("pk", flat=True)[:AT_ONCE]):
        # Whoever changes the row sends it: no lock is held meanwhile.
        mine = Message.objects.filter(pk=pk, mail=Mail.WAITS, mail_due_at__lte=now)
        if not mine.update(mail=Mail.SENDING, mail_due_at=timezone.now(), mail_attempts=F("mail_attempts") + 1):
            continue
        message = Message.objects.select_related("player__user", "pool", "revision").get(pk=pk)
        outcome = _send(message)
        if outcome is None:
            break
        sent += outcome == Mail.SENT
    return sent


def address_of(player: Player) -> str:
    """Where the player gets his mail; empty where he wants none, or has not shown that the address is his."""
    user = player.user
    if user is None or not user.is_active or not player.mail_wanted or not is_confirmed(user):
        return ""
    return user.email


def _send(message: Message) -> Message.Mail | None:
    """Send one and record what came of it; None where the server took none."""
    own = Message.objects.filter(pk=message.pk)
    [message.player] = present_players([message.player])
    address = address_of(message.player)
    if not address:
        own.update(mail=Mail.UNWANTED)
        return Mail.UNWANTED
    try:
        _composed(message, address).send()
    except smtplib.SMTPRecipientsRefused as refused:
        log.warning("Mail %s was refused: %s", message.pk, refused)
        own.update(mail=Mail.FAILED)
        return Mail.FAILED
    except (smtplib.SMTPServerDisconnected, TimeoutError) as error:
        # It may have been taken before the line went.
        log.error("Mail %s: %s. Whether it went is not known; it is not sent again.", message.pk, error)
        own.update(mail=Mail.FAILED)
        return None
    except (smtplib.SMTPException, OSError) as error:
        log.warning("Mail %s was not taken: %s", message.pk, error)
        if message.mail_attempts > len(WAITS):
            own.update(mail=Mail.FAILED)
        else:
            own.update(mail=Mail.WAITS, mail_due_at=timezone.now() + WAITS[message.mail_attempts - 1])
        return None
    own.update(mail=Mail.SENT)
    return Mail.SENT


def _composed(message: Message, address: str) -> EmailMessage:
    player = message.player
    with translation.override(player.speaks), timezone.override(zone_of(player)):
        subject = words.subject(message)
        body = render_to_string(
            "matches/mail.txt",
            {"message": message, "text": words.text(message), "address": words.address(message), "site": settings.SITE_URL},
        )
    host = settings.SITE_URL.rpartition("/")[2].partition(":")[0]
    headers = {"Message-ID": f"<message-{message.pk}@{host}>", "Auto-Submitted": "auto-generated"}
    return EmailMessage(" ".join(subject.split()), body, to=[address], headers=headers)
