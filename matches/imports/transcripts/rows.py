"""Match files as rows of an import: a finished match is one, and so is each finished game of a money session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, time

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from matches.imports.csv_rows import DUEL, Defaults, Row, Rows, check_options, read_name
from matches.imports.csv_table import BadFile
from matches.imports.report import RefusedRow
from matches.imports.transcripts.base import LEFT, RIGHT, Game, Transcript
from matches.imports.transcripts.gathering import Found, gather, identity
from matches.imports.transcripts.reading import NamedFile, read_files
from players.names import name_key
from players.systems.base import RatingSystem, Refused, Result

SOURCE = "match files"
"""The source of all matches from match files: a match is the same under whatever name its file comes."""


def read_match_files(files: Sequence[NamedFile], system: RatingSystem, defaults: Defaults) -> Rows:
    """The finished matches in match files, for a pool of this system. What is not finished stands in `unfinished`.

    Raises BadFile.
    """
    if "length" not in system.uses:
        raise BadFile(_("Match files are of backgammon, which is not what is played in this pool."))
    check_options(system, defaults)
    reading = read_files(files)
    rows = Rows(DUEL, has_sequence=False)
    rows.notes += [_("%(file)s is no match file by its name: passed over.") % {"file": name} for name in reading.passed_over]
    places: Counter[object] = Counter()
    for found in gather(reading.transcripts):
        _tell(found, rows)
        if found.transcript.on is None and defaults.on is not None and _ends(found.transcript):
            said = {"file": ", ".join(found.files), "date": date_format(defaults.on)}
            rows.notes.append(_("%(file)s has no date: taken as of %(date)s.") % said)
        for game in _ends(found.transcript):
            line = len(rows.files) + 1
            rows.files[line] = ", ".join(found.files)
            places[found.transcript.on] += 1
            try:
                rows.taken.append(_row(line, found.transcript, game, places[found.transcript.on], system, defaults))
            except Refused as refused:
                rows.refuse(line, refused, timed=False)
    rows.refused += [RefusedRow(0, "", message, file) for file, message in reading.troubles]
    if not (rows.taken or rows.refused or rows.unfinished):
        raise BadFile(_("There is no match file among these."))
    return rows


def _ends(read: Transcript) -> list[Game]:
    """The games that end something which is rated."""
    if read.length is None:
        return [game for game in read.games if game.winner is not None]
    return [read.games[-1]] if read.is_complete else []


def _tell(found: Found, rows: Rows) -> None:
    """Say what the reader should know: what is not finished, what was put together, what is missing."""
    read, file = found.transcript, ", ".join(found.files)
    left, right = read.score
    score = {"file": file, "left": left, "right": right, "length": read.length}
    if read.length is not None and not read.is_complete:
        rows.unfinished.append(
            _("%(file)s: not finished, it breaks off at %(left)d–%(right)d in a match to %(length)d. It is not rated.") % score
        )
    if read.length is None and read.games[-1].winner is None:
        rows.unfinished.append(_("%(file)s: the last game of the session is not finished. It is not rated.") % score)
    if len(found.files) > 1:
        rows.notes.append(_("%(files)s: one match, which was broken off and went on.") % {"files": file})
    if found.also:
        rows.notes.append(
            _("%(file)s holds the same match as %(also)s: taken once.") % {"file": file, "also": ", ".join(found.also)}
        )
    first = read.games[0].start
    if read.length is not None and first != (0, 0):
        rows.notes.append(
            _("%(file)s begins at %(left)d–%(right)d: the games before are not in it.")
            % {"file": file, "left": first[LEFT], "right": first[RIGHT]}
        )
    if read.missing:
        numbers = ", ".join(map(str, read.missing))
        rows.notes.append(_("%(file)s leaves out games before number %(numbers)s.") % {"file": file, "numbers": numbers})


def _row(line: int, read: Transcript, game: Game, place: int, system: RatingSystem, defaults: Defaults) -> Row:
    """Raises Refused."""
    on = read.on or defaults.on
    if on is None:
        raise Refused("date", "no_date_in_file")
    winner = game.winner
    assert winner is not None
    # The winner sits first, on whatever side the file has him.
    seats = (winner, RIGHT if winner == LEFT else LEFT)
    names = tuple(read_name(column, read.sides[seat].name) for column, seat in zip(DUEL, seats, strict=True))
    uses = system.uses
    result = Result(
        scores=(1.0, 0.0),
        length=read.length,
        points=game.points if read.length is None and "points" in uses else None,
        stake=defaults.stake,
        real_money=defaults.real_money,
        kind=defaults.kind,
    )
    identified = identity(read, game)
    return Row(
        line=line,
        names=names,
        keys=tuple(name_key(name) for name in names),
        result=result,
        ended_at=datetime.combine(on, time(), UTC),
        timed=False,
        sequence=place,
        external_id=identified,
        content=identified,
        has_own_id=True,
    )
