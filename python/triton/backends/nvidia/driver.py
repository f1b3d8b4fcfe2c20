"""Runs kernels on NVIDIA's GPUs: which library, device properties, code loaded by hand."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import os
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..._lazy import lazy_names
from ..compiler import GPUTarget
from ..driver import decompose_descriptor
from ..gpu import GPULauncher, GPUUtils, NativeGPUDriver

_native = libtriton.driver_cuda

# The driver's numbers of the element types of tensor maps, by PTX's numbers: they differ for fp64, bf16 and fp32 with
# denormals flushed to zero.
TMA_DTYPE_DEVICE_TO_HOST = {**{number: number for number in range(16)}, 8: 10, 9: 8, 10: 9}
TMA_TF32 = 11


def make_tensordesc_arg(descriptor: Any, metadata: Any, _type: Any = None) -> list[Any]:
    """The arguments for one tensor descriptor, for launchers of other packages, such as PyTorch's.

    Kernels build the tensor maps that they need, so their `tensordesc_meta` lists none.
    """
    if metadata is not None:
        raise NotImplementedError("kernels accept no tensor maps from the host")
    return decompose_descriptor(descriptor)


class CUDAUtils(GPUUtils):
    native = _native

    def cuOccupancyMaxActiveClusters(  # noqa: N802
        self, function: int, shared: int, x: int, y: int, z: int
    ) -> int:
        return _native.max_active_clusters(int(function), shared, x, y, z, _native.current_device())


CUDALauncher = GPULauncher


class CUDADriver(NativeGPUDriver):
    device_type = "cuda"
    native = _native
    torch_version = "cuda"
    device_files = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/nvgpu/*")
    address_type = "CUdeviceptr"
    launcher_cls = CUDALauncher

    def __init__(self) -> None:
        super().__init__()
        self.utils = CUDAUtils()

    @staticmethod
    def use_library() -> None:
        path = knobs.nvidia.libcuda_path or ""
        if os.path.isdir(path):
            path = os.path.join(path, "libcuda.so.1")
        _native.set_library(path)

    @staticmethod
    def library_is_chosen() -> bool:
        return bool(knobs.nvidia.libcuda_path)

    @staticmethod
    def hidden_devices() -> str | None:
        return knobs.nvidia.visible_devices

    @functools.lru_cache(maxsize=64)  # noqa: B019
    def target_of(self, device: int) -> GPUTarget:
        return GPUTarget("cuda", _native.capability(device), 32)

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(
            self.target_of(self.get_current_device() if device is None else device).arch, 10
        )


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.nvidia.driver": "CudaDriver=CUDADriver CudaLauncher=CUDALauncher CudaUtils=CUDAUtils",
        "triton.backends.driver": "GPUDriver",
        "triton.backends.descriptor_arguments": "decompose_descriptor expand_signature make_tensordesc_arg wrap_handle_tensordesc_impl",
        "triton.backends.nvidia.driver_library": "include_dirs libcuda_dirs libraries library_dirs",
        "triton.runtime.build": "compile_module_from_file",
        "triton.tools.aot_source": "ty_to_cpp=c_type",
    },
)
