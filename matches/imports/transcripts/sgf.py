"""GNU Backgammon's .sgf: a collection of game trees, one for each game, with GM[6].

MI holds the match length (0: a money session) and the score before the game, RE the result as in `B+2R`, PW and PB the names.
White is the player whom the same program's text files have on the left. The variations of an analysis are passed over.
"""

from __future__ import annotations

import re
from datetime import date

from django.utils.translation import gettext as _
from sgfmill import sgf_grammar

from matches.imports.transcripts.base import (
    LEFT,
    MOST_SCORE,
    RIGHT,
    BadTranscript,
    Game,
    Side,
    Transcript,
    follows,
    read_date,
    roll,
)

MOST_TOKENS = 200_000
"""Brackets and nodes of a file: a long match with its analysis has a tenth."""
RESULT = re.compile(r"\s*([BW])\+([0-9]{1,4})")
MATCH_INFO = re.compile(r"(length|game|ws|bs):([0-9]{1,4})")
ROLL = re.compile(rb"([1-6])([1-6])")
ESCAPED = re.compile(r"\\(?:\r\n|\n\r|\r|\n)|\\(.)", re.DOTALL)

Node = dict[str, list[bytes]]


def looks_like_sgf(data: bytes) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?\s*\(\s*;", data[:1000]) is not None


def read_sgf(data: bytes, file: str) -> list[Transcript]:
    """The matches of a file, in their order: a game that is the first of its match begins another one. Raises BadTranscript."""
    if sum(data.count(token) for token in (b";", b"(", b"[")) > MOST_TOKENS:
        raise BadTranscript(_("It has too many nodes to be a match."))
    try:
        trees = sgf_grammar.parse_sgf_collection(data)
    except ValueError as error:
        raise BadTranscript(_("It is no SGF file that can be read: %(error)s.") % {"error": error}) from None
    matches: list[list[_Tree]] = []
    for tree in trees:
        read = _Tree(list(sgf_grammar.main_sequence_iter(tree)))
        if not matches or read.begins_another(matches[-1][-1]):
            matches.append([])
        matches[-1].append(read)
    return [_transcript(games, file) for games in matches]


class _Tree:
    """One game as its tree says it."""

    def __init__(self, nodes: list[Node]) -> None:
        root = nodes[0]
        if [value.strip() for value in root.get("GM", [])] != [b"6"]:
            raise BadTranscript(_("Its game is not backgammon (GM[6])."))
        self.encoding = _text(root, "CA", "ascii") or "latin-1"
        info = {}
        for value in root.get("MI", []):
            if found := MATCH_INFO.fullmatch(value.decode("ascii", "replace").strip()):
                info[found[1]] = int(found[2])
        if "MI" in root and "length" not in info:
            raise BadTranscript(_("It does not say to how many points the match was played (MI[length:…])."))
        self.length = info.get("length", 0) or None
        self.number = info.get("game", 0)
        self.sides = Side(_text(root, "PW", self.encoding)), Side(_text(root, "PB", self.encoding))
        self.on: date | None = read_date(_text(root, "DT", self.encoding))
        start = info.get("ws", 0), info.get("bs", 0)
        result = RESULT.match(_text(root, "RE", "ascii"))
        winner = None if result is None else (LEFT if result[1] == "W" else RIGHT)
        points = int(result[2]) if result else 0
        rolls = [found for node in nodes[1:] for name in "BW" for found in map(ROLL.match, node.get(name, ())) if found]
        self.game = Game(start, winner, points, tuple(roll(found[1].decode(), found[2].decode()) for found in rolls))

    def begins_another(self, before: _Tree) -> bool:
        return (
            self.length != before.length
            or [side.name for side in self.sides] != [side.name for side in before.sides]
            or self.number <= before.number
        )


def _text(node: Node, name: str, encoding: str) -> str:
    """A property as text, in the encoding that the file names; one that nobody knows is taken for latin-1."""
    raw = node.get(name, [b""])[0]
    try:
        text = raw.decode(encoding)
    except (LookupError, ValueError):
        text = raw.decode("latin-1")
    return " ".join(ESCAPED.sub(lambda found: found[1] or "", text).split())


def _transcript(trees: list[_Tree], file: str) -> Transcript:
    first = trees[0]
    games = tuple(tree.game for tree in trees)
    if any(max(*game.start, game.points) > MOST_SCORE for game in games):
        raise BadTranscript(_("It has a score of more than %(most)d points.") % {"most": MOST_SCORE})
    try:
        missing = follows(games) if first.length else ()
    except ValueError as error:
        raise BadTranscript(
            _("Game %(number)s begins with fewer points than the game before it ended with: the file contradicts itself.")
            % {"number": error}
        ) from None
    on = next((tree.on for tree in trees if tree.on is not None), None)
    if first.length and (over := [place for place, game in enumerate(games, 1) if max(game.start) >= first.length]):
        raise BadTranscript(
            _("Game %(number)d begins when the match of %(length)d points is over: the file contradicts itself.")
            % {"number": over[0], "length": first.length}
        )
    return Transcript(file, first.length, first.sides, games, on, missing)
