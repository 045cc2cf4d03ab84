"""The admin of ratings and of their history. They are looked at here: only matches change them."""

from __future__ import annotations

from datetime import UTC

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from players.admin.base import ByPlayerName, ReadOnlyAdmin, listed, moment_column
from players.formatting import format_change, format_rating, is_provisional
from players.models import Pool, Rating, RatingChange
from players.staff import PoolByPool
from players.templatetags.ratings import day, ended, moment


@admin.register(Rating)
class RatingAdmin(PoolByPool, ByPlayerName, ReadOnlyAdmin):
    seen_with = ("players.view_rating",)
    list_display = ("player", "pool", "shown_rating", "shown_standing", "experience", "matches", "settled", "last_end")
    list_filter = ("pool",)
    list_select_related = ("player", "pool")
    search_fields = ("player__name_key__contains",)
    search_help_text = gettext_lazy("Part of a player's name.")
    ordering = ("-id",)
    fields = (
        "player",
        "pool",
        "shown_rating",
        "shown_standing",
        "standing_since",
        "experience",
        "settled",
        "matches",
        "shown_peak",
        "peak_match",
        "shown_opening",
        "opening_experience",
        "opened_on",
        "last_match",
        "last_end",
        "changes",
    )

    standing_since = moment_column(Rating, "standing_at")

    @admin.display(description=Rating._meta.get_field("last_ended_at").verbose_name, ordering="last_ended_at")
    def last_end(self, rating: Rating) -> SafeString | str:
        if rating.last_ended_at is None:
            return "–"
        return moment(rating.last_ended_at) if rating.last_timed else day(rating.last_ended_at.astimezone(UTC).date())

    @admin.display(description=gettext_lazy("rating"), ordering="value")
    def shown_rating(self, rating: Rating) -> str:
        return format_rating(rating.value, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("standing"), ordering="standing")
    def shown_standing(self, rating: Rating) -> str:
        return format_rating(rating.standing, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("peak"))
    def shown_peak(self, rating: Rating) -> str:
        return format_rating(rating.peak, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("opening rating"))
    def shown_opening(self, rating: Rating) -> str:
        return format_rating(rating.opening, rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("settled"), boolean=True)
    def settled(self, rating: Rating) -> bool:
        return not is_provisional(rating.experience, rating.pool.provisional_below)

    @admin.display(description=gettext_lazy("history"))
    def changes(self, rating: Rating) -> SafeString:
        return listed(RatingChange, f"rating__id__exact={rating.pk}", _("history"))


@admin.register(RatingChange)
class RatingChangeAdmin(PoolByPool, ByPlayerName, ReadOnlyAdmin):
    seen_with = ("players.view_ratingchange",)
    to_pool = "rating__pool"
    list_display = (
        "shown_match",
        "player",
        "pool",
        "shown_end",
        "shown_before",
        "shown_change",
        "shown_after",
        "experience_after",
    )
    list_display_links = ("shown_change",)
    list_filter = (("rating__pool", admin.RelatedFieldListFilter),)
    list_select_related = ("player", "rating__pool")
    search_fields = ("player__name_key__contains",)
    search_help_text = gettext_lazy("Part of a player's name.")
    ordering = ("-id",)
    fields = (
        "match",
        "player",
        "pool",
        "shown_end",
        "shown_before",
        "shown_change",
        "shown_after",
        "experience_before",
        "experience_after",
        "score",
        "expected",
    )

    def pool_id_of(self, row: RatingChange) -> int:
        return row.rating.pool_id

    @admin.display(description=gettext_lazy("match"), ordering="match_id")
    def shown_match(self, change: RatingChange) -> SafeString:
        return format_html('<a href="{}">#{}</a>', reverse("admin:matches_match_change", args=[change.match_id]), change.match_id)

    @admin.display(description=gettext_lazy("pool"))
    def pool(self, change: RatingChange) -> Pool:
        return change.rating.pool

    @admin.display(description=gettext_lazy("ended"))
    def shown_end(self, change: RatingChange) -> SafeString:
        return ended(change)

    @admin.display(description=pgettext_lazy("rating", "before"))
    def shown_before(self, change: RatingChange) -> str:
        return format_rating(change.before, change.rating.pool.shown_decimals)

    @admin.display(description=gettext_lazy("change"), ordering="change")
    def shown_change(self, change: RatingChange) -> str:
        return format_change(change.change, change.rating.pool.shown_decimals)

    @admin.display(description=pgettext_lazy("rating", "after"), ordering="after")
    def shown_after(self, change: RatingChange) -> str:
        return format_rating(change.after, change.rating.pool.shown_decimals)
