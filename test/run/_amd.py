"""Run-tests compiled for an AMD GPU, which need not be present."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import pytest
import triton
from _gpu import _is_new
from triton.backends.compiler import GPUTarget

STAGES = ["ttir", "ttgir", "plan", "llir", "amdgcn", "hsaco"]
EM_AMDGPU = 224  # the machine in the header of a code object
UNSUPPORTED = re.compile(
    r"type fp8\w+ not supported in this architecture|num_ctas is \d+; gfx\w+ has no clusters"
    r"|num_warps is \d+; it must be a power of two up to \d+|is an instruction of NVIDIA GPUs"
    r"|num_ctas=\d+ needs a GPU|num_ctas=\d+: AMD GPUs have no clusters"
)


def target_of(device: str) -> GPUTarget:
    arch = device.removeprefix("hip:")
    return GPUTarget("hip", arch, 32 if arch.startswith("gfx1") else 64)


@functools.cache
def _disassembler() -> str:
    return shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump") or ""


def why_no_disassembler() -> str:
    return "" if _disassembler() else "there is no llvm-objdump to disassemble code objects with"


def compile_for_gpu(
    kernel: Any, grid: Any, args: list[Any], named: dict[str, Any], device: str
) -> None:
    """Compiles the kernel and disassembles it; skips the test where AMD's GPUs lack what it needs."""
    try:
        compiled = kernel.warmup(*args, grid=grid, **named)
    except (triton.CompilationError, ValueError) as error:
        why = UNSUPPORTED.search(str(error))
        if why is None:
            raise
        pytest.skip(why[0])
    if _is_new(compiled):
        assert compiled.metadata.target == target_of(device)
        check_stages(compiled, device.removeprefix("hip:"))


def check_stages(compiled: Any, arch: str) -> None:
    """All stages are present, and the last is machine code that can be disassembled."""
    name, asm = compiled.metadata.name, compiled.asm
    assert list(asm) == STAGES
    assert f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"' in asm["amdgcn"]
    assert f".amdhsa_kernel {name}" in asm["amdgcn"]
    code = asm["hsaco"]
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], sys.byteorder) == EM_AMDGPU
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(code)
        file.flush()
        shown = subprocess.run(
            [_disassembler(), "-d", file.name], capture_output=True, text=True, check=True
        )
    assert not shown.stderr, shown.stderr
    assert f"<{name}>:" in shown.stdout
    assert "s_endpgm" in shown.stdout
    assert "<unknown>" not in shown.stdout
