"""What readers see of revisions: the numbers as published beside those of now, when and why."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from matches.completion import complete_match, complete_matches
from matches.corrections import Correction, correct
from matches.entries import Entry
from matches.models import Match, Revision
from matches.sheet import sheet
from players.formatting import format_change, format_rating
from players.models import Player, Pool, PublishedChange, RatingChange
from players.services import create_players
from players.systems.base import Result
from tests.building import NOW, at, complete, people, pool_of, won
from tests.matches.test_corrections import a_season, edited, fresh
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db

NO_MARKS = re.compile(r" \(provisional[^)]*\)| rounded\b")
"""What is written beside a number."""


@pytest.fixture
def season() -> tuple[Pool, list[Player], list[Match]]:
    pool, players = pool_of("fibs"), people(4)
    return pool, players, complete_matches(pool, a_season(players, 12), now=NOW)


def text(client: Client, match: Match) -> str:
    return text_of(client.get(match.get_absolute_url()))


def published(match: Match) -> dict[int, RatingChange]:
    return {line.player_id: line for line in RatingChange.objects.filter(match=match)}


def list_of(client: Client, player: Player, pool: Pool) -> list[str]:
    return rows_of(client.get(f"/players/{player.slug}/{pool.slug}/"), "changes")


def test_an_edited_match_shows_both_numbers_the_reason_and_what_was_changed(client: Client, season: Any) -> None:
    pool, _, matches = season
    match, old = matches[4], published(matches[4])
    before = text(client, match)
    assert "published" not in before and "revisions" not in client.get(match.get_absolute_url()).content.decode()
    correct(pool, [edited(match, length=17)], reason="The card says 17", now=NOW)
    page = text(client, match)
    assert "Result corrected, 1 Jun 2026: “The card says 17” " in page
    assert f"Match length: {match.length} → 17" in page
    for line in RatingChange.objects.filter(match=match):
        was = old[line.player_id]
        for name, write in (("before", format_rating), ("change", format_change), ("after", format_rating)):
            numbers = [write(getattr(each, name), 2) for each in (was, line)]
            assert " ".join([name.capitalize(), *numbers]) in NO_MARKS.sub("", page)
        assert f"Experience {was.experience_before} → {was.experience_after} {line.experience_before} →" in page
    assert page.count("As published As revised") == 2
    assert page.count("Revised 1 Jun 2026: result corrected. Reason: “The card says 17”") == 2


def test_a_later_match_names_the_match_that_was_corrected(client: Client, season: Any) -> None:
    pool, _, matches = season
    correct(pool, [Correction(matches[4], void=True)], reason="annulled", now=NOW)
    mark = PublishedChange.objects.exclude(match=matches[4]).order_by("-match_id").first()
    assert mark is not None
    line = RatingChange.objects.get(match=mark.match, player=mark.player)
    page = client.get(mark.match.get_absolute_url())
    assert f"Match {matches[4].pk}: voided, 1 Jun 2026: “annulled”" in text_of(page)
    assert f'href="{matches[4].get_absolute_url()}"' in page.content.decode()
    read = NO_MARKS.sub("", text_of(page))
    assert f"Change {format_change(mark.change, 2)} {format_change(line.change, 2)} After " in read
    assert f"After {format_rating(mark.after, 2)} {format_rating(line.after, 2)} " in read


def test_a_voided_match_shows_what_was_published_and_why_it_is_void(client: Client, season: Any) -> None:
    pool, _, matches = season
    old = published(matches[4])
    correct(pool, [Correction(matches[4], void=True)], reason="annulled by the jury", now=NOW)
    page = text(client, matches[4])
    assert "This match was voided: it moves no rating." in page and "Voided, 1 Jun 2026: “annulled by the jury”" in page
    for line in old.values():
        numbers = format_rating(line.before, 2), format_change(line.change, 2), format_rating(line.after, 2)
        assert "Before {} – Change {} – After {} – ".format(*numbers) in NO_MARKS.sub("", page)
    for line in old.values():
        [row] = [row for row in list_of(client, line.player, pool) if "Voided" in row]
        assert f"Revised: published as {format_change(line.change, 2)}, to {format_rating(line.after, 2)}." in row


def test_taken_back_it_is_as_published_and_says_what_happened(client: Client, season: Any) -> None:
    pool, players, matches = season
    before = [list_of(client, player, pool) for player in players]
    correct(pool, [Correction(matches[4], void=True)], reason="annulled", now=NOW)
    assert [list_of(client, player, pool) for player in players] != before
    correct(pool, [Correction(fresh(matches[4]), void=False)], reason="played after all", now=NOW)
    assert [list_of(client, player, pool) for player in players] == before
    page = text(client, matches[4])
    assert "published" not in page
    assert page.index("Void taken back, 1 Jun 2026: “played after all”") < page.index("Voided, 1 Jun 2026: “annulled”")


def test_the_list_marks_the_lines_whose_shown_numbers_differ(client: Client, season: Any) -> None:
    pool, players, matches = season
    correct(pool, [edited(matches[0], length=17)], reason="card", now=NOW)
    for player in players:
        rows = list_of(client, player, pool)
        marks = {mark.match_id: mark for mark in PublishedChange.objects.filter(player=player)}
        lines = {line.match_id: line for line in RatingChange.objects.filter(player=player)}
        marked = 0
        for row, match_id in zip(rows, sorted(lines, reverse=True), strict=True):
            mark, line = marks.get(match_id), lines[match_id]
            names = ("before", "change", "after")
            other = mark and any(f"{getattr(mark, name):.2f}" != f"{getattr(line, name):.2f}" for name in names)
            assert ("Revised: published as" in row) == bool(other), row
            marked += bool(other)
        assert marked


def test_a_revision_below_the_shown_digits_says_so(client: Client, season: Any) -> None:
    pool, _, matches = season
    Pool.objects.filter(pk=pool.pk).update(shown_decimals=0)
    late = won(*create_players(["New 1", "New 2"]), at(0.5), length=1)
    complete_match(pool, late, now=NOW)
    line = RatingChange.objects.filter(match=matches[11]).first()
    assert line is not None
    revision = Revision.objects.create(pool=pool, kind="late", made_at=NOW)
    fields = {name: getattr(line, name) for name in ("before", "change", "after", "experience_before", "experience_after")}
    fields["before"] += 1e-9
    PublishedChange.objects.create(
        rating=line.rating, match=line.match, player=line.player, revision=revision, first_revision=revision, **fields
    )
    page = text(client, matches[11])
    assert "Revised by less than the digits that are shown." in page and "published as" not in page
    assert not any("Revised" in row for row in list_of(client, line.player, pool))


def test_a_player_who_did_not_play_after_all_is_named(client: Client, season: Any) -> None:
    pool, _, matches = season
    [new] = create_players(["Nora"])
    old = published(matches[4])
    [one, two] = matches[4].participants.select_related("player").order_by("seat")
    correct(pool, [edited(matches[4], players=(one.player, new))], reason="it was Nora", now=NOW)
    page = text(client, matches[4])
    line = old[two.player_id]
    assert f"Players: {one.player} and {two.player} → {one.player} and Nora" in page
    assert f"{two.player.name}: It was published as {format_rating(line.before, 2)}" in page


def test_a_match_entered_late_says_so_on_its_page_and_on_the_later_ones(client: Client, season: Any) -> None:
    pool, players, _ = season
    late = complete_match(pool, won(players[0], players[1], at(2.5)), now=NOW)
    assert "Entered late, 1 Jun 2026" in text(client, late)
    mark = PublishedChange.objects.first()
    assert mark is not None and mark.match_id != late.pk
    assert f"Match {late.pk}" in text(client, mark.match) and "entered late, 1 Jun 2026" in text(client, mark.match)


def test_the_first_and_the_last_revision_are_named(client: Client, season: Any) -> None:
    pool, _, matches = season
    correct(pool, [edited(matches[0], length=17)], reason="first", now=NOW)
    mark = PublishedChange.objects.order_by("-match_id").first()
    assert mark is not None
    correct(pool, [edited(fresh(matches[0]), length=19)], reason="second", now=NOW)
    correct(pool, [edited(fresh(matches[0]), length=15)], reason="third", now=NOW)
    page = text(client, mark.match)
    assert page.index("“third”") < page.index("“first”") and "“second”" not in page
    # As it was published, not as it was revised first.
    assert f"After {format_rating(mark.after, 2)} " in NO_MARKS.sub("", page)
    both = text(client, matches[0])
    assert both.index("“third”") < both.index("“second”") < both.index("“first”")


def test_several_matches_are_counted(client: Client, season: Any) -> None:
    pool, _, matches = season
    correct(pool, [Correction(match, void=True) for match in matches[2:7]], reason="a cheat", now=NOW)
    mark = PublishedChange.objects.exclude(match__in=matches[2:7]).first()
    assert mark is not None
    assert f"Match {matches[2].pk} and 4 others" in text(client, mark.match)


def test_whist_shows_places_as_they_were(client: Client) -> None:
    pool, players = pool_of("freewhist"), people(4)
    match = complete_match(pool, Entry(players=players, result=Result(places=(1, 2, 3, 4), deals=16), ended_at=at(0)), now=NOW)
    correct(pool, [edited(match, places=(2, 1, 3, 4))], reason="swapped", now=NOW)
    page = text(client, match)
    assert "1. Player 1, 2. Player 2, 3. Player 3, 4. Player 4 → 1. Player 2, 2. Player 1, 3. Player 3, 4. Player 4" in page


def test_reasons_and_names_are_escaped_and_nobody_reads_who_did_it(client: Client) -> None:
    pool, players = pool_of("fibs"), create_players(["<i>Vera</i>", "Didrik"])
    [match] = complete(pool, won(*players, at(0)))
    made_by = User.objects.create(username="secretary")
    correct(pool, [edited(match, scores=(0.0, 1.0))], reason="<script>alert(1)</script>", made_by=made_by, now=NOW)
    page = client.get(match.get_absolute_url()).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and "<i>Vera" not in page
    assert "secretary" not in page


def test_days_are_the_readers(season: Any) -> None:
    pool, players, matches = season
    correct(pool, [edited(matches[4], length=17)], reason="card", now=NOW.replace(hour=23))
    reader = login_of(players[0], time_zone="Pacific/Auckland")
    assert "2 Jun 2026" in text(reader, matches[4])


def test_the_number_of_queries_does_not_grow_with_the_revisions(client: Client, season: Any) -> None:
    pool, players, matches = season
    plain = queries_of(client, matches[11].get_absolute_url())
    correct(pool, [edited(matches[4], length=17, players=players[2:4])], reason="card", now=NOW)
    pages = [match.get_absolute_url() for match in (matches[4], matches[11])] + [f"/players/{players[3].slug}/{pool.slug}/"]
    few = [queries_of(client, page) for page in pages]
    for number in range(5, 11):
        correct(pool, [Correction(matches[number], void=True)], reason="cheat", now=NOW)
        correct(
            pool, [edited(fresh(matches[4]), length=number, players=players[number % 2 : number % 2 + 2])], reason="x", now=NOW
        )
    assert [queries_of(client, page) for page in pages] == few
    assert few[0] <= plain + 1 <= 8 and sheet(matches[4].pk, None).notes
