"""The whole API: its two parts, its description, and a page to read it on and to try it out."""

from __future__ import annotations

from threading import Lock
from typing import Any

from django.urls import include, path, re_path
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from players.api.base import ApiView
from players.api.errors import not_found


class Nowhere(ApiView):
    """Whatever has no address here: an error of the same shape as all."""

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        raise not_found(_("There is no such address. /api/v1/docs/ lists those that there are."))

    post = put = patch = delete = get
    open_to_all = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class SchemaView(SpectacularJSONAPIView):
    authentication_classes = ()
    permission_classes = ()
    one_at_a_time = Lock()
    """What makes the description loads its extensions the first time, and stumbles where two do that at once."""

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        with self.one_at_a_time:
            return super().get(request, *args, **kwargs)


class DocsView(SpectacularSwaggerSplitView):
    """The description as a page, in which a login of the site may try things out."""

    template_name = "api/docs.html"
    url_name = "api_schema"
    authentication_classes = ()
    permission_classes = ()


urlpatterns = [
    path("", include("players.api.urls")),
    path("", include("matches.api.urls")),
    path("schema/", SchemaView.as_view(), name="api_schema"),
    path("docs/", DocsView.as_view(), name="api_docs"),
    re_path(r"^[\s\S]*$", Nowhere.as_view()),
]
