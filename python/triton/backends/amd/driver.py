"""Runs kernels on AMD's GPUs: which library, device properties, code loaded by hand."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import os
import sys
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..._lazy import lazy_names
from ..compiler import GPUTarget
from ..gpu import GPULauncher, GPUUtils, NativeGPUDriver

_native = libtriton.driver_hip

_LIBRARY = "libamdhip64.so"


def _mapped_library() -> str:
    """The path of a HIP runtime that this process has already loaded, such as torch's."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = [line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if _LIBRARY in line]
    except OSError:
        return ""
    return next((path for path in paths if os.path.basename(path).startswith(_LIBRARY)), "")


def _library_of_torch() -> str:
    """The path of the HIP runtime in torch's wheel for ROCm; torch is not imported for it."""
    torch = sys.modules.get("torch")
    folder = os.path.dirname(getattr(torch, "__file__", None) or "")
    path = os.path.join(folder, "lib", _LIBRARY)
    return path if folder and os.path.exists(path) else ""


class HIPUtils(GPUUtils):
    native = _native


HIPLauncher = GPULauncher


class HIPDriver(NativeGPUDriver):
    device_type = "hip"  # torch calls it "cuda"
    native = _native
    torch_version = "hip"
    device_files = ("/dev/kfd",)
    address_type = "hipDeviceptr_t"
    launcher_cls = HIPLauncher

    def __init__(self) -> None:
        super().__init__()
        self.utils = HIPUtils()

    @staticmethod
    def use_library() -> None:
        if _native.is_initialized() and not knobs.amd.libhip_path:
            return  # kernels are loaded by that library
        path = knobs.amd.libhip_path or _mapped_library() or _library_of_torch()
        if os.path.isdir(path):
            path = os.path.join(path, _LIBRARY)
        _native.set_library(path)

    @staticmethod
    def library_is_chosen() -> bool:
        return bool(knobs.amd.libhip_path)

    @staticmethod
    def hidden_devices() -> str | None:
        return os.environ.get("HIP_VISIBLE_DEVICES", os.environ.get("ROCR_VISIBLE_DEVICES"))

    @functools.lru_cache(maxsize=64)  # noqa: B019
    def target_of(self, device: int) -> GPUTarget:
        arch = _native.arch(device)
        return GPUTarget("hip", arch, libtriton.warp_size("hip", arch))

    def get_device_capability(self, device: int | None = None) -> Any:
        import torch

        return torch.cuda.get_device_capability(device)


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.driver": "GPUDriver",
        "triton.runtime.build": "compile_module_from_src",
        "triton.tools.aot_source": "ty_to_cpp=c_type",
    },
)
