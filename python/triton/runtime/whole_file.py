"""Writes files whole or not at all: another process, or a kill, never sees a part of one."""

# SPDX-License-Identifier: MIT
#
# A file is written beside its name and then renamed. What a killed writer leaves is removed by the next writer of the
# same file: a writer holds a lock (flock) of the file that it writes, which its death releases.
from __future__ import annotations

import contextlib
import errno
import os
import time
import uuid
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_SUFFIX = ".new"
_ATTEMPTS = 4
# A file of this age has no writer, where the file system has no locks. Longer than any one write.
_LEFT_SECONDS = 600.0


def replace_file(
    path: str, content: bytes, *, mode: int = 0o666, keeps_mode: bool = False, is_only: bool = True
) -> None:
    """Writes the file that is then at `path`. `keeps_mode`: with the mode of the file that it replaces. `is_only`: no
    other place has the content, as of lock files and packs, so that it must be on the disk before the old file is gone.
    A cached file is not worth that wait: whoever misses it computes it anew.
    """
    folder, base = os.path.split(path)
    _remove_left(folder, base)
    temporary, descriptor = _open_beside(folder, base, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if keeps_mode:
                with contextlib.suppress(OSError):
                    os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.write(content)
            file.flush()
            if is_only:
                os.fsync(file.fileno())
            retry_stale(lambda: os.replace(temporary, path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if is_only:
        _sync_folder(folder)


def retry_stale(action: Callable[[], T]) -> T:
    """A network file system answers ESTALE where another machine has replaced a file: opened anew it is there."""
    for _ in range(2):
        try:
            return action()
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return action()


def _prefix(base: str) -> str:
    return f".{base[:40]}."  # names have at most 255 bytes


def _open_beside(folder: str, base: str, mode: int) -> tuple[str, int]:
    """A new file whose lock this process holds."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    for attempt in range(1, _ATTEMPTS + 1):
        path = os.path.join(folder, f"{_prefix(base)}{uuid.uuid4().hex[:16]}{_SUFFIX}")
        descriptor = retry_stale(lambda: os.open(path, flags, mode))  # noqa: B023
        # Another writer may have taken it for one of a dead process before it was locked.
        if attempt == _ATTEMPTS or (
            _lock(descriptor) is not False and os.fstat(descriptor).st_nlink
        ):
            break
        os.close(descriptor)
    return path, descriptor


def _lock(descriptor: int) -> bool | None:
    """Whether this process now holds the lock; None where the file system has none."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_left(folder: str, base: str) -> None:
    """What killed writers of this file have left."""
    prefix = _prefix(base)
    with contextlib.suppress(OSError):
        for name in os.listdir(folder or "."):
            if name.startswith(prefix) and name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    remove_if_left(os.path.join(folder, name))


def remove_if_left(path: str) -> None:
    """Removes a file that no process has locked, or, where the file system has no locks, one of some age."""
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    try:
        is_free = _lock(descriptor)
        if is_free is None:
            is_free = time.time() - os.fstat(descriptor).st_mtime > _LEFT_SECONDS
        if is_free:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    """So that the new name is on the disk, too."""
    with contextlib.suppress(OSError):  # of a file system that has no such call
        descriptor = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
