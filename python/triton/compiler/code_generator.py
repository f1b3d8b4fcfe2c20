"""The front end under the name by which other packages call it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from typing import Any

from ..backends import GPUTarget


def ast_to_ttir(
    fn: Any,
    src: Any,
    context: Any,
    options: Any,
    codegen_fns: Any,
    module_map: Any,
    module: Any = None,
) -> Any:
    """The TTIR of a kernel, functions not yet inlined; `options` are those of the target."""
    if module is not None:
        raise NotImplementedError("ast_to_ttir makes a module of its own; leave out `module`")
    return src.make_ir(_target_of(options), options, codegen_fns, module_map, context)


def _target_of(options: Any) -> GPUTarget:
    if options.backend_name != "cuda":
        return GPUTarget(options.backend_name, options.arch, 32)
    return GPUTarget("cuda", int(re.sub(r"\D", "", options.arch)), options.warp_size)
