"""Runs kernels on the CPU: device properties, timing, and the low-level launch convention."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..compiler import GPUTarget
from ..driver import DriverBase, KernelLauncher, cpp_type


class CPUUtils:
    """Properties of the CPU device."""

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        if device not in (None, 0):
            raise ValueError(f"the CPU is device 0, got {device!r}")
        return libtriton.driver_cpu.properties()


class CPULauncher(KernelLauncher):
    """The launch convention; a CPU has no streams."""


class CPUDriver(DriverBase):
    device_type = "cpu"
    launcher_cls = CPULauncher

    def __init__(self) -> None:
        self.utils = CPUUtils()
        libtriton.driver_cpu.set_wait_limit(knobs.runtime.cpu_wait_limit)

    @classmethod
    def is_active(cls) -> bool:
        return True

    @functools.cached_property
    def _target(self) -> GPUTarget:
        return GPUTarget(*libtriton.driver_cpu.host_target())

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        if device not in (None, 0):
            raise ValueError(f"the CPU is device 0, got {device!r}")

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return 0, 0

    def get_device_interface(self) -> Any:
        import torch

        return torch.cpu

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "void*" if ty.startswith("*") else cpp_type(ty, least_float_bits=32)

    def get_benchmarker(self) -> Callable[..., Any]:
        from ...testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory larger than the caches; writing it evicts all earlier data."""
        cache_bytes = self.utils.get_device_properties().get("last_level_cache_bytes", 32 << 20)
        return ctypes.create_string_buffer(max(cache_bytes * 2, 1 << 20))

    def clear_cache(self, cache: Any) -> None:
        ctypes.memset(cache, 0, ctypes.sizeof(cache))

    def synchronize(self) -> None:
        """A launch has finished when it returns."""
