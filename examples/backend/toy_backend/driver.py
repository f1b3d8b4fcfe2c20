"""Runs kernels on the toy machine: one core, arrays in the host's memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
from collections.abc import Callable
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

_C_TYPES = {
    "i1": ctypes.c_int8,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "fp32": ctypes.c_float,
    "fp64": ctypes.c_double,
}


class ToyUtils:
    """What a kernel needs to be loaded."""

    @staticmethod
    def load_binary(
        name: str, binary: bytes, shared: int, device: int
    ) -> tuple[Any, Any, int, int, int]:
        """Module, function, registers, spills, threads of a CTA."""
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(binary)
            file.flush()
            module = ctypes.CDLL(file.name)
        return module, getattr(module, name), 1, 0, 1

    @staticmethod
    def get_device_properties(device: int) -> dict[str, Any]:
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 1,
            "multiprocessor_count": 1,
            "warpSize": 1,
        }


class ToyLauncher:
    """`launcher(x, y, z, stream, function, packed_metadata, launch_metadata, enter, exit, *args)`:
    `args` are all arguments of the kernel, constants included.
    """

    def __init__(self, src: Any, metadata: Any):
        self.kinds = list(src.signature.values())

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
        passed = [
            _converted(kind, arg)
            for kind, arg in zip(self.kinds, args, strict=True)
            if kind != "constexpr"
        ]
        for z, y, x in itertools.product(range(grid_z), range(grid_y), range(grid_x)):
            function(x, y, z, *passed)
        if exit_hook is not None:
            exit_hook(launch_metadata)


def _converted(kind: str, arg: Any) -> Any:
    if not kind.startswith("*"):
        return _C_TYPES[kind](arg)
    address = arg.data_ptr() if hasattr(arg, "data_ptr") else arg.ctypes.data
    return ctypes.c_void_p(address)


class ToyDriver(DriverBase):
    launcher_cls = ToyLauncher

    def __init__(self) -> None:
        self.utils = ToyUtils()

    @classmethod
    def is_active(cls) -> bool:
        return os.environ.get("TOY_MACHINE") == "1"

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("toy", "v1", 1)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable[..., Any]:
        from triton.testing import do_bench

        return do_bench

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "void*" if ty.startswith("*") else _C_TYPES[ty].__name__
