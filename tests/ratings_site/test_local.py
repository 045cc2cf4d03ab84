"""`make run`: what it adds to the environment, where it may serve, and that it leaves no process behind."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ratings_site import local
from tests.ratings_site import process

# Each process writes its id, then waits; the second has a child of its own.
SLEEPERS = """
import sys
from ratings_site.local import run
folder = sys.argv[1]
sleeper = ["sh", "-c", f"echo $$ > {folder}/one.new; mv {folder}/one.new {folder}/one; exec sleep 60"]
parent = ["sh", "-c", f"sleep 60 & echo $! > {folder}/two.new; mv {folder}/two.new {folder}/two; wait"]
sys.exit(run({"one": sleeper, "two": parent}))
"""


def test_the_given_environment_has_the_last_word(tmp_path):
    added = local.environment({"VAR_DIR": str(tmp_path)})
    assert (added["HOST"], added["PORT"], added["INSECURE_HTTP"]) == ("127.0.0.1", "8000", "1")
    assert added["ALLOWED_HOSTS"] == "localhost,127.0.0.1,[::1]"
    assert added["SITE_URL"] == "http://127.0.0.1:8000"
    given = {"VAR_DIR": str(tmp_path), "PORT": "8001", "HOST": "", "SECRET_KEY": "mine", "ALLOWED_HOSTS": "ratings.example"}
    assert local.environment(given).items() >= {**given, "HOST": "127.0.0.1"}.items()


def test_the_key_is_made_once_and_is_nobody_elses(tmp_path):
    first = local.environment({"VAR_DIR": str(tmp_path)})["SECRET_KEY"]
    assert len(first) >= 50
    assert local.environment({"VAR_DIR": str(tmp_path)})["SECRET_KEY"] == first
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_a_busy_port_is_named_with_a_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        problem = local.port_problem("127.0.0.1", str(port))
    assert problem == f"Port {port} on 127.0.0.1 is in use. Stop what uses it, or choose another: make run PORT={port + 1}"
    assert local.port_problem("127.0.0.1", str(port)) is None


@pytest.mark.parametrize("port", ["", "0", "65536", "http", "-1", "٨٠٠٠"])
def test_a_port_is_a_number(port):
    assert "must be a number from 1 to 65535" in local.port_problem("127.0.0.1", port)


@pytest.fixture
def started(tmp_path):
    """A run of two processes; the fixture gives it and the ids of the innermost ones."""
    run = subprocess.Popen([sys.executable, "-c", SLEEPERS, str(tmp_path)], env=process.environment(), cwd=process.BASE_DIR)
    pids = [int(wait_for(tmp_path / name)) for name in ("one", "two")]
    yield run, pids
    run.kill()
    run.wait()


def wait_for(path: Path) -> str:
    for _ in range(200):
        if path.exists():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if sys.platform == "linux" and "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]:
            return True  # Ended, and nobody has asked for its exit code.
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_processes_and_their_children(started, number):
    run, pids = started
    run.send_signal(number)
    assert run.wait(15) == 128 + number
    assert all(gone(pid) for pid in pids)


def test_when_one_ends_the_others_do(started):
    run, pids = started
    os.kill(pids[0], signal.SIGKILL)
    assert run.wait(15) == 1
    assert gone(pids[1])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_a_killed_run_takes_its_processes_with_it(started):
    run, pids = started
    run.kill()
    assert gone(pids[0])


def test_a_worker_that_ends_is_started_again_and_the_web_process_is_not(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(local, "RESTART_DELAY", 0.1)
    count = ["sh", "-c", f"echo x >> {tmp_path}/worker; exit 3"]
    # The web process ends when the worker has run three times.
    web = ["sh", "-c", f"until [ $(wc -l < {tmp_path}/worker) -ge 3 ]; do sleep 0.1; done 2>/dev/null"]
    (tmp_path / "worker").touch()
    assert local.run({"web": web, "worker": count}) == 1
    assert len((tmp_path / "worker").read_text().splitlines()) >= 3
    said = capfd.readouterr().err
    assert "Starting the worker process again." in said and "The web process ended (exit code 0)." in said


def test_a_worker_that_never_stays_ends_the_run(monkeypatch, capfd):
    monkeypatch.setattr(local, "RESTART_DELAY", 0)
    assert local.run({"web": ["sleep", "60"], "worker": ["false"]}) == 1
    assert capfd.readouterr().err.count("Starting the worker process again.") == local.RESTARTS
