"""What the drivers of NVIDIA's and of AMD's GPUs share: launches with scratch memory, the current
device and stream, timing.
"""

# SPDX-License-Identifier: MIT
#
# torch's current device and stream are used if the program has imported torch; it is never imported here.
from __future__ import annotations

import glob
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from .. import knobs
from ..runtime import _allocation
from .driver import GPUDriver, KernelLauncher, cpp_type

_CACHE_BYTES = 256 << 20  # larger than every level-two cache


class GPULauncher(KernelLauncher):
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


class GPUUtils:
    """Properties of GPUs, and loading of code by hand."""

    native: ClassVar[Any]  # a submodule of `libtriton`

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        return self.native.properties(self.native.current_device() if device is None else device)

    def load_binary(
        self, name: str, binary: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        """(module, function, registers, spills, maximum threads per CTA) of machine code."""
        return self.native.load_binary(name, bytes(binary), shared, device)

    def unload_module(self, module: int) -> None:
        self.native.unload_module(module)

    def get_default_stream(self) -> int:
        return 0


class NativeGPUDriver(GPUDriver):
    """A driver whose devices are those of a submodule of `libtriton`."""

    native: ClassVar[Any]  # the submodule
    torch_version: ClassVar[str]  # the name in torch.version that builds for these GPUs have
    # Device files by which a GPU is detected without initialising the driver, which would break later forks.
    device_files: ClassVar[tuple[str, ...]]
    address_type: ClassVar[str]

    def __init__(self) -> None:
        self.use_library()
        knobs.apply_to_launches()

    @staticmethod
    def use_library() -> None:
        """Tells the native module where the driver's library is."""
        raise NotImplementedError

    @staticmethod
    def hidden_devices() -> str | None:
        """What the user's variable says of the devices that programs may see."""
        raise NotImplementedError

    @classmethod
    def torch_for_it(cls) -> Any:
        """torch if it is imported and was built for these GPUs."""
        torch = sys.modules.get("torch")
        version = getattr(getattr(torch, "version", None), cls.torch_version, None)
        return torch if version is not None and hasattr(torch, "cuda") else None

    @classmethod
    def is_active(cls) -> bool:
        cls.use_library()
        if cls.native.is_initialized():
            return cls.native.device_count() > 0
        visible = cls.hidden_devices()
        if visible is not None and visible.strip() in ("", "-1"):
            return False
        if not cls.native.has_library():
            return False
        if "torch" in sys.modules:
            torch = cls.torch_for_it()
            return torch is not None and torch.cuda.is_available()
        if not cls.library_is_chosen() and any(map(glob.glob, cls.device_files)):
            return True
        return cls.native.device_count() > 0

    @staticmethod
    def library_is_chosen() -> bool:
        """Whether the user has named the driver's library."""
        raise NotImplementedError

    def get_current_target(self) -> Any:
        return self.target_of(self.get_current_device())

    def get_current_device(self) -> int:
        return self.native.current_device()

    def set_current_device(self, device: int) -> None:
        torch = self.torch_for_it()
        if torch is not None:
            torch.cuda.set_device(device)
        else:
            self.native.make_current(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return self.native.current_stream(self.get_current_device() if device is None else device)

    def stream_for(self, args: tuple[Any, ...], device: int) -> int:
        """The current stream of the library whose arrays are passed."""
        return self.native.stream_for(args, device)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    def map_python_to_cpp_type(self, ty: str) -> str:
        is_address = ty.startswith("*")
        return self.address_type if is_address else cpp_type(ty, least_float_bits=64)

    def get_benchmarker(self) -> Callable[..., Any]:
        from ..testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory larger than the caches; writing it evicts all earlier data."""
        return self.native.Buffer(_CACHE_BYTES, self.get_current_device())

    def clear_cache(self, cache: Any) -> None:
        cache.zero(self.get_current_stream())

    def record_event(self) -> Any:
        """Records an event in the current stream; `milliseconds_since` gives the time between two."""
        device = self.get_current_device()
        event = self.native.Event(device)
        event.record(self.get_current_stream(device))
        return event

    def synchronize(self) -> None:
        """Waits for the current GPU; on failure names the kernels that may have caused it."""
        self.native.synchronize(self.get_current_device())
