"""Finds the tool that compiles PTX to machine code: nvJitLink, a library, or ptxas, a program."""

# SPDX-License-Identifier: MIT
#
# This package contains neither. Both come with CUDA and with the wheels that torch's CUDA builds depend on. Without
# them the driver compiles the PTX when a kernel is loaded.
from __future__ import annotations

import functools
import glob
import importlib.util
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from ... import knobs
from ..._C import libtriton

# Paths below the folder of the namespace package `nvidia`: CUDA 13's wheels, then those of CUDA 12.
_WHEEL_LIBRARIES = ("cu13/lib/libnvJitLink.so.*", "nvjitlink/lib/libnvJitLink.so.*")
_WHEEL_FOLDERS = ("cu13/bin", "cuda_nvcc/bin", "cuda_nvdisasm/bin", "cuda_cuobjdump/bin")
_DEFAULT_ROOT = "/usr/local/cuda"


@dataclass(frozen=True)
class Assembler:
    """Paths; empty where there is none."""

    ptxas: str = ""
    nvjitlink: str = ""

    @property
    def key(self) -> str:
        """Identifies the tools in cache keys: other tools may generate other code."""
        return ",".join(_identity(path) for path in (self.nvjitlink, self.ptxas) if path)


def has_own_ptxas(arch: int) -> bool:
    """Whether settings may name a ptxas for GPUs of this compute capability alone."""
    return libtriton.nvidia_arch(arch)["has_own_ptxas"]


def find_assembler(arch: int = 0) -> Assembler:
    """The tools for a GPU of that compute capability. If the settings have a path, no other is
    searched.
    """
    settings = knobs.nvidia
    newer = settings.chosen_path("ptxas_blackwell") if has_own_ptxas(arch) else None
    chosen = newer or settings.chosen_path("ptxas")
    if chosen:
        return _chosen(chosen)
    return _search(knobs.nvidia.cuda_home or knobs.nvidia.cuda_path or "")


def _chosen(path: str) -> Assembler:
    if not _is_program(path):
        raise RuntimeError(f"TRITON_PTXAS_PATH names {path}, which is no program")
    return Assembler(ptxas=path)


@functools.lru_cache
def _search(root: str) -> Assembler:
    roots = [folder for folder in (root, _DEFAULT_ROOT) if folder]
    libraries = [
        *(name for folder in _wheels() for name in _matches(folder, _WHEEL_LIBRARIES)),
        *(
            name
            for folder in roots
            for name in _matches(folder, ("lib64/libnvJitLink.so.*", "lib/libnvJitLink.so.*"))
        ),
    ]
    return Assembler(ptxas=_find_below(roots, "ptxas"), nvjitlink=next(iter(libraries), ""))


def find_program(name: str) -> str:
    """The path of a program of the installed toolkits, wheels first; "" for none."""
    root = knobs.nvidia.cuda_home or knobs.nvidia.cuda_path
    return _find_below([folder for folder in (root, _DEFAULT_ROOT) if folder], name)


def _find_below(roots: list[str], name: str) -> str:
    programs = [
        *(os.path.join(wheel, folder, name) for wheel in _wheels() for folder in _WHEEL_FOLDERS),
        *(os.path.join(folder, "bin", name) for folder in roots),
    ]
    return next(filter(_is_program, programs), shutil.which(name) or "")


def _wheels() -> list[str]:
    """Folders of the namespace package `nvidia`, which is not imported."""
    spec = importlib.util.find_spec("nvidia")
    return list(spec.submodule_search_locations or ()) if spec else []


def _matches(folder: str, patterns: tuple[str, ...]) -> Iterator[str]:
    """Files that match these patterns, for each the shortest name first: `libnvJitLink.so.13`."""
    for pattern in patterns:
        yield from sorted(glob.glob(os.path.join(glob.escape(folder), pattern)), key=len)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


@functools.lru_cache
def _identity(path: str) -> str:
    # The size distinguishes releases, and a copy elsewhere is the same tool.
    return f"{os.path.basename(os.path.realpath(path))}:{os.path.getsize(path)}"
