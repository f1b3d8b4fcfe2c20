"""A cache on another machine: its interface, one on a Redis server, and the manager that uses it.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import json
from abc import ABC, abstractmethod
from typing import Any

from .. import knobs
from .cache import CacheManager, FileCacheManager


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
        self._redis = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)

    def _get_key(self, filename: str) -> str:
        return self._key_format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        values: Any = self._redis.mget([self._get_key(name) for name in filenames])
        return {
            name: value for name, value in zip(filenames, values, strict=False) if value is not None
        }

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._get_key(filename), data)


class RemoteCacheManager(CacheManager):
    """Files of the remote cache that `knobs.cache.remote_manager_class` names. A fetched file is
    also stored locally, since callers need paths; overrides and dumps are local only.
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
        self._remote = None if override or dump else backend(key)

    def get_file(self, filename: str) -> str | None:
        """Queries the remote cache even if the file is local: it counts uses."""
        if self._remote is None:
            return self._files.get_file(filename)
        found = self._remote.get([filename])
        return self._files.put(found[filename], filename) if filename in found else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        if self._remote is None:
            return self._files.put(data, filename, binary=binary)
        content = data if isinstance(data, bytes) else str(data).encode("utf-8")
        self._remote.put(filename, content)
        return self._files.put(content, filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        """None unless all of its files are there."""
        if self._remote is None:
            return self._files.get_group(filename)
        index = f"__grp__{filename}"
        names = None
        with contextlib.suppress(ValueError, KeyError):
            names = json.loads(self._remote.get([index])[index])["child_paths"]
        if not names:
            return None
        found = self._remote.get(list(names))
        if len(found) != len(names):
            return None
        return {name: self._files.put(data, name) for name, data in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        if self._remote is None:
            return self._files.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}")
