"""What staff wrote down about matches and players, once a player is anonymous."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Q

from matches.models import Appeal, CorrectionJob, Evaluation, Import, Merge, Report, Revision
from players.anonymising import without_names
from players.models import Player


def forget_names(player: Player, duplicates: Collection[Player], names: Collection[str]) -> None:
    """Take a player's old names out of the reasons of the revisions of his matches and of his merges, and out of corrections that
    run in the background, and what imports have told. All else that is kept about matches names players by their numbers."""
    everybody = [player, *duplicates]
    merges = Merge.objects.filter(Q(keep__in=everybody) | Q(duplicate__in=everybody))
    revisions = Revision.objects.exclude(reason="").filter(
        Q(matches__participants__player=player) | Q(published__player=player) | Q(merge__in=merges)
    )
    for revision in revisions.distinct():
        reason = without_names(revision.reason, names, player.name)
        Revision.objects.filter(pk=revision.pk).update(reason=reason)
    for merge in merges:
        merge.reason = without_names(merge.reason, names, player.name)
        merge.undone_reason = without_names(merge.undone_reason, names, player.name)
        merge.save(update_fields=["reason", "undone_reason"])
    ids = {each.pk for each in everybody}
    for job in CorrectionJob.objects.all().iterator():
        for pool in (job.preview or {}).get("pools", ()):
            for move in pool["moves"]:
                if move["player"] in ids:
                    move["name"] = player.name
        job.reason = without_names(job.reason, names, player.name)
        job.error = without_names(job.error, names, player.name)
        job.save(update_fields=["preview", "reason", "error"])
    for model, fields in (
        (Report, ("note", "dispute_note", "decision")),
        (Evaluation, ("note",)),
        (Appeal, ("text", "answer")),
    ):
        for row in model.objects.filter(match__participants__player=player).distinct():
            for name in fields:
                setattr(row, name, without_names(getattr(row, name), names, player.name))
            row.save(update_fields=fields)
    for record in Import.objects.all().iterator():
        told = {name: _without(getattr(record, name), names, player.name) for name in ("name", "options", "report", "error")}
        if any(getattr(record, name) != value for name, value in told.items()):
            Import.objects.filter(pk=record.pk).update(**told)


def _without(value: Any, names: Collection[str], instead: str) -> Any:
    """A JSON value in whose texts, those that name values included, a player has another name."""
    if isinstance(value, str):
        return without_names(value, names, instead)
    if isinstance(value, list):
        return [_without(each, names, instead) for each in value]
    if isinstance(value, dict):
        return {without_names(name, names, instead): _without(each, names, instead) for name, each in value.items()}
    return value
