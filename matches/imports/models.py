"""What is kept of a file of matches that was brought in. Its matches know it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from players.models import Pool


class Import(models.Model):
    """A file of matches that was brought in, or is about to be: see `matches.imports.jobs`. Its matches know it.

    `digest` is the SHA-256 of the files as they came, `options` those of `matches.imports.options`, `report` what was found when
    it was checked, and once it is done what became of it.
    """

    class Kind(models.TextChoices):
        LIST = "list", _("list of matches (CSV)")
        MATCH_FILES = "match_files", _("match files")

    class Status(models.TextChoices):
        CHECKING = "checking", _("being checked")
        CHECKED = "checked", _("waits for confirmation")
        IMPORTING = "importing", _("being imported")
        DONE = "done", _("imported")
        FAILED = "failed", _("failed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="imports", verbose_name=_("pool"))
    kind = models.CharField(_("kind"), max_length=12, choices=Kind.choices)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices)
    name = models.CharField(_("file"), max_length=255)
    digest = models.CharField(_("SHA-256"), max_length=64)
    size = models.PositiveIntegerField(_("bytes"), default=0)
    source = models.CharField(_("source"), max_length=100, blank=True, default="")
    options = models.JSONField(_("options"), default=dict)
    report = models.JSONField(_("report"), null=True)
    error = models.TextField(_("error"), blank=True, default="")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("made by")
    )
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    confirmed_at = models.DateTimeField(_("confirmed"), null=True)
    done_at = models.DateTimeField(_("imported"), null=True)
    touched_at = models.DateTimeField(_("last sign of life"), default=timezone.now)

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ("-made_at", "-id")
        indexes = [
            models.Index(fields=("touched_at",), condition=Q(status__in=("checking", "importing")), name="import_unfinished"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} · {self.name}"


class ImportFile(models.Model):
    """A file of an import while it waits for what becomes of it, compressed by zlib."""

    imported = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="files", verbose_name=_("import"))
    name = models.CharField(_("file"), max_length=255)
    content = models.BinaryField(_("content"))

    class Meta:
        verbose_name = _("file of an import")
        verbose_name_plural = _("files of imports")
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name
