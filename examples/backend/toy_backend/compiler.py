"""Compiles for the toy machine: TTIR, C code, a shared object."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from triton.backends.compiler import BaseBackend, GPUTarget, Language

from .c_code import translate


@dataclass(frozen=True)
class ToyOptions:
    """Options that a launch may pass; `opt_level` is this backend's own."""

    num_warps: int = 1
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 1
    enable_fp_fusion: bool = False
    debug: bool = False
    sanitize_overflow: bool = False
    backend_name: str = "toy"
    arch: str = ""
    opt_level: int = 2

    def hash(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()


class ToyBackend(BaseBackend):
    binary_ext = "so"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "toy"

    def hash(self) -> str:
        return f"toy-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> ToyOptions:
        names = ToyOptions.__dataclass_fields__
        known = {name: value for name, value in options.items() if name in names}
        return ToyOptions(**{"arch": str(self.target.arch), **known})

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def load_dialects(self, context: Any) -> None:
        pass

    def add_stages(
        self, stages: dict[str, Any], options: ToyOptions, language: Any = Language.TRITON
    ) -> None:
        stages["ttir"] = lambda module, metadata: self.make_ttir(module, options)
        stages["c"] = self.make_c
        stages["so"] = lambda code, metadata: self.make_so(code, options)

    def make_ttir(self, module: Any, options: ToyOptions) -> Any:
        """The front end's module, simplified in place."""
        return self.optimise(module, options.enable_fp_fusion)

    @staticmethod
    def make_c(module: Any, metadata: dict[str, Any]) -> str:
        metadata["name"], code = translate(module.str_nodebug())
        metadata["shared"] = 0
        return code

    @staticmethod
    def make_so(code: str, options: ToyOptions) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "k.c"), os.path.join(folder, "k.so")
            with open(source, "w") as file:
                file.write(code)
            subprocess.run(
                [
                    os.environ.get("CC", "cc"),
                    *("-shared", "-fPIC", "-ffp-contract=off", f"-O{options.opt_level}"),
                    *(source, "-o", library, "-lm"),
                ],
                check=True,
            )
            with open(library, "rb") as file:
                return file.read()
