"""A cache on another machine: its interface, one on a Redis server, and the manager that uses it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import hmac
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from .. import knobs
from .._warnings import warn_once
from .cache import CacheManager, FileCacheManager, _not_a_path

# Begins a signed file; the HMAC-SHA256 of key, file name and content follows, then the content.
_MAGIC = b"nereid-signed-1\n"
_DIGEST = hashlib.sha256().digest_size
# After a failure the remote cache is left alone for a while: a compilation must not wait for one timeout after another.
_PAUSE_SECONDS = 30.0
# Of the Redis client: a server that does not answer is an outage.
_CONNECT_SECONDS, _ANSWER_SECONDS = 3.0, 5.0
# Compiling takes less than waiting for answers that take longer.
_SLOW_SECONDS = 5.0


class RemoteCacheBackend(ABC):
    """Files by name, under one key."""

    def __init__(self, key: str):
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """Those of the files that exist."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> Any: ...


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Files as values of a Redis server that `knobs.redis` names."""

    def __init__(self, key: str):
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ModuleNotFoundError as error:
            if error.name != "redis":
                raise
            raise ModuleNotFoundError(
                "RedisRemoteCacheBackend needs the package `redis`; install it by: "
                "python -m pip install redis",
                name="redis",
            ) from error

        super().__init__(key)
        self._key_format = knobs.redis.key_format
        self._redis = redis.Redis(
            host=knobs.redis.host,
            port=knobs.redis.port,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            retry=Retry(
                NoBackoff(), 0
            ),  # the client's ten trials of a server that hangs take minutes
        )

    def _get_key(self, filename: str) -> str:
        return self._key_format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        values: Any = self._redis.mget([self._get_key(name) for name in filenames])
        return {
            name: value for name, value in zip(filenames, values, strict=False) if value is not None
        }

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._get_key(filename), data)


# --- Signatures ----------------------------------------------------------------------------------


def _signature(secret: str, key: str, filename: str, content: bytes) -> bytes:
    """Binds the content to its place, so that files cannot be exchanged."""
    place = b"".join(
        len(part).to_bytes(8, "big") + part for part in (key.encode(), filename.encode())
    )
    return hmac.new(secret.encode(), place + content, hashlib.sha256).digest()


def _sign(key: str, filename: str, content: bytes) -> bytes:
    secret = knobs.cache.remote_key
    return _MAGIC + _signature(secret, key, filename, content) + content if secret else content


def _verified(key: str, filename: str, data: Any) -> bytes | None:
    """The content of a fetched file; None where its signature does not hold."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        warn_once(f"the remote cache's answer for {filename} is no bytes; it is ignored")
        return None
    data, secret = bytes(data), knobs.cache.remote_key
    begin = len(_MAGIC) + _DIGEST
    is_signed = data.startswith(_MAGIC) and len(data) >= begin
    if not secret:
        return data[begin:] if is_signed else data
    content = data[begin:]
    expected = _signature(secret, key, filename, content)
    if is_signed and hmac.compare_digest(data[len(_MAGIC) : begin], expected):
        return content
    warn_once(
        "the remote cache has files without a valid signature by TRITON_REMOTE_CACHE_KEY; they are ignored"
    )
    return None


# --- Outages -------------------------------------------------------------------------------------


class _Outage:
    """When the remote cache was last found out of order, for all kernels of this process."""

    until = 0.0


def _attempt(action: Callable[[], Any]) -> Any:
    """The result of `action`; None during an outage."""
    start = time.monotonic()
    if start < _Outage.until:
        return None
    try:
        result = action()
        seconds = time.monotonic() - start
        if seconds > _SLOW_SECONDS:
            _Outage.until = start + seconds + _PAUSE_SECONDS
            warn_once(
                f"the remote cache took {seconds:.0f} seconds for an answer; after one over {_SLOW_SECONDS:.0f} seconds "
                f"it is not asked for {_PAUSE_SECONDS:.0f}"
            )
        return result
    except (KeyError, FileNotFoundError):  # a backend's way to say that it has no such file
        return None
    except Exception as error:
        _Outage.until = time.monotonic() + _PAUSE_SECONDS
        warn_once(
            "the remote cache is out of order, so that kernels are compiled here; the first error: "
            f"{type(error).__name__}: {error}"
        )
        return None


class RemoteCacheManager(CacheManager):
    """Files of the remote cache that `knobs.cache.remote_manager_class` names. A fetched file is
    also stored locally, since callers need paths; overrides and dumps are local only. Where the
    remote cache fails, it has nothing.
    """

    def __init__(self, key: str, override: bool = False, dump: bool = False):
        super().__init__(key, override, dump)
        backend = knobs.cache.remote_manager_class
        if backend is None:
            raise RuntimeError(
                "Unable to instantiate RemoteCacheManager, TRITON_REMOTE_CACHE_BACKEND doesn't point "
                "to a valid class"
            )
        self._files = FileCacheManager(key, override=override, dump=dump)
        self._is_local = override or dump
        self._remote = None if self._is_local else self._connected(backend)

    def _connected(self, backend: Any) -> Any:
        try:
            return backend(self.key)
        except (
            ImportError
        ):  # its package is not installed: no outage, but a mistake in the settings
            raise
        except Exception as error:
            failure = error

        def fail() -> None:
            raise failure

        return _attempt(fail)

    def _fetch(self, names: list[str]) -> dict[str, bytes]:
        remote = self._remote
        if remote is None:
            return {}

        def ask() -> dict[str, Any]:
            return dict(remote.get(names))

        found = _attempt(ask) or {}
        verified = {name: _verified(self.key, name, found[name]) for name in names if name in found}
        return {name: content for name, content in verified.items() if content is not None}

    def get_file(self, filename: str) -> str | None:
        """Queries the remote cache even if the file is local: it counts uses."""
        if self._is_local:
            return self._files.get_file(filename)
        found = self._fetch([filename])
        return self._files.put(found[filename], filename) if filename in found else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        if self._is_local:
            return self._files.put(data, filename, binary=binary)
        content = data if isinstance(data, bytes) else str(data).encode("utf-8")
        if self._remote is not None:
            _attempt(lambda: self._remote.put(filename, _sign(self.key, filename, content)))
        return self._files.put(content, filename)

    def _names_of_group(self, filename: str) -> list[str]:
        index = f"__grp__{filename}"
        content = self._fetch([index]).get(index)
        if content is None:
            return []
        try:
            names = list(json.loads(content)["child_paths"])
            return [_not_a_path(name) for name in names]
        except (ValueError, LookupError, TypeError, AttributeError):
            warn_once("the remote cache has damaged lists of files; they are ignored")
            return []

    def get_group(self, filename: str) -> dict[str, str] | None:
        """None unless all of its files are there."""
        if self._is_local:
            return self._files.get_group(filename)
        names = self._names_of_group(filename)
        found = self._fetch(names) if names else {}
        if not names or len(found) != len(set(names)):
            return None
        return {name: self._files.put(data, name) for name, data in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        if self._is_local:
            return self._files.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}")
