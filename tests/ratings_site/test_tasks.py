"""The task queue: a broker that is gone, the broker in a folder, and the schedule."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import kombu
import pytest

from ratings_site import broker
from ratings_site.celery import app
from tests.ratings_site import process

PUBLISH = """
import time
from kombu.exceptions import OperationalError
from ratings_site.celery import app
for attempt in range(2):
    began = time.monotonic()
    try:
        app.send_task("players.tasks.update_standings")
    except OperationalError:
        print(time.monotonic() - began)
"""


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said, as of a server that hangs."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(50)
        yield server.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


# Seen: 0.1 and 1.1 seconds, and 2.1 where a closed port is tried once more. Without a timeout a silent port takes for ever.
@pytest.mark.parametrize(("broker_port", "limit"), [("closed_port", 2), ("silent_port", 4)])
def test_a_publish_waits_about_a_second_for_a_broker_that_is_gone(broker_port, limit, request, tmp_path):
    url = f"redis://127.0.0.1:{request.getfixturevalue(broker_port)}/0"
    waits = [float(line) for line in process.output(PUBLISH, DEBUG="1", VAR_DIR=str(tmp_path), REDIS_URL=url).split()]
    assert len(waits) == 2, "each publish fails, and says so"
    assert max(waits) < limit


@pytest.fixture
def folder_queue(tmp_path) -> Iterator[kombu.simple.SimpleQueue]:
    # kombu remembers for the whole process which queues it has declared, whatever the folder.
    broker.Transport.global_state.clear()
    folders = {name: str(tmp_path) for name in ("data_folder_in", "data_folder_out", "control_folder")}
    with kombu.Connection("filesystem://localhost", transport=broker.Transport, transport_options=folders) as connection:
        yield connection.SimpleQueue("tasks")


def test_messages_in_a_folder_arrive_in_order(folder_queue):
    for number in range(20):
        folder_queue.put({"number": number})
    assert [folder_queue.get_nowait().payload["number"] for _ in range(20)] == list(range(20))


def test_a_message_in_a_folder_appears_whole(folder_queue, monkeypatch):
    seen = []
    put_in_place = os.replace

    def replace(source, target):
        with pytest.raises(folder_queue.Empty):
            folder_queue.get_nowait()
        seen.append(os.path.getsize(source))
        put_in_place(source, target)

    monkeypatch.setattr(broker.os, "replace", replace)
    folder_queue.put({"number": 1})
    assert seen[0] > 0
    assert folder_queue.get_nowait().payload == {"number": 1}


def test_the_schedule_names_tasks_that_exist_and_piles_up_none():
    app.loader.import_default_modules()
    assert app.conf.beat_schedule
    for name, entry in app.conf.beat_schedule.items():
        assert entry["task"] in app.tasks, name
        assert entry["options"]["expires"] > 0, name
