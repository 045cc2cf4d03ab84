"""New parameters: what a pool has afterwards is what entering everything under the new rules gives, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, Moved, correct
from matches.entries import BatchRefused, Entry
from matches.models import Match, Revision
from matches.parameters import NothingChanges, preview_parameters, set_parameters
from matches.rating import MatchRefused
from matches.replay import replay
from matches.verify import verify
from players import ledger
from players.ledger import Opening
from players.models import Era, Player, Pool, PublishedChange, Rating
from players.standings import standing
from players.systems.base import Refused, Result
from players.systems.params import BadParameter
from tests.building import NOW, at, complete, everything, forget, history, people, pool_of, values, won

pytestmark = pytest.mark.django_db

KINDS = ("matchmade", "tournament", "rematch", "challenge")


def a_season(players: list[Player], count: int, seed: int = 1) -> list[Entry]:
    """Matches of several kinds, some known only by their date, in no order."""
    dice = random.Random(seed)
    entries = [
        won(
            *dice.sample(players, 2),
            at(6 * dice.randrange(count)),
            length=dice.randrange(1, 26),
            kind=dice.choice(KINDS),
            timed=dice.random() < 0.8,
            sequence=number,
        )
        for number in range(count)
    ]
    dice.shuffle(entries)
    return entries


def for_money(players: list[Player], count: int) -> list[Entry]:
    dice = random.Random(3)
    return [
        won(
            *dice.sample(players, 2),
            at(number),
            length=dice.randrange(1, 12),
            stake=Decimal(dice.choice(("1", "5", "20"))),
            real_money=dice.random() < 0.7,
            kind=dice.choice(("table", "tournament", "challenge")),
        )
        for number in range(count)
    ]


def tables(players: list[Player], count: int) -> list[Entry]:
    dice = random.Random(4)
    places = ((1, 2, 3, 4), (1, 1, 3, 4), (4, 3, 2, 1))
    return [
        Entry(
            players=dice.sample(players, 4),
            result=Result(places=dice.choice(places), deals=dice.choice((4, 8, 12, 24))),
            ended_at=at(number),
        )
        for number in range(count)
    ]


def chess(players: list[Player], count: int) -> list[Entry]:
    dice = random.Random(5)
    return [won(*dice.sample(players, 2), at(number), length=None) for number in range(count)]


CHANGES: list[tuple[str, Callable[[list[Player], int], list[Entry]], dict[str, Any]]] = [
    ("fibs", a_season, {"factor": 5, "ramp": None}),
    ("fibs", a_season, {"start": 1800}),
    ("fibs", a_season, {"counted_kinds": ["tournament", "rematch"], "experience_counts": "after"}),
    ("online-backgammon", a_season, {"counted_kinds": ["matchmade", "rematch"], "cap": 30}),
    ("online-backgammon", a_season, {"decay_after_days": 0, "decay_per_day": 3, "start": 950}),
    ("crowns-cup", for_money, {"real_money_only": False}),
    ("crowns-cup", for_money, {"counted_kinds": ["tournament"], "money_game_experience": 3}),
    ("freewhist", tables, {"deal_steps": [[4, 10], [12, 50]], "start": 1000, "curve_exponent": 1.5}),
    ("tics", chess, {"k": 32, "scale": 400}),
]


def started_anew(pool: Pool, parameters: dict[str, Any], entries: list[Entry]) -> dict[str, Any]:
    """What entering everything under these parameters gives."""
    forget()
    Era.objects.all().delete()
    Pool.objects.filter(pk=pool.pk).update(parameters=parameters)
    complete_matches(Pool.objects.get(pk=pool.pk), entries, now=NOW)
    return everything(pool)


@pytest.mark.parametrize(("slug", "make", "changes"), CHANGES, ids=lambda value: str(value) if isinstance(value, dict) else None)
def test_for_all_matches_it_is_as_if_the_rules_had_always_been_so_and_back_again(
    slug: str, make: Callable[[list[Player], int], list[Entry]], changes: dict[str, Any]
) -> None:
    pool, players = pool_of(slug), people(7)
    entries = make(players, 60)
    complete_matches(pool, entries, now=NOW)
    before, old = everything(pool), pool.parameters
    published = {(line.match_id, line.player_id): line.after for player in players for line in history(player, pool)}
    staff = User.objects.create(username="organiser")
    revision = set_parameters(pool, changes, reason="the assembly's vote", made_by=staff, now=NOW)
    changed = Pool.objects.get(pk=pool.pk)
    after = everything(pool)
    assert verify(pool)[1] is None and after != before
    assert (revision.kind, revision.reason, revision.made_by) == ("parameters", "the assembly's vote", staff)
    assert revision.rules["parameters"] == {name: [old[name], changed.parameters[name]] for name in changes}
    for mark in PublishedChange.objects.all():
        assert mark.after == published[mark.match_id, mark.player_id] and mark.revision == revision
    set_parameters(pool, {name: old[name] for name in changes}, reason="taken back", now=NOW)
    assert everything(pool) == before and verify(pool)[1] is None
    # What stays is what was published meanwhile of matches that do not count.
    assert not PublishedChange.objects.filter(match__not_counted="").exists()
    assert Pool.objects.get(pk=pool.pk).parameters == old
    assert started_anew(pool, changed.parameters, entries) == after


@pytest.mark.parametrize(("slug", "make", "changes"), CHANGES, ids=lambda value: str(value) if isinstance(value, dict) else None)
def test_from_a_date_on_the_history_before_stays(
    slug: str, make: Callable[[list[Player], int], list[Entry]], changes: dict[str, Any]
) -> None:
    pool, players = pool_of(slug), people(7)
    entries = make(players, 60)
    complete_matches(pool, entries, now=NOW)
    since = sorted(entry.ended_at for entry in entries)[30]
    before = everything(pool)
    revision = set_parameters(pool, changes, since=since, reason="from now on", now=NOW)
    after = everything(pool)
    assert verify(pool)[1] is None and revision.rules["since"] == since.isoformat()
    stays = [line for line in before["lines"] if line[1] < since]
    assert stays == [line for line in after["lines"] if line[1] < since] and stays
    assert Era.objects.get(pool=pool).until == since
    # Entered anew, in another order and with the eras there from the beginning, it is the same.
    forget()
    shuffled = random.Random(2).sample(entries, len(entries))
    for number in range(0, 60, 20):
        complete_matches(pool, shuffled[number : number + 20], now=NOW)
        assert verify(pool)[1] is None
    assert everything(pool) == after
    # A clean replay, and one from the middle, find nothing to write.
    with transaction.atomic():
        assert replay(Pool.objects.get(pk=pool.pk), NOW) == 0
    set_parameters(pool, {name: pool.parameters[name] for name in changes}, since=since, reason="taken back", now=NOW)
    assert everything(pool) == before and not Era.objects.exists() and verify(pool)[1] is None


def test_whose_rating_was_brought_along_keeps_it_when_the_start_moves() -> None:
    pool, (one, two, three, four, five) = pool_of("fibs"), people(5)
    with transaction.atomic():
        openings = {one.pk: Opening(1500.0, 0, None), four.pk: Opening(1700.0, 120, date(2026, 3, 1))}
        ledger.set_openings(pool, openings, NOW)
        ledger.lock_ratings(pool, [five.pk], NOW)
    complete(pool, won(one, two, at(0)), won(two, three, at(1)))
    set_parameters(pool, {"start": 1600}, reason="higher", now=NOW)
    openings_now = dict(Rating.objects.filter(pool=pool).values_list("player__name", "opening"))
    assert openings_now == {"Player 1": 1500.0, "Player 2": 1600.0, "Player 3": 1600.0, "Player 4": 1700.0, "Player 5": 1600.0}
    assert values(pool)["Player 4"] == (1700.0, 120) and values(pool)["Player 5"] == (1600.0, 0)
    assert history(two, pool)[0].before == 1600.0 and verify(pool) == (2, None)


def test_from_a_date_on_whoever_first_plays_before_it_keeps_the_start_of_then() -> None:
    pool, (one, two, three, four) = pool_of("fibs"), people(4)
    matches = complete(pool, won(one, two, at(0)), won(one, three, at(10)))
    set_parameters(pool, {"start": 1800}, since=at(5), reason="higher", now=NOW)
    assert history(one, pool)[0].before == 1500.0 and history(three, pool)[0].before == 1800.0
    # The first counted match decides, whenever it is entered, corrected or voided.
    late = complete_match(pool, won(three, four, at(2)), now=NOW)
    assert history(three, pool)[0].before == 1500.0 and verify(pool) == (3, None)
    correct(pool, [Correction(late, void=True)], reason="annulled", now=NOW)
    assert history(three, pool)[0].before == 1800.0 and verify(pool) == (2, None)
    assert Rating.objects.get(player=four).value == 1800.0
    correct(pool, [Correction(matches[0], void=True)], reason="annulled too", now=NOW)
    assert history(one, pool)[0].before == 1800.0 and verify(pool) == (1, None)


def test_a_match_of_the_old_rules_is_still_judged_by_them() -> None:
    pool, (one, two) = pool_of("online-backgammon"), people(2)
    set_parameters(pool, {"counted_kinds": ["rematch"]}, since=at(5), reason="rematches", now=NOW)
    pool = Pool.objects.get(pk=pool.pk)
    old, new = complete(pool, won(one, two, at(1), kind="rematch"), won(one, two, at(6), kind="rematch"))
    assert (old.not_counted, new.not_counted) == ("kind_not_counted", "")
    moved = correct(pool, [edited(old, ended_at=at(7))], reason="it was later", now=NOW)
    assert moved.changes == 2 and Match.objects.get(pk=old.pk).not_counted == ""
    assert verify(pool) == (2, None)
    # Voided and taken back, it is judged by the rules of its time.
    again = complete_match(pool, won(two, one, at(2), kind="matchmade"), now=NOW)
    for void in (True, False):
        correct(pool, [Correction(Match.objects.get(pk=again.pk), void=void)], reason="and back", now=NOW)
    assert Match.objects.get(pk=again.pk).not_counted == "" and verify(pool) == (3, None)


def edited(match: Match, **changes: Any) -> Correction:
    seats = list(match.participants.select_related("player"))
    assert match.ended_at is not None
    entry = Entry(players=[seat.player for seat in seats], result=match.result(seats), ended_at=match.ended_at)
    return Correction(match, entry=replace(entry, **changes))


def test_a_match_known_by_its_date_is_under_the_rules_of_that_date() -> None:
    pool, (one, two, three) = pool_of("fibs"), people(3)
    day = datetime(2026, 3, 5, tzinfo=at(0).tzinfo)
    complete(pool, won(one, two, day, timed=False), won(one, three, day - timedelta(seconds=1)))
    set_parameters(pool, {"factor": 8}, since=day, reason="double", now=NOW)
    assert history(one, pool)[0].change == 2.5 * 4.47213595499958 * 2  # 4 · 5 · √5 · ½, in the old rules
    assert history(two, pool)[0].change < -40 and verify(pool) == (2, None)


def test_three_eras_one_after_the_other_and_one_that_replaces_two() -> None:
    pool, players = pool_of("fibs"), people(5)
    entries = a_season(players, 40)
    complete_matches(pool, entries, now=NOW)
    for hours, factor in ((60, 5), (120, 6), (180, 7)):
        set_parameters(pool, {"factor": factor}, since=at(hours), reason="more", now=NOW)
        assert verify(pool)[1] is None
    rules = Pool.objects.get(pk=pool.pk).rules
    assert [rules.at(at(hours)).params.factor for hours in (0, 59, 60, 119, 120, 180, 999)] == [4, 4, 5, 5, 6, 7, 7]
    revision = set_parameters(pool, {"factor": 9}, since=at(90), reason="simpler", now=NOW)
    assert len(revision.rules["replaced"]) == 2 and verify(pool)[1] is None
    rules = Pool.objects.get(pk=pool.pk).rules
    assert [rules.at(at(hours)).params.factor for hours in (0, 60, 89, 90, 999)] == [4, 5, 5, 9, 9]
    set_parameters(pool, {"factor": 4}, reason="as it was", now=NOW)
    assert not Era.objects.exists() and not PublishedChange.objects.exists() and verify(pool)[1] is None


def test_what_the_new_rules_cannot_judge_refuses_all_of_it_and_is_named() -> None:
    pool, (one, two) = pool_of("crowns-cup"), people(2)
    set_parameters(pool, {"real_money_only": False}, reason="also for fun", now=NOW)
    money = {"stake": Decimal(5), "kind": "table"}
    _, unknown, _ = complete(
        Pool.objects.get(pk=pool.pk),
        won(one, two, at(0), real_money=True, **money),
        won(two, one, at(1), **money),
        won(one, two, at(2), real_money=False, **money),
    )
    before = everything(pool)
    for act in (preview_parameters, lambda *given, **more: set_parameters(*given, reason="strict", **more)):
        with pytest.raises(MatchRefused) as refused:
            act(pool, {"real_money_only": True}, now=NOW)
        assert refused.value.match == unknown and refused.value.refused.field == "real_money"
    assert everything(pool) == before and Pool.objects.get(pk=pool.pk).parameters["real_money_only"] is False
    # From after that match on it can be.
    set_parameters(pool, {"real_money_only": True}, since=at(1.5), reason="strict from now on", now=NOW)
    assert verify(pool) == (2, None)
    # A voided match is judged when it is to count again.
    match = complete_match(Pool.objects.get(pk=pool.pk), won(two, one, at(1.2), **money), now=NOW)
    correct(pool, [Correction(match, void=True)], reason="annulled", now=NOW)
    correct(pool, [Correction(unknown, void=True)], reason="nobody knows", now=NOW)
    set_parameters(pool, {"real_money_only": True}, reason="strict", now=NOW)
    with pytest.raises(BatchRefused):
        correct(pool, [Correction(Match.objects.get(pk=match.pk), void=False)], reason="it was played", now=NOW)
    assert verify(pool) == (1, None)


def test_what_makes_no_sense_changes_nothing() -> None:
    pool, players = pool_of("fibs"), people(3)
    complete_matches(pool, a_season(players, 10), now=NOW)
    before = everything(pool)
    for changes, more, error in (
        ({"factor": 0}, {}, BadParameter),
        ({"colour": "red"}, {}, BadParameter),
        ({"factor": 4}, {}, NothingChanges),
        ({"factor": 5}, {"since": NOW + timedelta(days=1)}, Refused),
        ({"factor": 9_000}, {}, Refused),  # a rating would leave its range
    ):
        with pytest.raises(error):
            set_parameters(pool, changes, reason="no", now=NOW, **more)
    assert everything(pool) == before and not Revision.objects.exists() and verify(pool)[1] is None


def test_a_preview_says_what_will_be_and_a_confirmation_holds_only_for_it() -> None:
    pool, players = pool_of("online-backgammon"), people(6)
    complete_matches(pool, a_season(players, 40), now=NOW)
    before = everything(pool)
    changes = {"decay_per_day": 2, "counted_kinds": ["rematch", "challenge"]}
    seen = preview_parameters(pool, changes, now=NOW)
    assert everything(pool) == before and seen.moves
    ranks = {rating.player_id: rank for rank, rating in enumerate(Rating.objects.order_by("-rank_points"), start=1)}
    complete_match(pool, won(players[0], players[1], at(400), kind="matchmade"), now=NOW)
    with pytest.raises(Moved) as moved:
        set_parameters(pool, changes, reason="vote", token=seen.token, now=NOW)
    with pytest.raises(Moved):
        set_parameters(pool, {"decay_per_day": 2}, reason="vote", token=moved.value.preview.token, now=NOW)
    seen = moved.value.preview
    revision = set_parameters(pool, changes, reason="vote", token=seen.token, now=NOW)
    assert revision.changes == seen.lines and len(ranks) == 6
    for move in seen.moves:
        rating = Rating.objects.get(pool=pool, player=move.player)
        assert rating.value == move.rating[1]
        above = Rating.objects.filter(pool=pool, matches__gt=0, rank_points__gt=rating.rank_points).count()
        assert move.rank[1] == above + 1


def test_standings_follow_the_new_decay_in_the_same_transaction() -> None:
    pool, players = pool_of("online-backgammon"), people(2)
    complete(pool, *(won(players[0], players[1], at(n), length=25, kind="matchmade") for n in range(40)))
    rich = Rating.objects.get(player=players[0])
    assert rich.value > 900 and rich.standing < rich.value
    revision = set_parameters(pool, {"decay_per_day": 0, "standing_floor": 100}, reason="milder", now=NOW)
    assert revision.changes == 0
    pool = Pool.objects.get(pk=pool.pk)
    for rating in Rating.objects.filter(pool=pool):
        assert rating.standing == standing(pool.standing_rule, rating.value, rating.last_ended_at, NOW)
    assert Rating.objects.get(player=players[0]).standing > rich.standing
    assert Rating.objects.get(player=players[1]).standing < 600


def run(*words: str) -> str:
    out = StringIO()
    call_command("set_parameters", *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_previews_and_changes() -> None:
    pool, players = pool_of("fibs"), people(4)
    complete_matches(pool, a_season(players, 20), now=NOW)
    before = everything(pool)
    said = run("fibs", "--set", "factor=5", "--set", "ramp=null", "--preview")
    assert "→" in said and everything(pool) == before
    assert "Done" in run("fibs", "--set", "factor=5", "--reason", "vote", "--from", "2026-03-03")
    assert Era.objects.get().until == datetime(2026, 3, 3, tzinfo=at(0).tzinfo) and verify(pool)[1] is None
    assert Revision.objects.get().reason == "vote"
    for words, named in (
        (("nowhere", "--set", "factor=5"), "nowhere"),
        (("fibs", "--set", "factor"), "NAME=VALUE"),
        (("fibs", "--set", "factor=0"), "factor"),
        (("fibs", "--set", "factor=5", "--from", "2026-03-03"), "already"),
        (("fibs", "--set", "factor=6", "--from", "yesterday"), "yesterday"),
        (("fibs", "--set", "factor=6", "--from", "2999-01-01"), "future"),
        (("fibs",), "--set"),
    ):
        with pytest.raises(CommandError, match=named):
            run(*words, "--reason", "vote")
    with pytest.raises(CommandError, match="--reason"):
        run("fibs", "--set", "factor=6")
