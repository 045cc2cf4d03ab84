"""Keys: stored hashed, shown once, rotated, revoked, limited; made in the admin."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from players.api import keys
from players.api.models import ApiKey
from players.models import Pool
from tests.asking import Asker
from tests.building import NOW
from tests.pages import text_of
from tests.serving import key_of, posted

pytestmark = pytest.mark.django_db


def test_only_a_hash_is_stored() -> None:
    secret = key_of()
    key = ApiKey.objects.get()
    assert secret.startswith(f"{key.prefix}_") and len(secret) > 50
    stored = " ".join(str(value) for value in ApiKey.objects.values_list().get())
    assert secret not in stored and secret.removeprefix(key.prefix) not in stored
    assert keys.find_key(secret, NOW) == key
    assert not User.objects.get().has_usable_password() and not User.objects.get().is_active


@pytest.mark.parametrize("wrong", ["", "x", "rr", "rr_", "rr_\0_x", "rr_" + "x" * 5000, "\udc80", "rr_ÿÿÿÿ_x"])
def test_what_is_no_key(wrong: str) -> None:
    key_of()
    assert keys.find_key(wrong, NOW) is None
    prefix = ApiKey.objects.get().prefix
    assert keys.find_key(f"{prefix}_", NOW) is None and keys.find_key(f"{prefix}_{wrong}", NOW) is None


def test_rotation_leaves_the_old_secret_for_a_while() -> None:
    first = key_of()
    key = ApiKey.objects.get()
    second = keys.rotate_key(key, now=NOW, grace=timedelta(hours=1))
    assert keys.find_key(second, NOW) == keys.find_key(first, NOW + timedelta(minutes=59)) == key
    assert keys.find_key(first, NOW + timedelta(hours=1)) is None
    third = keys.rotate_key(key, now=NOW, grace=timedelta(0))
    assert keys.find_key(first, NOW) is keys.find_key(second, NOW) is None
    assert keys.find_key(third, NOW) == key


def test_a_revoked_key_is_good_for_nothing() -> None:
    first = key_of()
    key, admin = ApiKey.objects.get(), User.objects.create_superuser("root")
    second = keys.rotate_key(key, now=NOW)
    assert keys.revoke_key(key, now=NOW, revoked_by=admin) and not keys.revoke_key(key, now=NOW, revoked_by=None)
    assert keys.find_key(first, NOW) is keys.find_key(second, NOW) is None
    key.refresh_from_db()
    assert (key.revoked_by, key.revoked_at) == (admin, NOW)
    with pytest.raises(ValidationError):
        keys.rotate_key(key, now=NOW)


def test_the_last_use_is_written_at_most_once_a_minute(django_assert_num_queries: Any) -> None:
    secret = key_of()
    with django_assert_num_queries(2):
        keys.find_key(secret, NOW)
    with django_assert_num_queries(1):
        keys.find_key(secret, NOW + timedelta(seconds=59))
    assert ApiKey.objects.get().last_used_at == NOW
    with django_assert_num_queries(2):
        keys.find_key(secret, NOW + timedelta(seconds=60))
    assert ApiKey.objects.get().last_used_at == NOW + timedelta(seconds=60)


def test_a_key_reads_only_with_the_scope_for_it() -> None:
    assert Asker(key_of(read=True)).send("GET", "pools/").status_code == 200
    assert Asker(key_of(read=False)).get("pools/", 403)["code"] == "permission_denied"
    assert Asker(key_of(read=False, may_create_players=True)).post("matches/", posted(), 201)["counted"]


def test_each_key_has_its_own_rate() -> None:
    slow, fast = Asker(key_of(rate=2)), Asker(key_of(rate=50))
    statuses = [slow.send("GET", "pools/").status_code for _ in range(5)]
    assert statuses.count(429) >= 1 and statuses[:2] == [200, 200]
    assert fast.send("GET", "pools/").status_code == 200


@pytest.mark.parametrize("header", ["Api-Key", "Api-Key a b", "api-key x", "Bearer \xff", "BEARER x"])
def test_headers_that_bring_no_good_key(header: str) -> None:
    response = Asker().send("GET", "pools/", Authorization=header)
    assert (response.status_code, response.json()["code"]) == (401, "bad_key")
    assert response["WWW-Authenticate"].startswith("Api-Key")


def test_other_headers_are_nobodys() -> None:
    assert Asker().send("GET", "pools/", Authorization="Basic dTpw").status_code == 200


# --- In the admin ---


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def _form(**changes: Any) -> dict[str, Any]:
    pools = [Pool.objects.get(slug="fibs").pk]
    return {"name": "Galaxy", "source": "galaxy", "pools": pools, "read": "on", "results": "on", "rate": 600, **changes}


def _secret(page: Any) -> str:
    return re.search(r'value="(rr_[^"]+)"', page.content.decode())[1]  # type: ignore[index]


def test_a_key_is_made_and_shown_once(root: Client) -> None:
    page = root.post("/admin/players/apikey/add/", _form(may_create_players="on"))
    assert page.status_code == 200 and "no-store" in page["Cache-Control"]
    secret, key = _secret(page), ApiKey.objects.get()
    assert (key.made_by.username, list(key.pools.values_list("slug", flat=True))) == ("root", ["fibs"])
    assert Asker(secret).post("matches/", posted(), 201)["counted"]
    for address in ("/admin/players/apikey/", f"/admin/players/apikey/{key.pk}/change/"):
        again = root.get(address)
        assert key.prefix in again.content.decode() and secret not in again.content.decode()
    assert secret not in str(root.session.items()) + str(root.cookies)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"source": " "}, "required"),
        ({"source": "login:x"}, "Choose another source"),
        ({"pools": []}, "required"),
        ({"rate": 0}, "greater than or equal to 1"),
        ({"read": "", "results": ""}, "Tick at least one"),
        ({"name": "a\0b"}, "Null characters"),
    ],
)
def test_what_the_form_refuses(root: Client, change: dict[str, Any], says: str) -> None:
    page = root.post("/admin/players/apikey/add/", _form(**change))
    assert says in text_of(page) and not ApiKey.objects.exists()


def test_a_second_click_makes_no_second_key(root: Client) -> None:
    root.post("/admin/players/apikey/add/", _form())
    assert "already exists" in text_of(root.post("/admin/players/apikey/add/", _form()))
    assert ApiKey.objects.count() == 1 and User.objects.count() == 2


def test_rotated_and_revoked_in_the_admin(root: Client) -> None:
    first = _secret(root.post("/admin/players/apikey/add/", _form()))
    address = f"/admin/players/apikey/{ApiKey.objects.get().pk}"
    assert "New secret" in text_of(root.get(f"{address}/change/"))
    assert "one day more" in text_of(root.get(f"{address}/rotate/"))
    second = _secret(root.post(f"{address}/rotate/", {"grace": "0"}))
    assert Asker(first).get("pools/", 401) and Asker(second).get("pools/")
    assert "cannot be taken back" in text_of(root.get(f"{address}/revoke/"))
    assert "is revoked" in text_of(root.post(f"{address}/revoke/", follow=True))
    assert Asker(second).get("pools/", 401)
    assert ApiKey.objects.get().revoked_by.username == "root"
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))[1:] == ["rotated", "revoked"]
    assert "New secret" not in text_of(root.get(f"{address}/change/"))
    assert root.get(f"{address}/rotate/").status_code == 404
    assert root.post(f"{address}/change/", _form(name="Other")).status_code == 403


def test_scopes_and_pools_are_changed_and_the_source_is_not(root: Client) -> None:
    root.post("/admin/players/apikey/add/", _form())
    key = ApiKey.objects.get()
    tics = Pool.objects.get(slug="tics").pk
    root.post(f"/admin/players/apikey/{key.pk}/change/", _form(source="other", pools=[tics], lobby="on", results=""))
    key.refresh_from_db()
    assert (key.source, key.lobby, key.results, list(key.pools.values_list("pk", flat=True))) == (
        "galaxy",
        True,
        False,
        [tics],
    )


def test_staff_without_the_right_sees_no_keys(root: Client) -> None:
    root.post("/admin/players/apikey/add/", _form())
    key = ApiKey.objects.get()
    client = Client()
    client.force_login(User.objects.create_user("staff", is_staff=True))
    for page in ("", "add/", f"{key.pk}/change/", f"{key.pk}/rotate/", f"{key.pk}/revoke/"):
        assert client.get(f"/admin/players/apikey/{page}").status_code == 403
    assert client.post(f"/admin/players/apikey/{key.pk}/revoke/").status_code == 403
    assert keys.find_key("x", timezone.now()) is None and ApiKey.objects.get().revoked_at is None
