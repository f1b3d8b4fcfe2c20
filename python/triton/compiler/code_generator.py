"""The front end under the name that other packages import."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from typing import Any

from .._lazy import lazy_names
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


__getattr__ = lazy_names(
    __name__,
    {
        "triton.compiler.errors": "CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct",
        "triton.runtime.jit": "ConstexprFunction JITCallable JITFunction",
        "triton.runtime.callable": "BoundConstexprFunction=BoundConstexprMethod",
        "triton._utils": "apply_with_path is_namedtuple set_iterable_path",
        "triton.language.core": "base_type base_value constexpr str_to_ty tensor tl_tuple=tuple",
        "triton._C.libtriton": "ir",
        "triton": "knobs language",
        "triton._function_names": "get_full_name",
    },
)
