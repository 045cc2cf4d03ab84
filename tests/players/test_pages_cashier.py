"""The cashier's window and the public page of a player: the right numbers, in the right words, to the right reader."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.utils import timezone

from matches.completion import Entry, complete_matches
from matches.models import Match
from players import ledger
from players.models import Player, Pool, Rating
from players.pages.window import Window
from players.services import create_player
from players.systems.base import Result
from tests.building import complete, people, pool_of, won
from tests.pages import login_of, queries_of, rows_of, text_of

pytestmark = pytest.mark.django_db

CROWNS: dict[str, Any] = {"stake": Decimal(10), "real_money": True, "kind": "table"}


def ago(**time: float) -> datetime:
    return timezone.now() - timedelta(**time)


def play(pool: Pool, *entries: Any) -> list[Match]:
    return complete(pool, *entries, now=timezone.now())


def rated(player: Player, pool: Pool, **values: Any) -> Rating:
    """The player's rating, with values set that would take many matches."""
    Rating.objects.filter(player=player, pool=pool).update(**values)
    return Rating.objects.get(player=player, pool=pool)


# --- Who may see what ---


def test_a_stranger_is_sent_to_the_login_and_comes_back(client: Client) -> None:
    response = client.get("/cashier/fibs/")
    assert response.status_code == 302 and response["Location"] == "/accounts/login/?next=/cashier/fibs/"
    get_user_model().objects.create_user("vera", password="secret-enough")
    response = client.post("/accounts/login/", {"login": "vera", "password": "secret-enough"})
    assert response["Location"] == "/cashier/"


def test_a_login_without_a_player_is_told_how_to_get_one(client: Client) -> None:
    client.force_login(get_user_model().objects.create_user("newcomer"))
    page = client.get("/cashier/")
    assert "Your login has no player yet. Begin as a new one, or say whom" in text_of(page)
    for response in (page, client.get("/lobby/fibs/")):
        assert 'href="/accounts/player/"' in response.content.decode()
    client.post("/accounts/player/", {"begin": "", "new-name": "Newcomer"})
    assert "Newcomer" in text_of(client.get("/cashier/"))


def test_the_cashier_shows_the_reader_and_nobody_else() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=1)))
    reader = login_of(vera)
    for address in ("/cashier/", "/cashier/fibs/", f"/cashier/fibs/?player={didrik.slug}", f"/cashier/fibs/?player={didrik.pk}"):
        page = reader.get(address).content.decode()
        assert "<h1><bdi>Player 1</bdi></h1>" in page and "Won against Player 2" in page
    assert reader.get(f"/cashier/{didrik.slug}/").status_code == 404


def test_the_public_page_is_the_same_for_everybody(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=1)))
    page = text_of(client.get("/players/player-1/fibs/"))
    assert "Player 1 player" in page and "1522.36" in page and "Won against Player 2, match to 5" in page
    assert "cashier’s window" not in page
    assert "your cashier’s window" in text_of(login_of(vera).get("/players/player-1/fibs/"))


def test_a_name_is_text_and_nothing_else(client: Client) -> None:
    player = create_player("<script>alert(1)</script>")
    page = client.get(player.get_absolute_url()).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    "address",
    ["/players/nobody/", "/players/%00/", "/players/player-1/none/", "/players/player-1/fibs/history/?page=2", "/cashier/none/"],
)
def test_what_is_not_there_is_not_found(address: str) -> None:
    [vera] = people(1)
    assert login_of(vera).get(address).status_code == 404


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=x", "page=²", "page=1.5", "range=", "range=century", "page=&range=all", "by=luck"]
)
def test_other_queries_show_the_first_page_and_the_usual_range(query: str, client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=1)))
    for address in ("/players/player-1/fibs/", "/players/player-1/fibs/history/", "/players/player-1/fibs/points/"):
        assert client.get(f"{address}?{query}").status_code == 200


# --- The rating ---


def test_the_rating_comes_first_and_what_changed_last_stands_under_it(client: Client) -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    play(pool, won(vera, didrik, ago(days=40), **CROWNS), won(didrik, vera, ago(minutes=2), length=7, **CROWNS))
    text = text_of(client.get("/players/player-1/crowns-cup/"))
    assert re.search(r"Rating in Crowns Cup 14\d\d\.\d\d .*−\d+\.\d\d today: Lost to Player 2, match to 7", text)
    assert "Expected to win with a chance of" in text and "Rank 2 of 2" in text


def test_a_gain_has_a_plus_and_a_loss_a_true_minus(client: Client) -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), **CROWNS))
    assert "+23.29" in text_of(client.get("/players/player-1/crowns-cup/"))
    loser = text_of(client.get("/players/player-2/crowns-cup/"))
    assert "−23.29" in loser and "-23.29" not in loser


def test_half_a_hundredth_is_rounded_up_on_the_decimal_that_is_written(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), length=60))
    rated(vera, pool, value=1970.995, standing=1970.995, rank_points=197100, peak=1970.995)
    for address in ("/players/player-1/fibs/", "/rankings/fibs/", "/"):
        text = text_of(client.get(address))
        assert "1971.00" in text and "1970.99" not in text


@pytest.mark.parametrize(("length", "provisional"), [(49, True), (50, False)])
def test_a_rating_is_grey_below_50_experience_and_says_so(length: int, provisional: bool, client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), length=length))
    response = client.get("/players/player-1/fibs/")
    assert ('<p class="rating provisional">' in response.content.decode()) is provisional
    assert ("Provisional 1 point to go" in text_of(response)) is provisional
    strip = response.content.decode().split('<nav class="pools"')[1].split("</nav>")[0]
    assert ('class="elo provisional"' in strip) is provisional
    assert ("provisional: 49 of 50 experience" in strip) is provisional
    graph = response.context["graph"]
    assert bool(graph.provisional) and not (provisional and graph.settled)


def test_nobody_is_grey_where_the_pool_has_no_limit(client: Client) -> None:
    pool, (vera, didrik) = pool_of("online-backgammon"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), kind="matchmade"))
    page = client.get("/players/player-1/online-backgammon/").content.decode()
    assert '<p class="rating">644</p>' in page and "Provisional" not in page


def test_games_to_go_where_experience_is_games(client: Client) -> None:
    pool, (vera, didrik) = pool_of("tics"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), length=None))
    text = text_of(client.get("/players/player-1/tics/"))
    assert "Provisional 49 games to go" in text and "Experience 1 game K = 50, the same for everybody" in text


@pytest.mark.parametrize(
    ("slug", "experience", "words"),
    [
        ("fibs", 12, "K = 4.88 multiplies every change; with experience it falls to 1."),
        ("fibs", 400, "K = 1, its lowest: changes have settled"),
        ("online-backgammon", 12, "with experience it falls to 1. The match itself counts already."),
        ("freewhist", 50, "Kc = 0.7 multiplies every change; with experience it falls to 0.4."),
    ],
)
def test_what_experience_means_for_the_changes(slug: str, experience: int, words: str, client: Client) -> None:
    pool, [vera] = pool_of(slug), people(1)
    with transaction.atomic():
        ledger.set_openings(pool, {vera.pk: ledger.Opening(1500.0, experience, None)}, timezone.now())
    assert words in text_of(client.get(f"/players/player-1/{slug}/"))


def test_a_player_who_has_not_played_sees_where_everybody_starts(client: Client) -> None:
    people(1)
    response = client.get("/players/player-1/online-backgammon/")
    text = text_of(response)
    assert "Rating in Online Backgammon 600 Where everybody starts: no match has counted here yet." in text
    assert (
        "Rank –" in text
        and "No match in Online Backgammon yet." in text
        and 'href="/lobby/online-backgammon/"' in response.content.decode()
    )
    assert "<figure" not in response.content.decode()


# --- Standing ---


@pytest.fixture
def master() -> Player:
    """A player at 1003 in the pool with decay, whose last counted match was an hour ago."""
    pool, (vera, didrik) = pool_of("online-backgammon"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), kind="matchmade"))
    rated(vera, pool, value=1003.0, standing=1003.0, rank_points=1003, peak=1003.0)
    return vera


def away(player: Player, **time: float) -> None:
    """The player's last counted match is so long ago, and the daily task has run."""
    rated(player, pool_of("online-backgammon"), last_ended_at=ago(**time))
    ledger.update_standings(pool_of("online-backgammon").pk, timezone.now())


@pytest.mark.parametrize(
    ("days", "standing", "words"),
    [
        (9.5, "1003 Diamond 97 to Master", "In 5 days without a counted match the standing begins to fall, 1 a day."),
        (13.5, "1003 Diamond 97 to Master", "In 1 day without a counted match"),
        (14.5, "1003 Diamond 97 to Master", "The standing begins to fall today, 1 a day."),
        (26.5, "991 Platinum 9 to Diamond", "The standing has lost 12 since"),
        (400, "900 Platinum 100 to Diamond", "and is held at 900. One counted match restores it"),
    ],
)
def test_what_time_away_does(days: float, standing: str, words: str, master: Player, client: Client) -> None:
    away(master, days=days)
    text = text_of(client.get("/players/player-1/online-backgammon/"))
    assert f"Standing {standing}" in text and words in text
    assert "Rating in Online Backgammon 1003" in text


def test_the_day_since_when_time_away_costs_is_named(master: Player, client: Client) -> None:
    away(master, days=26.5)
    since = client.get("/players/player-1/online-backgammon/").context["facts"].decay.since
    assert since == (ago(days=26.5) + timedelta(days=14)).date()


def test_below_the_tier_where_it_begins_time_away_costs_nothing(master: Player, client: Client) -> None:
    rated(master, pool_of("online-backgammon"), value=880.0, standing=880.0, rank_points=880)
    away(master, days=100)
    text = text_of(client.get("/players/player-1/online-backgammon/"))
    assert "Standing 880 Gold 20 to Platinum" in text and "Time away" not in text


def test_the_tier_goes_by_the_standing_that_is_shown(master: Player, client: Client) -> None:
    rated(master, pool_of("online-backgammon"), value=899.6, standing=899.6, rank_points=900)
    assert "Standing 900 Platinum 100 to Diamond" in text_of(client.get("/players/player-1/online-backgammon/"))


def test_a_rating_below_the_floor_has_the_floor_as_its_standing(client: Client) -> None:
    pool, (vera, didrik) = pool_of("online-backgammon"), people(2)
    play(pool, won(vera, didrik, ago(hours=1), kind="matchmade"))
    text = text_of(client.get("/players/player-2/online-backgammon/"))
    assert "Rating in Online Backgammon 556" in text and "Standing 600 Bronze 100 to Silver" in text


# --- The list of matches ---


def test_a_match_that_did_not_count_stands_in_the_list_with_its_reason(client: Client) -> None:
    pool, (vera, didrik) = pool_of("crowns-cup"), people(2)
    play(
        pool,
        won(vera, didrik, ago(hours=3), **CROWNS),
        won(vera, didrik, ago(hours=2), **CROWNS | {"kind": "tournament"}),
        won(vera, didrik, ago(hours=1), **CROWNS | {"real_money": False}),
    )
    play_money, tournament, counted = rows_of(client.get("/players/player-1/crowns-cup/"), "changes")
    assert "Not rated. Only matches for real money count in this pool." in play_money and play_money.endswith("– – –")
    assert "Not rated. Tournament matches do not count in this pool." in tournament
    assert counted.endswith("€10.00 1500.00 +23.29 1523.29") and "Not rated" not in counted


def test_every_line_opens_into_its_sheet(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    matches = play(pool, *(won(vera, didrik, ago(hours=hours)) for hours in (3, 2, 1)))
    addresses = re.findall(
        r'<th scope="row">\s*<a href="(/matches/\d+/)">', client.get("/players/player-1/fibs/").content.decode()
    )
    assert addresses == [match.get_absolute_url() for match in reversed(matches)]


def test_numbers_that_do_not_add_up_as_shown_are_explained(client: Client) -> None:
    pool, (vera, didrik) = pool_of("tics"), people(2)
    play(pool, won(vera, didrik, ago(hours=2), length=None))
    assert "Shown numbers are rounded" not in text_of(client.get("/players/player-1/tics/"))
    play(pool, won(vera, didrik, ago(hours=1), length=None))
    response = client.get("/players/player-1/tics/")
    assert rows_of(response, "changes")[0].endswith("1525 +22 1547")
    assert response.context["matches"].rounded is False
    Rating.objects.get(player=vera, pool=pool).changes.update(after=1547.5)
    assert "Shown numbers are rounded" in text_of(client.get("/players/player-1/tics/"))


def test_the_latest_ten_are_shown_and_the_others_are_a_link_away(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, *(won(vera, didrik, ago(hours=30 - number), length=number) for number in range(1, 12)))
    response = client.get("/players/player-1/fibs/")
    assert len(rows_of(response, "changes")) == 10
    assert 'href="/players/player-1/matches/?pool=fibs"' in response.content.decode()


def test_the_last_change_stays_on_top_below_matches_that_did_not_count(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(hours=30), length=7), *(won(vera, didrik, ago(hours=n), length=None) for n in range(12)))
    response = client.get("/players/player-1/fibs/")
    assert response.context["matches"].last_counted.match.length == 7
    assert all("Not rated" in line for line in rows_of(response, "changes"))


def test_places_at_a_table_of_four(client: Client) -> None:
    pool, table = pool_of("freewhist"), people(4)

    def game(hours: float, *places: int, deals: int = 16) -> Entry:
        return Entry(players=table, result=Result(places=places, deals=deals), ended_at=ago(hours=hours))

    play(pool, game(3, 1, 2, 3, 4), game(2, 2, 2, 1, 4), game(1, 1, 2, 3, 4, deals=4))
    response = client.get("/players/player-1/freewhist/")
    few, shared, alone = rows_of(response, "changes")
    assert alone.startswith("Place 1 with Player 2, Player 3 and Player 4, 16 deals (1200 (provisional: 0 of 50 experience)")
    assert shared.startswith("Shared place 2 with Player 2, Player 3 and Player 4")
    assert "Not rated. It had too few deals: this pool rates games of 8 deals or more." in few


def test_a_draw_and_a_match_broken_off(client: Client) -> None:
    tics, crowns, (vera, didrik) = pool_of("tics"), pool_of("crowns-cup"), people(2)
    play(tics, Entry(players=(vera, didrik), result=Result(scores=(0.5, 0.5)), ended_at=ago(hours=1)))
    assert "Drew with Player 2" in text_of(client.get("/players/player-1/tics/"))
    play(crowns, Entry(players=(vera, didrik), result=Result(chance=0.623, length=7, **CROWNS), ended_at=ago(hours=1)))
    for slug, chance in (("player-1", "62.3%"), ("player-2", "37.7%")):
        assert f"at a winning chance of {chance}, match to 7" in text_of(client.get(f"/players/{slug}/crowns-cup/"))


def test_a_money_game_and_unlimited_play(client: Client) -> None:
    crowns, fibs, (vera, didrik) = pool_of("crowns-cup"), pool_of("fibs"), people(2)
    play(crowns, won(vera, didrik, ago(hours=1), length=None, points=4, **CROWNS))
    [line] = rows_of(client.get("/players/player-1/crowns-cup/"), "changes")
    assert line.startswith("Won against Player 2, money game for 4 points") and "€10.00 × 4" in line
    play(fibs, won(vera, didrik, ago(hours=1), length=None))
    [line] = rows_of(client.get("/players/player-2/fibs/"), "changes")
    assert line.startswith("Lost to Player 1, unlimited") and "Unlimited play, which has no match length, is not rated" in line


# --- Times ---


def test_times_are_in_the_zone_of_the_reader_and_a_date_alone_in_none() -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    complete(pool, won(vera, didrik, late), won(vera, didrik, datetime(2026, 3, 5, tzinfo=UTC), timed=False))
    dated, timed = rows_of(login_of(vera, time_zone="Pacific/Auckland").get("/cashier/fibs/"), "changes")
    assert "2 Mar 2026, 12:30" in timed and "5 Mar 2026 " in dated
    dated, timed = rows_of(login_of(didrik, time_zone="America/New_York").get("/cashier/fibs/"), "changes")
    assert "1 Mar 2026, 18:30" in timed and "5 Mar 2026 " in dated


@pytest.mark.parametrize(("zone", "days"), [("Pacific/Auckland", [2, 5]), ("America/New_York", [1, 5]), ("UTC", [1, 5])])
def test_a_day_of_the_graph_is_the_readers_day(zone: str, days: list[int]) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    complete(pool, won(vera, didrik, late), won(vera, didrik, datetime(2026, 3, 5, tzinfo=UTC), timed=False))
    series = login_of(vera, time_zone=zone).get("/cashier/fibs/?range=all").context["line"]
    assert [step.day.day for step in series.steps] == days and series.first.day == days[0]


def test_a_zone_that_this_machine_does_not_know_is_the_sites() -> None:
    [vera] = people(1)
    assert "Times are in UTC" in text_of(login_of(vera, time_zone="Mars/Olympus_Mons").get("/cashier/"))


# --- The graph ---


def test_the_graph_shows_the_range_and_says_so_in_words(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(days=500), length=60), won(didrik, vera, ago(days=100)), won(vera, didrik, ago(days=3)))
    for name, count in (("month", 1), ("year", 2), ("all", 3)):
        response = client.get(f"/players/player-1/fibs/?range={name}")
        assert len(response.context["line"].steps) == count
        assert f'range={name}#graph" aria-current="true"' in response.content.decode()
        assert len(client.get(f"/players/player-1/fibs/points/?range={name}").json()["points"]) == count
    page = response.content.decode()
    assert 'role="img" aria-labelledby="graph-title graph-text"' in page
    assert "From 1500.00 on" in page and "The same numbers are in a table." in page


def test_a_range_begins_with_the_rating_before_it(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(days=500), length=60), won(didrik, vera, ago(days=100)))
    year = client.get("/players/player-1/fibs/?range=year").context["line"]
    history = list(Rating.objects.get(player=vera, pool=pool).changes.order_by("ended_at"))
    assert year.start == history[0].after and not year.start_provisional
    assert (year.last - year.first).days == 364
    month = client.get("/players/player-1/fibs/?range=month")
    assert month.context["line"].start == history[1].after and "No counted match in this time." in text_of(month)


def test_the_graph_opens_with_everything_where_the_year_is_empty(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, won(vera, didrik, ago(days=700)))
    assert [name for name, _, chosen in client.get("/players/player-1/fibs/").context["ranges"] if chosen] == ["all"]


def test_the_graph_of_many_matches_has_a_point_a_day_and_the_peak(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    entries = [won(*((vera, didrik) if n % 3 else (didrik, vera)), ago(days=100, minutes=-n), length=1) for n in range(500)]
    complete_matches(pool, entries, now=timezone.now())
    response = client.get("/players/player-1/fibs/?range=all")
    rating, steps = Rating.objects.get(player=vera, pool=pool), response.context["line"].steps
    # A point a day, and the peak within one.
    assert len({step.day for step in steps}) <= 2 and len(steps) <= 3
    assert response.context["graph"].peak is not None and max(step.rating for step in steps) == rating.peak
    assert steps[-1].rating == rating.value
    assert sum(step.matches for step in steps) == 500 and steps[-1].number == 500


def test_no_comma_gets_into_the_picture(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    play(pool, *(won(vera, didrik, ago(days=days)) for days in (40, 30, 20)))
    response = client.get("/players/player-1/fibs/", headers={"accept-language": "de"})
    page = response.content.decode()
    assert '<html lang="de">' in page and "1523,06" not in page.split("<svg")[1]
    [plot] = re.findall(r'<svg class="plot".*?</svg>.*?</svg>', page, flags=re.DOTALL)
    for value in re.findall(r' (?:x|y|cx|cy|x1|x2|y1|y2|r|dy)="([^"]+)"', plot):
        assert re.fullmatch(r"-?\d+(\.\d+)?%?", value), value
    assert re.search(r"<small>,\d\d</small>", page)


# --- Tabs, and changes that open ---


def test_the_tab_that_is_shown_stands_in_front(client: Client) -> None:
    [vera] = people(1)
    for own, reader in ((True, login_of(vera)), (False, client)):
        for tab in Window(vera, own=own).tabs("", None):
            page = reader.get(tab.address).content.decode()
            tabs = page[page.index('class="tabs"') :].split("</nav>")[0]
            assert re.findall(r'aria-current="page">(.*?)</a>', tabs) == [tab.word]


def test_every_list_opens_its_changes_into_the_sum(client: Client) -> None:
    pool, (vera, didrik) = pool_of("fibs"), people(2)
    [match] = play(pool, won(didrik, vera, ago(hours=1), length=5))
    for address in ("fibs/", "matches/", "vs/player-2/", "fibs/history/"):
        page = client.get(f"/players/player-1/{address}").content.decode()
        [(link, part, label, change)] = re.findall(
            r'<a class="opening" href="(.*?)" data-slip="(.*?)" aria-label="(.*?)">(.*?)</a>', page
        )
        assert (link, part) == (f"/matches/{match.pk}/#seat-2", f"/matches/{match.pk}/seats/2/")
        assert (change, label) == ("−22.36", "−22.36: the calculation")
    assert change in text_of(client.get(part))
    assert 'id="seat-2"' in client.get(link).content.decode()


# --- Queries ---


@pytest.mark.parametrize("slug", ["crowns-cup", "tics"])
def test_the_number_of_queries_does_not_grow_with_the_matches(slug: str, client: Client) -> None:
    pool, (vera, didrik, *others) = pool_of(slug), people(6)
    terms: dict[str, Any] = CROWNS if slug == "crowns-cup" else {"length": None}
    play(pool, won(vera, didrik, ago(hours=60), **terms))
    reader, public, own = login_of(vera), f"/players/player-1/{slug}/", f"/cashier/{slug}/"
    few = queries_of(client, public), queries_of(reader, public), queries_of(reader, own)
    for number, other in enumerate(others * 7):
        kind = "tournament" if number % 3 == 0 else "table"
        play(pool, won(vera, other, ago(hours=50 - number), **terms | {"kind": kind}))
    assert (queries_of(client, public), queries_of(reader, public), queries_of(reader, own)) == few
    assert max(few) <= 12
