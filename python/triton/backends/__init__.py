"""The targets that this build can compile for; each is imported at its first use."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import importlib

from .compiler import BaseBackend, GPUTarget
from .driver import DriverBase

__all__ = ["Backend", "BaseBackend", "DriverBase", "GPUTarget", "backends"]


class Backend:
    """A target's two classes: `compiler` generates code, `driver` runs it."""

    def __init__(self, compiler: str, driver: str):
        self._names = {"compiler": compiler, "driver": driver}

    def _load(self, role: str) -> type:
        module, _, name = self._names[role].partition(":")
        return getattr(importlib.import_module(module, __name__), name)

    @functools.cached_property
    def compiler(self) -> type[BaseBackend]:
        return self._load("compiler")

    @functools.cached_property
    def driver(self) -> type[DriverBase]:
        return self._load("driver")


backends: dict[str, Backend] = {
    "nvidia": Backend(".nvidia.compiler:CUDABackend", ".nvidia.driver:CUDADriver"),
    "cpu": Backend(".cpu.compiler:CPUBackend", ".cpu.driver:CPUDriver"),
}
