"""Accessors of a compiled kernel's native object.

PyTorch's Dynamo traces into the Python of a launch and calls the methods of such objects without
the object. It does not trace the files of this folder.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any


def load(code: Any, device: int) -> tuple[Any, Any]:
    """Module and function of the kernel on a device, which is loaded at the first call. The module is the driver's
    handle; on a CPU, which has none, it is the function.
    """
    by_driver = getattr(code, "load", None)
    if by_driver is not None:
        return by_driver(device)
    kernel = code.kernel(device)
    return kernel.module or kernel, kernel


def stage(code: Any, name: str) -> Any:
    """Text or bytes of a stage."""
    return code.stage(name)


def stages(code: Any) -> list[str]:
    """Names of the stages, in order."""
    return code.stages()


def write_view(code: Any, root: str) -> str:
    """Writes the stages as files under `root`; returns their folder."""
    return code.write_view(root)


def has_own_abi(code: Any) -> bool:
    """Whether only this package's launcher can launch the code."""
    return code.abi == "own"


def resources(code: Any, kernel: Any) -> tuple[int, int, int]:
    """Registers, spilled words and maximum threads per CTA of a loaded kernel."""
    loaded = getattr(code, "loaded_resources", None)
    return loaded or (kernel.n_regs, kernel.n_spills, kernel.n_max_threads)


def assembled(code: Any) -> tuple[int, int, int] | None:
    """Registers and spilled words per thread and maximum threads per CTA, as ptxas reported; None
    where the driver compiles the PTX, or where there is no such report.
    """
    return code.resources
