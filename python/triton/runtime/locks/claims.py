"""Claims: one process among several may do something, and its death frees the claim."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, Protocol

from ..whole_file import retry_stale

# A claim without the system's help (flock) ends when its owner has not renewed it for so long.
EXPIRES_SECONDS = 15.0
RENEWED = ".renewed"  # the end of the names of such files
_RENEW_SECONDS = 3.0
_RENEWED_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class Claim(Protocol):
    def release(self) -> None: ...


class _Held:
    """Descriptors of claims: a forked child closes its copies, which would keep the claims of a dead parent."""

    descriptors: set[int] = set()

    @classmethod
    def close_in_child(cls) -> None:
        for descriptor in cls.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        cls.descriptors = set()


os.register_at_fork(after_in_child=_Held.close_in_child)


def claim_file(path: str) -> Claim | None:
    """A claim among all processes that see the file; None while another has it. OSError where no file can be made."""
    for _ in range(10):
        descriptor = retry_stale(lambda: os.open(path, _LOCK_FLAGS, 0o666))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            if error.errno not in _NO_LOCKS:
                raise
            with contextlib.suppress(OSError):
                os.unlink(path)
            return _RenewedFile.take(f"{path}{RENEWED}")
        if _is_at(descriptor, path):
            return _LockedFile(path, descriptor)
        os.close(descriptor)  # its last owner has removed it meanwhile
    return None


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


class _LockedFile:
    """A file that is locked by the system, which unlocks it when its owner dies."""

    def __init__(self, path: str, descriptor: int):
        self._path, self._descriptor, self._owner = path, descriptor, os.getpid()
        _Held.descriptors.add(descriptor)

    def release(self) -> None:
        if os.getpid() != self._owner:
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        _Held.descriptors.discard(self._descriptor)
        os.close(self._descriptor)


class _Renewal:
    """A thread that renews a claim until it is stopped, or has lost it. A forked child has none."""

    def __init__(self, renew: Callable[[], bool]):
        self._owner = os.getpid()
        self._end = threading.Event()
        self._renew = renew
        self._thread = threading.Thread(target=self._run, daemon=True, name="triton claim")
        self._thread.start()

    def _run(self) -> None:
        while not self._end.wait(_RENEW_SECONDS) and self._renew():
            pass

    def stop(self) -> bool:
        """False in a forked child, which does not own the claim."""
        if os.getpid() != self._owner:
            return False
        self._end.set()
        self._thread.join()
        return True


class _RenewedFile:
    """A file that exists as long as its owner lives, for file systems without locks: its content counts up."""

    _seen: dict[str, tuple[bytes, float]] = {}  # path -> content, since when

    def __init__(self, path: str, name: bytes):
        self._path, self._name, self._count = path, name, 0
        self._renewal = _Renewal(self._renew)

    @classmethod
    def take(cls, path: str) -> Claim | None:
        name = f"{_machine()} {os.getpid()} {uuid.uuid4().hex}".encode()
        try:
            descriptor = retry_stale(lambda: os.open(path, _RENEWED_FLAGS, 0o666))
        except FileExistsError:
            cls._remove_expired(path)
            return None
        with os.fdopen(descriptor, "wb") as file:
            file.write(name + b" 0")
        return cls(path, name)

    @classmethod
    def _remove_expired(cls, path: str) -> None:
        """Removes a claim whose owner is dead, so that the next trial gets it."""
        try:
            content = _content(path)
        except OSError:
            return
        before, since = cls._seen.get(path, (None, 0.0))
        if content != before:
            cls._seen[path] = content, time.monotonic()
            since = time.monotonic()
        if time.monotonic() - since < EXPIRES_SECONDS and not _is_dead(content):
            return
        cls._seen.pop(path, None)
        aside = f"{path}.{uuid.uuid4().hex}{RENEWED}"
        with contextlib.suppress(OSError):  # another process does the same
            os.rename(path, aside)
            if _content(aside) != content:  # it was faster, and has a claim of its own by now
                os.link(aside, path)
            os.unlink(aside)

    def _renew(self) -> bool:
        self._count += 1
        try:
            with open(self._path, "r+b") as file:
                if not file.read(1000).startswith(self._name):
                    return False
                file.seek(0)
                file.write(self._name + f" {self._count}".encode())
        except FileNotFoundError:
            return False
        except OSError:
            pass  # the next time
        return True

    def release(self) -> None:
        if not self._renewal.stop():
            return
        with contextlib.suppress(OSError):
            if _content(self._path).startswith(self._name):
                os.unlink(self._path)


def _content(path: str) -> bytes:
    def read() -> bytes:
        with open(path, "rb") as file:
            return file.read(1000)

    return retry_stale(read)


def _machine() -> str:
    """Processes with equal texts see each other's process numbers."""
    import socket

    with contextlib.suppress(OSError):
        return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}".replace(" ", "")
    return uuid.uuid4().hex


def _is_dead(content: bytes) -> bool:
    """Whether the claim's owner was a process of this machine that has ended."""
    words = content.decode("utf-8", errors="replace").split()
    if len(words) < 3 or words[0] != _machine() or not words[1].isdecimal():
        return False
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


class RedisClaim:
    """A value of a Redis server that expires."""

    _RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
    _FREE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

    def __init__(self, redis: Any, name: str, token: str):
        self._redis, self._name, self._token = redis, name, token
        self._renewal = _Renewal(self._renew)

    @classmethod
    def take(cls, redis: Any, name: str) -> Claim | None:
        token = uuid.uuid4().hex
        is_taken = redis.set(name, token, nx=True, px=int(EXPIRES_SECONDS * 1000))
        return cls(redis, name, token) if is_taken else None

    def _renew(self) -> bool:
        try:
            milliseconds = int(EXPIRES_SECONDS * 1000)
            return bool(self._redis.eval(self._RENEW, 1, self._name, self._token, milliseconds))
        except Exception:
            return True  # the server may answer the next time

    def release(self) -> None:
        if not self._renewal.stop():
            return
        with contextlib.suppress(Exception):  # it expires
            self._redis.eval(self._FREE, 1, self._name, self._token)
