"""Run-tests on a GPU, on copies of numpy's memory, and compiled for a GPU that need not be present."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import dataclasses
import re
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import Addresses, Coded, Float8
from triton.backends.compiler import GPUTarget
from triton.backends.cpu.driver import CPUDriver
from triton.backends.nvidia.assembler import find_assembler
from triton.runtime.errors import OutOfResources, PTXASError

ALIGNMENT = 64  # a copy's address equals the original's modulo this: kernels are specialised by it
OLDER = 80  # has other instructions for dots, copies and accesses than later ones
PLANNED = re.compile(r"^barriers, (\d+):.* written by hand (\d+),", re.MULTILINE)
WRITTEN = re.compile(r"\bbar(?:rier)?(?:\.cta)?\.sync")
UNSUPPORTED = re.compile(
    r"type fp8\w+ not supported in this architecture|num_ctas=\d+ needs a GPU"
    r"|AMD GPUs have no clusters of CTAs"
    r"|Modifier '[.]\w+' requires [.]target sm_\d+ or higher"
)
STAGES = ["ttir", "ttgir", "plan", "llir", "ptx", "cubin"]
EM_CUDA = 190  # the machine in the header of a cubin


def why_no_gpu() -> str:
    """Why kernels cannot run with --device=cuda; empty if they can."""
    try:
        import torch
    except ImportError:
        return "--device=cuda needs torch, which puts the arrays onto the GPU"
    if torch.version.cuda is None:
        return "--device=cuda needs a torch built for CUDA; this one is for CPUs only"
    return "" if torch.cuda.is_available() else "torch finds no GPU that it can use"


# --- A GPU that is present ------------------------------------------------------------------------


def _memory_of(array: np.ndarray) -> np.ndarray:
    """The bytes of the array that owns an array's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    start = (ctypes.c_uint8 * array.nbytes).from_address(array.ctypes.data)
    return np.ctypeslib.as_array(start)


class DeviceCopies:
    """Memory of numpy arrays, copied to a GPU as a whole: arrays that share memory on the host share it there."""

    def __init__(self, device: str = "cuda"):
        self.device = device
        self.copies: dict[int, tuple[np.ndarray, Any]] = {}  # by address on the host

    def _copy(self, memory: np.ndarray) -> Any:
        import torch

        key = memory.ctypes.data
        if key not in self.copies:
            size = memory.nbytes + ALIGNMENT
            if self.device == "cuda" and torch.cuda.mem_get_info()[0] < size:
                pytest.skip(f"the GPU has no {size >> 20} MiB to spare")
            space = torch.empty(size, dtype=torch.uint8, device=self.device)
            start = (key - space.data_ptr()) % ALIGNMENT
            there = space[start : start + memory.nbytes]
            there.copy_(torch.from_numpy(memory))
            self.copies[key] = memory, there
        return self.copies[key][1]

    def argument(self, value: Any) -> Any:
        """The device argument for an array or a value that contains one; other values are unchanged."""
        import torch

        if isinstance(value, Addresses):
            there = [self.argument(array).data_ptr() for array in value.arrays]
            return torch.tensor(there, dtype=torch.int64, device=self.device)
        if isinstance(value, tuple):
            items = map(self.argument, value)
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if hasattr(type(value), "__aggregate_fields__"):
            fields = {name: getattr(value, name) for name in value.__aggregate_fields__}
            return tl.aggregate_replace(value, **self._replaced(fields))
        if dataclasses.is_dataclass(value):
            return dataclasses.replace(value, **self._replaced(vars(value)))
        if not isinstance(value, (np.ndarray, Coded)):
            return value
        array = value.bits if isinstance(value, Coded) else value
        memory = _memory_of(array)
        start = array.ctypes.data - memory.ctypes.data
        there = self._copy(memory)[start : start + array.nbytes]
        if isinstance(value, Float8):
            return triton.reinterpret(there, getattr(tl, value.dtype))
        if isinstance(value, Coded):
            return there.view(getattr(torch, value.dtype))
        return there.view(torch.from_numpy(np.empty(0, array.dtype)).dtype)

    def _replaced(self, fields: dict[str, Any]) -> dict[str, Any]:
        copies = {name: self.argument(item) for name, item in fields.items()}
        return {name: item for name, item in copies.items() if item is not fields[name]}

    def bring_back(self) -> None:
        for here, there in self.copies.values():
            here[...] = there.cpu().numpy()


def launch_on_gpu(kernel: Any, grid: Any, args: list[Any], named: dict[str, Any]) -> Any:
    copies = DeviceCopies()
    launched = kernel[grid](
        *map(copies.argument, args),
        **{name: copies.argument(value) for name, value in named.items()},
    )
    copies.bring_back()
    return launched


# --- A simulated GPU -------------------------------------------------------------------------------


def simulated_driver(device: str) -> Any:
    from triton.backends.sim.driver import SimDriver

    return SimDriver(device)


def launch_on_simulator(kernel: Any, grid: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """Skips the test where GPUs of that compute capability lack what the kernel needs."""
    try:
        return kernel[grid](*args, **named)
    except (triton.CompilationError, ValueError) as error:
        why = UNSUPPORTED.search(str(error))
        if why is None:
            raise
        pytest.skip(why[0])
    except OutOfResources as error:
        pytest.skip(str(error))


# --- A GPU that need not be present ---------------------------------------------------------------


def capability_of(arch: str) -> int:
    return int(arch.partition("+")[0])


def target_of(arch: str) -> GPUTarget:
    return GPUTarget("cuda", int(arch) if arch.isdigit() else arch, 32)


class CompilingDriver(CPUDriver):
    """Compiles kernels that are called with host arrays for a GPU, specialised as for a launch."""

    def __init__(self, gpu: GPUTarget):
        super().__init__()
        self.gpu = gpu

    def get_current_target(self) -> GPUTarget:
        return self.gpu


compiles_for_older = True  # the running test also for sm_80
_checked: set[str] = set()  # hashes of kernels
left_out: list[str] = []  # why kernels of the running test are not compiled for sm_80


def compile_for_gpu(
    kernel: Any, grid: Any, args: list[Any], named: dict[str, Any], arch: str
) -> None:
    """Compiles and checks the kernel for sm_80, where `arch` is newer, and then for `arch`: test/stub/ptxas
    assembles a text that both have for the older one alone.
    """
    if compiles_for_older and capability_of(arch) > OLDER:
        compile_for_older(kernel, grid, args, named)
    compiled = kernel.warmup(*args, grid=grid, **named)
    if _is_new(compiled):
        assert compiled.metadata.target == target_of(arch)
        check_stages(compiled, capability_of(arch))


def compile_for_older(kernel: Any, grid: Any, args: list[Any], named: dict[str, Any]) -> None:
    try:
        older = kernel.warmup(*args, grid=grid, **named, arch=f"sm{OLDER}")
    except (triton.CompilationError, PTXASError, ValueError) as error:
        why = UNSUPPORTED.search(str(error))
        if why is None:
            raise
        left_out.append(f"sm_{OLDER}: {why[0]}")
        return
    if _is_new(older):
        check_stages(older, OLDER)


def _is_new(compiled: Any) -> bool:
    is_new = compiled.metadata.hash not in _checked
    _checked.add(compiled.metadata.hash)
    return is_new


def check_stages(compiled: Any, arch: int) -> None:
    """All stages are present, and the last is machine code that ptxas generated from the PTX."""
    name, asm = compiled.metadata.name, compiled.asm
    assert list(asm) == STAGES
    ptx = [line for line in asm["ptx"].splitlines() if line and not line.startswith("//")]
    assert ptx[0].startswith(".version ") and ptx[1].startswith(f".target sm_{arch}")
    assert f".visible .entry {name}(" in asm["ptx"]
    cubin = asm["cubin"]
    assert cubin[:4] == b"\x7fELF"
    assert int.from_bytes(cubin[18:20], sys.byteorder) == EM_CUDA
    assert b".text." + name.encode() in cubin
    assert compiled.metadata.tool == "ptxas"
    planned, by_hand = map(
        sum, zip(*(map(int, counts) for counts in PLANNED.findall(asm["plan"])), strict=True)
    )
    written = len(WRITTEN.findall(asm["ptx"]))
    # Barriers of the user may be in unreachable code; LLVM merges two identical ones that both
    # sides of a branch begin with.
    least = planned - by_hand
    if "scf.if" in asm["ttgir"]:
        least = min(least, 1)
    is_right = least <= written <= planned
    assert is_right, f"{planned} barriers are planned, the PTX has {written}\n{asm['plan']}"
    if "wgmma" in asm["ptx"]:
        check_matmuls(asm["ptx"], arch)


def check_matmuls(ptx: str, arch: int) -> None:
    """ptxas has no note C75xx about waits between wgmma instructions. Called as the compiler calls it, so that what it
    keeps (test/stub/ptxas) is found.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [
            find_assembler(arch).ptxas,
            "-lineinfo",
            "-v",
            f"--gpu-name=sm_{arch}a",
            file.name,
            "-o",
            "/dev/null",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "(C75" not in done.stdout + done.stderr, done.stdout + done.stderr
