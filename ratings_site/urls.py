"""Addresses: the framework's own here, the others in the apps."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from players import languages

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("i18n/setlang/", languages.switch, name="set_language"),
    path("api/v1/", include("ratings_site.api")),
    path("", include("players.urls")),
    path("", include("matches.urls")),
]
