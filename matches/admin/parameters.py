"""Other parameters for a pool, in the admin: from the page of the pool, with a preview."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from matches import jobs
from matches.admin.parameter_forms import ParametersForm
from matches.admin.steps import Steps, step
from matches.models import CorrectionJob, Revision
from matches.parameters import NewParameters, made_before
from matches.revising import Change
from players.formatting import format_number
from players.models import Pool
from players.permissions import SET_PARAMETERS
from players.staff import may_here
from players.systems.base import Refused
from players.wording import refusal_rule


class ParameterSteps(Steps):
    template = "admin/matches/revision/parameters.html"
    kind = Revision.Kind.PARAMETERS

    def __init__(self, pool: Pool, data: Any) -> None:
        self.pool = self.of = pool
        self.form: ParametersForm = ParametersForm(pool, data)
        self.title, self.subtitle = _("Change the parameters of a pool"), pool.name
        self.button = _("Change the parameters")
        self.back = reverse("admin:players_pool_change", args=[pool.pk])

    def change(self) -> Change:
        return NewParameters(self.of.pk, self.form.changes(), self.form.instant())

    def start(self, request: HttpRequest) -> CorrectionJob:
        by: Any = request.user
        return jobs.start_parameters(self.of, self.form.changes(), self.form.instant(), reason=self.reason, made_by=by)

    def made_before(self, request: HttpRequest) -> bool:
        by: Any = request.user
        return bool(made_before(self.of, self.form.changes(), self.form.instant(), reason=self.reason, made_by=by))

    @property
    def concerned(self) -> list[Any]:
        return [self.of]

    def done(self, revisions: list[Revision]) -> SafeString | str:
        if not revisions:
            return _("The pool has these parameters.")
        [revision] = revisions
        return format_html(
            '{} <a href="{}">{}</a>',
            _("The parameters are changed; lines of the history that were written: %(count)s.")
            % {"count": format_number(revision.changes, 0)},
            reverse("admin:matches_revision_change", args=[revision.pk]),
            _("The revision"),
        )

    def complain(self, error: Exception) -> None:
        if isinstance(error, Refused) and error.field == "date":
            self.form.add_error("since_date", refusal_rule(error))
        else:
            super().complain(error)


def parameters_view(model_admin: Any, request: HttpRequest, pool_id: int) -> HttpResponse:
    if not may_here(request, SET_PARAMETERS, pool_id):
        raise PermissionDenied
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        return HttpResponseRedirect(reverse("admin:players_pool_changelist"))
    return step(model_admin, request, ParameterSteps(pool, request.POST if request.method == "POST" else None))
