"""Corrections in the background, for whoever started them: how far they are, what they would move, and the word to go on."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.response import Response

from matches import jobs
from matches.api import result_shapes as shapes
from matches.api.previews import preview_answer
from matches.job_rows import kind_of, match_ids
from matches.models import CorrectionJob
from players.api import reading
from players.api.actors import Actor, actor_of
from players.api.answers import Json, instant
from players.api.base import ApiView
from players.api.errors import ApiError, not_found
from players.api.reading import read_object, read_query
from players.api.schema import READ_ERRORS, WRITE_ERRORS
from players.api.schema import described as documented


def job_answer(job: CorrectionJob) -> Json:
    seen = jobs.preview_of(job)
    advance = jobs.progress_of(job)
    return {
        "job": job.pk,
        "kind": str(kind_of(job)),
        "status": str(job.status),
        "reason": job.reason,
        "made_at": instant(job.made_at),
        "matches": match_ids(job),
        "done": advance.done,
        "total": job.total,
        "error": job.error,
        "preview": None if seen is None else _stored_preview(seen),
        "revision": job.revision_id,
    }


def _stored_preview(seen: jobs.StoredPreview) -> Json:
    [(pool, one, moved)] = seen.pools
    return {**preview_answer(one, pool, moved), "token": seen.token}


def the_job(pk: int, actor: Actor) -> CorrectionJob:
    """A job that the actor has started. Raises ApiError."""
    job = CorrectionJob.objects.select_related("pool").filter(pk=pk, made_by=actor.login).first()
    if job is None or job.pool is None:
        raise not_found(_("You have no such job."))
    actor.require("corrections", job.pool)
    return job


class JobDetail(ApiView):
    open_to_all = frozenset({"OPTIONS"})
    max_age = 0

    @documented(
        "A correction in the background",
        "How far it is; once it is previewed, what it would move and the token to confirm it with.",
        {200: shapes.Job},
        tag="matches",
        errors=(*READ_ERRORS, 404),
        conditional=True,
        operation_id="jobs_retrieve",
    )
    def get(self, request: HttpRequest, job: int) -> Response:
        read_query(request.GET, {})
        return Response(job_answer(the_job(job, actor_of(request))))


class JobConfirm(ApiView):
    rate = "write"

    @documented(
        "Confirm a correction in the background",
        "It is made where the pool is still as its preview showed it; else it is previewed again.",
        {202: shapes.Job},
        tag="matches",
        errors=(*WRITE_ERRORS, 404, 409),
        request=shapes.TokenSent,
        operation_id="jobs_confirm",
    )
    def post(self, request: Any, job: int) -> Response:
        actor = actor_of(request)
        token = {"token": lambda name, value: reading.text(name, value, 200)}
        values = read_object(request.data, token, required=("token",))
        found = the_job(job, actor)
        if not jobs.confirm(found, values["token"]) and found.status not in ("applying", "done"):
            raise ApiError(409, _("The job does not wait to be confirmed with this token. Look at it again."), code="not_waiting")
        found.refresh_from_db()
        return Response(job_answer(found), status=202)


class JobWithdraw(ApiView):
    rate = "write"

    @documented(
        "Withdraw a correction in the background",
        "Nothing is written. One that is confirmed cannot be withdrawn any more.",
        {200: shapes.Job},
        tag="matches",
        errors=(*WRITE_ERRORS, 404, 409),
        operation_id="jobs_withdraw",
    )
    def post(self, request: Any, job: int) -> Response:
        read_object(request.data, {})
        found = the_job(job, actor_of(request))
        if not jobs.withdraw(found, _("Withdrawn.")) and found.status != "withdrawn":
            raise ApiError(409, _("The job is confirmed, or over. It cannot be withdrawn any more."), code="not_waiting")
        found.refresh_from_db()
        return Response(job_answer(found))
