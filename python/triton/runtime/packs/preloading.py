"""Readies the variants of a record for their launches: compiled or found, loaded, and known to the launcher."""

# SPDX-License-Identifier: MIT
#
# A first launch binds its arguments in Python, computes the key of the variant, looks for it and loads it. This does
# all of it ahead, for stand-ins of arguments: values of the same types and classes, whose memory nobody reads.
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from ...tools.tensor_descriptor import TensorDescriptor
from .. import _async_compile
from ..driver import driver
from ..errors import TritonError
from ..variants.jit_policy import NotCached
from ..variants.variant_record import Entry, RecordError, read

_ALIGNED, _UNALIGNED = 1 << 20, (1 << 20) + 8
_INTEGERS = {"i32": 1 << 8, "i64": 1 << 40, "u64": 1 << 63}
_NO_STAND_IN = object()


def preload(path: str) -> list[str]:
    """Readies every variant in the record at `path` (see TRITON_RECORD) for launches on the current device. A kernel
    that is neither in memory, in a pack nor on disk is compiled. Returns a line for each variant that is left to its
    first launch. Autotuners take the decisions that locks have for this device.
    """
    return ready(read(path))[1]


def ready(entries: Iterable[Entry]) -> tuple[list[Any], list[str]]:
    """The same for lines of records: the kernels, and the lines about the others."""
    active = driver.active
    backend, device = active.get_current_target().backend, _device(active)
    tuners: dict[int, Any] = {}
    kernels, problems = [], []
    for entry in entries:
        if entry.target.partition(":")[0] != backend:
            continue
        try:
            kernels.append(_prepare(entry, device, tuners))
        except NotCached:
            problems.append(f"{entry.where}: {entry.kernel} is in no cache for this device")
        except (TritonError, RuntimeError) as error:  # TRITON_JIT=forbid is one
            text = str(error)
            is_located = text.startswith(f"{entry.where}: ")
            problems.append(text if is_located else f"{entry.where}: {text}")
    for tuner in tuners.values():
        _take_decisions(tuner)
    return kernels, problems


class _StandIn:
    """An array with a type, a device and an address, and no memory."""

    def __init__(self, dtype: str, device: Any, is_aligned: bool, is_small: bool):
        self.dtype = dtype
        self.device = device
        self._address = _ALIGNED if is_aligned else _UNALIGNED
        self._bytes = 1 << 10 if is_small else 1 << 40

    @classmethod
    def like(cls, other: _StandIn) -> _StandIn:
        """One without memory."""
        found = cls(other.dtype, other.device, True, True)
        found._address = 0
        return found

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes


def _prepare(entry: Entry, device: Any, tuners: dict[int, Any]) -> Any:
    """Readies one variant, and returns its kernel."""
    from ..variants.recorded_kernels import variant_of

    variant = variant_of(entry)
    tuner = _tuner_of(variant.function)
    if tuner is not None:
        tuners[id(tuner)] = tuner
    arguments = _arguments(variant, device)
    if arguments is None:
        return _load(entry)
    # Interned, as the names in calls are: the launcher orders them by their addresses.
    options = {sys.intern(name): value for name, value in variant.given.options.items()}
    kernel = _expect(variant.function, {**options, **arguments})
    if kernel is None:
        raise RecordError(f"launches of {entry.kernel} go through Python")
    if getattr(kernel.src, "launch_key", None) != variant.key:
        return _load(entry)
    if variant.given.empty:  # such arguments have a key of their own in the launcher
        empty = {name: _StandIn.like(arguments[name]) for name in variant.given.empty}
        _expect(variant.function, {**options, **arguments, **empty})
    return kernel


def _load(entry: Entry) -> Any:
    """Loads the kernel of a variant whose arguments cannot be imitated; its first launch binds them in Python."""
    from ..variants.recorded_kernels import variant_of

    active = driver.active
    variant = variant_of(entry, active.get_current_target())
    table = variant.function._caches_for(active)[0]
    kernel = table.get(variant.key) or variant.compile()
    kernel._init_handles(active.get_current_device())
    if variant.key:
        table[variant.key] = kernel
    return kernel


def _expect(function: Any, kwargs: dict[str, Any]) -> Any:
    """Compiles or finds and loads the kernel for these arguments and options, so that its first launch finds it as
    later ones do. None where launches go through `run`, or a hook prevents the compilation.
    """
    function._set_debug(kwargs)
    function._check_globals()
    chosen = function._variant((), kwargs, None, warmup=True)
    kernel = chosen.kernel
    if isinstance(kernel, _async_compile.FutureKernel):
        kernel = kernel.result()
    if kernel is None:
        return None
    kernel._init_handles(chosen.device)
    return kernel if function._c_expect(kernel, **kwargs) else None


def _tuner_of(function: Any) -> Any:
    """The autotuner that stands in the kernel's place in its module."""
    from ..autotuner import Autotuner

    try:
        module = sys.modules[function.module]
        found: Any = functools.reduce(getattr, function.__qualname__.split("."), module)
    except (KeyError, AttributeError):  # loaded from its file
        return None
    while found is not function and found is not None and not isinstance(found, Autotuner):
        found = getattr(found, "fn", None)  # Heuristics
    return found if isinstance(found, Autotuner) else None


def _take_decisions(tuner: Any) -> None:
    """Lets an autotuner know what locks have for the current device, so that its calls find it at once."""
    if tuner.early_config_prune or tuner.perf_model:
        return  # which configurations are left depends on the call
    from ..locks import decisions

    for key, config in decisions.known(tuner).items():
        if key not in tuner.cache:
            tuner.cache[key] = config
            tuner._report(key, {}, config, None)


def _device(active: Any) -> Any:
    """As arrays on the current device describe it."""
    kind = getattr(active, "device_type", active.get_current_target().backend)
    index = active.get_current_device()
    return SimpleNamespace(
        type={"hip": "cuda"}.get(kind, kind), index=index if isinstance(index, int) else 0
    )


def _arguments(variant: Any, device: Any) -> dict[str, Any] | None:
    """Values that are specialised as the variant is; None where one cannot be made."""
    found = {}
    for index, (name, kind) in enumerate(variant.signature.items()):
        value = 1 if name in variant.given.ones else _value((index,), kind, variant, device)
        if value is _NO_STAND_IN:
            return None
        found[name] = value
    return found


def _descriptor(kind: str, device: Any) -> TensorDescriptor:
    """One of an array as large as its block, from "fp16[64, 32]"; not checked, as it has no memory."""
    dtype, _, extents = kind.removesuffix("]").partition("[")
    block = [int(extent) for extent in extents.split(",")]
    found = object.__new__(TensorDescriptor)
    found.base = _StandIn(dtype, device, True, True)
    found.shape, found.block_shape = block, block
    found.strides = [math.prod(block[i + 1 :]) for i in range(len(block))]
    found.padding, found.round_f32_to_tf32 = "zero", False
    return found


def _keys_storage(function: Any) -> bool:
    """Whether kernels of the active target differ with the size of an array's storage. Where they do not, the array of
    a launch is small, as most are: after a simulated GPU of AMD's, sizes of host arrays are in all keys.
    """
    backend = function._caches_for(driver.active)[3]
    return getattr(backend, "specializes_storage", False)


def _value(path: tuple[int, ...], kind: Any, variant: Any, device: Any) -> Any:
    if path in variant.constants:
        return variant.constants[path]
    if type(kind) is tuple:
        parts = [_value((*path, i), part, variant, device) for i, part in enumerate(kind)]
        return _NO_STAND_IN if any(part is _NO_STAND_IN for part in parts) else tuple(parts)
    if not isinstance(kind, str):
        return _NO_STAND_IN
    known = dict(variant.attrs.get(path, ()))
    is_aligned = known.get("tt.divisibility") == 16
    if kind.startswith("*"):
        dtype = kind[1:].removeprefix("k")
        return _StandIn(
            dtype,
            device,
            is_aligned,
            "tt.pointer_range" in known or not _keys_storage(variant.function),
        )
    if kind in _INTEGERS:
        return _INTEGERS[kind] + (0 if is_aligned else 2)
    if kind.startswith("tensordesc<"):
        return _descriptor(kind.removeprefix("tensordesc<").removesuffix(">"), device)
    if kind in ("u1", "i1"):
        return True
    return 0.5 if kind.startswith(("fp", "bf")) else _NO_STAND_IN
