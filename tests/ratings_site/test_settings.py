"""What the settings promise of a production site and of the default database."""

from __future__ import annotations

import json
import secrets
import textwrap
from pathlib import Path

import pytest

from tests.ratings_site import process


@pytest.fixture
def production(tmp_path: Path) -> dict[str, str]:
    return {"VAR_DIR": str(tmp_path), "SECRET_KEY": secrets.token_urlsafe(64), "ALLOWED_HOSTS": "ratings.example"}


def test_production_refuses_to_start_without_a_key(production):
    del production["SECRET_KEY"]
    for command in (["check"], ["makemigrations", "--check"]):
        result = process.run("manage.py", *command, **production)
        assert result.returncode == 1
        assert result.stderr.startswith("SECRET_KEY is not set. Put a long random text into") and result.stderr.count("\n") == 1


def test_an_empty_key_is_none(production):
    production["SECRET_KEY"] = ""
    assert process.run("manage.py", "check", **production).returncode != 0


def test_debug_is_off_unless_asked_for(production):
    code = "from django.conf import settings; print(settings.DEBUG)"
    assert process.output(code, **production) == "False"
    assert process.output(code, **production, DEBUG="1") == "True"


def test_the_deployment_check_is_clean(production):
    result = process.run("manage.py", "check", "--deploy", "--fail-level", "INFO", **production)
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout


ASK = textwrap.dedent("""
    import json
    from django.test import Client
    answer = Client().get("/nowhere/", headers={"host": "ratings.example", "x-forwarded-proto": "https"})
    print(json.dumps([answer.status_code, dict(answer.headers)]))
""")


def test_production_moves_http_to_https(production):
    status, headers = json.loads(process.output(ASK, **production))
    assert (status, headers["Location"]) == (301, "https://ratings.example/nowhere/")


def test_a_trusted_proxy_says_what_is_https(production):
    # Were the header believed without TRUST_PROXY, anyone could send it.
    code = ASK.replace("/nowhere/", "/i18n/setlang/")
    status, headers = json.loads(process.output(code, **production, TRUST_PROXY="1"))
    assert (status, headers["Location"]) == (302, "/")
    assert headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


def test_a_local_run_over_http_is_not_redirected(production):
    code = ASK.replace("/nowhere/", "/i18n/setlang/")
    status, headers = json.loads(process.output(code, **production, INSECURE_HTTP="1"))
    assert (status, headers["Location"]) == (302, "/")
    assert "Strict-Transport-Security" not in headers


def test_links_in_mails_follow_how_the_site_is_reached(production):
    code = "from django.conf import settings; print(settings.SITE_URL)"
    assert process.output(code, **production) == "https://ratings.example"
    assert process.output(code, **production, INSECURE_HTTP="1") == "http://ratings.example"


def test_sqlite_waits_for_the_write_lock_at_the_start_of_a_transaction(production):
    code = """
import sqlite3
from django.db import connection, transaction
with connection.cursor() as cursor:
    for pragma in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout"):
        print(cursor.execute(f"PRAGMA {pragma}").fetchone()[0])
with transaction.atomic():
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0)
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        print(error)
"""
    assert process.output(code, **production).splitlines() == ["wal", "1", "1", "20000", "database is locked"]


@pytest.mark.parametrize("folder", ["a b", "c++", "50%25", "a#b?c"])
def test_the_default_database_may_lie_in_any_folder(production, tmp_path, folder):
    production["VAR_DIR"] = str(tmp_path / folder)
    process.output("from django.db import connection; connection.ensure_connection()", **production)
    assert (tmp_path / folder / "db.sqlite3").exists()


def test_a_postgresql_connection_is_kept_and_checked(production):
    code = """
from django.conf import settings
database = settings.DATABASES["default"]
print(database["ENGINE"], database["HOST"], database["NAME"], database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"])
"""
    url = "postgresql://somebody:secret@db.example:5433/ratings"
    assert process.output(code, **production, DATABASE_URL=url) == "django.db.backends.postgresql db.example ratings 600 True"


def test_no_transaction_around_whole_requests(settings):
    assert settings.DATABASES["default"]["ATOMIC_REQUESTS"] is False
