"""Match files: transcripts of backgammon matches, as the programs of backgammon write them. No database here.

`reading` takes files and zips apart into transcripts, `text` and `sgf` read one of them, `gathering` makes matches of them.
"""
