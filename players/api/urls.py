"""Addresses of the API's part for players and pools, below /api/v1/."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from players.api import views


class Id:
    """A number that fits the column."""

    regex = "[1-9][0-9]{0,17}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(Id, "id")

urlpatterns: list[URLPattern] = [
    path("pools/", views.Pools.as_view(), name="api_pools"),
    path("pools/<slug:pool>/", views.PoolDetail.as_view(), name="api_pool"),
    path("pools/<slug:pool>/rankings/", views.Rankings.as_view(), name="api_rankings"),
    path("pools/<slug:pool>/prediction/", views.Prediction.as_view(), name="api_prediction"),
    path("pools/<slug:pool>/simulate/", views.Simulate.as_view(), name="api_simulate"),
    path("players/", views.Players.as_view(), name="api_players"),
    path("players/<id:player>/", views.PlayerDetail.as_view(), name="api_player"),
    path("players/<id:player>/ratings/<slug:pool>/", views.RatingDetail.as_view(), name="api_rating"),
    path("players/<id:player>/ratings/<slug:pool>/history/", views.History.as_view(), name="api_history"),
]
