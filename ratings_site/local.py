"""
`make run`: the whole site on one machine, with nothing to install besides Python.

Prepares what is missing, tells where the site is and who can log in, and runs its processes until it is told to stop.
From the environment: HOST (127.0.0.1), PORT (8000), DEMO (0: no demonstration data), and all that settings.py reads.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
STOP_TIMEOUT = 10  # seconds for a process to end what it is at
RESTARTED = ("worker", "beat")  # a result is rated without them, so the pages need not end with them
RESTARTS = 5  # of each
RESTART_DELAY = 2  # seconds


def commands(host: str, port: str) -> dict[str, list[str]]:
    """The processes of the site. One worker process without children is enough, as SQLite has one writer at a time."""
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--quiet", "--app", "ratings_site"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return {
        "web": [*python, "gunicorn", "ratings_site.wsgi", f"--bind={_bind(host, port)}", "--threads=8", "--graceful-timeout=5"]
        + ["--no-control-socket"],
        "worker": [*celery, "worker", "--pool=solo", "--loglevel=INFO", *quiet],
        # No pid file: one that a killed process left behind would keep the next from starting.
        "beat": [*celery, "beat", "--pidfile=", "--loglevel=INFO"],
    }


def _bind(host: str, port: str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What the local run adds to the environment `given`, which always has the last word."""
    host = given.get("HOST") or "127.0.0.1"
    var = Path(given.get("VAR_DIR") or BASE_DIR / "var").resolve()
    everywhere = host in ("0.0.0.0", "::")
    port = given.get("PORT") or "8000"
    added = {
        "HOST": host,
        "PORT": port,
        "SITE_URL": f"http://{_bind('127.0.0.1' if everywhere else host, port)}",
        "VAR_DIR": str(var),
        "INSECURE_HTTP": "1",
        "ALLOWED_HOSTS": "*" if everywhere else ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", host])),
        "DJANGO_SETTINGS_MODULE": "ratings_site.settings",
        "PYTHONUNBUFFERED": "1",
    }
    if not given.get("SECRET_KEY"):
        added["SECRET_KEY"] = _kept_key(var / "secret_key")
    return {**added, **{name: value for name, value in given.items() if value}}


def _kept_key(path: Path) -> str:
    """A key of this installation, so that a restart logs nobody out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    return path.read_text().strip()


def port_problem(host: str, port: str) -> str | None:
    """Why the site could not be served there, in words for the one who started it."""
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return f"PORT is {port!r}; it must be a number from 1 to 65535."
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except PermissionError:
        return f"You may not use port {port}. Choose one above 1023: make run PORT=8001"
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"Port {port} on {host} is in use. Stop what uses it, or choose another: make run PORT={int(port) + 1}"
        return f"Cannot serve on {host} port {port}: {error.strerror or error}"
    return None


def static_files_changed() -> bool:
    """Whether a file to be served is newer than the last collection, or none was made."""
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders

    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return True
    collected = manifest.stat().st_mtime
    return any(
        # ctime too: an updated package may bring files with old dates.
        max((status := os.stat(storage.path(path))).st_mtime, status.st_ctime) > collected
        for finder in get_finders()
        for path, storage in finder.list([])
    )


def prepare() -> None:
    import django
    from django.core.management import CommandError, call_command

    django.setup()
    print("Preparing the database ...")
    call_command("migrate", interactive=False, verbosity=0)
    if static_files_changed():
        print("Collecting the static files ...")
        call_command("collectstatic", interactive=False, verbosity=0)
    if os.environ.get("DEMO", "1") != "0":
        try:
            # Fills an empty database only; prints the logins each time.
            call_command("load_demo")
        except CommandError as error:
            print(error)
    from django.contrib.auth.models import User

    if not User.objects.filter(is_superuser=True).exists():
        print("Nobody can log in to the administration yet. Make a login: DEBUG=1 .venv/bin/python manage.py createsuperuser")


def run(named: Mapping[str, list[str]]) -> int:
    """
    Run the commands until a signal comes or one of them ends, then stop them all; returns the exit code. A worker or beat that
    ends is started again, a few times.

    Not by a process manager for Procfiles: those tried leave processes behind when the signal comes while they start, or when
    the terminal is closed.
    """
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: signals.append(received))
    running: dict[str, subprocess.Popen[bytes]] = {}
    restarts = {name: RESTARTS if name in RESTARTED else 0 for name in named}
    again_at: dict[str, float] = {}
    try:
        for name, command in named.items():
            running[name] = _start(command)
        while not signals:
            for name, process in running.items():
                if process.poll() is None:
                    continue
                if name not in again_at:
                    print(f"The {name} process ended (exit code {process.returncode}).", file=sys.stderr)
                    if not restarts[name]:
                        print("Stopping the others.", file=sys.stderr)
                        return 1
                    restarts[name] -= 1
                    again_at[name] = time.monotonic() + RESTART_DELAY
                elif time.monotonic() >= again_at[name]:
                    del again_at[name]
                    print(f"Starting the {name} process again.", file=sys.stderr)
                    running[name] = _start(named[name])
            time.sleep(0.1)
        print("\nStopping ...", flush=True)
        return 128 + signals[0]
    finally:
        _stop(running.values(), signals)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    # In a session of its own, a process does not get the terminal's Ctrl-C besides our SIGTERM.
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_end_with_parent)


def _stop(processes: Iterable[subprocess.Popen[bytes]], signals: list[int]) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + STOP_TIMEOUT
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        if signals.count(signal.SIGINT) > 1:
            break  # A second Ctrl-C is of somebody who does not want to wait.
        time.sleep(0.05)
    for process in processes:
        with contextlib.suppress(ProcessLookupError):  # The usual case: the whole group is gone.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_parent() -> None:
    """Have Linux end this process when its parent dies, be it by SIGKILL; other systems have no such thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))  # 1 is PR_SET_PDEATHSIG


def main() -> None:
    if "MAKELEVEL" in os.environ:
        _end_with_parent()
    os.environ.update(environment(os.environ))
    host, port = os.environ["HOST"], os.environ["PORT"]
    if problem := port_problem(host, port):
        raise SystemExit(problem)
    os.chdir(BASE_DIR)
    try:
        prepare()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    site = f"http://{_bind(host, port)}"
    print(f"\nThe site is at {site}/ and its administration at {site}/admin/. Ctrl-C stops it.\n", flush=True)
    raise SystemExit(run(commands(host, port)))


if __name__ == "__main__":
    main()
