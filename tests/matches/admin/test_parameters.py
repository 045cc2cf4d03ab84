"""Other parameters for a pool in the admin: a field for each, what they would move first, done only as it was shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from unittest import mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from matches import jobs, tasks
from matches.completion import complete_match, complete_matches
from matches.models import CorrectionJob, Match, Revision
from matches.parameters import set_parameters
from matches.verify import verify
from players.models import Organiser, Player, Pool, Rating
from tests.building import NOW, at, everything, people, pool_of, won
from tests.matches.entering import Filled, press, queries, staff
from tests.matches.test_corrections import a_season
from tests.ratings_site.test_csp import Inline

pytestmark = pytest.mark.django_db
ALL_POOLS = ("fibs", "crowns-cup", "online-backgammon", "freewhist", "tics")


@pytest.fixture(autouse=True)
def chief(client: Client) -> User:
    user = staff("change_pool", "view_pool", "view_revision", name="chief")
    client.force_login(user)
    return user


@pytest.fixture
def season() -> tuple[Pool, list[Player]]:
    pool, players = pool_of("fibs"), people(6)
    complete_matches(pool, a_season(players, 30), now=NOW)
    return pool, players


def url(pool: Pool) -> str:
    return reverse("admin:matches_revision_parameters", args=[pool.pk])


def asked(client: Client, pool: Pool, drop: tuple[str, ...] = (), reason: str = "as the members voted", **changes: Any) -> Any:
    """The form as it came, with changes ("ramp__highest" is ramp.highest), sent for its preview."""
    page = client.get(url(pool))
    assert page.status_code == 200
    form = Filled(page.text, "step_form").data | {"reason": reason, "since": "all"}
    form |= {name.replace("__", "."): value for name, value in changes.items()}
    return client.post(url(pool), {name: value for name, value in form.items() if name not in drop} | {"_preview": "1"})


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200 and "form" in response.context
    return {name: list(texts) for name, texts in response.context["form"].errors.items()}


@pytest.mark.parametrize("slug", ALL_POOLS)
def test_the_form_as_it_came_changes_nothing(client: Client, slug: str) -> None:
    pool = pool_of(slug)
    page = asked(client, pool)
    assert errors(page) == {"__all__": ["The pool has these parameters already."]}
    assert Inline(page.text).found == [] and not Revision.objects.exists()
    pool.refresh_from_db()
    for name, value in pool.parameters.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            assert f'name="{name}"' in page.text


def test_it_is_previewed_in_words_confirmed_and_on_record(client: Client, season: Any, chief: User) -> None:
    pool, _ = season
    before = everything(pool)
    assert f'href="{url(pool)}"' in client.get(reverse("admin:players_pool_change", args=[pool.pk])).text
    preview = asked(client, pool, factor="5", ramp__highest="6.5")
    for words in (
        "Factor of every change: 4 → <strong>5</strong>",
        "Highest K: 5 → <strong>6.5</strong>",
        "For all matches.",
        "6 players move",
        "as the members voted",
    ):
        assert words in preview.text, words
    assert everything(pool) == before and not Revision.objects.exists() and Inline(preview.text).found == []
    moves = {move.player.pk: move.rating[1] for move in preview.context["preview"].moves}
    done = press(client, preview)
    assert done["Location"] == reverse("admin:players_pool_change", args=[pool.pk])
    revision = Revision.objects.get()
    assert (revision.kind, revision.made_by, revision.reason) == ("parameters", chief, "as the members voted")
    assert moves == {rating.player_id: rating.value for rating in Rating.objects.filter(pool=pool)}
    assert verify(Pool.objects.get(pk=pool.pk)) == (30, None)
    assert [line.change_message for line in LogEntry.objects.all()] == ["rules changed: as the members voted"]
    page = client.get(reverse("admin:matches_revision_change", args=[revision.pk])).text
    assert "Factor of every change: 4 → <strong>5</strong>" in page and "For all matches." in page
    # The button once more finds what the first click did.
    assert press(client, preview).status_code == 302
    assert Revision.objects.count() == 1 and LogEntry.objects.count() == 1


def test_from_a_date_on_the_history_before_stays(client: Client, season: Any) -> None:
    pool, _ = season
    preview = asked(client, pool, factor="5", since="from", since_date="2026-03-02")
    assert "For the matches that end from" in preview.text
    press(client, preview)
    pool = Pool.objects.get(pk=pool.pk)
    assert pool.system_at(at(0)).params.factor == 4 and pool.system_at(NOW).params.factor == 5
    assert Revision.objects.get().rules["since"] == datetime(2026, 3, 2, tzinfo=UTC).isoformat()
    assert verify(pool) == (30, None)


def test_the_preview_says_which_matches_stop_or_start_to_count_and_why(client: Client) -> None:
    pool, players = pool_of("online-backgammon"), people(4)
    kinds = ["matchmade"] * 3 + ["challenge"] * 2
    complete_matches(pool, [won(*players[:2], at(n), kind=kind) for n, kind in enumerate(kinds)], now=NOW)
    preview = asked(client, pool, counted_kinds=["challenge"])
    assert "2 matches count from now on." in preview.text
    assert "3 matches count no more. Matches of this kind do not count in this pool." in preview.text
    assert "→ <strong>Challenge</strong>" in preview.text
    press(client, preview)
    assert Match.objects.filter(pool=pool, not_counted="").count() == 2
    assert verify(Pool.objects.get(pk=pool.pk)) == (2, None)


def test_what_is_switched_off_is_off_and_comes_back(client: Client, season: Any) -> None:
    pool, _ = season
    before = everything(pool)
    # What stands in the fields of what is off does not matter.
    preview = asked(client, pool, drop=("ramp.on",), ramp__highest="nonsense")
    assert "Ramp of the experience factor K: Highest K 5, Lowest K 1, Experience that lowers K by 1 100 → <strong>off" in (
        preview.text
    )
    press(client, preview)
    assert Pool.objects.get(pk=pool.pk).parameters["ramp"] is None
    press(client, asked(client, pool, ramp__on="on"))
    assert everything(pool) == before and verify(Pool.objects.get(pk=pool.pk)) == (30, None)


def test_places_and_steps_are_read_one_by_one(client: Client) -> None:
    pool = pool_of("freewhist")
    press(client, asked(client, pool, place_scores__1="0.8", deal_steps="8: 21\n 12 : 33.5 \n\n24:100"))
    stored = Pool.objects.get(pk=pool.pk).parameters
    assert stored["place_scores"] == [1, 0.8, 0.25, 0] and stored["deal_steps"] == [[8, 21], [12, 33.5], [24, 100]]


@pytest.mark.parametrize(
    ("slug", "changes", "field", "words"),
    [
        ("fibs", {"start": "high"}, "start", "Enter a number."),
        ("fibs", {"start": ""}, "start", "This field is required."),
        ("fibs", {"start": "1e400"}, "start", ""),
        ("fibs", {"start": "nan"}, "start", ""),
        ("fibs", {"start": "100001"}, "start", "must be from −100000 to 100000"),
        ("fibs", {"start": "1\x00"}, "start", ""),
        ("fibs", {"start": "9" * 5000}, "start", ""),
        ("fibs", {"ramp__lowest": "6"}, "ramp.lowest", "must not be above “Highest K”."),
        ("fibs", {"ramp__per": "0"}, "ramp.per", "must be from"),
        ("fibs", {"experience_counts": "sometimes"}, "experience_counts", "Select a valid choice"),
        ("fibs", {"counted_kinds": ["x"]}, "counted_kinds", "Select a valid choice"),
        ("fibs", {"counted_kinds": []}, "counted_kinds", "This field is required."),
        ("fibs", {"since": "never"}, "since", "Select a valid choice"),
        ("fibs", {"since": "from"}, "since_date", "It is missing"),
        ("fibs", {"since": "from", "since_date": "soon"}, "since_date", "Enter a valid date."),
        ("fibs", {"since": "from", "since_date": "2999-01-01", "factor": "5"}, "since_date", "lies in the future"),
        ("fibs", {"reason": " "}, "reason", "It is missing"),
        ("online-backgammon", {"decay_after_days": "1.5"}, "decay_after_days", "Enter a whole number."),
        ("online-backgammon", {"decay_after_days": "-1"}, "decay_after_days", "must be from"),
        ("freewhist", {"place_scores__0": "0.1"}, "place_scores.0", "must not rise"),
        ("freewhist", {"place_scores__0": "7"}, "place_scores.0", "must be from"),
        ("freewhist", {"deal_steps": "8"}, "deal_steps", "“8” is no step"),
        ("freewhist", {"deal_steps": "8: x"}, "deal_steps", "is no step"),
        ("freewhist", {"deal_steps": "9" * 5000 + ": 1"}, "deal_steps", "is no step"),
        ("freewhist", {"deal_steps": "8: 1e999"}, "deal_steps", "must be"),
        ("freewhist", {"deal_steps": "12: 1\n8: 2"}, "deal_steps", "must ascend"),
    ],
)
def test_what_is_no_parameter_is_refused_on_its_field(
    client: Client, slug: str, changes: dict[str, Any], field: str, words: str
) -> None:
    pool = pool_of(slug)
    found = errors(asked(client, pool, **changes))
    assert list(found) == [field] and words in found[field][0], found
    assert pool_of(slug).parameters == pool.parameters and not Revision.objects.exists()


def test_several_errors_are_all_named(client: Client) -> None:
    assert set(errors(asked(client, pool_of("fibs"), start="x", factor="0", ramp__per="-1"))) == {"start", "factor", "ramp.per"}


def test_a_match_that_the_new_rules_cannot_judge_is_named(client: Client) -> None:
    pool, players = pool_of("fibs"), people(2)
    match = complete_match(pool, won(*players, at(0)), now=NOW)
    [text] = errors(asked(client, pool, counted_kinds=["table"]))["__all__"]
    assert f"Match {match.pk} cannot be rated under these rules" in text


def test_who_changes_another_parameter_meanwhile_is_not_undone(client: Client, season: Any) -> None:
    pool, _ = season
    form = Filled(client.get(url(pool)).text, "step_form").data | {"factor": "5", "reason": "vote"}
    set_parameters(pool, {"start": 1600}, reason="other vote", now=NOW)
    press(client, client.post(url(pool), form))
    stored = Pool.objects.get(pk=pool.pk).parameters
    assert (stored["factor"], stored["start"]) == (5, 1600)


def test_a_pool_that_moved_shows_the_new_preview_and_writes_nothing(client: Client, season: Any) -> None:
    pool, players = season
    preview = asked(client, pool, factor="5")
    complete_match(pool, won(*players[:2], at(90)), now=NOW)
    again = press(client, preview)
    assert "have moved since the preview, so nothing was written" in again.text and not Revision.objects.exists()
    back = press(client, again, "_back")
    assert back.context["form"]["factor"].value() == "5"
    press(client, again)
    assert verify(Pool.objects.get(pk=pool.pk)) == (31, None) and Revision.objects.count() == 1


def test_many_matches_are_rated_anew_in_the_background(client: Client, season: Any, chief: User) -> None:
    pool, _ = season
    before = everything(pool)
    with mock.patch.object(jobs, "SMALL", 10):
        response = asked(client, pool, factor="5")
    job = CorrectionJob.objects.get()
    page_url = reverse("admin:matches_correctionjob_change", args=[job.pk])
    assert response["Location"] == page_url and job.total == 30
    tasks.run_correction(job.pk)
    page = client.get(page_url)
    assert "Factor of every change: 4 → <strong>5</strong>" in page.text and everything(pool) == before
    job.refresh_from_db()
    client.post(page_url, {"_confirm": "1", "token": job.preview["token"]})
    tasks.run_correction(job.pk)
    tasks.run_correction(job.pk)
    job.refresh_from_db()
    assert (job.status, job.revision) == ("done", Revision.objects.get()) and job.revision.made_by == chief
    assert Pool.objects.get(pk=pool.pk).parameters["factor"] == 5 and verify(Pool.objects.get(pk=pool.pk)) == (30, None)
    assert "rules changed" in client.get(reverse("admin:matches_correctionjob_changelist")).text


def test_who_may_not_change_the_pool_cannot(client: Client, season: Any) -> None:
    pool, _ = season
    organiser = staff(name="organiser")
    Organiser.objects.create(pool=pool, user=organiser)
    for user in (organiser, staff("view_pool", "change_match", name="looker")):
        client.force_login(user)
        assert client.get(url(pool)).status_code == 403
        assert client.post(url(pool), {"factor": "5", "_confirm": "1"}).status_code == 403
    client.force_login(User.objects.create_user("nobody"))
    assert client.get(url(pool)).status_code == 302
    client.force_login(User.objects.create_superuser("boss"))
    assert client.get(reverse("admin:matches_revision_parameters", args=[10**18])).status_code == 302
    assert not Revision.objects.exists()


def test_the_pages_have_a_fixed_number_of_queries(client: Client, season: Any) -> None:
    pool, players = season
    few = queries(lambda: client.get(url(pool))), queries(lambda: asked(client, pool, factor="5"))
    complete_matches(pool, [won(players[n % 6], players[(n + 1) % 6], at(100 + n)) for n in range(60)], now=NOW)
    assert (queries(lambda: client.get(url(pool))), queries(lambda: asked(client, pool, factor="5"))) == few
    assert few[0] <= 12 and few[1] <= 40
