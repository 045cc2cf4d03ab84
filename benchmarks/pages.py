"""The pages of a player with 10,000 matches among 100,000 players, against a page of 50 rows by the same template engine."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from benchmarks.measuring import Table, in_turns
from benchmarks.pool import first_rating
from benchmarks.site import empty, insert, new_players
from benchmarks.world import LENGTHS, Game

PLAYERS, MATCHES, ROUNDS = 100_000, 10_000, 41
NEEDS_POSTGRES = True
QUICK = {"players": 5_000, "matches": 1_000, "rounds": 11}
HERO = 1
YEARS = 6
FLOOR, RATING, ALONE = "50 rows, one query", "rating", "rating, its rank by SQL"
ROWS = """{% extends "base.html" %}{% load ratings %}{% block main %}<table>{% for line in lines %}<tr>
<td><time datetime="{{ line.ended_at|date:'c' }}">{{ line.ended_at|date }}</time></td>
<th scope="row"><a href="{% url 'match' line.match_id %}">{{ line.match_id|number }}</a></th>
<td>{{ line.before|rating:pool }}</td><td>{{ line.change|change:pool }}</td><td>{{ line.after|rating:pool }}</td>
</tr>{% endfor %}</table>{% endblock %}"""


def run(players: int = PLAYERS, matches: int = MATCHES, rounds: int = ROUNDS) -> Table:
    from tests import servers

    with servers.redis() as redis:
        return measured(redis, players, matches, rounds)


def measured(redis: str, players: int, matches: int, rounds: int) -> Table:
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, override_settings

    from players import rankings
    from players.models import Player, Pool

    fill(players, matches)
    first_rating()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    client, own = Client(headers={"host": "localhost"}), Player.objects.get(pk=HERO).get_absolute_url()

    def page(address: str) -> Callable[[], Any]:
        def get() -> Any:
            answer = client.get(address)
            assert answer.status_code == 200, answer
            return answer

        return get

    addresses = {
        FLOOR: "/fifty/",
        RATING: f"{own}fibs/",
        "rating, the whole time": f"{own}fibs/?range=all",
        "rating, match by match": f"{own}fibs/?range=all&by=matches",
        "points that a script reads out": f"{own}fibs/points/?range=all",
        "history as a table": f"{own}fibs/history/",
        "matches": f"{own}matches/",
        "matches, asked for": f"{own}matches/?pool=fibs&opponent=player&result=won&length=5",
        "statistics": f"{own}statistics/fibs/",
        "two players": f"{own}vs/player-2/",
    }

    def without_redis(job: Callable[[], Any]) -> Callable[[], Any]:
        def get() -> Any:
            with override_settings(REDIS_URL=""):
                return job()

        return get

    jobs = {name: page(address) for name, address in addresses.items()}
    jobs[ALONE] = without_redis(jobs[RATING])
    queries, size = {}, {}
    # The names of collected files are looked up once and kept: none are collected here, so none are looked up.
    plain = {**settings.STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    site = {"STORAGES": plain, "ROOT_URLCONF": "benchmarks.pages", "ALLOWED_HOSTS": ["localhost"], "REDIS_URL": redis}
    with override_settings(**site):
        rankings.rebuild(Pool.objects.get(slug="fibs"))
        for name, job in jobs.items():
            job()
            with CaptureQueriesContext(connection) as found:
                answer = job()
            queries[name], size[name] = len(found), len(answer.content) / 1024
        timed = in_turns(jobs, rounds)
    table = Table(("Page", "ms", "of 50 rows", "target", "queries", "KiB"))
    for name in jobs:
        target = "at most 5" if name == RATING else ""
        cells = f"{timed.median(name) * 1000:.1f}", f"{timed.ratio(name, FLOOR):.1f}", target
        table.lines.append((name, *cells, str(queries[name]), f"{size[name]:.0f}"))
    table.notes.append(
        f"Everything from the request to the answer, without the network: {players:,} players, one of them with {matches:,} "
        f"matches in {YEARS} years; median of {rounds} rounds. The page of 50 rows has the site's frame. Ranks come from Redis."
    )
    return table


def fifty(request: Any) -> Any:
    """The page that the others are compared with."""
    from django.http import HttpResponse

    from players.models import RatingChange

    template, pool = _fixed()
    lines = RatingChange.objects.filter(rating__pool=pool.pk).order_by("-pk")[:50]
    return HttpResponse(template.render({"lines": lines, "pool": pool}, request))


@cache
def _fixed() -> tuple[Any, Any]:
    from django.template import engines

    from players.models import Pool

    return engines["django"].from_string(ROWS), Pool.objects.get(slug="fibs")


def __getattr__(name: str) -> Any:
    """As a list of addresses: the site's, and that of `fifty`. Django is set up by then."""
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.urls import path

    from ratings_site import urls

    return [*urls.urlpatterns, path("fifty/", fifty)]


def fill(players: int, matches: int) -> None:
    """Completed matches: every player has one, and one player very many, in the pool's order of time."""
    from django.db import connection

    from matches.models import Match, Participant
    from players.models import Pool

    empty()
    new_players(players)
    games = sorted(played(players, matches), key=lambda game: game.ended_at)
    pool_id = Pool.objects.get(slug="fibs").pk
    rows = (
        (number, game.length, game.ended_at, game.ended_at, uuid.UUID(int=number)) for number, game in enumerate(games, start=1)
    )
    names = ("id", "length", "ended_at", "completed_at", "entry_token")
    insert(Match, names, rows, len(games), pool_id=pool_id, status=Match.Status.COMPLETED)
    seats = (
        seat
        for number, game in enumerate(games, start=1)
        for seat in ((number, game.one, 1, float(game.first_won)), (number, game.two, 2, 1.0 - game.first_won))
    )
    insert(Participant, ("match_id", "player_id", "seat", "score"), seats, 2 * len(games))
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('matches_match', 'id'), %s)", [len(games)])


def played(players: int, matches: int) -> Iterator[Game]:
    dice, now = random.Random(1), datetime.now(UTC)

    def game(one: int, two: int) -> Game:
        ended_at = now - timedelta(minutes=dice.randrange(60, YEARS * 365 * 24 * 60))
        return Game(one, two, dice.choice(LENGTHS), dice.random() < 0.5, ended_at)

    for number in range(2, players, 2):
        yield game(number, number + 1)
    for _ in range(matches):
        yield game(HERO, dice.randrange(2, 2_000))
