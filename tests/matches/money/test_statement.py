"""The statement: what matches for real money came to, for the player alone."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from matches.completion import complete_match
from matches.corrections import Correction, correct
from matches.entries import Entry
from matches.models import Match, RakeBand
from matches.money.statement import months_of, statement_lines
from players.models import Player
from players.services import create_players
from players.systems.base import Result
from tests.building import NOW, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db

REAL: dict[str, Any] = {"real_money": True, "kind": "table"}


@pytest.fixture(autouse=True)
def _bands() -> None:
    """5 per cent, so that the sums are easy to follow."""
    pool = pool_of("crowns-cup")
    RakeBand.objects.filter(pool=pool).delete()
    RakeBand.objects.create(pool=pool, difference=0, percent=5)


def on(month: int, day: int, hour: int = 12) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def played(*entries: Entry) -> list[Match]:
    return [complete_match(pool_of("crowns-cup"), entry, now=NOW) for entry in entries]


def a_spring(vera: Player, didrik: Player) -> list[Match]:
    """Won 10, lost 4 times 2.50, broken off at 75 %, play money, and a tournament."""
    broken = Result(chance=0.75, length=5, stake=Decimal(8), **REAL)
    return played(
        won(vera, didrik, on(3, 2), stake=Decimal(10), **REAL),
        won(didrik, vera, on(3, 20), length=None, points=4, stake=Decimal("2.50"), **REAL),
        Entry(players=(vera, didrik), result=broken, ended_at=on(4, 1)),
        won(vera, didrik, on(4, 2), real_money=False, kind="table"),
        won(didrik, vera, on(5, 3), stake=Decimal(20), real_money=True, kind="tournament"),
    )


def sums(player: Player) -> list[tuple[str, int, str, str, str, str]]:
    return [
        (month.key, month.matches, *(f"{value:.2f}" for value in (month.at_stake, month.result, month.rake, month.balance)))
        for month in months_of(statement_lines(player))
    ]


def test_months_with_their_running_total() -> None:
    vera, didrik = people(2)
    a_spring(vera, didrik)
    assert sums(vera) == [
        ("2026-05", 1, "20.00", "-20.00", "1.00", "-18.40"),
        ("2026-04", 1, "8.00", "4.00", "0.40", "2.60"),
        ("2026-03", 2, "20.00", "0.00", "1.00", "-1.00"),
    ]
    # What one has won the other has lost; both pay the rake.
    assert [line.result for line in statement_lines(vera)] == [-line.result for line in statement_lines(didrik) if line.result]
    assert [line.rake for line in statement_lines(vera)] == [line.rake for line in statement_lines(didrik)]


def test_the_page_shows_the_newest_month_and_any_other() -> None:
    vera, didrik = people(2)
    a_spring(vera, didrik)
    client = login_of(vera)
    response = client.get("/cashier/statement/")
    text = text_of(response)
    assert "This site moves no money" in text and "Lost to Player 2, match to 5" in text
    assert "May 2026" in text and "−€20.00" in text and "−€18.40" in text
    march = client.get("/cashier/statement/?month=2026-03")
    lines = rows_of(march, "statement")
    assert lines[2].startswith("March 2026") and lines[2].endswith("20.00 €0.00 €1.00 −€1.00 −€1.00")
    text = text_of(march)
    assert "Lost to Player 2, money game for 4 points" in text and "€10.00 −€10.00 €0.50 −€1.00" in text
    assert "€10.00 +€10.00 €0.50 +€9.50" in text
    for wrong in ("2026-02", "x", "2026-13", "9" * 50, "2026-03%00"):
        assert client.get(f"/cashier/statement/?month={wrong}").status_code == 404


def test_nobody_sees_anothers() -> None:
    vera, didrik, stranger = people(3)
    a_spring(vera, didrik)
    for address in ("/cashier/statement/", "/cashier/statement/csv/"):
        response = Client().get(address)
        assert response.status_code == 302 and response["Location"].startswith("/accounts/login/")
    client = login_of(stranger)
    for address in ("/cashier/statement/", "/cashier/statement/csv/"):
        assert "Player 2" not in client.get(f"{address}?player={vera.slug}").text
    assert "Player 1" not in client.get(f"/cashier/statement/csv/?player={vera.pk}").text
    assert "No match for real money yet." in text_of(client.get("/cashier/statement/"))
    for address in (f"/players/{vera.slug}/statement/", f"/players/{vera.slug}/statement/csv/"):
        assert client.get(address).status_code == 404
    assert "/cashier/statement/" not in client.get(f"/players/{vera.slug}/").text
    assert "/cashier/statement/" in client.get("/cashier/").text


def test_a_voided_match_stands_in_no_sum() -> None:
    vera, didrik = people(2)
    first, *_ = a_spring(vera, didrik)
    correct(first.pool, [Correction(first, void=True)], reason="x", now=NOW)
    assert sums(vera)[-1] == ("2026-03", 1, "10.00", "-10.00", "0.50", "-10.50")
    assert "Voided: it is in no sum." in text_of(login_of(vera).get("/cashier/statement/?month=2026-03"))
    first.refresh_from_db()
    correct(first.pool, [Correction(first, void=False)], reason="x", now=NOW)
    assert sums(vera)[-1] == ("2026-03", 2, "20.00", "0.00", "1.00", "-1.00")


def test_the_file_has_every_match_and_no_formula() -> None:
    vera, evil = create_players(["Vera", '=HYPERLINK("http://x")'])
    played(
        won(vera, evil, on(3, 2), stake=Decimal(10), **REAL),
        won(evil, vera, on(3, 3), stake=Decimal(10), timed=False, **REAL),
    )
    response = login_of(vera).get("/cashier/statement/csv/")
    assert response["Content-Type"].startswith("text/csv") and "no-store" in response["Cache-Control"]
    first, second = csv.DictReader(io.StringIO(response.text))
    assert first["opponents"] == '\'=HYPERLINK("http://x")'
    assert (first["date"], first["ended_at"]) == ("2026-03-02", "2026-03-02T12:00:00+00:00")
    assert (second["date"], second["ended_at"]) == ("2026-03-03", "")
    numbers = ("stake", "at_stake", "result", "rake", "net", "balance")
    assert [first[name] for name in numbers] == ["10.00", "10.00", "10.00", "0.50", "9.50", "9.50"]
    assert [second[name] for name in numbers] == ["10.00", "10.00", "-10.00", "0.50", "-10.50", "-1.00"]
    for cell in (*first.values(), *second.values()):
        assert cell[:1] not in "=+@\t\r" or cell == ""


def test_months_are_those_of_the_readers_calendar() -> None:
    vera, didrik = people(2)
    played(
        won(vera, didrik, on(3, 31, 23), stake=Decimal(10), **REAL),
        won(vera, didrik, on(4, 1), timed=False, stake=Decimal(10), **REAL),
    )
    with timezone.override("Pacific/Auckland"):
        assert [month.key for month in months_of(statement_lines(vera))] == ["2026-04"]
    with timezone.override("Pacific/Honolulu"):
        assert [month.key for month in months_of(statement_lines(vera))] == ["2026-04", "2026-03"]


def test_what_is_divided_at_a_break_cancels_to_the_cent() -> None:
    vera, didrik = people(2)
    for number, chance in enumerate((0.07, 0.335, 0.5, 0.62345, 1.0, 0.0)):
        result = Result(chance=chance, length=5, stake=Decimal("3.33"), **REAL)
        played(Entry(players=(vera, didrik), result=result, ended_at=on(3, 2) + timedelta(hours=number)))
    assert [line.result + other.result for line, other in zip(statement_lines(vera), statement_lines(didrik), strict=True)] == [
        0
    ] * 6


def test_the_page_takes_a_fixed_number_of_queries() -> None:
    vera, didrik = people(2)
    a_spring(vera, didrik)
    client = login_of(vera)
    few = queries_of(client, "/cashier/statement/"), queries_of(client, "/cashier/statement/csv/")
    for day in range(1, 20):
        played(won(vera, didrik, on(5, 4) + timedelta(hours=day), stake=Decimal(10), **REAL))
    assert (queries_of(client, "/cashier/statement/"), queries_of(client, "/cashier/statement/csv/")) == few


def test_very_large_stakes() -> None:
    vera, didrik = people(2)
    played(won(vera, didrik, on(3, 2), length=None, points=9999, stake=Decimal("9999999999.99"), **REAL))
    assert sums(vera)[0][2] == "99989999999900.01"
    assert "99989999999900.01" in text_of(login_of(vera).get("/cashier/statement/"))
