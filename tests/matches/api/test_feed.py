"""The change feed by the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from matches.inbox import telling
from matches.models import Message, Revision
from matches.push import events
from tests.asking import Asker
from tests.building import NOW, at, complete, people, pool_of, won
from tests.pages import login_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Asker:
    return Asker()


def test_the_feed_is_followed_to_its_end_and_goes_on(api: Asker) -> None:
    pool, players = pool_of("fibs"), people(2)
    made = complete(pool, *(won(*players, at(number)) for number in range(5)))
    seen, after, more = [], 0, True
    while more:
        answer = api.get(f"feed/?after={after}&limit=2")
        seen += [event["match"]["id"] for event in answer["events"]]
        after, more = answer["next"], answer["more"]
    assert seen == [match.pk for match in made]
    assert api.get(f"feed/?after={after}") == {"events": [], "next": after, "more": False}
    [later] = complete(pool, won(*players, at(9)))
    assert [event["match"]["id"] for event in api.get(f"feed/?after={after}")["events"]] == [later.pk]
    assert api.get("feed/?pool=tics&after=3") == {"events": [], "next": 6, "more": False}


def test_revisions_and_standings_are_told(api: Asker) -> None:
    pool, (one, _two) = pool_of("fibs"), people(2)
    revision = Revision.objects.create(pool=pool, kind="void", reason="Annulled", made_at=NOW)
    with transaction.atomic():
        events.revised(pool, [(one.pk, 1500.0, 1490.5)], NOW, revision.pk)
        events.standings(pool, [(one.pk, 1000.0, 999.0)], NOW)
    revised, moved = api.get("feed/")["events"]
    rating = {"player": {"id": one.pk, "name": one.name}, "before": 1500.0, "after": 1490.5}
    assert revised["revision"] == {"id": revision.pk, "kind": "void", "reason": "Annulled", "matches": []}
    assert (revised["type"], revised["ratings"], revised["standings"]) == ("rating.revised", [rating], None)
    assert (moved["type"], moved["standings"][0]["after"]) == ("standing.changed", 999.0)


def test_a_position_that_is_no_longer_kept(api: Asker) -> None:
    pool, players = pool_of("fibs"), people(2)
    complete(pool, *(won(*players, at(number)) for number in range(5)))
    api.get("feed/")
    events.forget(NOW + timedelta(days=1))
    assert api.get("feed/?after=1", status=410)["code"] == "gone"
    assert [event["position"] for event in api.get("feed/?after=0")["events"]] == [5]


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "after=1e400", "limit=0", "limit=201", "pool=nope", "pool=%00", "what=1"]
)
def test_bad_parameters(api: Asker, query: str) -> None:
    assert api.get(f"feed/?{query}", status=400)["fields"]


def test_whoever_reads_the_feed_first_keeps_no_player_from_being_told(api: Asker) -> None:
    """A read gives events their places too, and only once do they make what they ask for."""
    pool, (one, _two) = pool_of("fibs"), people(2)
    login_of(one)
    revision = Revision.objects.create(pool=pool, kind="void", reason="Annulled", made_at=NOW)
    with transaction.atomic():
        events.revised(pool, [(one.pk, 1510.0, 1500.0)], NOW, revision.pk)
    assert len(api.get("feed/")["events"]) == 1
    events.put_in_order([telling.of_events])
    assert Message.objects.get().player_id == one.pk
