"""The tests' own servers: they serve, and they end with whoever started them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from tests import servers
from tests.ratings_site import process

HOLD = (
    "import sys, time\nfrom tests import servers\nwith servers.{name}() as url:\n    print(url, flush=True)\n    time.sleep(60)"
)


def redis_answers(url: str) -> bool:
    try:
        return bool(redis.Redis.from_url(url, retry=None).ping())
    except redis.ConnectionError:
        return False


def folder_of(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def test_postgres_serves_and_is_gone_afterwards():
    with servers.postgres(durable=True) as url:
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("on",)
        folder = folder_of(url)
        assert folder.exists()
    assert not folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_an_error_in_the_block_stops_the_server():
    with pytest.raises(ZeroDivisionError), servers.redis() as url:
        assert redis_answers(url)
        raise ZeroDivisionError
    assert not redis_answers(url)


def test_a_server_that_cannot_start_shows_its_log(monkeypatch):
    monkeypatch.setattr(servers, "_redis_answers", lambda port: False)
    monkeypatch.setattr(servers.socket.socket, "getsockname", lambda self: ("127.0.0.1", "no-port"))
    with pytest.raises(servers.ServerError, match=r"(?s)valkey-server did not start.*no-port"), servers.redis():
        pass


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_server_does_not_outlive_a_killed_parent(name):
    parent = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(name=name)],
        env=process.environment(),
        cwd=process.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    url = parent.stdout.readline().strip()
    answers = redis_answers if name == "redis" else servers._postgres_answers
    assert answers(url)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while answers(url):
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.1)
