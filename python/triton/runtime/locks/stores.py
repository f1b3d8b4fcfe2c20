"""Where decisions of autotuners are kept for several processes: a file, or a Redis server."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from ... import knobs
from ..._warnings import warn_once
from ..whole_file import remove_if_left, replace_file
from .claims import RENEWED, Claim, RedisClaim, claim_file
from .lock_file import Decision, LockText, parse, parse_line, read_bytes

REDIS = "redis:"  # TRITON_LOCK=redis:NAME
_WRITE_SECONDS = 30.0
# Claims of this age may be of killed processes. One that the system locks may be in use as long as tuning takes; the
# others are renewed.
_LEFT_SECONDS = {".claim": 60.0, RENEWED: 3600.0}

Keeps = Callable[[Decision], bool]


class FileStore:
    """A lock file. One process at a time writes it; readers see the file before or after."""

    def __init__(self, path: str):
        self.name = path
        # Through a link, so that the link stays.
        self._folder, self._base = os.path.split(os.path.realpath(path))
        self._parsed: tuple[bytes | None, LockText] = None, LockText()

    @property
    def _path(self) -> str:
        return os.path.join(self._folder, self._base)

    def _beside(self, what: str) -> str:
        return os.path.join(self._folder, f".{self._base}.{what}")

    def read(self) -> LockText:
        """The file as it is now; it is parsed if it has changed."""
        try:
            content = read_bytes(self._path)
        except OSError as error:
            return LockText(errors=[f"{self.name}: cannot be read: {error.strerror}"])
        before, lock = self._parsed
        if content != before:
            lock = parse((content or b"").decode("utf-8", errors="replace"), self.name)
            self._parsed = content, lock
        return lock

    def claim(self, what: str) -> Claim | None:
        """OSError where nothing can be written beside the file."""
        return claim_file(self._claim_path(what))

    def _claim_path(self, what: str) -> str:
        return self._beside(f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.claim")

    def is_claimed(self, what: str) -> bool:
        """Also where a killed process has left its file."""
        path = self._claim_path(what)
        return os.path.exists(path) or os.path.exists(f"{path}.renewed")

    def add(self, decision: Decision, keeps: Keeps) -> Decision:
        """Writes the decision, unless there is one that `keeps` accepts; returns the one that stands."""
        with self._writing():
            lock = self.read()
            standing = lock.decisions.get(decision.identity)
            if standing is not None and keeps(standing):
                return standing
            if lock.errors:
                warn_once(
                    f"nothing is written to {self.name} before it is mended; {lock.errors[0]}"
                )
                return decision
            self._replace(LockText({**lock.decisions, decision.identity: decision}).text())
            return decision

    def replace(self, lock: LockText) -> None:
        with self._writing():
            self._replace(lock.text())

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        deadline = time.monotonic() + _WRITE_SECONDS
        while (claim := self.claim("write")) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    0, f"another process has been writing for {_WRITE_SECONDS:.0f} seconds"
                )
            time.sleep(0.005)
        try:
            yield
        finally:
            claim.release()

    def _replace(self, text: str) -> None:
        self._remove_left()
        replace_file(self._path, text.encode("utf-8"), keeps_mode=True)

    def _remove_left(self) -> None:
        """Claims that killed processes have left."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._folder):
                limit = _LEFT_SECONDS.get(os.path.splitext(entry.name)[1])
                if limit is not None and entry.name.startswith(f".{self._base}."):
                    with contextlib.suppress(OSError):
                        if time.time() - entry.stat().st_mtime > limit:
                            remove_if_left(entry.path)


class RedisStore:
    """A hash of the Redis server that the remote cache uses: a line for each decision."""

    def __init__(self, name: str):
        from ..remote_cache import RedisRemoteCacheBackend

        self.name = name
        backend = RedisRemoteCacheBackend("triton.lock")
        self._hash = backend._get_key(name[len(REDIS) :])
        self._redis = backend._redis

    @staticmethod
    def _text(decision: Decision) -> str:
        return "\n".join(decision.identity)

    def _signed(self, decision: Decision) -> bytes:
        from ..remote_cache import _sign

        return _sign(self._hash, self._text(decision), decision.line().encode())

    def _read_one(self, field: bytes, value: bytes) -> Decision | None:
        from ..remote_cache import _verified

        name = field.decode("utf-8", errors="replace")
        content = _verified(self._hash, name, value)
        if content is None:
            return None
        where = f"{self.name}:{' '.join(name.split(chr(10)))}"
        try:
            return parse_line(content.decode("utf-8", errors="replace"), where)
        except ValueError as error:
            warn_once(str(error))
            return None

    def read(self) -> LockText:
        lock = LockText()
        found: Any = self._redis.hgetall(self._hash)
        for field, value in found.items():
            decision = self._read_one(field, value)
            if decision is not None:
                lock.decisions[decision.identity] = decision
        return lock

    def claim(self, what: str) -> Claim | None:
        return RedisClaim.take(self._redis, self._claim_name(what))

    def is_claimed(self, what: str) -> bool:
        return bool(self._redis.exists(self._claim_name(what)))

    def _claim_name(self, what: str) -> str:
        return f"{self._hash}:claim:{hashlib.sha256(what.encode()).hexdigest()[:16]}"

    _SWAP = (
        "local now = redis.call('hget', KEYS[1], ARGV[1]) "
        "if now == false then now = '' end "
        "if now == ARGV[2] then redis.call('hset', KEYS[1], ARGV[1], ARGV[3]) return 1 end return 0"
    )

    def add(self, decision: Decision, keeps: Keeps) -> Decision:
        """Writes the decision, unless there is one that `keeps` accepts; returns the one that stands."""
        field = self._text(decision)
        while True:
            before: Any = self._redis.hget(self._hash, field) or b""
            standing = self._read_one(field.encode(), before) if before else None
            if standing is not None and keeps(standing):
                return standing
            new = self._signed(decision)
            if self._redis.eval(self._SWAP, 1, self._hash, field, before, new):
                return decision


class TextStore:
    """A lock that is part of something else, as a pack: it is only read."""

    def __init__(self, name: str, text: str):
        self.name = name
        self._lock = parse(text, name)

    def read(self) -> LockText:
        return self._lock


@functools.lru_cache(maxsize=8)
def _store_of(name: str, redis: tuple[Any, ...]) -> Any:
    return RedisStore(name) if name.startswith(REDIS) else FileStore(name)


def written_store() -> Any:
    """The one that TRITON_LOCK names, or None."""
    name = knobs.autotuning.lock
    if not name:
        return None
    server = (knobs.redis.host, knobs.redis.port, knobs.redis.key_format)
    return _store_of(name, server if name.startswith(REDIS) else ())
