"""Writes files whole or not at all: another process, or a kill, never sees or leaves a part of one."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import os

from .lock_file import retry_stale


def replace_file(path: str, temporary: str, content: bytes, keeps_mode: bool = False) -> None:
    """Writes to `temporary`, in the same folder, waits for the disk and renames. `keeps_mode`: with the mode of
    the file that it replaces.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = retry_stale(lambda: os.open(temporary, flags, 0o666))
        with os.fdopen(descriptor, "wb") as file:
            if keeps_mode:
                with contextlib.suppress(OSError):
                    os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        retry_stale(lambda: os.replace(temporary, path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
