"""The bands of the rake on the page of their pool."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from matches.admin.rake_forms import RakeBandForm, RakeBandFormSet
from matches.models import RakeBand
from matches.money.rake import are_examples
from players import systems
from players.admin.pools import PoolAdmin
from players.models import Pool


class RakeBandInline(admin.TabularInline):
    model = RakeBand
    form = RakeBandForm
    formset = RakeBandFormSet
    extra = 0

    def get_formset(self, request: HttpRequest, obj: Pool | None = None, **kwargs: Any) -> Any:
        if obj is not None and are_examples([obj.pk]):
            self.verbose_name_plural = f"{capfirst(RakeBand._meta.verbose_name_plural)}: {_('These figures are an example.')}"
        return super().get_formset(request, obj, **kwargs)


class PoolWithRakeAdmin(PoolAdmin):
    """A pool with what it costs to play there for money. Only systems that know a stake have that."""

    def get_inlines(self, request: HttpRequest, obj: Pool | None) -> Any:
        inlines = super().get_inlines(request, obj)
        # Not `obj.rating_system`, which would stay that of the parameters before they are saved.
        return [*inlines, RakeBandInline] if obj is not None and "stake" in systems.get(obj.system).uses else inlines


admin.site.unregister(Pool)
admin.site.register(Pool, PoolWithRakeAdmin)
