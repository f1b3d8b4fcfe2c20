"""Programs of NVIDIA's toolkit: their paths and releases."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from typing import Any

from ._record import Record
from ._settings import env_base, getenv


class NvidiaTool(Record):
    path: str
    version: str

    @staticmethod
    @functools.lru_cache
    def from_path(path: str) -> NvidiaTool | None:
        """None where there is no such program, or it reports no release."""
        import re
        import subprocess

        try:
            text = subprocess.check_output([path, "--version"], stderr=subprocess.STDOUT)
        except (OSError, subprocess.CalledProcessError):
            return None
        release = re.search(r"release (\d+\.\d+)", text.decode("utf-8", "replace"))
        return NvidiaTool(path, release.group(1)) if release else None


class env_nvidia_tool(env_base[str, NvidiaTool]):
    """Accepts a path and returns a `NvidiaTool`: of the path, else of the installed toolkits."""

    def __init__(self, binary: str):
        self.binary = binary
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")

    def get(self) -> Any:
        return self.transform(getenv(self.key))

    def transform(self, value: Any) -> Any:
        from .backends.nvidia.assembler import find_program

        for path in (value, find_program(self.binary.removesuffix("-blackwell"))):
            tool = NvidiaTool.from_path(path) if path else None
            if tool is not None:
                return tool
        raise RuntimeError(f"Cannot find {self.binary}")
