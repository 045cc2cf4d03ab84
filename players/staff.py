"""What the user of a page in the admin may do, pool by pool: `players.permissions`, asked once a request."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from players.permissions import may_everywhere, pools_for


def pools_in_reach(request: HttpRequest, permission: str) -> frozenset[int] | None:
    """The ids of the pools in which the user has the permission; None for all of them."""
    known: dict[str, frozenset[int] | None] = request.__dict__.setdefault("pools_in_reach", {})
    if permission not in known:
        everywhere = may_everywhere(request.user, permission)
        known[permission] = None if everywhere else frozenset(pools_for(request.user, permission).values_list("pk", flat=True))
    return known[permission]


def may_here(request: HttpRequest, permission: str, pool_id: int | None = None) -> bool:
    """Whether the user has the permission in the pool; without one, in any."""
    pools = pools_in_reach(request, permission)
    return pools is None or (bool(pools) if pool_id is None else pool_id in pools)


class PoolByPool:
    """For the admin of rows that belong to a pool: organisers see those of theirs, with one of the permissions `seen_with`."""

    seen_with: tuple[str, ...]
    to_pool = "pool"
    """The way from a row to its pool, in a query."""

    def pool_id_of(self, row: Any) -> int:
        return row.pool_id

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)  # type: ignore[misc]
        if super().has_view_permission(request):  # type: ignore[misc]
            return rows
        reached = [pools_in_reach(request, permission) for permission in self.seen_with]
        if None in reached:
            return rows
        return rows.filter(**{f"{self.to_pool}__in": frozenset().union(*reached)})  # type: ignore[arg-type]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        pool_id = None if obj is None else self.pool_id_of(obj)
        return super().has_view_permission(request, obj) or any(  # type: ignore[misc]
            may_here(request, permission, pool_id) for permission in self.seen_with
        )

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or self.has_view_permission(request)  # type: ignore[misc]
