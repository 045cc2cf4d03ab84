"""Writers that die in the middle, on PostgreSQL: what they had not committed is as if it had never begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from django.db import connection

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.models import Match, Revision
from matches.verify import verify
from players.models import PublishedChange
from tests.building import NOW, at, people, pool_of, values, won
from tests.concurrency.running import assert_whole

pytestmark = [pytest.mark.concurrency, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

SETUP = """
import os, sys, time
import django
from django.conf import settings
django.setup()
settings.DATABASES["default"]["NAME"] = {database!r}
from unittest import mock
from matches import replay
from matches.completion import complete_match
from matches.corrections import Correction, correct
from matches.models import Match
from players import ledger
from players.models import Player, Pool
from players.systems.base import Result
from tests.building import NOW, at, won

def stop_after(module, name):
    whole = getattr(module, name)
    def stopping(*arguments, **more):
        answer = whole(*arguments, **more)
        print("reached", flush=True)
        time.sleep(600)
        return answer
    setattr(module, name, stopping)

pool = Pool.objects.get(slug="fibs")
players = list(Player.objects.order_by("id"))
"""


def killed_after_it_says_reached(script: str) -> None:
    """Run the script in a process of its own and kill it, with no chance to clean up, at the place where it stops."""
    program = SETUP.format(database=connection.settings_dict["NAME"]) + textwrap.dedent(script)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "reached\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        process.stdout.close()


def test_a_writer_killed_after_the_ledger_wrote() -> None:
    pool, players = pool_of("fibs"), people(3)
    complete_match(pool, won(players[0], players[1], at(0)), now=NOW)
    before = values(pool)
    killed_after_it_says_reached(
        """
        stop_after(ledger, "write")
        complete_match(pool, won(players[0], players[2], at(1), source="server", external_id="7"), now=NOW)
        """
    )
    assert values(pool) == before
    assert_whole(pool, 1)
    # The server sends it again, and nothing is in the way.
    complete_match(pool, won(players[0], players[2], at(1), source="server", external_id="7"), now=NOW)
    assert_whole(pool, 2)


def test_without_the_transaction_it_leaves_half_a_match() -> None:
    """What the transaction is there for."""
    pool, players = pool_of("fibs"), people(3)
    complete_match(pool, won(players[0], players[1], at(0)), now=NOW)
    killed_after_it_says_reached(
        """
        from matches import completion, storing
        from players import locks
        completion._complete = completion._complete.__wrapped__
        locks.require_transaction = ledger.require_transaction = lambda: None
        stop_after(storing, "store")
        complete_match(pool, won(players[0], players[2], at(1)), now=NOW)
        """
    )
    assert Match.objects.count() == 2 and verify(pool)[1] is not None


@pytest.mark.parametrize("place", ["write_history", "catch_up", "write_ratings"])
def test_a_replay_killed_in_the_middle(place: str) -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, [won(players[n % 4], players[(n + 1) % 4], at(n)) for n in range(20)], now=NOW)
    before = values(pool)
    killed_after_it_says_reached(
        f"""
        stop_after(replay, {place!r})
        first = Match.objects.order_by("ended_at").first()
        correct(pool, [Correction(first, void=True)], reason="annulled", now=NOW)
        """
    )
    assert values(pool) == before and not Revision.objects.exists() and not PublishedChange.objects.exists()
    assert_whole(pool, 20)
    correct(pool, [Correction(Match.objects.get(pk=matches[0].pk), void=True)], reason="annulled", now=NOW)
    assert_whole(pool, 20, counted=19)
