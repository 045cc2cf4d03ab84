"""The tab Messages of the cashier's window."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from matches.inbox import words
from matches.inbox.pages import inbox, messages_of
from players.models import Player
from players.pages.reader import page
from players.pages.window import Window
from players.views import page_number


@require_safe
@login_required
@page
def messages(request: HttpRequest, reader: Player | None) -> HttpResponse:
    if reader is None:
        return render(request, "players/no_player.html")
    found = inbox(reader, page_number(request))
    if found.page > 1 and not found.lines:
        raise Http404(_("The list has no such page."))
    context = {"reader": reader, "window": Window(reader, own=True), "tab": "messages", "inbox": found}
    return render(request, "matches/messages.html", context)


@require_POST
@login_required
@page
def read_message(request: HttpRequest, reader: Player | None, message_id: int) -> HttpResponse:
    """Mark one as read and go where it leads. Nobody else's is found."""
    message = messages_of(reader).select_related("pool").filter(pk=message_id).first() if reader else None
    if message is None:
        raise Http404(_("There is no such message."))
    if message.read_at is None:
        message.read_at = timezone.now()
        message.save(update_fields=["read_at"])
    return redirect(words.address(message))


@require_POST
@login_required
@page
def read_all(request: HttpRequest, reader: Player | None) -> HttpResponse:
    if reader is not None:
        messages_of(reader).filter(read_at=None).update(read_at=timezone.now())
    return redirect("cashier_messages")
