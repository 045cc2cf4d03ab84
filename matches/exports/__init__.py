"""What a pool holds, as files: ratings, history, matches and openings as CSV and JSON lines, and records that anybody can check.

`tables` reads, `writing` writes the lines, `records` makes the file that `players.systems.check` takes. All of them yield as they
read: a million rows take no more memory than a thousand.
"""
