"""The cache of compiled kernels, and its folder view for other tools."""

# SPDX-License-Identifier: MIT
#
# The native module implements the cache itself (one checksummed file per kernel). The classes here serve code that
# stores its own files next to the kernels, as Triton's interface allows.
from __future__ import annotations

import contextlib
import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from .. import knobs
from .._C import libtriton
from .._warnings import warn_once


@functools.lru_cache
def triton_key() -> str:
    """Identifies this build: equal keys compile equal sources to equal code."""
    return f"{libtriton.version()}-{libtriton.build_id()}"


def _base32(key: str) -> str:
    """The folder name for a hash in hexadecimal digits."""
    import base64

    return base64.b32encode(bytes.fromhex(key)).decode("utf-8").rstrip("=")


def _not_a_path(name: str) -> str:
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is not a plain file name")
    return name


def _open_own(path: str) -> int | None:
    """A descriptor of a regular file that nobody but this user or root can have written."""
    import stat

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(descriptor)
    is_own = status.st_uid in (os.geteuid(), 0) and not status.st_mode & (
        stat.S_IWGRP | stat.S_IWOTH
    )
    if stat.S_ISREG(status.st_mode) and is_own:
        return descriptor
    os.close(descriptor)
    warn_once(
        f"the cached file {path} is not read: it belongs to another user, or others may write to it"
    )
    return None


def read_own_file(path: str) -> bytes | None:
    """The contents of a file that nobody but this user or root can have written: a cached file may hold code. None
    for a link, a file of another user, and one that others may write.
    """
    descriptor = _open_own(path)
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    except OSError:
        return None


def is_own_file(path: str) -> bool:
    """Whether `read_own_file` reads it."""
    descriptor = _open_own(path)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


@contextlib.contextmanager
def failures_warn(folder: str | None = None) -> Iterator[None]:
    """A folder (default: the cache's) that cannot be read or written, as on a full disk, costs a warning and no kernel."""
    try:
        yield
    except OSError as error:
        warn_once(
            f"nothing is kept in {folder or knobs.cache.dir}: {type(error).__name__}: {error.strerror or error}"
        )


def _make_folders(path: str) -> None:
    """Those that are missing, for this user alone; os.makedirs gives a mode to the last one only."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent not in ("", path):
        _make_folders(parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)


def _check_folder(path: str) -> None:
    """Raises unless it is a folder of this user or root: in a shared cache others may make one, or a link, first."""
    import errno
    import stat

    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is a link or a file", path)
    if status.st_uid not in (os.geteuid(), 0):
        raise PermissionError(errno.EPERM, "it belongs to another user", path)


class CacheManager(ABC):
    """Files that belong to one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False):
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None: ...

    @abstractmethod
    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str: ...

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None: ...

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str: ...


class FileCacheManager(CacheManager):
    """Files in one folder under the cache directory; written to a temporary file, then renamed."""

    def __init__(self, key: str, override: bool = False, dump: bool = False):
        super().__init__(key, override, dump)
        root = (
            knobs.cache.dump_dir
            if dump
            else knobs.cache.override_dir
            if override
            else knobs.cache.dir
        )
        if not root:
            raise RuntimeError("Could not create or locate cache dir")
        self.cache_dir = os.path.join(root, key)
        self._is_override = override
        if not override:
            with contextlib.suppress(OSError):  # `put` raises it
                _make_folders(self.cache_dir)

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, _not_a_path(filename))

    def has_file(self, filename: str) -> bool:
        return os.path.isfile(self._make_path(filename))

    def _is_own(self, path: str) -> bool:
        try:
            if not self._is_override:  # which the user lays out, links included
                _check_folder(self.cache_dir)
        except OSError as error:
            warn_once(f"the cached folder {self.cache_dir} is not read: {error.strerror}")
            return False
        return is_own_file(path)

    def get_file(self, filename: str) -> str | None:
        path = self._make_path(filename)
        return path if self.has_file(filename) and self._is_own(path) else None

    def get_group(self, filename: str) -> dict[str, str] | None:
        import json

        path = self.get_file(f"__grp__{filename}")
        index = read_own_file(path) if path is not None else None
        if index is None:
            return None
        with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError):
            children = json.loads(index)["child_paths"]
            return dict(children) if all(map(is_own_file, children.values())) else None
        return None

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        import json

        contents = json.dumps({"child_paths": group})
        return self.put(contents, f"__grp__{filename}", binary=False)

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        from .whole_file import replace_file

        content = data if isinstance(data, bytes) else str(data).encode("utf-8")
        path = self._make_path(filename)
        _make_folders(self.cache_dir)
        _check_folder(self.cache_dir)
        replace_file(path, content, mode=0o600, is_only=False)
        return path


_LAZY = {
    "get_cache_key": "..compiler.compiler",
    "make_so_cache_key": ".launcher_key",
    "RedisRemoteCacheBackend": ".remote_cache",
    "RemoteCacheBackend": ".remote_cache",
    "RemoteCacheManager": ".remote_cache",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name], __package__), name)


def get_cache_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), dump=True)
