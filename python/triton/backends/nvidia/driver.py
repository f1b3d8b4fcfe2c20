"""Runs kernels on NVIDIA's GPUs: current device and stream, device properties, scratch memory,
timing.
"""

# SPDX-License-Identifier: MIT
#
# torch's current device and stream are used if the program has imported torch; it is never imported here.
from __future__ import annotations

import functools
import glob
import os
import sys
from collections.abc import Callable
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..._lazy import lazy_names
from ...runtime import _allocation
from ..compiler import GPUTarget
from ..driver import GPUDriver, KernelLauncher, decompose_descriptor

_native = libtriton.driver_cuda

# Device files by which a GPU is detected without initialising the driver, which would break later forks.
_DEVICE_FILES = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/nvgpu/*")
_CACHE_BYTES = 256 << 20  # larger than every level-two cache

_CPP_TYPES = {
    "i1": "int8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u1": "uint8_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "fp16": "double",
    "bf16": "double",
    "fp32": "double",
    "f32": "double",
    "fp64": "double",
}


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


def _use_library() -> None:
    path = knobs.nvidia.libcuda_path or ""
    if os.path.isdir(path):
        path = os.path.join(path, "libcuda.so.1")
    _native.set_library(path)


def _cuda_torch() -> Any:
    """torch if it is imported and was built for CUDA."""
    torch = sys.modules.get("torch")
    is_for_cuda = getattr(getattr(torch, "version", None), "cuda", None) is not None
    return torch if is_for_cuda and hasattr(torch, "cuda") else None


class CUDAUtils:
    """Properties of GPUs, and loading of code by hand."""

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        return _native.properties(_native.current_device() if device is None else device)

    def load_binary(
        self, name: str, binary: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        """(module, function, registers, spills, maximum threads per CTA) of a cubin or PTX."""
        return _native.load_binary(name, bytes(binary), shared, device)

    def unload_module(self, module: int) -> None:
        _native.unload_module(module)

    def cuOccupancyMaxActiveClusters(  # noqa: N802
        self, function: int, shared: int, x: int, y: int, z: int
    ) -> int:
        return _native.max_active_clusters(int(function), shared, x, y, z, _native.current_device())

    def get_default_stream(self) -> int:
        return 0


class CUDALauncher(KernelLauncher):
    """The launch convention, with scratch memory for kernels that need it."""

    def __init__(self, src: Any, metadata: Any):
        super().__init__(src, metadata)
        self.num_ctas = getattr(metadata, "num_ctas", 1)
        self.global_scratch = _scratch_of(metadata, "global")
        self.profile_scratch = _scratch_of(metadata, "profile")
        self._plain: Any = None

    def launch(
        self, function: Any, grid: tuple[int, int, int], stream: Any, args: tuple[Any, ...]
    ) -> None:
        if self.make_plain is None:
            self._launch(function.launch, grid, stream, args)
        elif self._launch(function.try_launch, grid, stream, args) is False:
            if self._plain is None:
                self._plain = self.make_plain()
                function.set_plain(self._plain.function)
            self._plain.run.launch(self._plain.function, grid, stream, args)

    def _launch(
        self, launch: Any, grid: tuple[int, int, int], stream: Any, args: tuple[Any, ...]
    ) -> Any:
        if not (self.global_scratch[0] or self.profile_scratch[0]):
            return launch(*grid, stream, args)
        blocks = grid[0] * grid[1] * grid[2] * self.num_ctas
        *addresses, _keeper = _allocation.provide(
            self.global_scratch, self.profile_scratch, blocks, stream
        )
        return launch(*grid, stream, args, *addresses)


def _scratch_of(metadata: Any, kind: str) -> tuple[int, int]:
    size = getattr(metadata, f"{kind}_scratch_size", 0)
    return size or 0, getattr(metadata, f"{kind}_scratch_align", 1) or 1


class CUDADriver(GPUDriver):
    device_type = "cuda"
    launcher_cls = CUDALauncher

    def __init__(self) -> None:
        _use_library()
        knobs.apply_to_launches()
        self.utils = CUDAUtils()

    @classmethod
    def is_active(cls) -> bool:
        _use_library()
        if _native.is_initialized():
            return _native.device_count() > 0
        visible = knobs.nvidia.visible_devices
        if visible is not None and visible.strip() in ("", "-1"):
            return False
        if not _native.has_library():
            return False
        if "torch" in sys.modules:
            torch = _cuda_torch()
            return torch is not None and torch.cuda.is_available()
        if not knobs.nvidia.libcuda_path and any(map(glob.glob, _DEVICE_FILES)):
            return True
        return _native.device_count() > 0

    @functools.lru_cache(maxsize=64)  # noqa: B019
    def target_of(self, device: int) -> GPUTarget:
        return GPUTarget("cuda", _native.capability(device), 32)

    def get_current_target(self) -> GPUTarget:
        return self.target_of(self.get_current_device())

    def get_current_device(self) -> int:
        return _native.current_device()

    def set_current_device(self, device: int) -> None:
        torch = _cuda_torch()
        if torch is not None:
            torch.cuda.set_device(device)
        else:
            _native.make_current(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return _native.current_stream(self.get_current_device() if device is None else device)

    def stream_for(self, args: tuple[Any, ...], device: int) -> int:
        """The current stream of the library whose arrays are passed."""
        return _native.stream_for(args, device)

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(
            self.target_of(self.get_current_device() if device is None else device).arch, 10
        )

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "CUdeviceptr" if ty.startswith("*") else _CPP_TYPES[ty]

    def get_benchmarker(self) -> Callable[..., Any]:
        from ...testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory larger than the caches; writing it evicts all earlier data."""
        return _native.Buffer(_CACHE_BYTES, self.get_current_device())

    def clear_cache(self, cache: Any) -> None:
        cache.zero(self.get_current_stream())

    def record_event(self) -> Any:
        """Records an event in the current stream; `milliseconds_since` gives the time between two.
        """
        device = self.get_current_device()
        event = _native.Event(device)
        event.record(self.get_current_stream(device))
        return event

    def synchronize(self) -> None:
        """Waits for the current GPU; on failure names the kernels that may have caused it."""
        _native.synchronize(self.get_current_device())


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.nvidia.driver": "CudaDriver=CUDADriver CudaLauncher=CUDALauncher CudaUtils=CUDAUtils",
        "triton.backends.descriptor_arguments": "decompose_descriptor expand_signature make_tensordesc_arg wrap_handle_tensordesc_impl",
        "triton.backends.nvidia.driver_library": "include_dirs libcuda_dirs libraries library_dirs",
        "triton.runtime.build": "compile_module_from_file",
        "triton.tools.aot_source": "ty_to_cpp=c_type",
    },
)
