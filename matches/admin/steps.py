"""What other parameters and merges share in the admin, in three steps as corrections have: what and why, what would move, done.

Nothing is kept between the steps but what the page sends on. What is confirmed is made only where the pools are still as the
preview showed them. What rates many matches anew becomes a job.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone

from matches import jobs, revising
from matches.admin.correcting import log_correction
from matches.admin.previews import job_response, preview_response
from matches.merging import MergePreview
from matches.models import CorrectionJob, Revision
from matches.rating import MatchRefused
from matches.replay import Overtaken
from matches.revising import Change, Moved, NothingChanges
from matches.words import busy_sentence, refused_sentence, unchanged_sentence
from players.models import Pool
from players.systems.base import Refused
from players.systems.params import BadParameter
from players.wording import bad_parameter, refusal


class Steps(ABC):
    """One revision on its way through the admin. `form` has a `reason`; what it says is asked for once it is valid."""

    template: str
    kind: Revision.Kind
    title: str
    subtitle: str
    button: str
    """What stands on the button that confirms."""
    back: str
    """The address to which it leads when all is done, or nothing is to be."""
    form: forms.Form
    pool: Pool | None = None

    @abstractmethod
    def change(self) -> Change: ...

    @abstractmethod
    def start(self, request: HttpRequest) -> CorrectionJob: ...

    @abstractmethod
    def made_before(self, request: HttpRequest) -> bool:
        """Whether this was made already, by the same person for the same reason: a second click finds what the first one did."""

    @property
    @abstractmethod
    def concerned(self) -> list[Any]:
        """The rows in whose log in the admin it stands."""

    @abstractmethod
    def done(self, revisions: list[Revision]) -> Any:
        """What it says when it is done. Without revisions it moved nothing, or a first click has done it."""

    def context(self) -> dict[str, Any]:
        return {}

    @property
    def reason(self) -> str:
        return self.form.cleaned_data["reason"]

    def complain(self, error: Exception) -> None:
        """What made it impossible, on the form."""
        self.form.add_error(None, sentence_of(error, self.kind))


POSSIBLE = (ValidationError, NothingChanges, BadParameter, MatchRefused, Refused, Overtaken)
"""What can be wrong with a revision and is no error of the site."""


def sentence_of(error: Exception, kind: Revision.Kind) -> Any:
    if isinstance(error, NothingChanges):
        return unchanged_sentence(kind)
    if isinstance(error, BadParameter):
        return bad_parameter(error)
    if isinstance(error, MatchRefused):
        return refused_sentence(error)
    if isinstance(error, Refused):
        return refusal(error)
    return busy_sentence() if isinstance(error, Overtaken) else error


def step(model_admin: Any, request: HttpRequest, steps: Steps) -> HttpResponse:
    """The page of the step that the request is at."""
    if request.method == "POST" and steps.form.is_valid() and "_back" not in request.POST:
        try:
            return _go_on(model_admin, request, steps)
        except POSSIBLE as error:
            steps.complain(error)
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": steps.title,
        "subtitle": steps.subtitle,
        "form": steps.form,
        "pool": steps.pool,
        "cancel": steps.back,
        **steps.context(),
    }
    return TemplateResponse(request, steps.template, context)


def _go_on(model_admin: Any, request: HttpRequest, steps: Steps) -> HttpResponse:
    """Show what it would move, make it a job, or make it."""
    change, now = steps.change(), timezone.now()
    if "_confirm" in request.POST:
        token = request.POST.get("token", "")
        try:
            revisions = revising.revise(change, reason=steps.reason, made_by=request.user, token=token, now=now)  # type: ignore[arg-type]
        except Moved as moved:
            return _preview_page(model_admin, request, steps, moved.preview, moved=True)
        except (NothingChanges, ValidationError):
            if not steps.made_before(request):
                raise
            revisions = []
        else:
            log_correction(request, steps.concerned, steps.kind, steps.reason)
        model_admin.message_user(request, steps.done(revisions), messages.SUCCESS)
        return HttpResponseRedirect(steps.back)
    if revising.affected(change, now=now) > jobs.SMALL:
        return job_response(model_admin, request, steps.start(request))
    return _preview_page(model_admin, request, steps, revising.preview(change, now=now))


def _preview_page(model_admin: Any, request: HttpRequest, steps: Steps, seen: Any, *, moved: bool = False) -> HttpResponse:
    context = {
        "title": steps.title,
        "subtitle": steps.subtitle,
        "reason": steps.reason,
        "button": steps.button,
        "cancel": steps.back,
    }
    if isinstance(seen, MergePreview):
        return preview_response(model_admin, request, seen.pools, context, token=seen.token, moved=moved)
    assert steps.pool is not None
    return preview_response(model_admin, request, [(steps.pool, seen)], context, token=seen.token, moved=moved)
