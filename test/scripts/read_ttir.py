"""Reads TTIR with another compiler of the language and runs that compiler's passes on it.

`PYTHONPATH=<folder with a triton package> python3.12 test/scripts/read_ttir.py FILE ...` prints each file
that is rejected, and the number of files read. A file that ends the process is named as well.
"""
# SPDX-License-Identifier: MIT

import multiprocessing
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend


def read(path: str) -> str:
    """The error in the file; empty if there is none."""
    from triton._C.libtriton import ir

    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    try:
        module = ir.parse_mlir_module(path, context)
        module.context = context
        stages: dict = {}
        from triton.backends.compiler import Language

        backend.add_stages(stages, options, Language.TRITON)
        stages["ttir"](module, dict(options.__dict__))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    bad = 0
    for path in sys.argv[1:]:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            done = pool.apply_async(read, (path,))
            try:
                problem = done.get(timeout=60)
            except multiprocessing.TimeoutError:
                problem = "it ended the process, or took longer than a minute"
        if problem:
            print(f"{path}: {problem}")
            bad += 1
    print(f"{triton.__version__}: {len(sys.argv) - 1 - bad} read, {bad} refused")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
