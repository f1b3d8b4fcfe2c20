"""Readies the variants of a record for their launches: compiled or found, loaded, and known to the launcher."""

# SPDX-License-Identifier: MIT
#
# A first launch binds its arguments in Python, computes the key of the variant, looks for it and loads it. This does
# all of it ahead, for stand-ins of arguments: values of the same types and classes, whose memory nobody reads.
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from .constant_text import decode, decode_kind
from .driver import driver
from .errors import TritonError
from .variant_record import Entry, read

_ALIGNED, _UNALIGNED = 1 << 20, (1 << 20) + 8
_INTEGERS = {"i32": 1 << 8, "i64": 1 << 40, "u64": 1 << 63}
_NO_STAND_IN = object()


def preload(path: str) -> list[str]:
    """Readies every variant in the record at `path` (see TRITON_RECORD) for launches on the current device. A kernel
    that is neither in memory, in a pack nor on disk is compiled. Returns a line for each variant that is left to its
    first launch.
    """
    return [problem for entry in read(path) for problem in _prepare(entry)]


class _StandIn:
    """An array with a type, a device and an address, and no memory."""

    def __init__(self, dtype: str, device: Any, is_aligned: bool, is_small: bool):
        self.dtype = dtype
        self.device = device
        self._address = _ALIGNED if is_aligned else _UNALIGNED
        self._bytes = 1 << 10 if is_small else 1 << 40

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes


def _prepare(entry: Entry) -> Iterator[str]:
    """Readies one variant; yields why not, if so."""
    active = driver.active
    if entry.target.partition(":")[0] != active.get_current_target().backend:
        return
    try:
        function = _function(entry.kernel)
    except (ImportError, AttributeError) as error:
        yield f"{entry.where}: {entry.kernel}: {error}"
        return
    if function.cache_key != entry.source:
        yield f"{entry.where}: {entry.kernel} has changed since it was recorded"
        return
    arguments = _arguments(function, entry, _device(active))
    if arguments is None:
        yield f"{entry.where}: {entry.kernel} has arguments that only a launch can give"
        return
    # Interned, as the names in calls are: the launcher orders them by their addresses.
    options = {sys.intern(name): decode(value) for name, value in (entry.given or {}).items()}
    try:
        kernel = function._expect({**options, **arguments})
    except (TritonError, RuntimeError) as error:  # TRITON_JIT=forbid is one
        yield f"{entry.where}: {entry.kernel}: {error}"
        return
    if kernel is None:
        yield f"{entry.where}: {entry.kernel}: its launches go through Python"
    elif kernel.src.launch_key != entry.specialization["key"]:
        yield f"{entry.where}: {entry.kernel} has arguments that only a launch can give"


def _function(kernel: str) -> Any:
    """The JITFunction of "module:qualified.name", which an autotuner may hold."""
    from .jit import JITFunction

    name, _, path = kernel.partition(":")
    found: Any = sys.modules.get(name) or importlib.import_module(name)
    for part in path.split("."):
        found = getattr(found, part)
    while not isinstance(found, JITFunction):
        found = found.fn
    return found


def _device(active: Any) -> Any:
    """As arrays on the current device describe it."""
    kind = getattr(active, "device_type", active.get_current_target().backend)
    index = active.get_current_device()
    return SimpleNamespace(
        type={"hip": "cuda"}.get(kind, kind), index=index if isinstance(index, int) else 0
    )


def _arguments(function: Any, entry: Entry, device: Any) -> dict[str, Any] | None:
    """Values that are specialised as the variant is; None where one cannot be made."""
    data = entry.specialization
    paths = map(tuple, data["constant_keys"])
    constants = dict(zip(paths, map(decode, data["constant_vals"]), strict=True))
    attrs = dict(zip(map(tuple, data["attrs_keys"]), data["attrs_vals"], strict=True))
    found = {}
    for index, name in enumerate(function.arg_names):  # a record sorts its names
        kind = decode_kind(data["signature"][name])
        value = _value((index,), kind, constants, attrs, device)
        if value is _NO_STAND_IN:
            return None
        found[name] = value
    return found


def _value(path: tuple[int, ...], kind: Any, constants: Any, attrs: Any, device: Any) -> Any:
    if path in constants:
        return constants[path]
    if type(kind) is tuple:
        parts = [_value((*path, i), part, constants, attrs, device) for i, part in enumerate(kind)]
        return _NO_STAND_IN if any(part is _NO_STAND_IN for part in parts) else tuple(parts)
    if not isinstance(kind, str):
        return _NO_STAND_IN
    known = dict(attrs.get(path, ()))
    is_aligned = known.get("tt.divisibility") == 16
    if kind.startswith("*"):
        dtype = kind[1:].removeprefix("k")
        return _StandIn(dtype, device, is_aligned, "tt.pointer_range" in known)
    if kind in _INTEGERS:
        return _INTEGERS[kind] + (0 if is_aligned else 2)
    if kind in ("u1", "i1"):
        return True
    return 0.5 if kind.startswith(("fp", "bf")) else _NO_STAND_IN
