"""The release of ptxas, the PTX version that it accepts, and the dot shapes of NVIDIA's GPUs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import hashlib
import subprocess
from collections.abc import Callable
from typing import Any

from ... import knobs
from ..._C import libtriton
from .assembler import has_own_ptxas


def get_ptxas(arch: int) -> knobs.NvidiaTool:
    """The ptxas for a compute capability."""
    return knobs.nvidia.ptxas_blackwell if has_own_ptxas(arch) else knobs.nvidia.ptxas


def get_ptxas_version(arch: int = 80) -> str:
    """The version that it reports."""
    chosen = knobs.nvidia.mock_ptx_version
    if chosen is not None:
        return chosen
    return subprocess.check_output([get_ptxas(arch).path, "--version"], text=True)


def ptx_get_version(cuda_version: str) -> int:
    """The version of PTX of a release of CUDA: 12.4 has PTX 8.4, which is 84."""
    major, minor = map(int, cuda_version.split("."))
    if major >= 13:
        return 90 + (major - 13) * 10 + minor
    if major == 12:  # 12.5 and 12.6 have the same one
        return 80 + minor - (minor >= 6)
    if major in (10, 11):
        return {10: 63, 11: 70}[major] + minor
    raise RuntimeError(f"CUDA {cuda_version} is too old: Triton needs 10.0 or later")


def get_ptx_version_from_options(options: Any, arch: int) -> int:
    chosen = options.ptx_version
    return ptx_get_version(get_ptxas(arch).version) if chosen is None else chosen


def sm_arch_from_capability(capability: int) -> str:
    return f"sm_{capability}{libtriton.nvidia_arch(capability)['suffix']}"


@functools.lru_cache(None)
def file_hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def min_dot_size(target: Any) -> Callable[[Any, Any], tuple[int, int, int]]:
    """The smallest (m, n, k) of a dot of two types on tensor cores in Triton; smaller ones work
    here, too.
    """

    def least(lhs_type: Any, rhs_type: Any) -> tuple[int, int, int]:
        bits = lhs_type.scalar.primitive_bitwidth
        assert bits == rhs_type.scalar.primitive_bitwidth, "lhs and rhs bitwidth must be the same"
        return 1, 1, {8: 32, 32: 8, 64: 4}.get(bits, 16)

    return least
