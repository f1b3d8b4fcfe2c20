"""Finds the tool that disassembles a cubin: cuobjdump, or nvdisasm, which cuobjdump needs itself.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from dataclasses import dataclass

from ... import knobs
from .assembler import find_program


@dataclass(frozen=True)
class Disassembler:
    """Paths; empty where there is none."""

    cuobjdump: str = ""
    nvdisasm: str = ""


def find_disassembler() -> Disassembler:
    """The paths from the settings, else from CUDA, NVIDIA's wheels or the PATH."""
    tools = Disassembler(_program("cuobjdump"), _program("nvdisasm"))
    if not tools.nvdisasm:
        raise RuntimeError(
            "machine code can only be shown with nvdisasm, which is not on this machine; install "
            "NVIDIA's CUDA toolkit, or its wheels `nvidia-cuda-nvdisasm` and "
            "`nvidia-cuda-cuobjdump`, or name programs by TRITON_NVDISASM_PATH and "
            "TRITON_CUOBJDUMP_PATH"
        )
    return tools


def _program(name: str) -> str:
    chosen = knobs.nvidia.chosen_path(name)
    if chosen:
        if not (os.path.isfile(chosen) and os.access(chosen, os.X_OK)):
            raise RuntimeError(f"TRITON_{name.upper()}_PATH names {chosen}, which is no program")
        return chosen
    return find_program(name)
