"""The same thing is shown by the same number on every page, in every language, also where rounding, grey and the floor begin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from players import formatting
from players.models import Player, Pool, Rating, RatingChange
from tests.building import complete, people, pool_of, won
from tests.pages import login_of, text_of

pytestmark = pytest.mark.django_db
LANGUAGES = ("en", "de", "da", "nl")


def played(slug: str, length: int, **more: Any) -> tuple[Pool, Player, Player]:
    pool, (vera, didrik) = pool_of(slug), people(2)
    now = timezone.now()
    complete(pool, won(vera, didrik, now - timedelta(days=1), length=length, **more), now=now)
    return pool, vera, didrik


def shown_as(pool: Pool, player: Player, value: float, rank_points: int) -> None:
    """The player's rating, and his last change, have come to this value."""
    numbers = {"value": value, "standing": value, "peak": value, "rank_points": rank_points}
    Rating.objects.filter(player=player, pool=pool).update(**numbers)
    RatingChange.objects.filter(player=player, rating__pool=pool).update(after=value)


def pages_of(player: Player, pool: Pool) -> list[str]:
    own = player.get_absolute_url()
    match = player.participations.get(match__pool=pool).match
    rest = ("", "history/", "?range=all", "?range=month&by=matches")
    pages = [f"{own}{pool.slug}/{page}" for page in rest]
    pages += [f"{own}matches/", f"{own}vs/player-2/", f"{own}statistics/{pool.slug}/", f"/rankings/{pool.slug}/", "/"]
    return [*pages, match.get_absolute_url()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_half_a_hundredth_is_rounded_up_everywhere(language: str) -> None:
    pool, vera, _ = played("fibs", 60)
    shown_as(pool, vera, 1970.995, 197100)
    reader = login_of(vera)
    reader.post("/i18n/setlang/", {"language": language})
    shown, wrong = ("1971.00", "1970.99") if language == "en" else ("1971,00", "1970,99")
    for address in [*pages_of(vera, pool), "/cashier/fibs/", "/cashier/matches/"]:
        text = text_of(reader.get(address))
        assert shown in text and wrong not in text, address
    [point] = reader.get("/cashier/fibs/points/").json()["points"]
    assert point["rating"] == shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_has_the_comma_of_the_language(language: str) -> None:
    _, vera, _ = played("fibs", 5)
    RatingChange.objects.filter(player=vera).update(change=3.769, before=1650.0, after=1653.769)
    reader = login_of(vera)
    reader.post("/i18n/setlang/", {"language": language})
    shown = "+3.77" if language == "en" else "+3,77"
    own = vera.get_absolute_url()
    for address in (f"{own}fibs/", f"{own}fibs/history/", f"{own}matches/", f"{own}statistics/fibs/", f"{own}vs/player-2/"):
        assert shown in text_of(reader.get(address)), address
    assert reader.get("/cashier/fibs/points/").json()["points"][0]["change"] == shown


@pytest.mark.parametrize(("experience", "grey"), [(49, True), (50, False)])
def test_a_rating_is_grey_on_every_page_or_on_none(experience: int, grey: bool, client: Client) -> None:
    pool, vera, _ = played("fibs", experience)
    rating = Rating.objects.get(player=vera, pool=pool)
    number = formatting.format_rating(rating.value, 2)
    words = f"{number} (provisional: 49 of 50 experience)"
    # Where the rating as it is now stands: the strip of pools, the table, the ranking, the front page, two players.
    for address in (
        "/players/player-1/fibs/",
        "/players/player-1/fibs/history/",
        "/rankings/fibs/",
        "/",
        "/players/player-1/vs/player-2/",
    ):
        text = text_of(client.get(address))
        assert (words in text) is grey and number in text.replace(words, number), address
    assert ('class="rating provisional"' in client.get("/players/player-1/fibs/").content.decode()) is grey


@pytest.mark.parametrize(("value", "standing"), [(556.4, 600), (600.0, 600), (599.5, 600), (601.2, 601)])
def test_the_floor_of_the_standing_is_the_same_everywhere(value: float, standing: int, client: Client) -> None:
    pool, vera, _ = played("online-backgammon", 5, kind="matchmade")
    shown_as(pool, vera, value, standing)
    Rating.objects.filter(player=vera).update(standing=max(600.0, value))
    text = text_of(client.get("/players/player-1/online-backgammon/"))
    assert f"Standing {standing} Bronze" in text
    for address in ("/rankings/online-backgammon/", "/"):
        assert str(standing) in text_of(client.get(address))
    assert ("dashed: the standing" in text) is (value < 600)
