"""The client of the documentation, against a server that runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from matches.models import Match
from tests.serving import key_of, result

CLIENT = Path(__file__).resolve().parents[2] / "docs" / "client.py"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_it_posts_results_and_follows_the_feed(live_server: Any, tmp_path: Path) -> None:
    secret = key_of(may_create_players=True)
    sent = tmp_path / "results.json"
    sent.write_text(json.dumps({"pool": "fibs", "matches": [result("g1"), result("g2", length=0)]}))
    environment = {**os.environ, "RATING_ROOM": live_server.url, "RATING_KEY": secret, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([sys.executable, CLIENT, sent], env=environment, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        lines = [client.stdout.readline() for _ in range(3)]
        client.kill()
    assert "g1 [('Vera', '+22.36'), ('Didrik', '−22.36')]" in lines[0]
    assert "g2 Match length: must be from 1 to 99." in lines[1]
    assert "match.rated fibs" in lines[2]
    assert Match.objects.count() == 1
    assert len([line for line in CLIENT.read_text().splitlines() if line.strip()]) <= 40
