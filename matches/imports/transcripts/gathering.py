"""Matches out of transcripts: the same match in two files is one, and a match that was broken off goes on in another file.

Two transcripts are told for the same by the rolls of their dice; a match goes on where another file has the same players and
length, and begins with the score at which this one broke off.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from matches.imports.transcripts.base import LEFT, RIGHT, Game, Transcript

TELLING_ROLLS = 12
"""So many rolls tell a game from every other; formats differ in what they write of its end."""
SURE_ROLLS = 20
"""Where so many rolls agree it is the same match even if the names are not written alike."""


@dataclass(frozen=True, slots=True)
class Found:
    """A match or a session: `files` hold its parts in the order of play, `also` are others that hold the same."""

    transcript: Transcript
    files: tuple[str, ...]
    also: tuple[str, ...] = ()


def gather(transcripts: Iterable[Transcript]) -> list[Found]:
    """What the transcripts hold, in their order."""
    return _joined(_each_once(transcripts))


def _each_once(transcripts: Iterable[Transcript]) -> list[Found]:
    found: list[Found] = []
    for read in transcripts:
        for place, known in enumerate(found):
            other = known.transcript
            if _is_same(other, read):
                longer, on = (read, read.on or other.on) if _length_of(read) > _length_of(other) else (other, other.on or read.on)
                files, also = ((longer.file,), other.file if longer is read else read.file)
                found[place] = Found(replace(longer, on=on), files, (*known.also, also))
                break
        else:
            found.append(Found(read, (read.file,)))
    return found


def _length_of(read: Transcript) -> tuple[int, int]:
    return len(read.games), sum(game.winner is not None for game in read.games)


def _is_same(one: Transcript, two: Transcript) -> bool:
    """Whether both hold the same games; one may break off before the other does."""
    if one.length != two.length or (one.on and two.on and abs((one.on - two.on).days) > 1):
        return False
    if set(one.keys) != set(two.keys):
        return _agree(one.games, two.games, SURE_ROLLS) or _agree(one.games, two.turned().games, SURE_ROLLS)
    return _agree(_ordered(one).games, _ordered(two).games, 1)


def _ordered(read: Transcript) -> Transcript:
    """With the players in the order of their names, on whatever side the file has them."""
    return read if read.keys[LEFT] <= read.keys[RIGHT] else read.turned()


def _agree(one: Sequence[Game], two: Sequence[Game], least: int) -> bool:
    rolls = 0
    for game, other in zip(one, two, strict=False):
        if game.start != other.start or (None not in (game.winner, other.winner) and game.end != other.end):
            return False
        both = min(len(game.rolls), len(other.rolls))
        if game.rolls[:both][:TELLING_ROLLS] != other.rolls[:both][:TELLING_ROLLS]:
            return False
        if both < TELLING_ROLLS and None not in (game.winner, other.winner) and abs(len(game.rolls) - len(other.rolls)) > 1:
            return False
        rolls += both
    return rolls >= least


def _joined(found: list[Found]) -> list[Found]:
    """The parts of matches put together."""
    waiting = list(found)
    whole: list[Found] = []
    while waiting:
        first = waiting.pop(0)
        if before := next((other for other in waiting if _goes_on(other, first)), None):
            # The part that comes before this one is later in the list.
            waiting.remove(before)
            waiting.insert(0, _join(before, first))
        elif after := next((other for other in [*whole, *waiting] if _goes_on(first, other)), None):
            (whole if after in whole else waiting).remove(after)
            waiting.insert(0, _join(first, after))
        else:
            whole.append(first)
    return whole


def _goes_on(first: Found, second: Found) -> bool:
    one, two = _ordered(first.transcript), _ordered(second.transcript)
    if one.length is None or one.is_complete or one.length != two.length or one.keys != two.keys:
        return False
    if one.score != two.games[0].start or (one.on and two.on and one.on > two.on):
        return False
    broken_off = () if one.games[-1].winner is not None else one.games[-1].rolls
    again = bool(broken_off) and two.games[0].rolls[: len(broken_off)] == broken_off
    return again or one.score != (0, 0)


def _join(first: Found, second: Found) -> Found:
    one, two = first.transcript, second.transcript
    if one.keys != two.keys:
        one = one.turned()
    games = (*(game for game in one.games if game.winner is not None), *two.games)
    joined = replace(two, games=games, on=two.on or one.on, missing=one.missing)
    return Found(joined, (*first.files, *second.files), (*first.also, *second.also))


def identity(read: Transcript, game: Game) -> str:
    """What tells the match (or the game of a money session) that ends with this game from others: the same from whatever format,
    and from the last part of a match as from the whole."""
    sides = sorted(zip(read.keys, game.start, game.end, strict=True))
    text = json.dumps([read.length, sides, game.rolls[:TELLING_ROLLS]], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:40]
