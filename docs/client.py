"""A game server's client: posts results, and follows what becomes of the ratings. The standard library is enough.

RATING_ROOM=https://ratings.example RATING_KEY=rr_… python docs/client.py results.json
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

SITE, KEY = os.environ.get("RATING_ROOM", "http://127.0.0.1:8000"), os.environ["RATING_KEY"]


def ask(path, body=None):
    """The answer to a request. The same again does no harm, so it is sent until the site has answered."""
    headers = {"Authorization": f"Api-Key {KEY}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{SITE}/api/v1/{path}", data, headers), timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503, 504):
                raise SystemExit(f"{error.code}: {error.read().decode()}") from None
            time.sleep(int(error.headers.get("Retry-After", 5)))
        except (urllib.error.URLError, TimeoutError):
            time.sleep(5)


if len(sys.argv) > 1:
    batch = ask("matches/batch/", json.loads(Path(sys.argv[1]).read_text()) | {"each": True})
    for row in batch["rows"]:
        seats = row["result"]["players"] if row["result"] else []
        moved = [(seat["player"]["name"], seat["change"] and seat["change"]["shown"]) for seat in seats]
        print(row["external_id"], row["error"]["detail"] if row["error"] else moved)
position = 0
while True:
    feed = ask(f"feed/?after={position}")
    position = feed["next"]
    for event in feed["events"]:
        print(event["position"], event["type"], event["pool"])
    if not feed["more"]:
        time.sleep(float(os.environ.get("EVERY", 5)))
