"""Replays without a database: matches rated a second, with the history kept, in memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import Table, in_turns
from benchmarks.world import Game, games

MATCHES, PLAYERS, ROUNDS = 1_000_000, 50_000, 3
NEEDS_POSTGRES = False
QUICK = {"matches": 100_000, "players": 5_000}


def run(matches: int = MATCHES, players: int = PLAYERS, rounds: int = ROUNDS) -> Table:
    played = list(games(matches, players))
    jobs = {
        "tight loop": tight_loop(played),
        "this site": this_site(played),
        "riix": riix(played, players),
        "openskill": openskill(played),
        "elote": elote(played),
    }
    assert jobs["this site"]() == jobs["tight loop"](), "not the same history"
    timed = in_turns(jobs, rounds, time.process_time)
    table = Table(("Rates in order, history kept", "matches/s", "of the tight loop", "target"))
    for name in jobs:
        target = {"this site": "0.7, ahead of the packages"}.get(name, "")
        speed = 1 / timed.ratio(name, "tight loop")
        table.lines.append((name, f"{matches / timed.median(name):,.0f}", f"{speed:.2f}", target))
    table.notes.append(f"{matches:,} FIBS matches among {players:,} players; median of {rounds} rounds, processor time.")
    return table


def this_site(played: list[Game]) -> Callable[[], object]:
    """The engine as a replay uses it, from what a replay reads."""
    from matches.replay import _collector_off
    from players import systems
    from players.systems.base import Result
    from players.systems.running import MatchKey, Running

    system = systems.get("fibs").from_json({})
    inputs = [
        (
            MatchKey(game.ended_at, True, 0, number),
            (game.one, game.two),
            Result(scores=(1.0, 0.0) if game.first_won else (0.0, 1.0), length=game.length),
        )
        for number, game in enumerate(played, start=1)
    ]

    def rate() -> object:
        with _collector_off():
            return list(system.rate_many(inputs, {}, lambda player_id: Running(system.start, 0)))

    return rate


def tight_loop(played: list[Game]) -> Callable[[], object]:
    """The formula as one would write it for this alone: no checks, no peak, no other system, the same history."""
    from matches.replay import _collector_off

    inputs = [
        (number, game.one, game.two, game.length, 1.0 if game.first_won else 0.0, game.ended_at)
        for number, game in enumerate(played, start=1)
    ]
    players = max(max(game.one, game.two) for game in played) + 1
    roots = [math.sqrt(length) for length in range(100)]

    def rate() -> object:
        ratings, experiences, history = [1500.0] * players, [0] * players, []
        append = history.append
        with _collector_off():
            for number, one, two, length, score, ended_at in inputs:
                before1, before2, experience1, experience2 = ratings[one], ratings[two], experiences[one], experiences[two]
                root, difference = roots[length], before1 - before2
                chance = 1.0 / (10.0 ** (abs(difference) * root / 2000.0) + 1.0)
                if difference >= 0.0:
                    expected1, expected2 = 1.0 - chance, chance
                    moved = 4.0 * root * (chance - (1.0 - score))
                else:
                    expected1, expected2 = chance, 1.0 - chance
                    moved = 4.0 * root * (score - chance)
                change1 = max(1.0, 5.0 - experience1 / 100.0) * moved
                change2 = max(1.0, 5.0 - experience2 / 100.0) * (0.0 - moved)
                ratings[one] = after1 = before1 + change1
                ratings[two] = after2 = before2 + change2
                experiences[one] = more1 = experience1 + length
                experiences[two] = more2 = experience2 + length
                append((number, one, before1, change1, after1, experience1, more1, score, expected1, ended_at, True, 0))
                append((number, two, before2, change2, after2, experience2, more2, 1.0 - score, expected2, ended_at, True, 0))
        return history

    return rate


def riix(played: list[Game], players: int) -> Callable[[], object]:
    """Elo, match by match; its history is both ratings and the chance before each match."""
    import numpy
    from riix.models.elo import Elo
    from riix.utils import MatchupDataset

    pairs = numpy.array([(game.one - 1, game.two - 1) for game in played])
    outcomes = numpy.array([1.0 if game.first_won else 0.0 for game in played])
    steps = numpy.arange(len(played))
    names = list(range(players))
    dataset = MatchupDataset.init_from_arrays(steps, pairs, outcomes, names)

    def rate() -> object:
        return Elo(names).fit_dataset(dataset, return_pre_match_probs=True, return_pre_match_ratings=True)

    return rate


def openskill(played: list[Game]) -> Callable[[], object]:
    """Its fastest model by its own account, Bradley and Terry's on all pairs; its history is the ratings it answers with."""
    from openskill.models import BradleyTerryFull

    def rate() -> object:
        model = BradleyTerryFull()
        ratings: dict[int, Any] = {}
        history = []
        for game in played:
            one, two = ratings.get(game.one) or model.rating(), ratings.get(game.two) or model.rating()
            [[one], [two]] = model.rate([[one], [two]], ranks=[1, 2] if game.first_won else [2, 1])
            ratings[game.one], ratings[game.two] = one, two
            history.append((one, two))
        return history

    return rate


def elote(played: list[Game]) -> Callable[[], object]:
    """Elo in its arena without the bookkeeping of bouts; its history is both ratings after each match."""
    from elote import EloCompetitor

    def rate() -> object:
        players: dict[int, Any] = {}
        history = []
        for game in played:
            one = players.get(game.one) or players.setdefault(game.one, EloCompetitor(1500))
            two = players.get(game.two) or players.setdefault(game.two, EloCompetitor(1500))
            if game.first_won:
                one.beat(two)
            else:
                two.beat(one)
            history.append((one.rating, two.rating))
        return history

    return rate
