"""The form of allauth that signs people up, one after the other: two clicks, or two of one name, make no login that is half."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import SignupForm as Unordered
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect

from players.locks import hold_sign_ups


class SignupForm(Unordered):
    def try_save(self, request: HttpRequest) -> Any:
        """The login with its player, in one transaction; or None and the way to the log-in, where the address has one by now."""
        try:
            with transaction.atomic():
                hold_sign_ups()
                self.validate_unique_email(self.cleaned_data["email"])  # again
                return super().try_save(request)
        except ValidationError as taken:
            messages.warning(request, " ".join(taken.messages))
            return None, redirect("account_login")
