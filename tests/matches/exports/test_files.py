"""The page of a pool's files, the files, and a player's own data: what is whose, and how it is sent."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import reverse

from matches.completion import complete_matches
from matches.corrections import Correction, correct
from matches.exports.tables import TABLES
from matches.lobby.tables import challenge, open_table, start_match
from matches.models import Appeal, Match
from matches.reports import reporting
from matches.reports.reporting import Told
from players.accounts.models import Claim
from players.api.models import ExternalPlayer
from players.models import Organiser, Player, Pool
from players.systems.base import Result
from players.systems.check import check
from tests.building import NOW, at, people, pool_of, won
from tests.pages import login_of, queries_of, text_of
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]


@pytest.fixture
def played() -> list[Player]:
    players = people(4)
    more = {"stake": Decimal(5), "real_money": True, "kind": "table"}
    entries = [won(players[n % 4], players[(n + 1) % 4], at(n), **more) for n in range(12)]
    complete_matches(pool_of("crowns-cup"), entries, now=NOW)
    complete_matches(pool_of("fibs"), [won(players[n % 3], players[n % 3 + 1], at(n)) for n in range(9)], now=NOW)
    return players


def hidden(pool: Pool) -> None:
    Pool.objects.filter(pk=pool.pk).update(stakes_shown_to="players")


def files(pool: str) -> str:
    return reverse("pool_files", args=[pool])


def fetched(client: Client, pool: str, what: str, form: str = "csv") -> Any:
    return client.get(reverse("pool_file", args=[pool, what, form]))


def content(response: Any) -> str:
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def test_the_page_leads_to_every_file(client: Client, played: list[Player]) -> None:
    page = client.get(files("fibs"))
    assert page.status_code == 200 and Inline(page.text).found == []
    addresses = [reverse("pool_file", args=["fibs", what, form]) for what in TABLES for form in ("csv", "jsonl")]
    for address in (*addresses, reverse("pool_file", args=["fibs", "records", "jsonl"])):
        assert f'href="{address}"' in page.text
        text = content(client.get(address))
        begins = ("rank,", "match,", "name,") if address.endswith(".csv") else "{"
        assert text.startswith(begins) or address.endswith("openings.jsonl"), address
    assert "python -m players.systems.check fibs-records.jsonl" in text_of(page)
    assert f'href="{files("fibs")}"' in client.get(reverse("rules", args=["fibs"])).text


def test_the_records_are_checked_by_the_program(client: Client, played: list[Player], tmp_path: Path) -> None:
    match = Match.objects.filter(pool__slug="fibs").earliest("pk")
    correct(pool_of("fibs"), [Correction(match, void=True)], reason="Annulled", now=NOW)
    text = content(fetched(client, "fibs", "records", "jsonl"))
    assert check(text.splitlines()).matches == 8
    path = tmp_path / "records.jsonl"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-S", "-m", "players.systems.check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("All of it follows: 8 matches of FIBS (fibs)")


def test_files_are_sent_as_they_are_read(client: Client, played: list[Player]) -> None:
    answer = fetched(client, "fibs", "matches")
    assert answer.streaming and answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="fibs-matches.csv"'
    assert len(content(answer).splitlines()) == 10
    assert client.head(reverse("pool_file", args=["fibs", "matches", "csv"])).status_code == 200
    assert client.post(reverse("pool_file", args=["fibs", "matches", "csv"])).status_code == 405


@pytest.mark.parametrize(
    ("pool", "what", "form"),
    [("none", "matches", "csv"), ("fibs", "players", "csv"), ("fibs", "matches", "xml"), ("fibs", "records", "csv")],
)
def test_a_file_that_there_is_not(client: Client, pool: str, what: str, form: str) -> None:
    assert fetched(client, pool, what, form).status_code == 404


def stakes(client: Client) -> list[str]:
    return [row["stake"] for row in csv.DictReader(io.StringIO(content(fetched(client, "crowns-cup", "matches"))))]


def test_hidden_stakes_stay_hidden(client: Client, played: list[Player]) -> None:
    assert stakes(client) == ["5.00"] * 12
    hidden(pool_of("crowns-cup"))
    assert stakes(client) == [""] * 12
    own = login_of(played[0])
    assert sorted(stakes(own)) == [""] * 6 + ["5.00"] * 6
    for reader in (client, own):
        answer = fetched(reader, "crowns-cup", "records", "jsonl")
        assert answer.status_code == 403 and "shows its stakes to its players only" in text_of(answer)
        assert "records.jsonl" not in reader.get(files("crowns-cup")).text
    # Where there are none, nothing is hidden.
    hidden(pool_of("fibs"))
    assert fetched(client, "fibs", "records", "jsonl").status_code == 200
    assert played[0].user is not None
    Organiser.objects.create(user=played[0].user, pool=pool_of("crowns-cup"))
    assert check(content(fetched(own, "crowns-cup", "records", "jsonl")).splitlines()).matches == 12


def test_pages_make_a_fixed_number_of_queries(client: Client, played: list[Player]) -> None:
    assert queries_of(client, files("fibs")) == queries_of(client, files("tics")) <= 4


def test_all_of_ones_own_data(played: list[Player]) -> None:
    vera = played[0]
    vera.name, vera.slug = "Vera “V” Ωhm", "vera-ohm"
    client = login_of(vera, time_zone="Europe/Copenhagen")
    assert vera.user is not None
    vera.user.email = "vera@example.org"
    vera.user.save()
    answer = client.get(reverse("own_data"))
    assert "no-store" in answer["Cache-Control"] and "attachment" in answer["Content-Disposition"]
    told = json.loads(content(answer))
    assert told["player"]["name"] == "Vera “V” Ωhm" and told["player"]["login"]["email"] == "vera@example.org"
    assert {rating["pool"]: rating["matches"] for rating in told["ratings"]} == {"crowns-cup": 6, "fibs": 3}
    assert len(told["matches"]) == len(told["history"]) == 9
    for match in told["matches"]:
        assert [seat["you"] for seat in match["seats"]].count(True) == 1
        assert all(("rake" in seat) == seat["you"] for seat in match["seats"])
    assert {match["stake"] for match in told["matches"]} == {None, "5.00"}
    # Of others there is what his pages show, and nothing else.
    assert "login-" not in json.dumps(told).replace(vera.user.username, "")
    assert f'href="{reverse("own_data")}"' in client.get(reverse("cashier")).text


def test_own_data_holds_what_he_said_and_was_told(played: list[Player]) -> None:
    vera, other = played[:2]
    client = login_of(vera, country="DK")
    login_of(other)
    assert vera.user is not None
    EmailAddress.objects.create(user=vera.user, email="vera@example.org", verified=True, primary=True)
    ExternalPlayer.objects.create(source="server", external_id="u77", player=vera)
    Claim.objects.create(user=vera.user, player=vera, note="It is me", state=Claim.State.GRANTED)
    match = start_match(pool_of("fibs"), Result(length=5), [vera, other], "table")
    said = reporting.report(match_id=match.pk, player=vera, told=Told(outcome="result", scores=(1, 0)), note="A fine match")
    reporting.dispute(report_id=said.pk, player=other, told=Told(outcome="result", scores=(0, 1)), note="It was mine")
    Appeal.objects.create(match=match, player=vera, text="Look again")
    open_table(pool_of("tics"), vera, Result())
    challenge(pool_of("tics"), other, vera, Result())
    told = json.loads(content(client.get(reverse("own_data"))))
    assert told["player"]["country"] == "DK"
    assert told["player"]["login"]["addresses"] == [{"email": "vera@example.org", "verified": True, "primary": True}]
    assert told["ids_at_game_servers"][0]["external_id"] == "u77" and told["claims"][0]["note"] == "It is me"
    assert told["reports"][0]["note"] == "A fine match" and told["appeals"][0]["text"] == "Look again"
    assert [message["kind"] for message in told["messages"]] == ["disputed", "asked"]
    assert [(seat["pool"], seat["host"]) for seat in told["sits_at"]] == [("tics", "Player 1")]
    assert [(table["pool"], table["host"], table["status"]) for table in told["challenges"]] == [("tics", "Player 2", "waiting")]
    # What another has said is his.
    assert told["disputes"] == [] and "It was mine" not in json.dumps(told)


def test_own_data_is_nobody_elses(client: Client, played: list[Player]) -> None:
    assert client.get(reverse("own_data")).status_code == 302
    told = json.loads(content(login_of(played[3]).get(reverse("own_data"))))
    assert told["player"]["name"] == "Player 4" and all(
        any(seat["player"] == "Player 4" and seat["you"] for seat in match["seats"]) for match in told["matches"]
    )


def test_own_data_takes_a_fixed_number_of_queries(played: list[Player]) -> None:
    client, other = login_of(played[0]), login_of(played[3])

    def taken(reader: Client) -> int:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as queries:
            content(reader.get(reverse("own_data")))
        return len(queries)

    few = taken(client)
    complete_matches(pool_of("fibs"), [won(played[0], played[3], at(n)) for n in range(20, 80)], now=NOW)
    assert taken(client) == taken(other) == few
