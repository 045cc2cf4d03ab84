"""The players on the page of a match: rows to be filled in while it is entered or corrected, results afterwards."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from matches.forms import PlacedSeatForm, SeatForm, SeatFormSet, Trouble
from matches.models import Match, Participant
from players.admin import FindsRows
from players.formatting import format_change, format_number, format_rating
from players.models import Pool, RatingChange
from players.numbers import whole
from players.permissions import CORRECT, ENTER
from players.staff import may_here


def pool_of(request: HttpRequest, match: Match | None) -> Pool | None:
    """The pool of a match; of a new one the pool that the address names, or None where it names none."""
    if match is not None:
        return match.pool
    if not hasattr(request, "entry_pool"):
        named = whole(request.GET.get("pool", ""))
        request.entry_pool = Pool.objects.filter(pk=named).first() if named is not None else None  # type: ignore[attr-defined]
    return request.entry_pool  # type: ignore[attr-defined]


def trouble_of(request: HttpRequest) -> Trouble | None:
    """What the service objected to when this request was to be stored."""
    return getattr(request, "trouble", None)


class SeatInline(FindsRows, admin.TabularInline):
    """The players of a match that is being entered: a row for each seat."""

    model = Participant
    formset = SeatFormSet
    autocomplete_fields = ("player",)
    readonly_fields = ("seat_name",)
    extra = 0
    can_delete = False
    verbose_name_plural = gettext_lazy("players")

    def get_fields(self, request: HttpRequest, obj: Match | None = None) -> Any:
        return ("seat_name", "player", "place") if self._by_places(request, obj) else ("seat_name", "player")

    def get_formset(self, request: HttpRequest, obj: Match | None = None, **kwargs: Any) -> Any:
        pool = pool_of(request, obj)
        assert pool is not None
        seats = pool.rating_system.seats
        formset = super().get_formset(
            request,
            obj,
            form=PlacedSeatForm if self._by_places(request, obj) else SeatForm,
            min_num=seats,
            max_num=seats,
            absolute_max=seats,
            **kwargs,
        )
        formset.trouble = trouble_of(request)  # type: ignore[attr-defined]
        return formset

    def _by_places(self, request: HttpRequest, obj: Match | None) -> bool:
        pool = pool_of(request, obj)
        return pool is not None and "places" in pool.rating_system.uses

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).none()

    @admin.display(description=gettext_lazy("seat"))
    def seat_name(self, seat: Participant) -> str:
        return _("Player %(seat)s") % {"seat": seat.seat}

    # The seats are a part of the match: who may enter it may fill them.

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        pool = pool_of(request, obj)
        return pool is not None and any(may_here(request, permission, pool.pk) for permission in (ENTER, CORRECT))

    has_change_permission = has_add_permission


class ResultInline(admin.TabularInline):
    """The players of a stored match with what it did to their ratings."""

    model = Participant
    fields = ("seat", "player", "score_or_place", "before", "change", "after")
    readonly_fields = fields
    extra = 0
    can_delete = False
    verbose_name_plural = gettext_lazy("players")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        line = RatingChange.objects.filter(match=OuterRef("match"), player=OuterRef("player"))
        numbers = {f"rating_{name}": Subquery(line.values(name)[:1]) for name in ("before", "change", "after")}
        return super().get_queryset(request).select_related("player", "match__pool").annotate(**numbers)

    @admin.display(description=gettext_lazy("score or place"))
    def score_or_place(self, seat: Participant) -> str:
        value = seat.score if seat.place is None else seat.place
        return "–" if value is None else format_number(value)

    @admin.display(description=pgettext_lazy("rating", "before"))
    def before(self, seat: Any) -> str:
        return self._shown(format_rating, seat, seat.rating_before)

    @admin.display(description=gettext_lazy("change"))
    def change(self, seat: Any) -> str:
        return self._shown(format_change, seat, seat.rating_change)

    @admin.display(description=pgettext_lazy("rating", "after"))
    def after(self, seat: Any) -> str:
        return self._shown(format_rating, seat, seat.rating_after)

    @staticmethod
    def _shown(write: Any, seat: Any, value: float | None) -> str:
        return "–" if value is None else write(value, seat.match.pool.shown_decimals)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_add_permission
