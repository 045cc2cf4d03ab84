"""Corrections: what is edited, voided or taken back gives what a clean import of the corrected list gives, bit for bit."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, Moved, correct, preview
from matches.entries import BatchRefused, Conflict, Entry
from matches.models import Match, Participant, Revision
from matches.verify import verify
from players.models import Player, PublishedChange, Rating, RatingChange
from players.systems.base import Result
from tests.building import NOW, at, complete, everything, forget, people, pool_of, values, won

pytestmark = pytest.mark.django_db


def a_season(players: list[Player], count: int, seed: int = 1) -> list[Entry]:
    dice = random.Random(seed)
    return [won(*dice.sample(players, 2), at(number), length=dice.randrange(1, 12)) for number in range(count)]


def edited(match: Match, **changes: Any) -> Correction:
    """The correction that changes these fields of the entry or of its result."""
    seats = list(match.participants.select_related("player"))
    assert match.ended_at is not None
    result = replace(match.result(seats), **{name: changes.pop(name) for name in tuple(changes) if name in Result.__slots__})
    entry = Entry(
        players=[seat.player for seat in seats],
        result=result,
        ended_at=match.ended_at,
        timed=match.timed,
        sequence=match.sequence,
    )
    return Correction(match, entry=replace(entry, **changes))


def fresh(match: Match) -> Match:
    return Match.objects.get(pk=match.pk)


def test_voiding_and_taking_the_void_back_restores_every_bit() -> None:
    pool, players = pool_of("fibs"), people(6)
    matches = complete_matches(pool, a_season(players, 40), now=NOW)
    before = everything(pool)
    staff = User.objects.create(username="organiser")
    revision = correct(pool, [Correction(matches[10], void=True)], reason="annulled", made_by=staff, now=NOW)
    assert (revision.kind, revision.reason, revision.made_by, list(revision.matches.all())) == (
        "void",
        "annulled",
        staff,
        [matches[10]],
    )
    assert revision.details == {str(matches[10].pk): {"status": ["completed", "voided"]}}
    assert everything(pool) != before and verify(pool) == (39, None)
    marked = PublishedChange.objects.filter(revision=revision)
    assert marked.filter(match=matches[10]).count() == 2  # what was published of the voided match stays readable
    assert marked.count() == revision.changes
    correct(pool, [Correction(fresh(matches[10]), void=False)], reason="it was played after all", now=NOW)
    assert everything(pool) == before and verify(pool) == (40, None)
    assert not PublishedChange.objects.exists()
    assert Revision.objects.count() == 2


def test_ten_random_edits_give_what_a_clean_import_gives() -> None:
    pool, players = pool_of("fibs"), people(8)
    entries = a_season(players, 80)
    matches = complete_matches(pool, entries, now=NOW)
    dice = random.Random(9)
    for number in dice.sample(range(80), 10):
        length = dice.choice((1, 5, 11))
        swapped = (0.0, 1.0)
        correct(pool, [edited(fresh(matches[number]), length=length, scores=swapped)], reason="swapped", now=NOW)
        entries[number] = replace(entries[number], result=replace(entries[number].result, length=length, scores=swapped))
        assert verify(pool)[1] is None
    after = everything(pool)
    forget()
    complete_matches(pool, entries, now=NOW)
    assert everything(pool) == after


@pytest.mark.parametrize("hours", [-3.5, 200.5])
def test_moving_a_match_in_time_moves_it_in_the_order(hours: float) -> None:
    pool, players = pool_of("fibs"), people(5)
    entries = a_season(players, 30)
    matches = complete_matches(pool, entries, now=NOW)
    correct(pool, [edited(matches[12], ended_at=at(hours))], reason="another evening", now=NOW)
    after = everything(pool)
    assert verify(pool) == (30, None)
    forget()
    entries[12] = replace(entries[12], ended_at=at(hours))
    complete_matches(pool, entries, now=NOW)
    assert everything(pool) == after


def test_other_players_an_emptied_player_and_a_new_one() -> None:
    pool, (one, two, three, four) = pool_of("fibs"), people(4)
    matches = complete(pool, won(one, two, at(0)), won(one, three, at(1)), won(two, one, at(2)))
    correct(pool, [edited(matches[1], players=(one, four))], reason="it was Player 4", now=NOW)
    assert verify(pool) == (3, None)
    emptied = Rating.objects.get(player=three)
    assert (emptied.value, emptied.matches, emptied.experience, emptied.last_match_id, emptied.peak) == (
        1500.0,
        0,
        0,
        None,
        1500.0,
    )
    assert Rating.objects.get(player=four).matches == 1


def test_a_kind_that_does_not_count_and_back() -> None:
    pool, players = pool_of("online-backgammon"), people(4)
    entries = [replace(entry, result=replace(entry.result, kind="matchmade")) for entry in a_season(players, 20)]
    matches = complete_matches(pool, entries, now=NOW)
    before = everything(pool)
    correct(pool, [edited(matches[3], kind="rematch")], reason="they arranged it", now=NOW)
    assert fresh(matches[3]).not_counted == "kind_not_counted" and verify(pool) == (19, None)
    correct(pool, [edited(fresh(matches[3]), kind="matchmade")], reason="they did not", now=NOW)
    assert everything(pool) == before and not PublishedChange.objects.exists()


def test_several_at_once_make_one_revision_and_one_replay() -> None:
    pool, players = pool_of("fibs"), people(6)
    entries = a_season(players, 30)
    matches = complete_matches(pool, entries, now=NOW)
    revision = correct(pool, [Correction(match, void=True) for match in matches[5:9]], reason="a cheat", now=NOW)
    assert revision.matches.count() == 4 and Revision.objects.count() == 1
    after = everything(pool)
    assert verify(pool) == (26, None)
    forget()
    complete_matches(pool, entries[:5] + entries[9:], now=NOW)
    assert everything(pool) == after


def test_a_preview_says_what_will_be_and_writes_nothing() -> None:
    pool, players = pool_of("fibs"), people(6)
    matches = complete_matches(pool, a_season(players, 30), now=NOW)
    before, counts = everything(pool), [model.objects.count() for model in (Match, Participant, Revision, PublishedChange)]
    ranks = {rating.player_id: rank for rank, rating in enumerate(Rating.objects.order_by("-rank_points"), start=1)}
    seen = preview(pool, [Correction(matches[20], void=True)], now=NOW)
    assert everything(pool) == before
    assert counts == [model.objects.count() for model in (Match, Participant, Revision, PublishedChange)]
    revision = correct(pool, [Correction(matches[20], void=True)], reason="annulled", token=seen.token, now=NOW)
    assert revision.changes == seen.lines
    after = {rating.player_id: rank for rank, rating in enumerate(Rating.objects.order_by("-rank_points"), start=1)}
    moved = {move.player.pk: move for move in seen.moves}
    for player in players:
        value = Rating.objects.get(player=player).value
        if player.pk in moved:
            assert moved[player.pk].rating[1] == value
            assert moved[player.pk].rank == (ranks[player.pk], after[player.pk])
        else:
            assert ranks[player.pk] == after[player.pk]


def test_a_confirmation_holds_only_while_the_pool_is_as_previewed() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 12), now=NOW)
    seen = preview(pool, [Correction(matches[3], void=True)], now=NOW)
    complete_match(pool, won(players[0], players[1], at(50)), now=NOW)
    before = everything(pool)
    with pytest.raises(Moved) as moved:
        correct(pool, [Correction(matches[3], void=True)], reason="annulled", token=seen.token, now=NOW)
    assert everything(pool) == before and not Revision.objects.exists()
    correct(pool, [Correction(matches[3], void=True)], reason="annulled", token=moved.value.preview.token, now=NOW)
    assert verify(pool) == (12, None)


def test_who_read_an_older_match_gets_a_conflict() -> None:
    pool, players = pool_of("fibs"), people(4)
    [match, *_] = complete_matches(pool, a_season(players, 4), now=NOW)
    correct(pool, [edited(match, length=7)], reason="seven", now=NOW)
    for stale in (edited(match, length=9), Correction(match, void=True)):
        with pytest.raises(Conflict):
            correct(pool, [stale], reason="nine", now=NOW)
    opened = Match.objects.create(pool=pool)
    with pytest.raises(Conflict):
        correct(pool, [Correction(opened, void=True)], reason="not finished", now=NOW)
    assert Revision.objects.count() == 1


def test_an_impossible_correction_is_refused_and_leaves_nothing() -> None:
    pool, players = pool_of("fibs"), people(4)
    matches = complete_matches(pool, a_season(players, 6), now=NOW)
    before = everything(pool)
    for changes, field in (
        ({"length": 0}, "length"),
        ({"players": (players[0], players[0])}, "players"),
        ({"ended_at": NOW + timedelta(days=1)}, "ended_at"),
        ({"scores": None}, "result"),
    ):
        with pytest.raises(BatchRefused) as refused:
            correct(pool, [Correction(matches[1], void=True), edited(matches[2], **changes)], reason="wrong", now=NOW)
        assert (refused.value.index, refused.value.refused.field) == (1, field)
    assert everything(pool) == before and not Revision.objects.exists() and fresh(matches[1]).status == "completed"


def test_late_by_an_hour_is_a_revision_and_by_less_is_not() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    now = at(10)
    complete(pool, won(one, two, at(9.5)), won(two, one, at(9.9)), now=now)
    complete_match(pool, won(one, three, at(9.2)), now=now)
    assert not Revision.objects.exists() and not PublishedChange.objects.exists()
    late = complete_match(pool, won(one, three, at(9.0)), now=now)
    revision = Revision.objects.get()
    assert (revision.kind, list(revision.matches.all())) == ("late", [late])
    assert PublishedChange.objects.exists() and verify(pool) == (4, None)
    # Late, but nobody's rating was published after it: nothing was revised.
    complete_match(pool, won(*people(2), at(1)), now=now)
    assert Revision.objects.count() == 1


def test_what_was_published_first_is_kept_through_several_revisions() -> None:
    pool, players = pool_of("fibs"), people(3)
    matches = complete_matches(pool, a_season(players, 6), now=NOW)
    published = {(line.match_id, line.player_id): line.after for line in RatingChange.objects.all()}
    correct(pool, [edited(matches[0], length=11)], reason="eleven", now=NOW)
    correct(pool, [edited(fresh(matches[0]), length=9)], reason="nine", now=NOW)
    for mark in PublishedChange.objects.all():
        assert mark.after == published[mark.match_id, mark.player_id]
    assert values(pool) and verify(pool) == (6, None)
