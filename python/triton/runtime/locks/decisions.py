"""Decisions of autotuners that several processes share: lock files, beside kernels and where TRITON_LOCK says."""

# SPDX-License-Identifier: MIT
#
# An autotuner calls `find` for a key that it does not know, tunes inside of `deciding`, and passes the result to
# `record`. Without a lock file none of them does anything.
from __future__ import annotations

import contextlib
import difflib
import functools
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ... import knobs
from ..._warnings import warn_once
from .claims import Claim
from .lock_file import Decision, LockText, plain
from .stores import FileStore, TextStore, written_store

if TYPE_CHECKING:
    from ..autotuner import Autotuner
    from ..tuning.config import Config

LOCK_NAME = "triton.lock"
_SOURCE_DIGITS = 16
# How long the other ranks of a job wait for rank 0 to begin.
_RANK_0_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25
_MOST_WARNINGS = 5  # of one file


def find(tuner: Autotuner, key: tuple[Any, ...], configs: list[Config]) -> Config | None:
    """The configuration that a lock has for this key; None where no lock has one of `configs`."""
    function = _function_of(tuner)
    stores = _stores(function) if function is not None else []
    if not stores:
        return None
    wanted = _Wanted(tuner, function, key)
    for store in stores:
        decision = _read(store, wanted.kernel).decisions.get(wanted.identity)
        config = wanted.config_of(decision, configs) if decision is not None else None
        if config is not None:
            return config
    return None


def known(tuner: Autotuner) -> dict[tuple[Any, ...], Config]:
    """All decisions that hold for an autotuner on the current device, by its keys."""
    function = _function_of(tuner)
    found: dict[tuple[Any, ...], Config] = {}
    if function is None or not (stores := _stores(function)):
        return found
    wanted = _Wanted(tuner, function, ())
    for store in reversed(stores):
        for decision in _read(store, function).decisions.values():
            if decision.identity[:2] == wanted.identity[:2]:
                config = wanted.config_of(decision, tuner.configs)
                if config is not None:
                    found[decision.key] = config
    return found


def record(tuner: Autotuner, key: tuple[Any, ...], config: Config, milliseconds: Any) -> Config:
    """Keeps a decision in the lock that TRITON_LOCK names. Returns the configuration to use: another
    process may have decided first.
    """
    store, function = written_store(), _function_of(tuner)
    if store is None or function is None:
        return config
    wanted = _Wanted(tuner, function, key)
    decision = wanted.decision(config, _milliseconds(milliseconds))

    def keeps(standing: Decision) -> bool:
        return wanted.config_of(standing, tuner.configs) is not None

    with _failures_warn(store):
        standing = store.add(decision, keeps)
        return wanted.config_of(standing, tuner.configs) or config
    return config


@contextlib.contextmanager
def deciding(tuner: Autotuner, key: tuple[Any, ...]) -> Iterator[None]:
    """One process at a time is inside for one key of one kernel; the others wait, a limited time, and should call
    `find` inside: it then has what was decided meanwhile. In a job of torchrun the other ranks wait for rank 0.
    """
    store, function = written_store(), _function_of(tuner)
    claim = None
    is_allowed = (
        knobs.runtime.jit != "forbid"
    )  # else nothing is tuned, and there is nothing to wait for
    if store is not None and function is not None and is_allowed:
        with _failures_warn(store):
            claim = _Turn(store, _Wanted(tuner, function, key), tuner.configs).wait()
    try:
        yield
    finally:
        if claim is not None:
            claim.release()


# --- What a decision is about --------------------------------------------------------------------


def _function_of(tuner: Autotuner) -> Any:
    """The kernel; None where its launches are interpreted, whose times say nothing."""
    from ..jit import JITFunction

    function: Any = tuner.fn
    while function is not None and not isinstance(function, JITFunction):
        function = getattr(function, "fn", None)
    return function


def _module_of(function: Any) -> str:
    """The name under which another program imports the kernel: that of the file, if it is the program."""
    if function.module != "__main__":
        return str(function.module)
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name)
    return os.path.splitext(os.path.basename(getattr(main, "__file__", None) or "__main__"))[0]


def _arch_of(tuner: Autotuner) -> str:
    """BACKEND:ARCH of the device of the call's arguments."""
    from ..driver import driver

    active, index = driver.active, None
    for value in (tuner.nargs or {}).values():
        device = getattr(value, "device", None)
        kind = getattr(device, "type", None)
        if isinstance(kind, str):
            active, index = driver.for_device(kind), getattr(device, "index", None)
            break
    target = active.get_current_target() if index is None else active.target_of(index)
    return f"{target.backend}:{target.arch}"


class _Wanted:
    """The identity of a decision that an autotuner looks for."""

    def __init__(self, tuner: Autotuner, function: Any, key: tuple[Any, ...]):
        self.name = f"{_module_of(function)}:{function.__qualname__}"
        self.kernel = function
        self.source = function.cache_key[:_SOURCE_DIGITS]
        self._blank = Decision(self.name, _arch_of(tuner), tuple(map(plain, key)), {}, self.source)
        self.identity = self._blank.identity

    def decision(self, config: Config, milliseconds: float | None) -> Decision:
        b = self._blank
        return Decision(b.kernel, b.arch, b.key, _settings(config), b.source, milliseconds)

    def config_of(self, decision: Decision, configs: list[Config]) -> Config | None:
        """The one of `configs` that the decision names; None, after a warning, where it does not hold."""
        config, reason = _fitting(decision, self.source, configs)
        if reason is not None:
            _ignore(decision, reason)
        return config


def _fitting(
    decision: Decision, source: str, configs: list[Config]
) -> tuple[Config | None, str | None]:
    """The configuration that the decision names, or why it does not hold."""
    if decision.source != source:
        return None, f"the kernel's source has changed ({decision.source}, now {source})"
    same = [each for each in configs if _settings(each) == decision.config]
    if same and all(each.pre_hook is same[0].pre_hook for each in same):
        return same[0], None
    if same:
        return None, "several configurations that differ in their hooks are equal to its own"
    known = {name for each in configs for name in _settings(each)}
    unknown = sorted(decision.config.keys() - known)
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return None, f"no configuration has a parameter `{unknown[0]}`{hint}"
    return None, f"its configuration is none of the {len(configs)} of the autotuner"


def problem_of(decision: Decision, tuner: Autotuner) -> str | None:
    """Why the decision does not hold for the autotuner; None where it does."""
    function = _function_of(tuner)
    if function is None:
        return "its kernel is no @triton.jit function"
    return _fitting(decision, function.cache_key[:_SOURCE_DIGITS], tuner.configs)[1]


def _ignore(decision: Decision, why: str) -> None:
    where = f"{decision.where}: " if decision.where else ""
    warn_once(f"{where}the decision for `{decision.kernel}` is ignored: {why}")


def _settings(config: Config) -> dict[str, Any]:
    return {name: plain(value) for name, value in config.all_kwargs().items()}


def _milliseconds(timing: Any) -> float | None:
    """The median of a timing, to four digits: more of them are noise, and a difference in a review."""
    first = timing[0] if isinstance(timing, (list, tuple)) and timing else timing
    value = plain(first)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(f"{value:.4g}") if is_number and value >= 0 else None


# --- Where decisions are -------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _file_store(path: str) -> FileStore:
    return FileStore(path)


def _beside(function: Any) -> str | None:
    """The lock file in the folder of the kernel's source, if there is one."""
    code = getattr(function.fn, "__code__", None)
    if code is None:  # after unpickling
        return None
    path = os.path.join(os.path.dirname(os.path.abspath(code.co_filename)), LOCK_NAME)
    return path if os.path.exists(path) else None


def _stores(function: Any) -> list[Any]:
    """In the order in which they count."""
    stores: list[Any] = []
    path = _beside(function)
    with _setting_warns():
        written = written_store()
        if written is not None:
            stores.append(written)
    if path is not None and not any(_is_file(store, path) for store in stores):
        stores.append(_file_store(path))
    return [*stores, *_packed_stores()]


_text_store = functools.lru_cache(maxsize=16)(TextStore)


def _packed_stores() -> list[TextStore]:
    """The locks of the packs that serve this process."""
    if knobs.cache.packs:
        from ..packs import use_configured

        use_configured()
    packs = sys.modules.get("triton.runtime.packs")  # without it none has been loaded
    served = packs.served() if packs is not None else []
    return [_text_store(pack.path, pack.lock) for pack in served if pack.lock]


def _is_file(store: Any, path: str) -> bool:
    return isinstance(store, FileStore) and os.path.realpath(store.name) == os.path.realpath(path)


def _read(store: Any, function: Any) -> LockText:
    with _failures_warn(store):
        lock: LockText = store.read()
        texts = [*lock.errors, *lock.remarks]
        for text in texts[:_MOST_WARNINGS]:
            warn_once(text)
        if len(texts) > _MOST_WARNINGS:
            warn_once(
                f"{store.name} has {len(texts) - _MOST_WARNINGS} more such lines; "
                f"python -m nereid lock check {store.name} lists them"
            )
        _warn_of_unknown_kernels(lock, function)
        return lock
    return LockText()


def _warn_of_unknown_kernels(lock: LockText, function: Any) -> None:
    """Names of the kernel's own module that it does not have; other modules may not be imported yet."""
    module = sys.modules.get(function.module)
    if module is None or getattr(getattr(module, "__spec__", None), "_initializing", False):
        return
    here = _module_of(function)
    for decision in lock.decisions.values():
        name, _, kernel = decision.kernel.partition(":")
        if name == here and "<locals>" not in kernel and not _has(module, kernel):
            _ignore(decision, f"module `{name}` has no kernel `{kernel}`")


def _has(module: Any, qualname: str) -> bool:
    value = module
    for part in qualname.split("."):
        value = getattr(value, part, None)
    return value is not None


@contextlib.contextmanager
def _failures_warn(store: Any) -> Iterator[None]:
    """A lock that cannot be read or written costs a warning and no kernel."""
    try:
        yield
    except Exception as error:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        warn_once(f"the lock {store.name} cannot be used: {reason}; this process tunes on its own")


@contextlib.contextmanager
def _setting_warns() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        warn_once(f"TRITON_LOCK={knobs.autotuning.lock} cannot be used: {error}")


# --- Who decides ---------------------------------------------------------------------------------


class _Ranks:
    """Whether rank 0 was waited for in vain: it may not call what this rank calls."""

    is_zero_late = False


def _rank() -> int:
    """That of torchrun's job; 0 where this process is in none."""
    try:
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0
    return rank if size > 1 else 0


class _Turn:
    """Waits until a decision is there or this process may make it."""

    def __init__(self, store: Any, wanted: _Wanted, configs: list[Config]):
        self._store, self._wanted, self._configs = store, wanted, configs
        self._begin = time.monotonic()
        self._limit = max(0, knobs.autotuning.lock_wait)
        self._pause = _FIRST_PAUSE

    def wait(self) -> Claim | None:
        """The right to decide; None if another has decided, or where that took too long."""
        claim_name = "\n".join(self._wanted.identity)
        if _rank() != 0 and not _Ranks.is_zero_late:
            self._wait_for_rank_0(claim_name)
        while not self._is_decided():
            claim: Claim | None = self._store.claim(claim_name)
            if claim is not None and not self._is_decided():
                return claim
            if claim is not None:
                claim.release()
                return None
            if not self._sleep(self._limit):
                warn_once(
                    f"another process has not decided on `{self._wanted.name}` within {self._limit} seconds "
                    f"(TRITON_LOCK_WAIT); this process tunes on its own"
                )
                return None
        return None

    def _wait_for_rank_0(self, claim_name: str) -> None:
        """Until it has decided or begun to, or the others give up on it."""
        limit = min(_RANK_0_SECONDS, self._limit)
        while not (self._is_decided() or self._store.is_claimed(claim_name)):
            if not self._sleep(limit):
                _Ranks.is_zero_late = True
                warn_once(
                    f"rank 0 has not begun to tune `{self._wanted.name}` within {limit:.0f} seconds; the first "
                    f"rank that asks decides from now on. Do all ranks see {self._store.name}?"
                )
                return

    def _is_decided(self) -> bool:
        decision = self._store.read().decisions.get(self._wanted.identity)
        if decision is None or decision.source != self._wanted.source:
            return False
        return self._wanted.config_of(decision, self._configs) is not None

    def _sleep(self, limit: float) -> bool:
        """False once the time is over."""
        left = self._begin + limit - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(self._pause, left))
        self._pause = min(1.5 * self._pause, _LONGEST_PAUSE)
        return True
