"""A club's list, corrected: the same to the last bit as if it had been right from the start."""

from __future__ import annotations

import random
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import Entry, entry_of
from matches.models import Match, Revision
from matches.verify import verify
from players.models import Pool, PublishedChange
from tests.building import NOW, everything
from tests.matches.imports.importing import run
from tests.matches.imports.test_club_list import EXCERPT, TAKEN, WHOLE, club

pytestmark = pytest.mark.django_db
LIST = WHOLE / "matches.csv" if WHOLE.is_dir() else EXCERPT
IN_ORDER = ("ended_at", "timed", "sequence", "id")


def chunks(entries: list[Entry], size: int) -> list[list[Entry]]:
    return [entries[start : start + size] for start in range(0, len(entries), size)]


@pytest.fixture
def pool() -> Pool:
    pool = club()
    run("import_matches", LIST, *TAKEN)
    return pool


def test_the_100th_match_voided_and_taken_back_leaves_every_bit(pool: Pool) -> None:
    before, counted = everything(pool), Match.objects.count()
    match = Match.objects.order_by(*IN_ORDER)[99]
    correct(pool, [Correction(match, void=True)], reason="annulled", now=NOW)
    assert everything(pool) != before and verify(pool) == (counted - 1, None)
    match.refresh_from_db()
    correct(pool, [Correction(match, void=False)], reason="it was played", now=NOW)
    assert everything(pool) == before and not PublishedChange.objects.exists()


def test_ten_edits_and_a_random_order_give_what_the_corrected_list_gives(pool: Pool) -> None:
    """Ten lengths from 1 to 5 with winner and loser swapped; then all of the list in another order, a hundred at a time, and some
    of it one by one. (All of it one by one takes minutes: each match rates half of the list anew.)"""
    dice = random.Random(11)
    singles = list(Match.objects.filter(length=1).order_by(*IN_ORDER))
    others = list(Match.objects.exclude(length=1).order_by(*IN_ORDER))  # the excerpt has too few
    swapped = dice.sample(singles, min(10, len(singles)))
    for match in swapped + dice.sample(others, 10 - len(swapped)):
        entry = entry_of(match, list(match.participants.select_related("player")))
        result = replace(entry.result, length=5, scores=(0.0, 1.0))
        correct(pool, [Correction(match, entry=replace(entry, result=result))], reason="swapped", now=NOW)
    corrected = [
        entry_of(match, list(match.participants.all()))
        for match in Match.objects.filter(pool=pool).order_by(*IN_ORDER).prefetch_related("participants__player")
    ]
    assert verify(pool) == (len(corrected), None)
    clean, few = club("clean"), club("few")
    complete_matches(clean, corrected)  # the list goes on after NOW
    assert everything(pool)["ratings"] == everything(clean)["ratings"]
    mixed = club("mixed")
    for hundred in chunks(dice.sample(corrected, len(corrected)), 100):
        complete_matches(mixed, hundred)
    assert verify(mixed) == (len(corrected), None)
    assert everything(mixed)["ratings"] == everything(clean)["ratings"]
    some = corrected[:166]
    complete_matches(few, some, now=NOW)
    shuffled = club("shuffled")
    for entry in dice.sample(some, len(some)):
        complete_match(shuffled, entry, now=NOW)
    assert verify(shuffled) == (166, None)
    assert everything(shuffled)["ratings"] == everything(few)["ratings"]


def test_a_correction_that_changes_nothing_is_refused_in_words(pool: Pool) -> None:
    match = Match.objects.order_by(*IN_ORDER)[5]
    with pytest.raises(CommandError, match="nothing would change"):
        call_command(
            "correct_match", str(match.pk), "--set", f"length={match.length}", "--reason", "x", "--yes", stdout=StringIO()
        )
    assert not Revision.objects.exists()


def test_verify_names_the_pools_that_there_are() -> None:
    with pytest.raises(CommandError, match="Known: crowns-cup, fibs"):
        call_command("verify_ratings", "--pool", "nope")
