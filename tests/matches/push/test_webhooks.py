"""Webhooks: signed, tried again, never sent into the private network."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from matches import tasks
from matches.lobby import tables
from matches.models import Delivery, Webhook
from matches.push import addresses, events, webhooks
from players.systems.base import Result
from tests.building import at, complete, people, pool_of, won

pytestmark = pytest.mark.django_db


class Receiver(HTTPServer):
    """A server that answers as it is told and keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/hook?x=1"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(({**self.headers, "path": self.path}, body))
        status = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def listening(url: str, matches: int = 1) -> Webhook:
    """A webhook with matches that it is to be told of."""
    webhook = Webhook.objects.create(name="server", url=url, kinds=["match.rated"])
    complete(pool_of("fibs"), *(won(*people_here(), at(number)) for number in range(matches)))
    events.put_in_order()
    return webhook


def people_here() -> list[Any]:
    from players.models import Player

    return list(Player.objects.order_by("pk")[:2]) or people(2)


def test_what_is_sent_is_signed_and_in_order(receiver: Receiver) -> None:
    webhook = listening(receiver.url, 3)
    assert webhooks.waiting(timezone.now()) == [webhook.pk]
    assert webhooks.send_waiting(webhook.pk) == 3
    assert webhooks.waiting(timezone.now()) == []
    assert webhooks.send_waiting(webhook.pk) == 0
    assert [json.loads(body)["position"] for _, body in receiver.got] == [1, 2, 3]
    headers, body = receiver.got[0]
    assert headers["path"] == "/hook?x=1" and headers["Host"] == f"localhost:{receiver.server_port}"
    instant, digest = (part.split("=")[1] for part in headers["Rating-Signature"].split(","))
    assert digest == hmac.new(webhook.secret.encode(), f"{instant}.".encode() + body, hashlib.sha256).hexdigest()
    assert set(Delivery.objects.values_list("status", "answer", "attempts")) == {("delivered", 204, 1)}


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_sent_again_later(receiver: Receiver, status: int) -> None:
    webhook = listening(receiver.url, 2)
    receiver.answers = [status]
    began = timezone.now()
    assert webhooks.send_waiting(webhook.pk) == 0
    assert len(receiver.got) == 1  # nor is the next one sent to a server in trouble
    delivery = webhook.deliveries.get(event__position=1)
    assert (delivery.status, delivery.answer, delivery.attempts) == ("pending", status, 1)
    assert delivery.error and began + webhooks.WAITS[0] <= delivery.due_at
    Delivery.objects.update(due_at=began)
    assert webhooks.send_waiting(webhook.pk) == 2


def test_a_server_in_trouble_is_left_alone_for_a_minute(receiver: Receiver) -> None:
    webhook = listening(receiver.url, 3)
    receiver.answers = [500]
    assert webhooks.send_waiting(webhook.pk) == 0
    now = timezone.now()
    assert webhooks.waiting(now) == []
    assert webhooks.waiting(now + timedelta(minutes=1)) == [webhook.pk]
    assert webhooks._claim(webhook, now) is not None  # and while one is being sent, no worker takes another
    Delivery.objects.filter(attempts=1, answer=500).update(due_at=now)
    assert webhooks.waiting(now) == []


def test_it_is_given_up_after_the_last_attempt_and_can_be_sent_again(receiver: Receiver) -> None:
    webhook = listening(receiver.url)
    attempts = len(webhooks.WAITS) + 1
    receiver.answers = [503] * attempts
    for _ in range(attempts):
        Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
        webhooks.send_waiting(webhook.pk)
    delivery = webhook.deliveries.get()
    assert (delivery.status, delivery.attempts) == ("failed", attempts)
    assert webhooks.waiting(timezone.now()) == []
    assert webhooks.send_again([delivery.pk], timezone.now()) == 1
    assert webhooks.send_waiting(webhook.pk) == 1


@pytest.mark.parametrize("answer", [204, 500])
def test_what_is_sent_again_while_it_is_sent_is_sent_again(
    answer: int, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does the first attempt say that it is over, nor has it wait."""
    webhook = listening(receiver.url)

    def meanwhile(webhook: Webhook, body: bytes) -> int:
        webhooks.send_again([Delivery.objects.get().pk], timezone.now())
        return answer

    delivery = webhooks._claim(webhook, timezone.now())
    assert delivery is not None
    with monkeypatch.context() as patch:
        patch.setattr(webhooks, "_post", meanwhile)
        webhooks._send(webhook, delivery)
    found = Delivery.objects.get()
    assert (found.status, found.attempts, found.error) == ("pending", 0, "") and found.due_at <= timezone.now()
    assert webhooks.send_waiting(webhook.pk) == 1 and len(receiver.got) == 1


def test_an_answer_in_drops_is_cut_off_and_keeps_no_worker(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    monkeypatch.setattr(webhooks, "DEADLINE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            line, _ = server.accept()
            with line, contextlib.suppress(OSError):
                line.sendall(b"HTTP/1.1 200 OK\r\n")
                while True:  # each drop comes long before a read would time out
                    line.sendall(b"X-Drop: 1\r\n")
                    time.sleep(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        webhook = listening(f"http://127.0.0.1:{server.getsockname()[1]}/")
        began = time.monotonic()
        assert webhooks.send_waiting(webhook.pk) == 0
        assert time.monotonic() - began < 3
        thread.join(5)
    delivery = Delivery.objects.get()
    assert delivery.error == "TimeoutError: no answer within 0.5 seconds" and delivery.due_at > timezone.now()


def test_nobody_there(settings: Any) -> None:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        webhook = listening(f"http://127.0.0.1:{taken.getsockname()[1]}/")
        assert webhooks.send_waiting(webhook.pk) == 0
    assert webhook.deliveries.get().status == "pending" and webhook.deliveries.get().error


def test_one_that_another_worker_sends_is_left_alone(receiver: Receiver) -> None:
    webhook = listening(receiver.url)
    claimed = webhooks._claim(webhook, timezone.now())
    assert claimed is not None
    assert webhooks.send_waiting(webhook.pk) == 0 and receiver.got == []
    # Its worker died: after a while it is everybody's again.
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert webhooks.send_waiting(webhook.pk) == 1


def test_nothing_goes_to_the_private_network() -> None:
    webhook = listening("https://localhost:1/")
    assert webhooks.send_waiting(webhook.pk) == 0
    assert "public" in webhook.deliveries.get().error


def test_the_task_sends_what_the_sweep_finds(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.send_to_webhook, "delay", tasks.send_to_webhook.run)
    complete(pool_of("fibs"), won(*people_here(), at(0)))
    Webhook.objects.create(name="server", url=receiver.url, kinds=["match.rated"])
    assert tasks.sweep_events() == 1
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
        ("2001:0:1::", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert addresses.is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    "url",
    [
        "http://ratings.example/",
        "ftp://ratings.example/",
        "https:///path",
        "https://user:password@ratings.example/",
        "https://ratings.example:99999/",
        "https://[::1/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://0x7f.1/",
        "https://[::ffff:127.0.0.1]/",
        "https://there-is-no.such-host.invalid/",
        "nonsense",
    ],
)
def test_a_bad_address_is_refused_in_the_admin_in_words(url: str, admin_client: Client) -> None:
    form = {"name": "server", "url": url, "kinds": ["match.rated"], "active": "on"}
    answer = admin_client.post(reverse("admin:matches_webhook_add"), form)
    assert answer.status_code == 200 and answer.context["adminform"].form.errors["url"]
    assert not Webhook.objects.exists()


def test_the_admin_shows_a_secret_once(admin_client: Client, receiver: Receiver, admin_user: Any) -> None:
    form = {"name": "server", "url": receiver.url, "kinds": ["match.rated"], "active": "on"}
    page = admin_client.post(reverse("admin:matches_webhook_add"), form, follow=True).content.decode()
    webhook = Webhook.objects.get()
    assert webhook.secret in page and webhook.made_by == admin_user
    change = reverse("admin:matches_webhook_change", args=[webhook.pk])
    assert webhook.secret not in admin_client.get(change).content.decode()
    action = {"action": "renew_secret", "_selected_action": [webhook.pk]}
    page = admin_client.post(reverse("admin:matches_webhook_changelist"), action, follow=True).content.decode()
    renewed = Webhook.objects.get()
    assert renewed.secret != webhook.secret and renewed.secret in page


def test_the_admin_sends_a_delivery_again(admin_client: Client, receiver: Receiver) -> None:
    webhook = listening(receiver.url)
    webhooks.send_waiting(webhook.pk)
    delivery = webhook.deliveries.get()
    there = f"{reverse('admin:matches_delivery_changelist')}?webhook__id__exact={webhook.pk}"
    assert f'href="{there}"' in admin_client.get(reverse("admin:matches_webhook_changelist")).content.decode()
    listed = admin_client.get(there)
    assert "1 · match completed" in listed.content.decode()
    action = {"action": "send_again", "_selected_action": [delivery.pk]}
    assert admin_client.post(reverse("admin:matches_delivery_changelist"), action).status_code == 302
    assert webhooks.send_waiting(webhook.pk) == 1 and len(receiver.got) == 2


def test_a_server_is_told_of_its_tables(receiver: Receiver) -> None:
    webhook = Webhook.objects.create(name="server", url=receiver.url, kinds=["table.changed"], source="server")
    one, two = people(2)
    table = tables.open_table(pool_of("fibs"), one, Result(length=5), source="server", external_id="t1")
    complete(pool_of("fibs"), won(one, two, at(0)))
    tables.take_seat(table.pk, two)
    events.put_in_order()
    assert webhooks.send_waiting(webhook.pk) == 2
    said = [json.loads(body)["table"] for _, body in receiver.got]
    assert [(one["external_id"], one["status"], len(one["players"])) for one in said] == [
        ("t1", "waiting", 1),
        ("t1", "started", 2),
    ]
