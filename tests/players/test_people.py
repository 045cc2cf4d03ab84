"""Players over time: renamed, found by old addresses, made anonymous."""

from __future__ import annotations

from io import StringIO

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from matches.corrections import Correction, correct
from matches.lobby import matchmaking, tables
from matches.merging import merge
from matches.models import Match, Merge, Revision, Table
from matches.verify import verify
from players.accounts.models import Claim
from players.anonymising import anonymise_player, without_names
from players.models import OldAddress, Player, PlayerRecord, Rating
from players.services import create_player, find_by_address, players_by_name, rename_player
from players.systems.base import Result
from tests.building import NOW, at, complete, everything, people, pool_of, won

pytestmark = pytest.mark.django_db


def test_the_address_follows_the_name_and_the_old_ones_lead_there() -> None:
    pool, (vera, other) = pool_of("fibs"), people(2)
    complete(pool, won(vera, other, at(0)))
    before = everything(pool)
    staff = User.objects.create(username="organiser")
    vera = rename_player(vera, "  Vera\tK. ", reason="married", made_by=staff, now=NOW)
    assert (vera.name, vera.slug, find_by_address("player-1")) == ("Vera K.", "vera-k", (vera, False))
    assert find_by_address("vera-k") == (vera, True) and everything(pool) == before
    vera = rename_player(vera, "Vera L.", now=NOW)
    assert find_by_address("player-1") == find_by_address("vera-k") == (vera, False)
    with pytest.raises(Player.DoesNotExist):
        find_by_address("nobody")
    record = PlayerRecord.objects.order_by("id").first()
    assert record is not None
    assert (record.kind, record.details, record.reason, record.made_by) == (
        "renamed",
        {"name": ["Player 1", "Vera K."]},
        "married",
        staff,
    )


def test_an_old_name_and_its_address_can_be_taken_back() -> None:
    vera = create_player("Vera")
    rename_player(vera, "Vera K.", now=NOW)
    vera = rename_player(vera, "VERA", now=NOW)
    assert vera.slug == "vera" and find_by_address("vera-k") == (vera, False)
    assert list(OldAddress.objects.values_list("slug", flat=True)) == ["vera-k"]
    vera = rename_player(vera, "Vera", now=NOW)  # another way to write it: the same address
    assert vera.slug == "vera" and OldAddress.objects.count() == 1
    records = PlayerRecord.objects.count()
    rename_player(vera, " Vera ", now=NOW)
    assert PlayerRecord.objects.count() == records


def test_nobody_else_gets_an_old_address() -> None:
    vera = create_player("Vera")
    vera = rename_player(vera, "Vera K.", now=NOW)
    namesake = create_player("Vera")
    assert (namesake.name, namesake.slug) == ("Vera", "vera-2") and find_by_address("vera") == (vera, False)
    third = rename_player(create_player("Pia"), "vera k", now=NOW)
    assert third.slug == "vera-k-2"


@pytest.mark.parametrize("name", ["PIA", "", " ", "x" * 81])
def test_a_name_that_cannot_be(name: str) -> None:
    create_player("Pia")
    vera = create_player("Vera")
    with pytest.raises(ValidationError) as error:
        rename_player(vera, name, now=NOW)
    assert "name" in error.value.message_dict
    vera.refresh_from_db()
    assert (vera.name, vera.slug) == ("Vera", "vera") and not OldAddress.objects.exists()


def test_a_merged_duplicate_keeps_name_and_address_until_it_is_undone() -> None:
    keep, duplicate = people(2)
    merge(keep, duplicate, reason="one", now=NOW)
    duplicate.refresh_from_db()
    for act in (lambda: rename_player(duplicate, "Vera", now=NOW), lambda: anonymise_player(duplicate, now=NOW)):
        with pytest.raises(ValidationError, match="Player 1"):
            act()


def renamed_and_played() -> tuple[Player, Player, Match]:
    """A player with a past, whom staff wrote about, and his opponent."""
    pool, vera, other = pool_of("fibs"), create_player("Vera"), create_player("Other")
    vera.user = User.objects.create(username="vera", email="vera@example.org")
    vera.time_zone, vera.language = "Europe/Copenhagen", "en"
    vera.save()
    vera = rename_player(rename_player(vera, "Vera Holm", reason="her name"), "Vera Dahl", reason="married to Dahl")
    duplicate = create_player("V. Dahl")
    match, *_ = complete(pool, won(vera, other, at(0)), won(other, vera, at(1)), won(duplicate, other, at(2)))
    correct(pool, [Correction(match, void=True)], reason="Vera Dahl and VERA HOLM say so; Veranda Dahlia does not", now=NOW)
    merge(vera, duplicate, reason="V. Dahl is Vera Dahl", now=NOW)
    entry = {"user": User.objects.create(username="organiser"), "action_flag": CHANGE, "change_message": ""}
    kinds = ContentType.objects.get_for_model
    LogEntry.objects.create(**entry, content_type=kinds(Player), object_id=str(vera.pk), object_repr="Vera Holm")
    LogEntry.objects.create(**entry, content_type=kinds(Table), object_id="1", object_repr="Vera Dahl · FIBS")
    LogEntry.objects.create(**entry, content_type=kinds(Rating), object_id="1", object_repr="Vera Dahlia · FIBS")
    return vera, duplicate, match


def every_text() -> str:
    """All that is stored of players and of what staff wrote."""
    texts: list[object] = []
    for model in (Player, OldAddress, PlayerRecord, Revision, Merge, LogEntry, User):
        texts += model.objects.values_list()
    return repr(texts)


def test_who_he_was_goes_and_what_he_played_stays() -> None:
    pool = pool_of("fibs")
    vera, duplicate, _ = renamed_and_played()
    before, number = everything(pool), vera.pk
    anonymous = anonymise_player(vera, reason="Vera Dahl asked for it", now=NOW)
    assert (anonymous.name, anonymous.slug, anonymous.user) == (f"Player {number}", f"player-{number}", None)
    assert (anonymous.time_zone, anonymous.language, anonymous.anonymised_at) == ("UTC", "", NOW)
    assert everything(pool) == before and verify(pool)[1] is None
    for slug in ("vera", "vera-holm", "vera-dahl", "v-dahl"):
        with pytest.raises(Player.DoesNotExist):
            find_by_address(slug)
    text = every_text()
    gone = (
        "Vera Dahl'",
        "Vera Holm",
        "VERA HOLM",
        "V. Dahl",
        "vera@example.org",
        "vera-dahl",
        "Copenhagen",
        "her name",
        "Dahl is",
    )
    for word in gone:
        assert word not in text
    assert f"Player {number} and Player {number} say so; Veranda Dahlia does not" in text  # no name but his
    assert "Vera Dahlia · FIBS" in text and f"Player {number} · FIBS" in text
    assert players_by_name(["Vera Dahl", "V. Dahl"]) == {}
    duplicate.refresh_from_db()
    assert duplicate.name == f"Player {duplicate.pk}" and duplicate.merged_into == anonymous


def test_nothing_of_his_profile_is_left() -> None:
    vera = create_player("Vera", user=User.objects.create(username="vera", email="Vera@example.org"), country="DK")
    another = User.objects.create(username="another")
    Claim.objects.create(user=another, player=vera, note="I am Vera Holm, 20123456")
    AccessAttempt.objects.create(username="vera@example.org", ip_address="192.0.2.1", failures_since_start=1)
    anonymous = anonymise_player(vera)
    assert (anonymous.country, anonymous.mail_wanted) == ("", False)
    assert not Claim.objects.exists() and not AccessAttempt.objects.exists()


def test_nobody_waits_for_an_anonymous_player() -> None:
    pool, (vera, other) = pool_of("fibs"), people(2)
    terms = Result(length=5)
    own, challenged = tables.open_table(pool, vera, terms), tables.challenge(pool, other, vera, terms)
    tables.invite(pool, vera, terms)
    matchmaking.seek(pool, vera, terms)
    anonymise_player(vera)
    assert not tables.waits(vera.pk) and not Table.objects.filter(status="waiting").exists()
    with pytest.raises(ValidationError):
        tables.take_seat(own.pk, other)
    challenged.refresh_from_db()
    assert challenged.closed_because == Table.Closed.DECLINED


def test_a_second_time_changes_nothing() -> None:
    vera, _, _ = renamed_and_played()
    anonymise_player(vera, now=NOW)
    before = every_text()
    anonymise_player(vera, reason="again")
    assert every_text() == before
    # Unless there is something to take again.
    Player.objects.filter(pk=vera.pk).update(user=User.objects.create(username="vera3"))
    anonymous = anonymise_player(vera)
    assert anonymous.user is None and not User.objects.filter(username="vera3").exists()
    rename_player(anonymous, "Vera again")
    assert anonymise_player(anonymous).name == f"Player {vera.pk}"


def test_the_neutral_name_may_be_taken_and_a_staff_account_stays() -> None:
    vera = create_player("Vera")
    create_player(f"player {vera.pk}")
    vera.user = User.objects.create(username="staff", is_staff=True)
    vera.save()
    anonymous = anonymise_player(vera)
    assert anonymous.name == f"Player {vera.pk} (2)" and anonymous.user is None and User.objects.filter(username="staff").exists()


def test_names_are_replaced_as_whole_words() -> None:
    assert without_names("Al, al and ALBERT; Al's", ["Al"], "X") == "X, X and ALBERT; X's"
    assert without_names("A.B. (C) won", ["A.B. (C)"], "Player 1") == "Player 1 won"
    assert without_names(r"\1", ["\\1"], r"\g<0>") == r"\g<0>"


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_commands() -> None:
    vera = create_player("Vera")
    assert "/players/vera-k/" in run("rename_player", "vera", "Vera K.")
    said = run("anonymise_player", f"#{vera.pk}")
    assert "--yes" in said and Player.objects.get(pk=vera.pk).name == "Vera K."
    run("anonymise_player", "vera", "--yes")  # by the old address
    assert Player.objects.get(pk=vera.pk).name == f"Player {vera.pk}"
    create_player("Pia")
    for words, named in (
        (("rename_player", "Nobody", "Vera"), "Nobody"),
        (("rename_player", "Pia", f"PLAYER {vera.pk}"), "this name"),
        (("rename_player", "Pia", " "), "name"),
        (("anonymise_player", "\0", "--yes"), "no player"),
    ):
        with pytest.raises(CommandError, match=named):
            run(*words)


def test_an_old_address_leads_to_the_present_page(client: Client) -> None:
    player = create_player("Vera")
    rename_player(player, "Vera Holm")
    assert client.get("/players/vera/")["Location"] == "/players/vera-holm/"
    assert client.get("/players/vera/fibs/")["Location"] == "/players/vera-holm/fibs/"
    assert client.get("/players/vera-holm/").status_code == 200
    assert client.get("/players/nobody/").status_code == 404
