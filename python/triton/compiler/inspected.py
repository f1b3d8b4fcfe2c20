"""`knobs.runtime.add_stages_inspection_hook`: a function that sees, wraps or replaces the stages of a compilation."""

# SPDX-License-Identifier: MIT
#
# The stages of this build are native, and one call makes them all. The hook gets a dictionary of functions that return
# them one by one. Where a function that it has put there returns another text, the kernel is compiled again from that
# text, as by the launch option `ir_override`.
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from .. import knobs
from .._C import libtriton
from ..backends import compiled
from ..backends.stages import CompiledStage


def key_of_hook() -> str:
    """Distinguishes kernels that a hook has changed; "" without one."""
    hook = knobs.runtime.add_stages_inspection_hook
    return "" if hook is None else f" stages {hook()}"


def call_hook(
    src: Any, backend: Any, options: Any, code: Any, compile_with: Callable[[str], Any]
) -> Any:
    """The code after the hook's stages; `compile_with` compiles with a file in the place of a stage."""
    codes = [code]
    names = compiled.stages(code)

    def stage_of(name: str) -> Callable[[Any, Any], CompiledStage]:
        return lambda src, metadata: CompiledStage(codes[0], name)

    stages: dict[str, Callable[[Any, Any], Any]] = {name: stage_of(name) for name in names}
    target = backend.target
    knobs.runtime.add_stages_inspection_hook(backend, stages, options, src.language, target.arch)
    context = libtriton.ir.context()
    result = src.make_ir(target, options, {}, {}, context)
    metadata = {**code.metadata, "name": code.name}
    for name, stage in stages.items():
        result = stage(result, metadata)
        content = _content_of(result)
        if name in names and content != compiled.stage(codes[0], name):
            codes[0] = _compile_from(content, f"{src.name.lstrip('@')}.{name}", compile_with)
    return codes[0]


def _content_of(result: Any) -> Any:
    if isinstance(result, CompiledStage):
        return result.content
    return result if isinstance(result, bytes) else str(result)


def _compile_from(content: Any, name: str, compile_with: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return compile_with(path)
