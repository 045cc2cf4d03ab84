"""The site on a PostgreSQL of its own, which waits for the disk as in production."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def on_postgres() -> Iterator[None]:
    """Start the server, make the tables, and set Django up in this process. Without Redis: its share is measured apart."""
    from tests.servers import postgres

    with postgres(durable=True) as url, tempfile.TemporaryDirectory(prefix="ratings-bench-") as var:
        os.environ.update(DATABASE_URL=url, VAR_DIR=var, SECRET_KEY="benchmarks", INSECURE_HTTP="1", LOG_LEVEL="WARNING")
        for name in ("DEBUG", "REDIS_URL"):
            os.environ.pop(name, None)
        set_up()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        try:
            yield
        finally:
            connections.close_all()


def set_up() -> None:
    """Set Django up; without a server, as where nothing but computing is measured."""
    os.environ.setdefault("SECRET_KEY", "benchmarks")
    os.environ["DJANGO_SETTINGS_MODULE"] = "ratings_site.settings"
    import django

    django.setup()


def empty() -> None:
    """No match, no player and no rating; the pools stay."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE players_player, matches_match, matches_revision RESTART IDENTITY CASCADE")


def insert(model: Any, names: tuple[str, ...], values: Iterable[Any], count: int, **same: Any) -> None:
    """Rows of a model by COPY: the values of the columns named, and of all others `same` or the defaults."""
    from players import rows

    others = tuple(field.attname for field in model._meta.concrete_fields if field.attname not in {"id", *names})
    rest = tuple(getattr(model(**same), name) for name in others)

    class Rows(rows.Each):
        def __len__(self) -> int:
            return count

    rows.write(rows.Insert(model, (*names, *others), Rows(lambda value: (*value, *rest), values)))


def new_players(count: int) -> None:
    """Players with the ids 1 to `count`."""
    from players.models import Player

    names = ((n, f"Player {n}", f"player {n}", f"player-{n}") for n in range(1, count + 1))
    insert(Player, ("id", "name", "name_key", "slug"), names, count)
