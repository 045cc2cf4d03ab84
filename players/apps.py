"""The app of the players and their strength."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.db.backends.signals import connection_created
from django.utils.translation import gettext_lazy as _


class PlayersConfig(AppConfig):
    name = "players"
    verbose_name = _("Players and ratings")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from players.dbfunctions import add_sqlite_functions
        from players.languages import remember_at_login

        connection_created.connect(add_sqlite_functions, dispatch_uid="players.sqlite_functions")
        user_logged_in.connect(remember_at_login, dispatch_uid="players.language_at_login")
