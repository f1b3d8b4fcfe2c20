"""Runs the PTX of any compiler on the simulated GPU, with arrays of the CPU as arguments."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

from .. import knobs
from .._C import libtriton
from ..sanitizer import fill_of

__all__ = ["run_ptx"]

_INTEGERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}
_FRESH = b"\xa5"  # a byte of scratch memory: a kernel may not rely on zeros
_SCRATCH_ALIGNMENT = 1024


def run_ptx(
    ptx: str,
    grid: Sequence[int],
    args: Sequence[Any],
    *,
    entry: str | None = None,
    num_warps: int | None = None,
    shared: int = 0,
    scratch: Sequence[int] = (),
    sanitize: str = "",
    seed: int | None = None,
) -> int:
    """Runs an entry of the text `ptx`; returns the number of instructions that its threads executed.

    `args` are arrays, which are passed as addresses, integers, floats and bytes; the entry's parameters determine
    their types. `shared` is the size of dynamic shared memory in bytes. Each number of `scratch` is the size of fresh
    memory whose address is one more parameter: Triton's kernels end with two, of `global_scratch_size` and
    `profile_scratch_size` bytes for each CTA. `sanitize` has the words of TRITON_SANITIZE for simulated GPUs.
    """
    module = libtriton.driver_sim.Ptx(ptx)
    name, params, block, cluster = _find_entry(module.entries(), entry)
    if num_warps is not None:
        block = (num_warps * 32, 1, 1)
    if block is None:
        raise ValueError(
            f"entry `{name}` has no .reqntid: say how many warps a CTA has, as in num_warps=4"
        )
    fresh = [_Fresh(size) for size in scratch]
    values = [*args, *(memory.address for memory in fresh)]
    if len(params) != len(values):
        raise ValueError(
            f"entry `{name}` has {len(params)} parameters; {len(values)} were given, with scratch memory"
        )
    packed, arrays = bytearray(), []
    for (param, kind, size, alignment), value in zip(params, values, strict=True):
        packed += bytes(-len(packed) % alignment)
        if _is_array(value):
            arrays.append((param, len(packed), *_extent_of(value), *fill_of(value)))
        packed += _bytes_of(kind, size, value)
    sizes = tuple(grid) + (1,) * (3 - len(grid))
    seed = knobs.runtime.sim_seed if seed is None else seed
    return module.run(
        name,
        sizes,
        block,
        cluster or (1, 1, 1),
        shared,
        bytes(packed),
        arrays,
        sanitize,
        seed,
        knobs.runtime.sim_limit,
    )


class _Fresh:
    """Memory of `size` bytes; no address if there are none."""

    def __init__(self, size: int):
        self.memory = ctypes.create_string_buffer(
            _FRESH * (size + _SCRATCH_ALIGNMENT if size else 0)
        )
        self.address = (
            -(-ctypes.addressof(self.memory) // _SCRATCH_ALIGNMENT) * _SCRATCH_ALIGNMENT
            if size
            else 0
        )


def _find_entry(
    entries: list[tuple[str, Any, Any, Any]], wanted: str | None
) -> tuple[str, Any, Any, Any]:
    names = [entry[0] for entry in entries]
    if wanted is None and len(names) != 1:
        raise ValueError(
            f"the PTX has {len(names)} entries, say which one is run: {', '.join(names)}"
        )
    if wanted is not None and wanted not in names:
        raise ValueError(f"the PTX has no entry `{wanted}`; there are: {', '.join(names)}")
    return entries[names.index(wanted) if wanted else 0]


def _is_array(value: Any) -> bool:
    return hasattr(value, "data_ptr") or hasattr(value, "__array_interface__")


def _bytes_of(kind: str, size: int, value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        if len(value) != size:
            raise ValueError(f"a parameter of {size} bytes got {len(value)}")
        return bytes(value)
    if isinstance(value, float):
        return struct.pack(_FLOATS.get(kind) or {2: "e", 4: "f", 8: "d"}[size], value)
    if _is_array(value):
        value = _extent_of(value)[0]
    return struct.pack(_INTEGERS[size], value % (1 << size * 8))


def _extent_of(array: Any) -> tuple[int, int, int]:
    """Address, bytes and bytes of an element of a contiguous array."""
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), array.numel() * array.element_size(), array.element_size()
    return array.__array_interface__["data"][0], array.nbytes, array.itemsize
