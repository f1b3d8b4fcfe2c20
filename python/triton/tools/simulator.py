"""Several simulated GPUs with one address space: which one launches, and launches that run at the same time."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .. import knobs
from .._C import libtriton

__all__ = ["device", "device_count", "together"]

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
