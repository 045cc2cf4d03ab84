"""The rankings in Redis: a sorted set for each pool, its keys and what is in them, and what happens when Redis is gone.

A call that fails opens a circuit for BREAK_SECONDS: until then this process asks nothing, afterwards one caller tries. What it
could not put meanwhile it keeps and puts later.
"""

from __future__ import annotations

import logging
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import celery
import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from players.models import Rating
from players.rankings import scripts

log = logging.getLogger(__name__)

T = TypeVar("T")

TIMEOUT = 1.0
"""Seconds that a page or a completion waits for Redis, once; then the circuit is open."""
BREAK_SECONDS = 5.0
PUT_SECONDS = 1.0
"""How long putting may take. What is not through by then is left to a rebuild."""
CHUNK = 500
"""Ratings a script: a few milliseconds, in which Redis does nothing else."""
MOST_KEPT = 10_000
"""Ratings of a pool that a process keeps while Redis is gone."""
ASK_SECONDS = 60
"""How often a rebuild of a pool is asked for at most."""
REBUILD_TASK = "players.tasks.rebuild_ranking"


class Unavailable(Exception):
    """Redis cannot say: there is none, it does not answer, or the pool's set is not there. The database can."""


class Entry(NamedTuple):
    """A rating as the set holds it. `member` is empty for a player who is not listed."""

    player_id: int
    version: int
    rank_points: int
    member: bytes


def entry(rating: Rating) -> Entry:
    return entry_of(rating.player_id, rating.version, rating.rank_points, rating.value, rating.matches)


def entry_of(player_id: int, version: int, rank_points: int, value: float, matches: int) -> Entry:
    return Entry(player_id, version, rank_points, pack(value, player_id) if matches else b"")


LAST_ID = 2**64 - 1
SIGN = 2**63


def pack(value: float, player_id: int) -> bytes:
    """The member of a player: 16 bytes. Redis lists equal scores by their descending order: value descending, id ascending.

    The bits of a double, read as a whole number, rise with it from 0 up and fall with it below; so a negative one is inverted.
    """
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))  # adding 0.0 turns -0.0 into 0.0
    ordered = bits ^ LAST_ID if bits & SIGN else bits | SIGN
    return struct.pack(">QQ", ordered, LAST_ID - player_id)


def unpack(member: bytes) -> tuple[float, int]:
    """Value and player id of a member."""
    ordered, inverted = struct.unpack(">QQ", member)
    bits = ordered ^ SIGN if ordered & SIGN else ordered ^ LAST_ID
    return struct.unpack(">d", struct.pack(">Q", bits))[0], LAST_ID - inverted


def keys(pool_id: int) -> list[str]:
    """The keys of a pool, as the scripts number them. The braces keep them together where Redis is a cluster."""
    names = ("set", "hash", "new:set", "new:hash", "builder", "asked")
    return [f"ratings:ranking:{{{pool_id}}}:{name}" for name in names]


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


class Circuit:
    """Whether to call a server that failed a moment ago. After `seconds` one caller may; its answer decides for the others."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._open_until = 0.0
        self._lock = threading.Lock()

    def may_call(self) -> bool:
        if not self._open_until:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                return False
            if self._open_until:
                self._open_until = now + self.seconds
            return True

    def failed(self) -> bool:
        """Open it; whether it was closed."""
        with self._lock:
            was_closed = not self._open_until
            self._open_until = time.monotonic() + self.seconds
            return was_closed

    def worked(self) -> None:
        if self._open_until:
            with self._lock:
                self._open_until = 0.0


class Store:
    """The Redis server at a URL. Safe between threads."""

    def __init__(self, url: str, timeout: float) -> None:
        # One try: the library's own retries would make three seconds of one.
        self.client = redis.Redis.from_url(
            url, socket_connect_timeout=timeout, socket_timeout=timeout, retry=Retry(NoBackoff(), 0)
        )
        self.circuit = Circuit(BREAK_SECONDS)
        self._scripts: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._kept: dict[int, list[Entry]] = {}
        self._wrong: set[int] = set()

    def run(self, script: str, pool_id: int, *args: Any) -> Any:
        """Run a script on a pool. Raises Unavailable, at once while the circuit is open."""
        if not self.circuit.may_call():
            raise Unavailable
        registered = self._scripts.get(script) or self._scripts.setdefault(script, self.client.register_script(script))
        try:
            answer = registered(keys=keys(pool_id), args=args)
        except redis.RedisError as error:
            if self.circuit.failed():
                log.warning("Redis does not answer; rankings come from the database: %s", error)
            raise Unavailable from error
        self.circuit.worked()
        return answer

    def read(self, script: str, pool_id: int, *args: Any) -> Any:
        """The answer of a script that reads a pool's set. Raises Unavailable, and asks for a rebuild where it is not there."""
        if pool_id in self._kept or pool_id in self._wrong:
            self.put(pool_id, [])
        answer = self.run(script, pool_id, *args)
        if answer is None:
            self.ask_for_rebuild(pool_id)
            raise Unavailable
        return answer

    def put(self, pool_id: int, entries: Sequence[Entry]) -> None:
        """Put ratings that are committed into a pool's set; an older version never replaces a newer one. Raises nothing."""
        with self._lock:
            entries = [*self._kept.pop(pool_id, ()), *entries]
            wrong = pool_id in self._wrong
        ends = time.monotonic() + PUT_SECONDS
        conflicts = done = 0
        try:
            for chunk in () if wrong else chunks(entries, CHUNK):
                if time.monotonic() > ends:
                    wrong = True
                    break
                conflicts += self.run(scripts.PUT, pool_id, *(value for one in chunk for value in one))
                done += len(chunk)
            if wrong:
                self.run(scripts.DROP, pool_id)
                with self._lock:
                    self._wrong.discard(pool_id)
                self.ask_for_rebuild(pool_id)
            elif conflicts:
                self.ask_for_rebuild(pool_id)
        except Unavailable:
            self._keep(pool_id, entries[done:], wrong)

    def _keep(self, pool_id: int, entries: Sequence[Entry], wrong: bool) -> None:
        with self._lock:
            kept = self._kept.setdefault(pool_id, [])
            kept += entries
            if wrong or len(kept) > MOST_KEPT:
                del self._kept[pool_id]
                self._wrong.add(pool_id)

    def ask_for_rebuild(self, pool_id: int) -> None:
        """Have a worker rebuild the pool's set, unless somebody asked a moment ago. Raises nothing."""
        try:
            if not self.client.set(keys(pool_id)[-1], 1, nx=True, ex=ASK_SECONDS):
                return
            celery.current_app.send_task(REBUILD_TASK, [pool_id], expires=10 * ASK_SECONDS)
        except (redis.RedisError, OperationalError) as error:
            log.warning("Could not ask for a rebuild of the ranking of pool %s: %s", pool_id, error)


@lru_cache(maxsize=4)
def _store(url: str, timeout: float) -> Store:
    return Store(url, timeout)


def store(timeout: float = TIMEOUT) -> Store:
    """The Redis of the settings. Raises Unavailable where they name none."""
    if not settings.REDIS_URL:
        raise Unavailable
    return _store(settings.REDIS_URL, timeout)
