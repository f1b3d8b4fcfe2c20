"""Kernels that state what their TTIR is, in comments that LLVM's FileCheck reads: for test suites written for Triton.

@filecheck_test
@triton.jit
def test_add():
    # CHECK: arith.addi
    ...
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import inspect
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from ._C.libtriton import ir
from .backends.compiler import GPUTarget
from .compiler import ASTSource, make_backend
from .experimental.gluon._runtime import GluonASTSource
from .runtime.jit import JITFunction, _describe, create_function_from_signature

__all__ = [
    "MatchError",
    "filecheck_test",
    "run_filecheck",
    "run_filecheck_test",
    "run_parser",
    "stub_target",
]

stub_target = GPUTarget("cuda", 100, 32)  # no device is needed

_PROGRAMS = ("FileCheck", "FileCheck-22")


class MatchError(ValueError):
    """A text that does not match; shown with the text."""

    def __init__(self, message: str, module_str: str):
        super().__init__(message)
        self.module_str = module_str

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.module_str}"


def _program() -> str:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise RuntimeError(
            "neither FileCheck nor FileCheck-22 is on the PATH; LLVM's tools have it (llvm-22-tools on Debian)"
        )
    return program


def run_filecheck(name: str, module_str: str, check_template: str) -> None:
    """Raises ValueError with FileCheck's message unless the text matches the template's comments."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, each) for each in ("expected", "module")]
        for path, text in zip(paths, (check_template, module_str), strict=True):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        expected, module = paths
        done = subprocess.run(
            [_program(), expected, "--input-file", module, "--dump-input-context=50"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    if done.returncode != 0:
        raise ValueError(done.stdout)


def run_parser(
    kernel_fn: Any, args: Any = (), kwargs: Any = None, target: GPUTarget = stub_target
) -> Any:
    """The kernel's TTIR for these arguments and options, functions not yet inlined."""
    backend = make_backend(target)
    keywords = {"sanitize_overflow": False, **(kwargs or {})}
    bind = create_function_from_signature(kernel_fn.signature, kernel_fn.params, backend)
    bound, specialization, options = bind(*args, **keywords)
    signature, constants, attrs = _describe(bound, specialization, backend)
    source = (GluonASTSource if kernel_fn.is_gluon() else ASTSource)(
        kernel_fn, signature, constants, attrs
    )
    return source.make_ir(target, backend.parse_options(options), {}, {}, ir.context())


def run_filecheck_test(
    kernel_fn: Any, args: Any = (), kwargs: Any = None, target: GPUTarget = stub_target
) -> None:
    """Checks a kernel's TTIR against the comments in its source."""
    if not isinstance(kernel_fn, JITFunction):
        raise TypeError(
            f"not a kernel: {kernel_fn!r}; `@triton.jit` stands below `@filecheck_test`"
        )
    module = run_parser(kernel_fn, args, kwargs, target)
    run_filecheck(kernel_fn.__name__, module.str_nodebug(), inspect.getsource(kernel_fn.fn))


def filecheck_test(fn: Any) -> Callable[[], None]:
    """Decorator: makes a test from a kernel without parameters."""

    @functools.wraps(fn)
    def test_fn() -> None:
        run_filecheck_test(fn)

    return test_fn
