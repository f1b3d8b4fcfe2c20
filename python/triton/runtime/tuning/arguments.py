"""The arguments of a call that is tuned: where they are, and how they are restored."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any


def on_cpu(values: tuple[Any, ...]) -> bool:
    """Whether a kernel with these arguments runs on the CPU, not on a simulated GPU that takes its arrays."""
    from ..binder import device_of_arguments
    from ..driver import driver

    try:
        device = device_of_arguments({str(index): value for index, value in enumerate(values)})
    except ValueError:  # on different devices: the launch says so
        return False
    chosen: Any = driver.active if device is None else driver.for_device(device[0])
    backend: str = chosen.get_current_target().backend
    return backend == "cpu"


def set_to_zero(array: Any) -> None:
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def clone(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else array.copy()


def assign(array: Any, source: Any) -> None:
    if hasattr(array, "copy_"):
        array.copy_(source)
    else:
        array[...] = source
