"""The interface of a target's driver class."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from .._C import libtriton
from .._lazy import lazy_names
from .compiler import GPUTarget


@functools.cache
def _scalars() -> dict[str, tuple[str, int]]:
    """(kind, bits) by names in signatures."""
    rows = libtriton.element_types()
    scalars = {spellings[0]: (kind, bits) for _, spellings, kind, bits, *_ in rows if bits}
    return {**scalars, "i1": ("int", 1), "f32": ("float", 32)}


def cpp_type(name: str, least_float_bits: int) -> str:
    """The type in C++ of a number that is passed to a launch."""
    kind, bits = _scalars()[name]
    if kind == "float":
        return "double" if max(bits, least_float_bits) == 64 else "float"
    return f"{kind}{max(bits, 8)}_t"


class DriverBase(ABC):
    """Runs kernels on one kind of device. The constructor must not initialise the device: processes
    fork later.
    """

    utils: Any
    launcher_cls: type

    @classmethod
    @abstractmethod
    def is_active(cls) -> bool:
        """Whether such a device is present."""

    @abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str: ...

    @abstractmethod
    def get_current_target(self) -> GPUTarget: ...

    def target_of(self, device: Any) -> GPUTarget:
        """The target of one of several devices."""
        return self.get_current_target()

    @abstractmethod
    def get_active_torch_device(self) -> Any: ...

    @abstractmethod
    def get_benchmarker(self) -> Callable[..., Any]:
        """A function `(kernel_call, *, quantiles, **kwargs)` that returns times in milliseconds."""

    # A driver of one device without streams need not define these.

    def get_current_device(self) -> Any:
        return 0

    def set_current_device(self, device: Any) -> None:  # noqa: B027
        pass

    def get_current_stream(self, device: Any) -> Any:
        return 0

    # What `do_bench` calls. A driver whose launches are done on return, without caches, need not define these.

    def synchronize(self) -> None:
        """Waits for all launches: by torch's interface of the device, where the driver has one."""
        interface = getattr(self, "get_device_interface", None)
        if interface is not None:
            interface().synchronize()

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory that evicts earlier data when `clear_cache` writes it."""
        return None

    def clear_cache(self, cache: Any) -> None:
        if cache is not None:
            cache.zero_()

    def stream_for(self, args: tuple[Any, ...], device: Any) -> Any:
        """The stream of a launch with these arguments."""
        return self.get_current_stream(device)


def decompose_descriptor(descriptor: Any) -> list[Any]:
    """The arguments of a kernel for a tensor descriptor made on the host."""
    shape, strides = tuple(descriptor.shape), tuple(descriptor.strides)
    flags = descriptor.padding == "nan", descriptor.round_f32_to_tf32
    return [descriptor.base, *shape, *strides, *flags, *shape, *strides]


class KernelLauncher:
    """Calls a loaded kernel: `launcher(x, y, z, stream, function, packed_metadata,
    launch_metadata, enter, exit, *args)`.
    """

    # Compiles the kernel for arguments that its code does not fit; None where it fits all.
    make_plain: Callable[[], Any] | None = None

    def __init__(self, src: Any, metadata: Any):
        pass

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self.launch(function, (grid_x, grid_y, grid_z), stream, args)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch(
        self, function: Any, grid: tuple[int, int, int], stream: Any, args: tuple[Any, ...]
    ) -> None:
        function.launch(*grid, stream, args)


class GPUDriver(DriverBase):
    """A driver for devices that torch names by its `device_type`."""

    device_type = "cuda"

    def _torch_module(self) -> Any:
        import torch

        return getattr(torch, self.device_type)

    def get_current_device(self) -> int:
        return self._torch_module().current_device()

    def set_current_device(self, device: int) -> None:
        self._torch_module().set_device(device)

    def get_current_stream(self, device: int) -> int:
        return self._torch_module().current_stream(device).cuda_stream

    def get_device_capability(self, device: int | None = None) -> Any:
        return self._torch_module().get_device_capability(device)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device(self.device_type, self.get_current_device())


__getattr__ = lazy_names(
    __name__,
    {
        "triton._hook_types": "Benchmarker",
        "triton._utils": "find_paths_if",
        "triton.backends.descriptor_arguments": "decompose_descriptor expand_signature make_tensordesc_args wrap_handle_tensordesc_impl",
    },
)
