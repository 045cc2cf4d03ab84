"""Keys: made, found by what a request brings, rotated, revoked.

A key is `rr_`, eight characters that everybody may see, `_`, and 256 random bits; its SHA-256 is kept, which needs no salt and no
slow hash, since nobody can try 2^256 secrets.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from players.api.models import ApiKey
from players.models import Pool

SEEN = timedelta(minutes=1)
"""A key's last use is written at most this often."""
GRACE = timedelta(days=1)
"""For how long the old secret is good after a rotation, unless otherwise said."""


def _secret(prefix: str) -> str:
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def make_key(key: ApiKey, *, made_by: User | None, pools: Iterable[Pool] = ()) -> str:
    """Store a new key with a login of its own, and return its secret, which nobody will see again. Raises ValidationError."""
    key.source = key.source.strip()
    if not key.source or "\0" in key.source:
        raise ValidationError({"source": _("A key needs a source.")})
    key.prefix = f"rr_{secrets.token_hex(4)}"
    secret = _secret(key.prefix)
    key.secret_hash = _hash(secret)
    key.made_by = made_by
    key.login = User.objects.create(username=f"{key.name} ({key.prefix})"[:150], is_active=False, password="!")
    key.save()
    key.pools.set(pools)
    return secret


def find_key(secret: str, now: datetime) -> ApiKey | None:
    """The key of a secret that is good now, or None. One query, and at most one more a minute to say that it was used."""
    prefix = "_".join(secret.split("_", 2)[:2])
    if not secret.isascii() or "\0" in secret:
        return None
    key = ApiKey.objects.select_related("login").filter(prefix=prefix, revoked_at=None).first()
    if key is None:
        return None
    hashed = _hash(secret)
    good = [key.secret_hash]
    if key.old_until is not None and now < key.old_until:
        good.append(key.old_hash)
    if not any(hmac.compare_digest(hashed, one) for one in good):
        return None
    if key.last_used_at is None or now - key.last_used_at >= SEEN:
        unseen = Q(last_used_at=None) | Q(last_used_at__lt=now)
        ApiKey.objects.filter(unseen, pk=key.pk).update(last_used_at=now)
    return key


@transaction.atomic
def rotate_key(key: ApiKey, *, now: datetime, grace: timedelta = GRACE) -> str:
    """Give the key a new secret and return it. The old one is good for `grace` more; one that is older is not good any more.

    Raises ValidationError where the key is revoked.
    """
    held = ApiKey.objects.select_for_update(of=("self",)).get(pk=key.pk)
    if held.revoked_at is not None:
        raise ValidationError(_("The key is revoked."))
    secret = _secret(held.prefix)
    held.old_hash, held.old_until = (held.secret_hash, now + grace) if grace else ("", None)
    held.secret_hash, held.rotated_at = _hash(secret), now
    held.save(update_fields=["secret_hash", "old_hash", "old_until", "rotated_at"])
    return secret


def revoke_key(key: ApiKey, *, now: datetime, revoked_by: User | None) -> bool:
    """Let the key be good for nothing from now on, for good; False where it was revoked before."""
    unrevoked = ApiKey.objects.filter(pk=key.pk, revoked_at=None)
    changes: dict[str, Any] = {"revoked_at": now, "revoked_by": revoked_by, "old_hash": "", "old_until": None}
    return bool(unrevoked.update(**changes))
