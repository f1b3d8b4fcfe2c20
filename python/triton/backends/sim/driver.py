"""Runs kernels for NVIDIA's GPUs on a simulated one: arrays are in the CPU's memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..compiler import GPUTarget, SimulatedTarget
from ..cpu.driver import CPUDriver
from ..nvidia.driver import CUDALauncher

_DEFAULT_ARCH = 90


class SimUtils:
    """Properties of the simulated GPU: those of a real one of that compute capability."""

    def __init__(self, capability: int):
        self._capability = capability

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        if device not in (None, 0):
            raise ValueError(f"the simulated GPU is device 0, got {device!r}")
        return libtriton.driver_sim.properties(self._capability)


class SimLauncher(CUDALauncher):
    """The launch convention; the runtime allocates scratch memory."""

    def __init__(self, src: Any, metadata: Any):
        super().__init__(src, metadata)
        self.global_scratch = self.profile_scratch = (0, 0)


class SimDriver(CPUDriver):
    """`device` is "sim", or "sim:80" for another compute capability than 9.0."""

    launcher_cls = SimLauncher

    def __init__(self, device: str = "sim") -> None:
        match = re.fullmatch(r"sim(?::(?:sm_?)?(\d+)a?)?", device)
        if match is None:
            raise ValueError(f"{device!r} is not the name of a simulated GPU; write sim or sim:80")
        self._capability = int(match.group(1) or _DEFAULT_ARCH)
        self._gpu = SimulatedTarget("cuda", self._capability, 32)
        self.utils = SimUtils(self._capability)
        knobs.apply_to_launches()

    def get_current_target(self) -> GPUTarget:
        return self._gpu

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return divmod(self._capability, 10)
