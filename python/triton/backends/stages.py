"""The stages of one compilation, for callers that run a backend stage by stage."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from typing import Any

from .. import knobs
from .._C import libtriton
from .compiler import GPUTarget

# Compilation for NVIDIA's GPUs stops at PTX: the caller assembles it.
_NO_TOOLS = {"ptxas": "", "nvjitlink": "", "key": ""}


class CompiledStage:
    """A stage of a finished compilation."""

    KEY = "compiled"  # the compilation in a `metadata` dictionary

    def __init__(self, code: Any, name: str):
        self._code = code
        self._name = name

    def at(self, name: str) -> CompiledStage:
        return CompiledStage(self._code, name)

    @property
    def content(self) -> Any:
        """Text, or the bytes of a binary stage."""
        return self._code.stage(self._name)

    def __str__(self) -> str:
        return self._code.stage(self._name)

    def dump(self) -> None:
        """Prints it to standard error."""
        print(self, file=sys.stderr)


def takes_descriptors(module: Any) -> bool:
    """Whether a parameter of the kernel is a tensor descriptor."""
    return "!tt.tensordesc" in module.str().split("{", 2)[1]


def compile_ttir(
    module: Any, metadata: dict[str, Any], options: Any, target: GPUTarget
) -> CompiledStage:
    """Compiles a module of TTIR, and stores the properties that a launch needs in `metadata`."""
    text = module.str()
    always = knobs.compilation.always_compile
    code = libtriton.compile_ir(
        text,
        "<ttir>",
        "ttir",
        target,
        {
            **options.__dict__,
            "always_compile": always,
            "tools": _NO_TOOLS,
            "reproducer_path": knobs.compilation.reproducer_path,
        },
        None if always else knobs.cache.dir,
    )
    code_metadata = code.metadata
    wanted = ("name", "shared", "global_scratch_size", "global_scratch_align")
    metadata.update({name: code_metadata[name] for name in wanted})
    metadata.update({"num_warps": code_metadata.get("num_warps", options.num_warps)})
    metadata["profile_scratch_size"] = code_metadata["profile_scratch_size"]
    metadata["profile_scratch_align"] = code_metadata["profile_scratch_align"]
    metadata["tmem_size"] = 0  # memory of later GPUs' tensor cores
    metadata["tensordesc_meta"] = list(code_metadata.get("tensordesc_meta", ()))
    metadata[CompiledStage.KEY] = stage = CompiledStage(code, "ttir")
    return stage
