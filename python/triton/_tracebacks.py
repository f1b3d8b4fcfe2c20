"""Removes this package's frames from the tracebacks of errors that users make: their own lines remain."""

# SPDX-License-Identifier: MIT
#
# The native launcher calls `without_own_frames` for each launch that fails.
from __future__ import annotations

from types import FrameType, TracebackType

from . import knobs
from .errors import TritonError

# Raise the errors of a call's arguments, as Python does itself for its functions: TypeError and others.
_CHECK_ARGUMENTS = ("triton.runtime.binder", "triton.runtime.params")


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_own(frame: FrameType) -> bool:
    return _module(frame).split(".")[0] == "triton"


def _frames(error: BaseException) -> list[TracebackType]:
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def _is_of_the_user(error: BaseException, frames: list[TracebackType]) -> bool:
    if isinstance(error, TritonError):
        return True
    return bool(frames) and _module(frames[-1].tb_frame) in _CHECK_ARGUMENTS


def without_own_frames(error: BaseException) -> None:
    """Also where the user's frames are between them, such as those of a hook that launches."""
    frames = _frames(error)
    if knobs.compilation.front_end_debugging or not _is_of_the_user(error, frames):
        return
    rest: TracebackType | None = None
    for entry in reversed(frames):
        if not _is_own(entry.tb_frame):
            rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = rest
