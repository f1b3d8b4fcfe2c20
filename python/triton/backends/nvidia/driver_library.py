"""Paths of CUDA's driver library and headers, for code that compiles C against them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import glob
import os
import subprocess

from ... import knobs
from .assembler import _DEFAULT_ROOT, _wheels

libraries = ["libcuda.so.1"]


@functools.lru_cache
def libcuda_dirs() -> list[str]:
    """Folders with `libcuda.so.1`; only the one of the settings, if it is set."""
    if knobs.nvidia.libcuda_path:
        return [knobs.nvidia.libcuda_path]
    try:
        listed = subprocess.check_output(["/sbin/ldconfig", "-p"], text=True).splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = []
    paths = [line.split()[-1] for line in listed if "libcuda.so.1" in line]
    paths += [
        os.path.join(folder, "libcuda.so.1")
        for folder in (os.environ.get("LD_LIBRARY_PATH") or "").split(":")
        if folder
    ]
    folders = list(dict.fromkeys(os.path.dirname(path) for path in paths if os.path.exists(path)))
    if not folders:
        raise RuntimeError(
            "libcuda.so.1 was not found; is a GPU driver installed? TRITON_LIBCUDA_PATH names its folder"
        )
    return folders


def library_dirs() -> list[str]:
    return list(libcuda_dirs())


def _include_dirs() -> list[str]:
    root = knobs.nvidia.cuda_home or knobs.nvidia.cuda_path
    candidates = [os.path.join(folder, "include") for folder in (root, _DEFAULT_ROOT) if folder]
    for wheel in _wheels():
        candidates += glob.glob(os.path.join(glob.escape(wheel), "*", "include"))
    return [candidate for candidate in candidates if os.path.exists(os.path.join(candidate, "cuda.h"))]


include_dirs = _include_dirs()
