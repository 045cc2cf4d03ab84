"""verify_ratings finds every number that a clean replay does not give."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from matches.completion import complete_matches
from players.models import Pool, RatingChange
from tests.building import NOW, at, people, pool_of, won

pytestmark = pytest.mark.django_db


@pytest.fixture
def played() -> Pool:
    pool, players = pool_of("online-backgammon"), people(4)
    entries = [won(players[n % 4], players[(n + 1) % 4], at(n), length=n % 7 + 1, kind="matchmade") for n in range(20)]
    complete_matches(pool, entries, now=NOW)
    return pool


def run(*arguments: str) -> tuple[int, str]:
    """The exit status and all that verify_ratings says."""
    out, err = StringIO(), StringIO()
    try:
        call_command("verify_ratings", *arguments, stdout=out, stderr=err)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue() + err.getvalue()
    return 0, out.getvalue() + err.getvalue()


def test_what_the_site_wrote_agrees(played: Pool) -> None:
    status, said = run("--pool", played.slug)
    assert status == 0 and "20 counted matches agree" in said
    assert run()[0] == 0


@pytest.mark.parametrize(
    ("table", "column", "named"),
    [
        ("players_ratingchange", "before", "before"),
        ("players_ratingchange", "change", "change"),
        ("players_ratingchange", "after", "after"),
        ("players_ratingchange", "score", None),
        ("players_ratingchange", "expected", "expected"),
        ("players_rating", "value", "value"),
        ("players_rating", "standing", "standing"),
        ("players_rating", "peak", "peak"),
    ],
)
def test_a_change_of_a_billionth_is_found_and_named(played: Pool, table: str, column: str, named: str | None) -> None:
    sign = "-" if column == "score" else "+"
    with connection.cursor() as cursor:
        where = "score = 1" if column == "score" else f"id = (SELECT MAX(id) FROM {table})"
        cursor.execute(f'UPDATE {table} SET "{column}" = "{column}" {sign} 1e-9 WHERE {where}')
    status, said = run()
    assert status == 1 and (named or column) in said and "Player" in said


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("players_ratingchange", "experience_after"),
        ("players_ratingchange", "sequence"),
        ("players_rating", "experience"),
        ("players_rating", "matches"),
        ("players_rating", "rank_points"),
        ("players_rating", "last_sequence"),
    ],
)
def test_a_whole_number_off_by_one_is_found_and_named(played: Pool, table: str, column: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = {column} + 1 WHERE id = (SELECT MAX(id) FROM {table})")
    status, said = run()
    assert status == 1 and column in said


def test_experience_off_by_a_billionth_is_found_where_the_database_keeps_it(played: Pool) -> None:
    """SQLite stores a fraction in a whole-number column; PostgreSQL rounds it away, and nothing has changed."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE players_rating SET experience = experience + 1e-9 WHERE id = (SELECT MAX(id) FROM players_rating)")
    status, said = run()
    if connection.vendor == "sqlite":
        assert status == 1 and "experience" in said
    else:
        assert status == 0


def test_a_missing_line_and_one_too_many_are_found(played: Pool) -> None:
    line = RatingChange.objects.order_by("-id").first()
    assert line is not None
    line.delete()
    status, said = run()
    assert status == 1 and "history" in said
    line.pk = None
    line.save()
    assert run()[0] == 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE matches_match SET status = 'voided' WHERE id = %s", [line.match_id])
    assert run()[0] == 1


def test_an_unknown_pool_is_an_error() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("verify_ratings", "--pool", "nowhere")
