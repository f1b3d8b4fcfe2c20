"""Arrays of the measured device: torch tensors where torch is installed, else NumPy arrays on the
CPU.
"""
# SPDX-License-Identifier: MIT

import os
import platform
from contextlib import suppress

import numpy as np

try:
    import torch
except ImportError:
    torch = None

SEED = 0
DISTRIBUTION = f"standard normal, seed {SEED}"


class Device:
    """The device of the arrays: `cpu` or `cuda`."""

    def __init__(self, kind: str):
        if kind == "cuda" and (torch is None or not torch.cuda.is_available()):
            raise RuntimeError("the contests on cuda need a torch that sees a GPU")
        self.kind = kind
        self.random = np.random.default_rng(SEED)

    def normal(self, shape, dtype: str):
        array = self.random.standard_normal(shape, dtype=np.float32).astype(dtype, copy=False)
        return array if torch is None else torch.from_numpy(array).to(self.kind)

    def empty(self, shape, dtype: str):
        if torch is None:
            return np.empty(shape, dtype)
        return torch.empty(shape, dtype=getattr(torch, dtype), device=self.kind)

    def synchronize(self) -> None:
        if self.kind == "cuda":
            torch.cuda.synchronize()

    def machine(self) -> dict:
        found = {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0))}
        if self.kind == "cuda":
            found["gpu"] = torch.cuda.get_device_name()
            found["cuda"] = torch.version.cuda
        else:
            import triton  # not at the top: a fresh process measures its import

            with suppress(AttributeError):  # of another triton
                found["arch"] = triton.runtime.driver.active.get_current_target().arch
        found["numpy"] = np.__version__
        found["torch"] = torch.__version__ if torch else None
        return found


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def on_host(array) -> np.ndarray:
    """The same memory for an array of the CPU, a copy of another device's."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def wide(array) -> np.ndarray:
    return on_host(array).astype(np.float64)


def fill(array, value: float) -> None:
    array.fill(value) if isinstance(array, np.ndarray) else array.fill_(value)
