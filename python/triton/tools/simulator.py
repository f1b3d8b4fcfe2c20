"""Several simulated GPUs with one address space: which one launches, and launches that run at the same time."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from .. import knobs
from .._C import libtriton

__all__ = ["Multicast", "device", "device_count", "together"]

_native = libtriton.driver_sim


def device_count() -> int:
    """The number of simulated GPUs: `TRITON_SIM_DEVICES`, or `triton.knobs.runtime.sim_devices`."""
    return _native.device_count()


@contextlib.contextmanager
def device(number: int) -> Iterator[None]:
    """Launches of this thread go to that simulated GPU."""
    before = _native.current_device()
    _native.make_current(number)
    try:
        yield
    finally:
        _native.make_current(before)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Launches of this thread run when the block ends: those on different GPUs at the same time, those on one GPU in
    order. An error of any of them is raised by the end of the block, after which results are there. A block that an
    exception leaves runs nothing.
    """
    _native.collect()
    knobs.apply_to_launches()  # the native launcher does not keep arguments alive
    try:
        yield
    except BaseException:
        _native.drop_collected()
        raise
    else:
        _native.run_collected()
    finally:
        knobs.apply_to_launches()


def _is_contiguous(array: Any) -> bool:
    if hasattr(array, "is_contiguous"):  # torch
        return array.is_contiguous()
    return array.flags.c_contiguous


class Multicast:
    """An address that stands for arrays of several GPUs, which `multimem` instructions access at the same time.

    `address` goes to kernels as an integer, and ends with this object. The arrays are contiguous, of one size, and kept.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        sizes = {array.nbytes for array in arrays}
        if len(sizes) != 1:
            raise ValueError(f"multicast needs arrays of one size, got {sorted(sizes)} bytes")
        for index, array in enumerate(arrays):
            if not _is_contiguous(array):
                raise ValueError(f"multicast needs contiguous arrays; number {index} is none")
        self.arrays = tuple(arrays)
        addresses = [libtriton.address_of(array) for array in arrays]
        self.address: int = _native.add_multicast(addresses, sizes.pop())
        weakref.finalize(self, _native.remove_multicast, self.address)
