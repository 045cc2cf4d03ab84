"""Addresses: the framework's own here, the others in the apps."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from players import languages

# One log-in for all: with the lockout, and in the reader's language.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler500 = "ratings_site.middleware.any_error"
urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("players.accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("i18n/setlang/", languages.switch, name="set_language"),
    path("api/v1/", include("ratings_site.api")),
    path("", include("matches.exports.urls")),
    path("", include("players.urls")),
    path("", include("matches.urls")),
]
