"""Prints the TTGIR of the kernels of test/python/_amd_ttgir_kernels.py with another compiler of the language.

`PYTHONPATH=<folder with a triton package> python3.12 test/scripts/make_amd_ttgir.py [CASE ...]` writes
test/python/amd_ttgir/CASE.ttgir; those in the tree are of Triton 3.6.0. No GPU is needed.
"""
# SPDX-License-Identifier: MIT

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "python"))

import triton  # noqa: E402
from _amd_ttgir_kernels import CASES, Case  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource, make_backend  # noqa: E402

TEXTS = os.path.join(ROOT, "test", "python", "amd_ttgir")


def attributes(case: Case) -> dict:
    """Pointers are aligned, and to less than 2 GiB: then accesses are those of buffers."""
    found = {}
    for position, kind in enumerate(case.signature.values()):
        if kind.startswith("*"):
            found[(position,)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
        elif kind == "i32" and case.divisible:
            found[(position,)] = [["tt.divisibility", 16]]
    return found


def text(case: Case) -> str:
    """The module after the stage `ttgir`."""
    from triton._C.libtriton import ir

    os.environ.update(case.environment)
    target = GPUTarget("hip", case.arch, 64 if case.arch.startswith("gfx9") else 32)
    backend = make_backend(target)
    source = ASTSource(case.kernel, case.signature, case.constants, attributes(case))
    options = backend.parse_options(case.options)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    codegen = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, codegen, backend.get_module_map(), context)
    stages: dict = {}
    backend.add_stages(stages, options, source.language)
    metadata = {"target": target, **options.__dict__}
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
    for name in case.environment:
        del os.environ[name]
    return module.str_nodebug()


def main() -> None:
    os.makedirs(TEXTS, exist_ok=True)
    print(triton.__version__)
    for name in sys.argv[1:] or CASES:
        with open(os.path.join(TEXTS, f"{name}.ttgir"), "w") as file:
            file.write(text(CASES[name]).strip() + "\n")


if __name__ == "__main__":
    main()
