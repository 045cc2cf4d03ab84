"""Corrections in the admin, in three steps: what and why, what it would move, done.

Nothing is kept between the steps but what the page sends on. What is confirmed is made only where the pool is still as the
preview showed it and the matches are as they were read; `matches.corrections` sees to both. Large corrections become a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from matches import jobs
from matches.admin.correction_forms import ReasonForm
from matches.admin.previews import job_response, preview_response
from matches.corrections import Correction, Moved, NothingChanges, Preview, affected, correct, made_before, preview
from matches.entries import BatchRefused, Conflict
from matches.models import Match, Revision
from matches.replay import Overtaken
from matches.words import busy_sentence, overtaken_sentence
from players.admin import SiteAdmin, in_own_zone
from players.formatting import format_number
from players.models import Pool
from players.numbers import whole
from players.permissions import CORRECT
from players.staff import may_here
from players.systems.base import Refused
from players.wording import refusal

MOST = 500
"""Matches that can be voided at once: each of them is sent on from page to page."""
Kind = Revision.Kind


@dataclass(frozen=True, slots=True)
class Proposal:
    """Corrections that somebody wants to make, and why."""

    pool: Pool
    corrections: Sequence[Correction]
    reason: str

    @property
    def kind(self) -> Revision.Kind:
        return self.corrections[0].kind

    @property
    def match_ids(self) -> list[int]:
        return [correction.match.pk for correction in self.corrections]


class CorrectsMatches(SiteAdmin):
    """The ways to correct what was completed. For the admin of matches."""

    actions: Any = ["void_selected", "unvoid_selected"]

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        return [
            path("void/", view(self.void_view), name="matches_match_void"),
            path("unvoid/", view(self.unvoid_view), name="matches_match_unvoid"),
            path("<path:object_id>/correct/", view(self.correct_view), name="matches_match_correct"),
            *super().get_urls(),
        ]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def has_correct_permission(self, request: HttpRequest, obj: Match | None = None) -> bool:
        return may_here(request, CORRECT, obj.pool_id if obj else None)

    # --- Edit ---

    @in_own_zone
    def correct_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form of entry for a match that was completed, with a reason; then its preview."""
        if not self.has_correct_permission(request):
            raise PermissionDenied
        match = self.get_object(request, unquote(object_id))
        if match is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        if not self.has_correct_permission(request, match):
            raise PermissionDenied
        if match.status == Match.Status.OPEN:
            return HttpResponseRedirect(change_url(match.pk))
        request.correcting = True  # type: ignore[attr-defined]
        try:
            # In a transaction that ends with it: what is large is computed and written outside of one, see `corrections`.
            response = admin.ModelAdmin.changeform_view(self, request, object_id)
            proposal: Proposal | None = getattr(request, "proposal", None)
            return response if proposal is None else self._go_on(request, proposal)
        except BatchRefused as batch:
            request.trouble = batch.refused  # type: ignore[attr-defined]
        except (Refused, Conflict, NothingChanges, Overtaken) as trouble:
            request.trouble = trouble  # type: ignore[attr-defined]
        return admin.ModelAdmin.changeform_view(self, request, object_id)

    # --- Void, and take it back ---

    @admin.action(permissions=["correct"], description=gettext_lazy("Void the selected matches"))
    def void_selected(self, request: HttpRequest, queryset: QuerySet[Match]) -> HttpResponse | None:
        return self._selected(request, queryset, void=True)

    @admin.action(permissions=["correct"], description=gettext_lazy("Take back that the selected matches were voided"))
    def unvoid_selected(self, request: HttpRequest, queryset: QuerySet[Match]) -> HttpResponse | None:
        return self._selected(request, queryset, void=False)

    @in_own_zone
    def void_view(self, request: HttpRequest) -> HttpResponse:
        return self._void_view(request, void=True)

    @in_own_zone
    def unvoid_view(self, request: HttpRequest) -> HttpResponse:
        return self._void_view(request, void=False)

    def _selected(self, request: HttpRequest, queryset: QuerySet[Match], *, void: bool) -> HttpResponse | None:
        """The list's action: ask for the reason, or say what is wrong with the choice."""
        matches = list(queryset[: MOST + 1])
        if wrong := self._wrong_choice(request, matches, void=void):
            self.message_user(request, wrong, messages.ERROR)
            return None
        return self._reason_page(request, ReasonForm(), matches, void=void)

    def _void_view(self, request: HttpRequest, *, void: bool) -> HttpResponse:
        sent = request.POST if request.method == "POST" else request.GET
        versions = dict(filter(None, map(chosen, sent.getlist("match")[: MOST + 1])))
        matches = list(self.get_queryset(request).filter(pk__in=versions).order_by("-pk"))
        if wrong := self._wrong_choice(request, matches, void=void, known=any(versions.values())):
            self.message_user(request, wrong, messages.ERROR)
            return HttpResponseRedirect(reverse("admin:matches_match_changelist"))
        for match in matches:
            match.version = versions[match.pk] or match.version
        if request.method != "POST":
            return self._reason_page(request, ReasonForm(), matches, void=void)
        form = ReasonForm(request.POST)
        if not form.is_valid() or "_back" in request.POST:
            return self._reason_page(request, form, matches, void=void)
        corrections = [Correction(Match(pk=match.pk, version=match.version), void=void) for match in matches]
        try:
            return self._go_on(request, Proposal(matches[0].pool, corrections, form.cleaned_data["reason"]))
        except BatchRefused as batch:
            form.add_error(None, f"#{corrections[batch.index].match.pk} · {refusal(batch.refused)}")
        except Conflict as conflict:
            form.add_error(None, overtaken_sentence(conflict))
        except Overtaken:
            form.add_error(None, busy_sentence())
        return self._reason_page(request, form, matches, void=void)

    def _wrong_choice(self, request: HttpRequest, matches: Sequence[Match], *, void: bool, known: bool = False) -> str:
        """What keeps the matches from being voided together, or from counting again; "" where nothing does. Raises
        PermissionDenied.

        Those that are `known`, with their versions, were fit when they were chosen: what happened since is a conflict.
        """
        if not self.has_correct_permission(request):
            raise PermissionDenied
        if not matches:
            return _("There are no such matches.")
        if not all(self.has_correct_permission(request, match) for match in matches):
            raise PermissionDenied
        if len(matches) > MOST:
            return _("At most %(most)s matches at once.") % {"most": format_number(MOST, 0)}
        if len({match.pool_id for match in matches}) > 1:
            return _("The matches must be of one pool: filter the list by it first.")
        fit = Match.Status.COMPLETED if void else Match.Status.VOIDED
        unfit = [] if known else [match for match in matches if match.status != fit]
        if unfit:
            sentence = _("Not completed, so they cannot be voided: %(matches)s.") if void else _("Not voided: %(matches)s.")
            return sentence % {"matches": ", ".join(f"#{match.pk}" for match in unfit[:10]) + (" …" if unfit[10:] else "")}
        return ""

    def _reason_page(self, request: HttpRequest, form: ReasonForm, matches: Sequence[Match], *, void: bool) -> HttpResponse:
        count = len(matches)
        if void:
            title = ngettext("Void a match", "Void %(count)s matches", count)
        else:
            title = ngettext("Take back that a match was voided", "Take back that %(count)s matches were voided", count)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title % {"count": format_number(count, 0)},
            "form": form,
            "matches": matches,
            "pool": matches[0].pool,
            "void": void,
            "action": reverse("admin:matches_match_void" if void else "admin:matches_match_unvoid"),
            "cancel": self._back_to([match.pk for match in matches]),
        }
        return TemplateResponse(request, "admin/matches/match/reason.html", context)

    # --- Preview, and done ---

    def _go_on(self, request: HttpRequest, proposal: Proposal) -> HttpResponse:
        """Show what the proposal would move, make it a job, or make it. Raises BatchRefused, Conflict, Overtaken."""
        pool, corrections = proposal.pool, proposal.corrections
        if "_confirm" in request.POST:
            try:
                revision = correct(
                    pool,
                    corrections,
                    reason=proposal.reason,
                    made_by=request.user,  # type: ignore[arg-type]
                    token=request.POST.get("token", ""),
                )
            except Moved as moved:
                return self._preview_page(request, proposal, moved.preview, moved=True)
            except Conflict:
                # A second click on the button finds what the first one did.
                if first := made_before(corrections, reason=proposal.reason, made_by=request.user):  # type: ignore[arg-type]
                    return self._done(request, proposal, first)
                raise
            self._log(request, proposal)
            return self._done(request, proposal, revision)
        total = affected(pool, corrections)
        if total > jobs.SMALL:
            job = jobs.start(pool, corrections, reason=proposal.reason, made_by=request.user)  # type: ignore[arg-type]
            return job_response(self, request, job)
        return self._preview_page(request, proposal, preview(pool, corrections))

    def _preview_page(self, request: HttpRequest, proposal: Proposal, seen: Preview, *, moved: bool = False) -> HttpResponse:
        button = {
            Kind.EDIT: _("Correct it"),
            Kind.VOID: ngettext("Void it", "Void them", len(proposal.corrections)),
            Kind.UNVOID: _("Take it back"),
        }
        context = {
            "title": _("Preview"),
            "subtitle": self._what(proposal),
            "reason": proposal.reason,
            "button": button[proposal.kind],
            "cancel": self._back_to(proposal.match_ids),
        }
        pools = [(proposal.pool, seen)]
        return preview_response(self, request, pools, context, token=seen.token, moved=moved)

    @staticmethod
    def _what(proposal: Proposal) -> str:
        count = len(proposal.corrections)
        sentences = {
            Kind.EDIT: _("Correct match %(id)s"),
            Kind.VOID: _("Void match %(id)s"),
            Kind.UNVOID: _("Take the void of match %(id)s back"),
        }
        if count > 1:
            sentences = {
                Kind.VOID: ngettext("Void %(count)s match", "Void %(count)s matches", count),
                Kind.UNVOID: ngettext("Take the void of %(count)s match back", "Take the void of %(count)s matches back", count),
            }
        return sentences[proposal.kind] % {"id": proposal.match_ids[0], "count": format_number(count, 0)}

    def _done(self, request: HttpRequest, proposal: Proposal, revision: Revision) -> HttpResponse:
        self.message_user(request, done_sentence(proposal, revision), messages.SUCCESS)
        return HttpResponseRedirect(self._back_to(proposal.match_ids))

    def _log(self, request: HttpRequest, proposal: Proposal) -> None:
        matches = Match.objects.filter(pk__in=proposal.match_ids).select_related("pool")
        log_correction(request, list(matches), proposal.kind, proposal.reason)

    @staticmethod
    def _back_to(match_ids: Sequence[int]) -> str:
        return change_url(match_ids[0]) if len(match_ids) == 1 else reverse("admin:matches_match_changelist")


def change_url(match_id: int) -> str:
    return reverse("admin:matches_match_change", args=[match_id])


def chosen(text: str) -> tuple[int, int | None] | None:
    """A match by its number, with the version in which it was chosen: "12" or "12:3"; None for anything else."""
    before, colon, after = text.partition(":")
    number, version = whole(before, 9), whole(after, 9)
    return None if number is None or (colon and version is None) else (number, version)


def log_correction(request: HttpRequest, matches: Sequence[Match], kind: Revision.Kind, reason: str) -> None:
    """A line in the admin's log of each match."""
    LogEntry.objects.log_actions(
        user_id=request.user.pk,  # type: ignore[arg-type]
        queryset=matches,
        action_flag=CHANGE,
        change_message=f"{kind.label}: {reason}",
    )


def done_sentence(proposal: Proposal, revision: Revision) -> SafeString:
    """What was done, with links to the match and to the revision."""
    count = len(proposal.corrections)
    sentences = {
        Kind.EDIT: _("{matches} is corrected."),
        Kind.VOID: ngettext("{matches} is voided.", "{matches} are voided.", count),
        Kind.UNVOID: ngettext("{matches} counts again.", "{matches} count again.", count),
    }
    if count == 1:
        matches = format_html('<a href="{}">#{}</a>', reverse("match", args=proposal.match_ids), proposal.match_ids[0])
    else:
        matches = format_html("{}", _("%(count)s matches") % {"count": format_number(count, 0)})
    lines = ngettext(
        "%(count)s line of the history is rewritten.", "%(count)s lines of the history are rewritten.", revision.changes
    )
    return format_html(
        '{} {} <a href="{}">{}</a>',
        format_html(sentences[proposal.kind], matches=matches),
        lines % {"count": format_number(revision.changes, 0)},
        reverse("admin:matches_revision_change", args=[revision.pk]),
        _("The revision"),
    )
