"""Claims: somebody says which player his login belongs to, and it is granted or rejected here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from players.accounts import claims
from players.accounts.models import Claim
from players.admin.base import ReadOnlyAdmin, moment_column


@admin.register(Claim)
class ClaimAdmin(ReadOnlyAdmin):
    list_display = ("player", "user", "address", "note", "state", "made", "answered_by")
    list_filter = ("state",)
    actions = ("grant", "reject")
    made = moment_column(Claim, "made_at")
    fields = ("player", "user", "address", "note", "state", "made", "answer", "answered_by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Claim]:
        return claims.answerable(request.user)  # type: ignore[arg-type]

    @admin.display(description=gettext_lazy("e-mail address"))
    def address(self, claim: Claim) -> str:
        return claim.user.email

    # Whoever may answer one sees it; `get_queryset` says which.
    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Claim | None = None) -> bool:
        return self.has_module_permission(request) and (obj is None or claims.may_answer(request.user, obj.player))  # type: ignore[arg-type]

    @admin.action(description=gettext_lazy("Grant: attach the login to the player"), permissions=["view"])
    def grant(self, request: HttpRequest, queryset: QuerySet[Claim]) -> None:
        self._answer(request, queryset, grant=True)

    @admin.action(description=gettext_lazy("Reject"), permissions=["view"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Claim]) -> None:
        self._answer(request, queryset, grant=False)

    def _answer(self, request: HttpRequest, chosen: QuerySet[Claim], *, grant: bool) -> None:
        user: Any = request.user
        for claim in chosen:
            said = {"name": claim.player.name, "login": claim.user.get_username()}
            try:
                claims.answer(claim_id=claim.pk, grant=grant, answered_by=user)
            except ValidationError as error:
                self.message_user(request, f"{claim}: {' '.join(error.messages)}", messages.ERROR)
                continue
            self.log_change(request, claim, _("Granted") if grant else _("Rejected"))
            sentence = _("%(login)s is the login of %(name)s now.") if grant else _("%(login)s is not the login of %(name)s.")
            self.message_user(request, sentence % said)
