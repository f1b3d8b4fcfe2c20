"""Runs kernels for NVIDIA's and AMD's GPUs on a simulated one: arrays are in the CPU's memory."""

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
    """Properties of the simulated GPU: those of a real one of that compute capability or architecture."""

    def __init__(self, gpu: int | str):
        self._gpu = gpu

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        count = libtriton.driver_sim.device_count()
        if device is not None and device not in range(count):
            raise ValueError(f"there are {count} simulated GPUs, from 0 on; got {device!r}")
        if isinstance(self._gpu, str):
            return libtriton.driver_sim.amd_properties(self._gpu)
        return libtriton.driver_sim.properties(self._gpu)


class SimLauncher(CUDALauncher):
    """The launch convention; the runtime allocates scratch memory."""

    def __init__(self, src: Any, metadata: Any):
        super().__init__(src, metadata)
        self.global_scratch = self.profile_scratch = (0, 0)


def _target_of(device: str) -> tuple[SimulatedTarget, tuple[int, int]]:
    """The target of a device's name, and the capability that it reports."""
    amd = libtriton.driver_sim.amd_archs()
    arch = device.removeprefix("sim:")
    if device.startswith("sim:") and arch in amd:
        # gfx942 is 9.4 and gfx1100 is 11.0: the last two digits are the minor version and the stepping.
        return SimulatedTarget("hip", arch, amd[arch]), (int(arch[3:-2]), int(arch[-2], 16))
    match = re.fullmatch(r"sim(?::(?:sm_?)?(\d+)a?)?", device)
    if match is None:
        raise ValueError(
            f"{device!r} is not the name of a simulated GPU; write sim or sim:80 for NVIDIA's, "
            f"sim:{', sim:'.join(amd)} for AMD's"
        )
    capability = int(match.group(1) or _DEFAULT_ARCH)
    return SimulatedTarget("cuda", capability, 32), divmod(capability, 10)


class SimDriver(CPUDriver):
    """`device` is "sim", "sim:80" for another compute capability than 9.0, or "sim:gfx942" for one of AMD's GPUs."""

    launcher_cls = SimLauncher

    def __init__(self, device: str = "sim") -> None:
        self._gpu, self._capability = _target_of(device)
        self.utils = SimUtils(self._gpu.arch)
        if self._gpu.backend == "hip":
            libtriton.key_storage_of_host()
        knobs.apply_to_launches()

    def get_current_target(self) -> GPUTarget:
        return self._gpu

    def get_current_device(self) -> int:
        return libtriton.driver_sim.current_device()

    def set_current_device(self, device: int) -> None:
        libtriton.driver_sim.make_current(device)

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return self._capability
