"""Text transcripts, .mat and .txt: Jellyfish's format, as it and GNU Backgammon, eXtreme Gammon, Backgammon Galaxy, Backgammon
Studio and GamesGrid write it.

A file may begin with tags, `; [EventDate "2025.10.24"]`. `7 point match` begins a match, `Game 1` a game, then come the two
names with the score before the game (a column each), and the moves in the same columns. `Wins 2 points`, in the column of the
winner, ends a game: on a line of its own or in the place of a move.

The columns are not everywhere at the same place, and players of a tag are not always those of a column. So who won is told by
the column, and put right by what follows from it: the score with which the next game begins, or that a match is won by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from django.utils.translation import gettext as _

from matches.imports.transcripts.base import (
    LEFT,
    MOST_SCORE,
    RIGHT,
    BadTranscript,
    Game,
    Score,
    Side,
    Transcript,
    follows,
    read_date,
    roll,
    side,
)

LONGEST_LINE, LONGEST_SCORE = 2000, 400
"""Characters of a line, and of one that names the players with their scores."""
TAG = re.compile(r'\s*;\s*\[\s*(\w[^"\]]{0,60}?)\s*"(.*)"\s*\]')
BEGINS = re.compile(r"\s*(?:([0-9]{1,9})\s*[- ]\s*point\s+match|((?:unlimited|money)\s+(?:match|session|game)))\b", re.IGNORECASE)
GAME = re.compile(r"\s*Game\s+[0-9]{1,9}\s*$", re.IGNORECASE)
SCORES = re.compile(r"(?P<left>.*?)(?:^|\s):\s*(?P<a>[0-9]{1,5})(?P<gap>\s+)(?P<right>.*?)(?:^|\s):\s*(?P<b>[0-9]{1,5})\s*$")
MOVE = re.compile(r"\s*[0-9]{1,4}\)")
WINS = re.compile(r"\bWins\s+([0-9]{1,5})\s+points?\b(\s+and\s+the\s+match\b)?", re.IGNORECASE)
ROLL = re.compile(r"(?<![0-9/])([1-6])([1-6]):", re.ASCII)
LEFT_COLUMN = 5
"""Where the left column begins, about: after the numbers of the moves."""


@dataclass(slots=True)
class _Game:
    """A game while it is read. `won`: the column, the points, and whether the file says that the match was won by it."""

    start: Score
    right_column: int
    rolls: list[str] = field(default_factory=list)
    won: tuple[int, int, bool] | None = None


@dataclass(slots=True)
class _Match:
    """A match while it is read. `line` is that of the file which begins it."""

    length: int | None
    line: int
    sides: tuple[Side, Side] | None = None
    games: list[_Game] = field(default_factory=list)


def read_text(text: str, file: str) -> list[Transcript]:
    """The matches of a text file, in their order. Raises BadTranscript."""
    tags: dict[str, str] = {}
    matches: list[_Match] = []
    expects_score = False
    for number, line in enumerate(_lines(text), start=1):
        if expects_score and line.strip():
            _begin_game(matches[-1], line, number)
            expects_score = False
        elif begins := BEGINS.match(line):
            matches.append(_Match(int(begins[1] or 0) or None, number))
        elif GAME.match(line) and matches:
            expects_score = True
        elif matches and matches[-1].games:
            _read_moves(matches[-1].games[-1], line)
        elif tag := TAG.match(line):
            tags.setdefault(tag[1].casefold(), tag[2])
    if not matches:
        raise BadTranscript(_("There is no match in it: no line says “7 point match”, or to how many points it was played."))
    on = read_date(tags.get("eventdate", ""))
    return [_transcript(match, file, on) for match in matches]


def _lines(text: str) -> Iterator[str]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if len(line) > LONGEST_LINE:
            raise BadTranscript(
                _("Line %(line)d has more than %(most)d characters: this is no match file.")
                % {"line": number, "most": LONGEST_LINE}
            )
        yield line.expandtabs()


def _begin_game(match: _Match, line: str, number: int) -> None:
    found = SCORES.match(line) if len(line) <= LONGEST_SCORE else None
    if not found:
        raise BadTranscript(_("Line %(line)d should name both players with their scores.") % {"line": number})
    sides = side(found["left"]), side(found["right"])
    score = int(found["a"]), int(found["b"])
    if match.sides is None:
        match.sides = sides
    elif [each.name for each in sides] != [each.name for each in match.sides]:
        raise BadTranscript(_("Line %(line)d names other players than the first game.") % {"line": number})
    if max(score) > MOST_SCORE:
        raise BadTranscript(_("Line %(line)d has a score of more than %(most)d points.") % {"line": number, "most": MOST_SCORE})
    match.games.append(_Game(score, found.start("right")))


def _read_moves(game: _Game, line: str) -> None:
    if game.won is not None:
        return
    won = WINS.search(line)
    moves = line[: won.start()] if won else line
    game.rolls += [roll(*found.groups()) for found in ROLL.finditer(moves)]
    if won:
        number = MOVE.match(moves)
        # In the line of a move, whatever stands before it is the left player's.
        beside = bool(number and moves[number.end() :].strip())
        to_the_right = beside or won.start() > (LEFT_COLUMN + game.right_column) / 2
        game.won = RIGHT if to_the_right else LEFT, min(int(won[1]), MOST_SCORE), bool(won[2])


def _transcript(match: _Match, file: str, on: date | None) -> Transcript:
    if match.sides is None:
        raise BadTranscript(_("The match that begins on line %(line)d has no games.") % {"line": match.line})
    games = [_finished(match, place) for place in range(len(match.games))]
    try:
        # The scores of a money session begin anew in some files: it is a game at a time.
        missing = follows(games) if match.length else ()
    except ValueError as error:
        raise BadTranscript(
            _("Game %(number)s begins with fewer points than the game before it ended with: the file contradicts itself.")
            % {"number": error}
        ) from None
    read = Transcript(file, match.length, match.sides, tuple(games), on, missing)
    _check_end(match, read)
    return read


def _finished(match: _Match, place: int) -> Game:
    """The game with its winner: of the columns, or of the scores of the next game where these tell another."""
    game = match.games[place]
    after = match.games[place + 1] if place + 1 < len(match.games) else None
    winner, points = (game.won[0], game.won[1]) if game.won else (None, 0)
    gained = (after.start[LEFT] - game.start[LEFT], after.start[RIGHT] - game.start[RIGHT]) if after else (0, 0)
    if after is not None and min(gained) == 0 < max(gained) and points in (0, max(gained)):
        winner, points = (LEFT if gained[LEFT] else RIGHT), max(gained)
    elif after is None and match.length and game.won:
        won_by = [one for one in (LEFT, RIGHT) if game.start[one] + points >= match.length]
        if game.won[2] and len(won_by) == 1:
            winner = won_by[0]
    return Game(game.start, winner, points, tuple(game.rolls))


def _check_end(match: _Match, read: Transcript) -> None:
    if read.length is None:
        return
    over = [number for number, game in enumerate(read.games, start=1) if max(game.start) >= read.length]
    if over:
        raise BadTranscript(
            _("Game %(number)d begins when the match of %(length)d points is over: the file contradicts itself.")
            % {"number": over[0], "length": read.length}
        )
    won = match.games[-1].won
    if won and won[2] and not read.is_complete:
        values = {"left": read.score[LEFT], "right": read.score[RIGHT], "length": read.length}
        raise BadTranscript(
            _("It says that the match of %(length)d points was won, but the score is %(left)d–%(right)d.") % values
        )
