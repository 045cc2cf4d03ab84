"""The bands of the rake on the page of their pool."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from matches.admin.rake_forms import RakeBandForm, RakeBandFormSet
from matches.models import RakeBand
from players import systems
from players.admin.pools import PoolAdmin
from players.models import Pool


class RakeBandInline(admin.TabularInline):
    model = RakeBand
    form = RakeBandForm
    formset = RakeBandFormSet
    extra = 0


class PoolWithRakeAdmin(PoolAdmin):
    """A pool with what it costs to play there for money. Only systems that know a stake have that."""

    def get_inlines(self, request: HttpRequest, obj: Pool | None) -> Any:
        inlines = super().get_inlines(request, obj)
        # Not `obj.rating_system`, which would stay that of the parameters before they are saved.
        return [*inlines, RakeBandInline] if obj is not None and "stake" in systems.get(obj.system).uses else inlines


admin.site.unregister(Pool)
admin.site.register(Pool, PoolWithRakeAdmin)
