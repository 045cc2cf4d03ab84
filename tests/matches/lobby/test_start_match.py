"""Starting a match: players, terms, and the kind that says how it came about."""

from __future__ import annotations

from decimal import Decimal

import pytest

from matches.lobby.tables import start_match
from matches.models import Match
from players.systems.base import Refused, Result
from tests.building import people, pool_of

pytestmark = pytest.mark.django_db


def test_a_match_starts_with_its_players_and_its_kind() -> None:
    vera, didrik = people(2)
    terms = Result(length=7, stake=Decimal("2.50"), real_money=True)
    match = Match.objects.get(pk=start_match(pool_of("crowns-cup"), terms, [didrik, vera], "challenge").pk)
    assert match.status == "open" and match.kind == "challenge" and match.ended_at is None
    assert [(seat.seat, seat.player) for seat in match.participants.all()] == [(1, didrik), (2, vera)]
    assert match.result() == Result(length=7, stake=Decimal("2.50"), real_money=True, kind="challenge")


def test_a_table_of_four_starts_with_four() -> None:
    players = people(4)
    match = start_match(pool_of("freewhist"), Result(deals=16), players, "table")
    assert [seat.player for seat in match.participants.all()] == players
    with pytest.raises(Refused, match="players: wrong_number"):
        start_match(pool_of("freewhist"), Result(deals=16), players[:3], "table")


@pytest.mark.parametrize(
    ("terms", "kind", "field"),
    [
        (Result(length=100), "table", "length"),
        (Result(length=5, stake=Decimal(1)), "table", "stake"),
        (Result(length=5), "", "kind"),
        (Result(length=5), "friendly", "kind"),
        (Result(length=5, kind="tournament"), "friendly", "kind"),
    ],
)
def test_what_could_not_be_completed_does_not_start(terms: Result, kind: str, field: str) -> None:
    with pytest.raises(Refused) as refused:
        start_match(pool_of("fibs"), terms, people(2), kind)
    assert refused.value.field == field and not Match.objects.exists()


def test_nobody_plays_against_himself() -> None:
    [vera] = people(1)
    with pytest.raises(Refused, match="players: same_player"):
        start_match(pool_of("fibs"), Result(length=5), [vera, vera], "table")
    assert not Match.objects.exists()


def test_the_kind_is_that_of_the_start_whatever_the_terms_say() -> None:
    match = start_match(pool_of("online-backgammon"), Result(length=5, kind="matchmade"), people(2), "table")
    assert match.kind == "table"
