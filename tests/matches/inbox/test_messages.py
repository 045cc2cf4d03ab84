"""Messages: once, in the reader's language, to him alone, and by mail where he wants it."""

from __future__ import annotations

import smtplib
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core import mail as outbox
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from matches.inbox import mail, telling, words
from matches.inbox.models import Message
from matches.lobby import tables
from matches.merging import merge, undo_merge
from matches.models import Revision
from matches.push import events
from players import ledger
from players.models import Player, Rating
from players.systems.base import Result
from tests.building import NOW, at, complete, people, pool_of, won

pytestmark = pytest.mark.django_db


def with_login(player: Player, **fields: Any) -> Player:
    player.user = user = User.objects.create_user(f"user{player.pk}", f"user{player.pk}@ratings.example")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    for name, value in fields.items():
        setattr(player, name, value)
    player.save()
    return player


def revised(moved: list[tuple[int, float, float]], reason: str = "Annulled by the jury") -> Revision:
    """A revision that moved ratings, as the sweep finds it."""
    pool = pool_of("fibs")
    revision = Revision.objects.create(pool=pool, kind=Revision.Kind.VOID, reason=reason, made_at=NOW)
    with transaction.atomic():
        events.revised(pool, moved, NOW, revision.pk)
    events.put_in_order([telling.of_events])
    return revision


def test_where_nobody_gave_a_reason_the_kind_of_the_revision_is_one() -> None:
    [one] = people(1)
    with_login(one)
    revised([(one.pk, 1500.0, 1502.0)], reason=" ")
    message = Message.objects.select_related("pool", "revision").get()
    assert words.text(message).endswith("Reason: voided")
    message.revision = None  # a match that was entered a little late makes none
    assert words.text(message).endswith("Reason: entered late")


def test_players_with_a_login_are_told_of_a_revision_once() -> None:
    one, two = people(2)
    with_login(one)
    revision = revised([(one.pk, 1970.995, 1968.0), (two.pk, 1500.0, 1502.0)])
    events.put_in_order([telling.of_events])
    [message] = Message.objects.select_related("pool", "revision")
    assert (message.player_id, message.kind, message.revision_id) == (one.pk, "revised", revision.pk)
    assert words.text(message) == "It was 1971.00 and is 1968.00. Reason: Annulled by the jury"
    with translation.override("de"):
        assert "1971,00" in words.text(message)
    telling.tell([one.pk], Message.Kind.REVISED, f"revision {revision.pk}", message.pool, now=NOW)
    assert Message.objects.count() == 1


def test_a_match_entered_a_little_late_tells_nobody() -> None:
    one, _two = people(2)
    with_login(one)
    with transaction.atomic():
        events.revised(pool_of("fibs"), [(one.pk, 1.0, 2.0)], NOW, None)
    events.put_in_order([telling.of_events])
    assert not Message.objects.exists()


def far_above(player: Player, days: float) -> Rating:
    """A rating that decays, whose last match ended so many days ago."""
    pool, other = pool_of("online-backgammon"), people_more()
    ended = NOW - timedelta(days=days)
    ledger_opening = ledger.Opening(rating=1200.0, experience=0, on=None)
    with transaction.atomic():
        from players.locks import hold_pool

        ledger.set_openings(hold_pool(pool.pk, exclusive=True), {player.pk: ledger_opening}, ended)
    complete(pool, won(player, other, ended, kind="matchmade"), now=ended)
    return Rating.objects.get(pool=pool, player=player)


def people_more() -> Player:
    from players.services import create_player

    return create_player("Another")


@pytest.mark.parametrize(("days", "told"), [(11.9, False), (12.1, True), (14.9, True), (15.1, False)])
def test_decay_is_announced_in_the_days_before_it_begins(days: float, told: bool) -> None:
    [player] = people(1)
    with_login(player)
    rating = far_above(player, days)
    telling.warn_of_decay(NOW)
    telling.warn_of_decay(NOW + timedelta(minutes=1))
    messages = list(Message.objects.select_related("pool"))
    assert [message.kind for message in messages] == (["decay"] if told else [])
    if told:
        assert "1 points of standing" in words.text(messages[0])
        # What it says is true: the standing stays until then, and falls after.
        begins = rating.last_ended_at + timedelta(days=15)
        assert messages[0].details["begins"] == begins.isoformat()
        ledger.update_standings(rating.pool_id, begins - timedelta(seconds=1))
        assert Rating.objects.get(pk=rating.pk).standing == rating.value
        ledger.update_standings(rating.pool_id, begins)
        assert Rating.objects.get(pk=rating.pk).standing == rating.value - 1


def test_however_many_are_warned_the_queries_are_the_same() -> None:
    counts = []
    for player in people(3):
        far_above(with_login(player), 13)
        with CaptureQueriesContext(connection) as queries:
            telling.warn_of_decay(NOW)
        counts.append(len(queries))
    assert len(set(counts)) == 1
    assert sorted(Message.objects.values_list("player__name", flat=True)) == ["Player 1", "Player 2", "Player 3"]


def waiting_mail(**fields: Any) -> Message:
    [player] = people(1)
    with_login(player, **fields)
    revised([(player.pk, 1500.0, 1490.0)])
    return Message.objects.get()


def mail_of(message: Message) -> str:
    return Message.objects.get(pk=message.pk).mail


def test_a_mail_is_sent_once() -> None:
    message = waiting_mail(language="de")
    assert mail.send_waiting(timezone.now()) == 1
    assert mail.send_waiting(timezone.now()) == 0
    [sent] = outbox.outbox
    assert sent.to == [message.player.user.email]
    assert "1490,00" in sent.body and "/cashier/fibs/" in sent.body and "http" in sent.body
    assert sent.extra_headers["Message-ID"].startswith(f"<message-{message.pk}@")
    assert mail_of(message) == "sent"


def test_who_wants_no_mail_gets_none() -> None:
    message = waiting_mail(mail_wanted=False)
    assert mail.send_waiting(timezone.now()) == 0
    assert outbox.outbox == [] and mail_of(message) == "unwanted"


def test_who_has_not_confirmed_his_address_gets_none() -> None:
    message = waiting_mail()
    EmailAddress.objects.update(verified=False)
    assert mail.send_waiting(timezone.now()) == 0
    assert outbox.outbox == [] and mail_of(message) == "unwanted"


def test_a_reason_cannot_write_headers() -> None:
    [player] = people(1)
    with_login(player)
    revised([(player.pk, 1500.0, 1490.0)], reason="one\r\nBcc: all@ratings.example")
    assert mail.send_waiting(timezone.now()) == 1
    assert outbox.outbox[0].recipients() == [player.user.email]


@pytest.mark.parametrize(
    ("error", "after"),
    [
        (ConnectionRefusedError(), "waits"),
        (smtplib.SMTPSenderRefused(450, b"later", "ratings@localhost"), "waits"),
        (smtplib.SMTPRecipientsRefused({}), "failed"),
        (smtplib.SMTPServerDisconnected("gone"), "failed"),  # it may have been taken
        (TimeoutError(), "failed"),
    ],
)
def test_what_the_server_does_not_take(error: Exception, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    message = waiting_mail()

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    assert mail.send_waiting(timezone.now()) == 0
    assert mail_of(message) == after
    monkeypatch.undo()
    assert mail.send_waiting(timezone.now()) == 0  # not at once
    assert mail.send_waiting(timezone.now() + timedelta(minutes=2)) == (after == "waits")


def test_a_mail_whose_worker_died_is_not_sent_again() -> None:
    message = waiting_mail()
    Message.objects.update(mail="sending", mail_due_at=timezone.now())
    assert mail.send_waiting(timezone.now()) == 0 and mail_of(message) == "sending"
    assert mail.send_waiting(timezone.now() + timedelta(minutes=11)) == 0
    assert mail_of(message) == "failed" and outbox.outbox == []


def test_the_inbox_shows_ones_own_and_leads_on(client: Client) -> None:
    one, two = people(2)
    with_login(one), with_login(two)
    revised([(one.pk, 1500.0, 1490.0)])
    message = Message.objects.get()
    client.force_login(two.user)
    assert "No messages" in client.get("/cashier/messages/").content.decode()
    assert client.post(f"/cashier/messages/{message.pk}/").status_code == 404
    client.post("/cashier/messages/read/")
    assert Message.objects.get().read_at is None
    client.force_login(one.user)
    page = client.get("/cashier/messages/").content.decode()
    assert "1490.00" in page and "1 unread" in page
    assert client.get(f"/cashier/messages/{message.pk}/").status_code == 405
    assert client.post(f"/cashier/messages/{message.pk}/").url == "/cashier/fibs/"
    assert Message.objects.get().read_at is not None
    assert "unread" not in client.get("/cashier/messages/").content.decode()


@pytest.mark.parametrize("page", ["0", "-1", "x", "99999999999", "2", "1e3", "²"])
def test_pages_that_are_not_there(page: str, client: Client) -> None:
    [one] = people(1)
    with_login(one)
    client.force_login(one.user)
    answer = client.get("/cashier/messages/", {"page": page})
    assert answer.status_code == (404 if page in ("2", "99999999999") else 200)


def test_nobody_is_shown_an_inbox_without_a_login(client: Client) -> None:
    for path in ("/cashier/messages/",):
        assert client.get(path).status_code == 302
    assert client.post("/cashier/messages/read/").status_code == 302


def test_queries_do_not_rise_with_the_messages(client: Client, django_assert_num_queries: Any) -> None:
    [one] = people(1)
    with_login(one)
    client.force_login(one.user)
    revised([(one.pk, 1500.0, 1490.0)])
    with django_assert_num_queries(6):
        client.get("/cashier/messages/")
    for number in range(5):
        revised([(one.pk, 1490.0 - number, 1491.0)])
    with django_assert_num_queries(6):
        client.get("/cashier/messages/")
    assert at(0) < NOW


# --- Two who turn out to be one ---


def read(client: Client, player: Player) -> list[str]:
    """What the player reads of the reasons of revisions, the last first, and how many are new."""
    client.force_login(Player.objects.get(pk=player.pk).user)
    return [line.text.partition("Reason: ")[2] for line in client.get("/cashier/messages/").context["inbox"].lines]


def test_the_inbox_of_one_person_is_whole_after_a_merge_and_parted_again_by_its_undoing(client: Client) -> None:
    one, two, three, other = people(4)
    for player in (one, two, other):
        with_login(player)
    revised([(one.pk, 1.0, 2.0)], "first")
    revised([(two.pk, 1.0, 2.0), (other.pk, 1.0, 2.0)], "second")
    revised([(three.pk, 1.0, 2.0)], "not told: he has no login")
    once = merge(two, three, reason="the same", now=NOW)
    again = merge(one, two, reason="the same", now=NOW)
    assert read(client, one) == ["second", "first"]
    mine = Message.objects.get(player=two)
    assert client.get("/cashier/").text.count('<span class="count">2<') == 1
    assert client.post(f"/cashier/messages/{mine.pk}/").status_code == 302
    assert client.post(f"/cashier/messages/{Message.objects.get(player=other).pk}/").status_code == 404
    mine.refresh_from_db()
    assert mine.read_at is not None and client.get("/cashier/messages/").context["inbox"].unread == 1
    undo_merge(again, reason="they are two", now=NOW)
    assert read(client, one) == ["first"] and read(client, two) == ["second"]
    undo_merge(once, reason="they are two", now=NOW)
    assert read(client, two) == ["second"]


def test_a_mail_that_waits_goes_to_whom_the_duplicate_is() -> None:
    one, two = people(2)
    with_login(one, language="de")
    with_login(two)
    revised([(two.pk, 1.0, 2.0)])
    merge(one, two, reason="the same", now=NOW)
    assert mail.send_waiting(timezone.now()) == 1
    [sent] = outbox.outbox
    assert sent.to == [one.user.email] and "Grund" in sent.body


def test_a_challenge_that_a_duplicate_was_told_of_is_still_found(client: Client) -> None:
    one, two, host, stranger = people(4)
    for player in (one, two, stranger):
        with_login(player)
    table = tables.challenge(pool_of("fibs"), host, two, Result(length=5))
    merge(one, two, reason="the same", now=NOW)
    for reader, status in ((one, 200), (stranger, 404)):
        client.force_login(reader.user)
        assert client.get(f"/tables/{table.pk}/").status_code == status
