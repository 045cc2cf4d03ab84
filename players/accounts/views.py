"""The profile, and the way from a login to its player."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from players.accounts import claims
from players.accounts.forms import ClaimForm, NameForm, ProfileForm
from players.accounts.models import Claim
from players.accounts.renaming import rename_oneself
from players.models import Player
from players.pages.reader import page
from players.pages.window import Window


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@page
def profile(request: HttpRequest, reader: Player | None) -> HttpResponse:
    if reader is None:
        return redirect("own_player")
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=reader)
    if request.method == "POST" and form.is_valid():
        try:
            rename_oneself(reader, form.cleaned_data["name"])
        except ValidationError as error:
            form.add_error("name", error.messages)
        else:
            reader.save(update_fields=["language", "time_zone", "country", "mail_wanted"])
            with translation.override(reader.language):
                messages.success(request, _("Your profile is saved."))
            request.language_at_login = reader.language  # type: ignore[attr-defined]
            return redirect("cashier_profile")
    context = {
        "reader": reader,
        "window": Window(reader, own=True),
        "tab": "profile",
        "form": form,
        "confirmed": claims.is_confirmed(request.user),  # type: ignore[arg-type]
    }
    return render(request, "account/profile.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@page
def own_player(request: HttpRequest, reader: Player | None) -> HttpResponse:
    """A login without a player begins as a new one, or claims one who is there."""
    if reader is not None:
        return redirect("cashier")
    user = request.user
    assert user.is_authenticated
    begin = NameForm(request.POST if "begin" in request.POST else None, prefix="new")
    claiming = ClaimForm(request.POST if "claim" in request.POST else None, prefix="claim")
    if begin.is_bound and begin.is_valid():
        try:
            claims.begin_as(user, begin.cleaned_data["name"], language=translation.get_language() or "en")
        except ValidationError as taken:
            begin.add_error("name", taken.messages)
        else:
            return redirect("cashier")
    if claiming.is_bound and claiming.is_valid():
        try:
            claims.claim(user=user, player=claiming.cleaned_data["player"], note=claiming.cleaned_data["note"])
        except ValidationError as error:
            claiming.add_error(None, error.messages)
        else:
            messages.success(request, _("An organiser has your claim now. You find the answer here."))
            return redirect("own_player")
    latest = Claim.objects.filter(user=user).select_related("player").first()
    context = {"reader": None, "begin": begin, "claiming": claiming, "latest": latest, "confirmed": claims.is_confirmed(user)}
    return render(request, "account/own_player.html", context)
