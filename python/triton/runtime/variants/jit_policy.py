"""`TRITON_JIT`: what happens where a kernel would be compiled, or tuned, in the middle of a program."""

# SPDX-License-Identifier: MIT
#
# The policy speaks where no cache has the kernel; what is in memory, in a pack or on disk is used under any.
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from ... import knobs
from ..errors import JitForbidden, JitWarning

_CARRIERS = frozenset(["triton", "concurrent", "threading", "functools", "contextlib"])
_LIBRARIES = frozenset(["torch", "jax", "jaxlib"])


Site = tuple[str, int]

# Where the work of this thread was asked for, by another thread.
_site: ContextVar[Site | None] = ContextVar("site", default=None)
called_from = _site.set


def caller() -> Site | None:
    """File and line of the innermost call that is neither this package's nor, if there is a choice,
    a framework's; in a thread of this package that of the call which asked for its work.
    """
    if _site.get() is not None:
        return _site.get()
    frame: FrameType | None = sys._getframe(1)
    fallback = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _CARRIERS:
            here = frame.f_code.co_filename, frame.f_lineno
            if package not in _LIBRARIES:
                return here
            fallback = fallback or here
        frame = frame.f_back
    return fallback


class NotCached(Exception):
    """A kernel is in no cache, and `cached_only` wants nothing compiled."""


_cached_only: ContextVar[bool] = ContextVar("cached_only", default=False)


@contextmanager
def cached_only() -> Iterator[None]:
    """Compilations inside find their results in caches, or raise NotCached."""
    token = _cached_only.set(True)
    try:
        yield
    finally:
        _cached_only.reset(token)


_own_variants: ContextVar[bool] = ContextVar("own_variants", default=False)
wants_own_variants = _own_variants.get


@contextmanager
def own_variants() -> Iterator[None]:
    """Launches inside wait for the variants of their arguments, since they are timed."""
    token = _own_variants.set(True)
    try:
        yield
    finally:
        _own_variants.reset(token)


def guard(
    lookup: Callable[[str], Any] | None, src: Any, target: Any, options: Any, abi: str
) -> Any:
    """The `lookup` of a compilation, which the compiler calls with the key of a kernel that is neither
    in memory nor on disk, followed by the policy.
    """
    if knobs.runtime.jit == "allow" and not _cached_only.get():
        return lookup

    is_checked = False  # the compiler looks again when it has waited for another process

    def find(key: str) -> Any:
        nonlocal is_checked
        found = lookup(key) if lookup is not None else None
        if not is_checked and (found is None or not _is_kernel(found, key)):
            check_compilation(src, target, options, abi)
            is_checked = True
        return found

    return find


def _is_kernel(content: bytes, key: str) -> bool:
    from ..._C import libtriton

    try:
        return bool(libtriton.load_artifact(content).hash == key)
    except (RuntimeError, ValueError, TypeError):
        return False


def record(src: Any, target: Any, options: Any, abi: str) -> None:
    """Adds a compilation, or what a cache had of it, to the file of `TRITON_RECORD`."""
    if knobs.runtime.record and src.fn is not None:
        from .variant import Variant
        from .variant_record import add

        add(knobs.runtime.record, Variant.of_source(src, target, options, abi))


def record_kernel(kernel: Any, abi: str) -> None:
    """The same for a kernel that was in memory before the recording began."""
    group: Any = getattr(kernel, "metadata_group", None)
    if hasattr(group, "options"):
        record(kernel.src, group.target, group.options, abi)


def check_compilation(src: Any, target: Any, options: Any, abi: str = "plain") -> None:
    """Warns of a compilation that is about to run, or raises JitForbidden."""
    if _cached_only.get():
        raise NotCached
    policy = knobs.runtime.jit
    if policy == "allow":
        return
    if policy == "forbid":
        record(src, target, options, abi)  # what a pack lacked is what the next one needs
    _speak(policy, _missing(src, target, options))


def check_tuning(tuner: Any, key: Any, configs: list[Any]) -> None:
    """The same for a kernel that is about to be tuned: `key` has no decision yet."""
    policy = knobs.runtime.jit
    if policy == "allow":
        return
    names = [name for name in tuner.keys if name in tuner.arg_names]
    shown = ", ".join(f"{name}={value!r}" for name, value in zip(names, key, strict=False))
    function = tuner.base_fn
    text = (
        f"`{function.__name__}` ({_location(function)}) would be tuned for {shown or 'its arguments'} "
        f"(key {key!r}): {len(configs)} configurations to time, and no decision is known"
    )
    _speak(policy, f"{text}. {_ADVICE_TUNING}")


_ADVICE = (
    "Compile it ahead with `kernel.compile_all` or `nereid pack`; TRITON_RECORD=FILE lists what a run "
    "needs; TRITON_JIT=allow compiles it now."
)
_ADVICE_TUNING = "Tune before, and keep the decisions; TRITON_JIT=allow tunes now."


def _speak(policy: str, text: str) -> None:
    where = caller()
    if policy == "forbid":
        prefix = "" if where is None else f"{where[0]}:{where[1]}: "
        raise JitForbidden(f"{prefix}TRITON_JIT=forbid: {text}")
    file, line = where or ("<unknown>", 1)
    warnings.warn_explicit(f"TRITON_JIT=warn: {text}", JitWarning, file, line)


def _missing(src: Any, target: Any, options: Any) -> str:
    """Names the kernel that is compiled, and how it differs from the nearest known variant."""
    from . import known_variants
    from .variant import Variant

    if src.fn is None:
        return (
            f"{src.name} of {src.path} is in no cache for {target.backend}:{target.arch}. {_ADVICE}"
        )
    wanted = Variant.of_source(src, target, options, "plain")
    known, where = known_variants.of_process(src.fn), "known here"
    begin = (
        f"`{src.fn.__name__}` ({_location(src.fn)}) is in no cache for {wanted.target_text} with\n"
    )
    nearest = wanted.nearest(known)
    if nearest is None:
        known, where = known_variants.in_folder(wanted), f"in {knobs.cache.dir}"
        nearest = wanted.nearest(known)
    if nearest is None:
        lines = [f"  {name}: {text}" for name, text in wanted.arguments.items()]
        lines += [f"  option {name}: {value!r}" for name, value in wanted.changed_options.items()]
        return f"{begin}{_joined(lines)}\nNo variant of it is known here. {_ADVICE}"
    lines = [
        f"  {name}: {here}; known: {there}"
        for name, (here, there) in wanted.differences(nearest).items()
    ]
    count = "1 variant is" if len(known) == 1 else f"{len(known)} variants are"
    return f"{begin}{_joined(lines)}\n{count} {where}; the nearest was compared. {_ADVICE}"


def _joined(lines: list[str]) -> str:
    return (
        "\n".join(lines)
        or "  the arguments of a known variant; the code, the target or a setting differs"
    )


def _location(function: Any) -> str:
    """file:line of a kernel."""
    host = getattr(function, "fn", None) or function
    code = getattr(host, "__code__", None)
    return "file unknown" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
