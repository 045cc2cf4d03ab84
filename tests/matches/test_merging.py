"""Merged duplicates: what is merged gives what entering it all for one player gives, and undone what was before, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import transaction

from matches.completion import complete_match, complete_matches, save_open
from matches.corrections import Correction, Moved, correct
from matches.entries import Conflict, Entry
from matches.lobby.tables import challenge, open_table
from matches.merging import merge, preview_merge, preview_undo, undo_merge
from matches.models import Appeal, Match, Merge, Message, Participant, Revision, Table
from matches.parameters import set_parameters
from matches.reports import appeals
from matches.verify import verify
from players import ledger
from players.ledger import Opening
from players.models import Player, Pool, PublishedChange, Rating, RatingChange
from players.services import find_by_address, players_by_name
from players.systems.base import Result
from tests.building import NOW, at, complete, everything, forget, history, people, pool_of, won

pytestmark = pytest.mark.django_db
SLUGS = ("fibs", "online-backgammon", "freewhist")


def season(slug: str, players: Sequence[Player], count: int, seed: int) -> list[Entry]:
    """Matches in which the last two players never meet."""
    dice = random.Random(seed)
    entries = []
    while len(entries) < count:
        seats = 4 if slug == "freewhist" else 2
        table = dice.sample(list(players), seats)
        if players[-1] in table and players[-2] in table:
            continue
        kind = dice.choice(("matchmade", "rematch"))
        result = Result(scores=dice.choice(((1.0, 0.0), (0.0, 1.0))), length=dice.randrange(1, 26), kind=kind)
        if slug == "freewhist":
            result = Result(places=dice.choice(((1, 2, 3, 4), (1, 1, 3, 4), (4, 3, 2, 1))), deals=dice.choice((4, 12, 24)))
        when = {"ended_at": at(5 * dice.randrange(count)), "timed": dice.random() < 0.8, "sequence": len(entries)}
        entries.append(Entry(players=table, result=result, **when))
    return entries


def as_one(entries: Sequence[Entry], keep: Player, duplicate: Player) -> list[Entry]:
    return [replace(entry, players=[keep if player == duplicate else player for player in entry.players]) for entry in entries]


def all_pools() -> dict[str, Any]:
    return {slug: everything(pool_of(slug)) for slug in SLUGS}


def assert_verified() -> None:
    for pool in Pool.objects.all():
        assert verify(pool)[1] is None


def fresh(match: Match) -> Match:
    return Match.objects.get(pk=match.pk)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_merge_is_as_if_it_had_been_one_player_in_all_pools_and_can_be_undone(seed: int) -> None:
    players = people(7)
    keep, duplicate = players[-2], players[-1]
    entries = {slug: season(slug, players, 40, seed) for slug in SLUGS}
    for slug in SLUGS:
        complete_matches(pool_of(slug), entries[slug], now=NOW)
    before = all_pools()
    owners = dict(RatingChange.objects.values_list("pk", "player"))
    staff = User.objects.create(username="organiser")
    merged = merge(keep, duplicate, reason="one person", made_by=staff, now=NOW)
    after = all_pools()
    assert_verified()
    assert (merged.keep, merged.duplicate, merged.reason, merged.made_by) == (keep, duplicate, "one person", staff)
    assert sorted(merged.revisions.values_list("kind", "pool__slug")) == sorted(("merge", slug) for slug in SLUGS)
    assert not Participant.objects.filter(player=duplicate).exists()
    assert not RatingChange.objects.filter(player=duplicate).exists()
    assert owners.keys() == set(RatingChange.objects.values_list("pk", flat=True))  # no line is deleted
    undo_merge(merged, reason="two after all", made_by=staff, now=NOW)
    assert all_pools() == before and not PublishedChange.objects.exists()
    assert dict(RatingChange.objects.values_list("pk", "player")) == owners
    assert_verified()
    merged.refresh_from_db()
    assert (merged.undone_by, merged.undone_reason) == (staff, "two after all")
    forget()
    for slug in SLUGS:
        complete_matches(pool_of(slug), as_one(entries[slug], keep, duplicate), now=NOW)
    assert all_pools() == after


def test_what_was_published_is_marked_and_marks_from_before_come_back() -> None:
    pool, players = pool_of("fibs"), people(5)
    keep, duplicate = players[-2], players[-1]
    matches = complete_matches(pool, season("fibs", players, 30, 4), now=NOW)
    correct(pool, [Correction(matches[2], void=True)], reason="annulled", now=NOW)
    marks = sorted(PublishedChange.objects.values_list("match", "player", "before", "change", "after"))
    first = {(match, player): after for match, player, _, _, after in marks}
    before = everything(pool)
    published = {(line.match_id, line.player_id): line.after for line in RatingChange.objects.all()}
    merged = merge(keep, duplicate, reason="one person", now=NOW)
    assert not PublishedChange.objects.filter(player=duplicate).exists()
    revision = merged.revisions.get()
    for mark in PublishedChange.objects.filter(revision=revision):
        key, before_merge = (mark.match_id, mark.player_id), (mark.match_id, duplicate.pk)
        # What was marked already keeps what was published first.
        was = first.get(key) or first.get(before_merge) or published.get(key) or published[before_merge]
        assert mark.after == was
    undo_merge(merged, reason="two after all", now=NOW)
    assert sorted(PublishedChange.objects.values_list("match", "player", "before", "change", "after")) == marks
    assert everything(pool) == before and verify(pool)[1] is None


def test_a_preview_says_what_will_be_and_a_confirmation_holds_only_for_it() -> None:
    players = people(6)
    keep, duplicate = players[-2], players[-1]
    for slug in SLUGS[:2]:
        complete_matches(pool_of(slug), season(slug, players, 30, 5), now=NOW)
    before = all_pools()
    seen = preview_merge(keep, duplicate, now=NOW)
    assert all_pools() == before and not Merge.objects.exists() and len(seen.pools) == 2
    complete_match(pool_of("fibs"), won(players[0], keep, at(400)), now=NOW)
    with pytest.raises(Moved) as moved:
        merge(keep, duplicate, reason="one person", token=seen.token, now=NOW)
    merged = merge(keep, duplicate, reason="one person", token=moved.value.preview.token, now=NOW)
    for pool, preview in moved.value.preview.pools:
        assert merged.revisions.get(pool=pool).changes == preview.lines
        for move in preview.moves:
            rating = Rating.objects.get(pool=pool, player=move.player)
            assert rating.value == move.rating[1] and (move.rank[1] is None) == (move.player == duplicate)
    seen = preview_undo(merged, now=NOW)
    undo_merge(merged, reason="two", token=seen.token, now=NOW)
    assert_verified()


def test_who_met_cannot_be_one() -> None:
    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    match, _ = complete(pool, won(keep, duplicate, at(0)), won(other, duplicate, at(1)))
    correct(pool, [Correction(match, void=True)], reason="annulled", now=NOW)
    before = everything(pool)
    for act in (preview_merge, merge):
        with pytest.raises(ValidationError, match=str(match.pk)):
            act(keep, duplicate, **({"reason": "one"} if act is merge else {}), now=NOW)  # type: ignore[operator]
    with pytest.raises(ValidationError):
        merge(keep, keep, reason="one", now=NOW)
    opened = save_open(pool, players=(keep, other), terms=Result(length=5))
    with pytest.raises(ValidationError, match=str(opened.pk)):
        merge(keep, other, reason="one", now=NOW)
    assert everything(pool) == before and not Merge.objects.exists()


def test_openings_go_with_the_duplicate_and_come_back() -> None:
    pool, (keep, duplicate, other, third) = pool_of("fibs"), people(4)
    with transaction.atomic():
        ledger.set_openings(pool, {duplicate.pk: Opening(1700.0, 200, date(2026, 2, 1))}, NOW)
    entries = [won(keep, other, at(0)), won(duplicate, third, at(1)), won(third, keep, at(2)), won(other, duplicate, at(3))]
    complete(pool, *entries)
    before = everything(pool)
    merged = merge(keep, duplicate, reason="one person", now=NOW)
    assert history(keep, pool)[0].before == 1700.0 and verify(pool) == (4, None)
    after = everything(pool)
    undo_merge(merged, reason="two", now=NOW)
    assert everything(pool) == before and verify(pool) == (4, None)
    assert not Rating.objects.get(player=keep).brought
    forget()
    with transaction.atomic():
        ledger.set_openings(pool, {keep.pk: Opening(1700.0, 200, date(2026, 2, 1))}, NOW)
    complete(pool, *as_one(entries, keep, duplicate))
    assert everything(pool) == after


def test_openings_that_stand_in_the_way() -> None:
    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    with transaction.atomic():
        ledger.set_openings(pool, {duplicate.pk: Opening(1700.0, 200, date(2026, 3, 2))}, NOW)
    [match] = complete(pool, won(keep, other, at(0)))
    with pytest.raises(ValidationError, match=str(match.pk)):
        merge(keep, duplicate, reason="one", now=NOW)
    with transaction.atomic():
        ledger.set_openings(pool, {keep.pk: Opening(1500.0, 0, None)}, NOW)
    with pytest.raises(ValidationError, match="FIBS"):
        merge(keep, duplicate, reason="one", now=NOW)
    assert verify(pool) == (1, None)


def test_an_opening_without_matches_goes_along() -> None:
    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    with transaction.atomic():
        ledger.set_openings(pool, {duplicate.pk: Opening(1700.0, 200, None)}, NOW)
    merged = merge(keep, duplicate, reason="one", now=NOW)
    assert Rating.objects.get(player=keep).value == 1700.0 and verify(pool) == (0, None)
    complete(pool, won(duplicate, other, at(0)))
    assert history(keep, pool)[0].before == 1700.0
    undo_merge(merged, reason="two", now=NOW)
    # What was entered since stays where it is.
    assert history(keep, pool)[0].before == 1500.0 and verify(pool) == (1, None)
    assert Rating.objects.get(player=duplicate).value == 1700.0


def test_results_that_name_the_duplicate_are_those_of_the_player_whom_he_is() -> None:
    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    entry = won(duplicate, other, at(0), source="server", external_id="7")
    match = complete_match(pool, entry, now=NOW)
    merge(keep, duplicate, reason="one", now=NOW)
    assert complete_match(pool, entry, now=NOW) == match  # the same request again
    with pytest.raises(Conflict):
        complete_match(pool, replace(entry, players=(other, duplicate)), now=NOW)
    assert players_by_name([duplicate.name]) == {duplicate.name_key: keep}
    later = complete_match(pool, won(other, duplicate, at(1)), now=NOW)
    opened = save_open(pool, players=(duplicate, other), terms=Result(length=5))
    assert set(Participant.objects.filter(match__in=(later, opened)).values_list("player", flat=True)) == {keep.pk, other.pk}
    seats = list(later.participants.select_related("player"))
    edit = Entry(players=(other, duplicate), result=replace(later.result(seats), length=9), ended_at=at(1))
    correct(pool, [Correction(fresh(later), entry=edit)], reason="to nine", now=NOW)
    assert not Participant.objects.filter(player=duplicate).exists() and verify(pool) == (2, None)


def test_what_happened_to_a_moved_match_since_goes_back_with_it() -> None:
    pool, players = pool_of("fibs"), people(5)
    keep, duplicate = players[-2], players[-1]
    entries = season("fibs", players, 24, 6)
    matches = complete_matches(pool, entries, now=NOW)
    merged = merge(keep, duplicate, reason="one", now=NOW)
    own = [number for number, entry in enumerate(entries) if duplicate in entry.players]
    edited, voided = own[0], own[1]
    seats = list(matches[edited].participants.select_related("player"))
    entry = replace(entries[edited], result=replace(matches[edited].result(seats), length=3))
    correct(pool, [Correction(fresh(matches[edited]), entry=entry)], reason="to three", now=NOW)
    correct(pool, [Correction(fresh(matches[voided]), void=True)], reason="annulled", now=NOW)
    with pytest.raises(Conflict):  # read before the merge
        correct(pool, [Correction(matches[own[2]], void=True)], reason="annulled", now=NOW)
    undo_merge(merged, reason="two", now=NOW)
    assert verify(pool) == (23, None)
    after = everything(pool)
    forget()
    entries[edited] = entry
    del entries[voided]
    complete_matches(pool, entries, now=NOW)
    assert everything(pool) == after


def test_one_merge_after_the_other_is_undone_in_reverse() -> None:
    pool, (one, two, three, other) = pool_of("fibs"), people(4)
    complete(pool, won(one, other, at(0)), won(two, other, at(1)), won(three, other, at(2)))
    before = everything(pool)
    first = merge(two, three, reason="one", now=NOW)
    with pytest.raises(ValidationError, match="already"):
        merge(one, three, reason="again", now=NOW)
    second = merge(one, two, reason="one", now=NOW)
    assert find_by_address(three.slug) == (one, False) and players_by_name([three.name]) == {three.name_key: one}
    with pytest.raises(ValidationError, match=one.name):
        undo_merge(first, reason="two", now=NOW)
    undo_merge(second, reason="two", now=NOW)
    undo_merge(first, reason="two", now=NOW)
    assert everything(pool) == before and verify(pool) == (3, None)
    with pytest.raises(ValidationError):
        undo_merge(first, reason="two", now=NOW)
    merge(one, three, reason="the other one", now=NOW)
    assert verify(pool) == (3, None)


def test_addresses_logins_and_tables() -> None:
    pool, (keep, duplicate, third) = pool_of("fibs"), people(3)
    login = User.objects.create(username="vera2")
    duplicate.user = login
    duplicate.save()
    open_table(pool, duplicate, Result(length=5))
    challenge(pool, third, duplicate, Result(length=5))
    merged = merge(keep, duplicate, reason="one", now=NOW)
    keep.refresh_from_db()
    assert keep.user == login and find_by_address(duplicate.slug) == (keep, False)
    assert [table.status for table in Table.objects.all()] == ["closed", "closed"] and not duplicate.table_seats.exists()
    assert find_by_address(keep.slug) == (keep, True)
    undo_merge(merged, reason="two", now=NOW)
    keep.refresh_from_db()
    duplicate.refresh_from_db()
    assert (keep.user, duplicate.user) == (None, login) and find_by_address(duplicate.slug) == (duplicate, True)
    # Where he who stays has a login of his own, that one stays.
    keep.user = own = User.objects.create(username="vera")
    keep.save()
    merged = merge(keep, duplicate, reason="one", now=NOW)
    keep.refresh_from_db()
    assert keep.user == own and not Player.objects.filter(user=login).exists()
    third.user = login
    third.save()
    undo_merge(merged, reason="two", now=NOW)
    duplicate.refresh_from_db()
    assert duplicate.user is None


def test_matches_that_move_no_rating_move_with_him() -> None:
    pool, (keep, duplicate, other) = pool_of("crowns-cup"), people(3)
    terms = {"stake": Decimal(5), "real_money": False, "kind": "table"}
    [match] = complete(pool, won(duplicate, other, at(0), **terms))
    opened = save_open(pool, players=(other, duplicate), terms=Result(length=5, stake=Decimal(5), real_money=True, kind="table"))
    voided = complete_match(pool, won(duplicate, other, at(1), **{**terms, "real_money": True}), now=NOW)
    correct(pool, [Correction(voided, void=True)], reason="annulled", now=NOW)
    merged = merge(keep, duplicate, reason="one", now=NOW)
    assert set(Participant.objects.filter(player=keep).values_list("match", flat=True)) == {match.pk, opened.pk, voided.pk}
    assert PublishedChange.objects.filter(player=keep).exists()
    undo_merge(merged, reason="two", now=NOW)
    assert set(Participant.objects.filter(player=duplicate).values_list("match", flat=True)) == {match.pk, opened.pk, voided.pk}
    correct(pool, [Correction(fresh(voided), void=False)], reason="played", now=NOW)
    assert verify(pool) == (1, None) and not PublishedChange.objects.exists()


def test_a_merge_across_eras_with_a_start_of_their_own() -> None:
    pool, players = pool_of("fibs"), people(5)
    keep, duplicate = players[-2], players[-1]
    entries = sorted(season("fibs", players, 30, 7), key=lambda entry: entry.ended_at)
    entries = [entry for number, entry in enumerate(entries) if number >= 15 or keep not in entry.players]
    complete_matches(pool, entries, now=NOW)
    set_parameters(pool, {"start": 1800, "factor": 3}, since=entries[10].ended_at, reason="new", now=NOW)
    assert history(keep, pool)[0].before == 1800.0
    before = everything(pool)
    merged = merge(keep, duplicate, reason="one", now=NOW)
    assert history(keep, pool)[0].before == 1500.0 and verify(pool)[1] is None
    undo_merge(merged, reason="two", now=NOW)
    assert everything(pool) == before and verify(pool)[1] is None


def test_the_command_shows_first_merges_on_yes_and_undoes() -> None:
    def run(*words: str) -> str:
        out = StringIO()
        call_command("merge_players", *words, stdout=out, stderr=StringIO())
        return out.getvalue()

    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    complete(pool, won(keep, other, at(0)), won(duplicate, other, at(1)))
    before = everything(pool)
    said = run("Player 1", f"#{duplicate.pk}")
    assert "Nothing is written yet" in said and "Player 2: 1500" not in said and "→" in said and everything(pool) == before
    assert "Player 2 is Player 1 now" in run("Player 1", "player-2", "--reason", "one person", "--yes")
    assert verify(pool) == (2, None) and everything(pool) != before
    run("Player 2", "--undo", "--reason", "two", "--yes")
    assert everything(pool) == before and Revision.objects.count() == 2
    for words, named in (
        (("Player 1", "Nobody"), "Nobody"),
        (("Player 1",), "duplicate"),
        (("Player 1", "Player 3"), "met"),
        (("Player 2", "--undo"), "not merged"),
        (("Player 1", "Player 2", "--yes"), "--reason"),
    ):
        with pytest.raises(CommandError, match=named):
            run(*words)


def test_appeals_move_with_the_matches_and_go_back() -> None:
    pool, (keep, duplicate, other) = pool_of("fibs"), people(3)
    user = User.objects.create_user("vera")
    duplicate.user = user
    duplicate.save()
    first, second = complete(pool, won(keep, other, at(0)), won(other, duplicate, at(1)))
    for match, player in ((first, keep), (second, duplicate)):
        Appeal.objects.create(match=match, player=player, text="no")
    made = merge(keep, duplicate, reason="One person", now=NOW)
    assert list(Appeal.objects.order_by("pk").values_list("player", flat=True)) == [keep.pk, keep.pk]
    appeals.answer(
        appeal_id=Appeal.objects.get(match=second).pk,
        grant=False,
        text="It stands",
        answered_by=User.objects.create_superuser("admin"),
    )
    assert Message.objects.get().player == keep
    undo_merge(made, reason="Two after all", now=NOW)
    assert list(Appeal.objects.order_by("pk").values_list("player", flat=True)) == [keep.pk, duplicate.pk]
