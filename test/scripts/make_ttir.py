"""Prints the TTIR of the kernels of test/run/ttir with another compiler of the language.

`PYTHONPATH=<folder with a triton package> python3.12 test/scripts/make_ttir.py [CASE ...]` writes that
version's sections of test/run/ttir/texts/CASE.ttir: the text before and after that compiler's
passes. No GPU is needed.
"""
# SPDX-License-Identifier: MIT

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "run", "ttir"))

import triton  # noqa: E402
from _ttir_kernels import CASES, Case  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource, make_backend  # noqa: E402

TEXTS = os.path.join(ROOT, "test", "run", "ttir", "texts")
MARK = "// === "
TARGET = GPUTarget("cuda", 90, 32)


def attributes(case: Case) -> dict:
    return {
        (position,): [["tt.divisibility", 16]]
        for position, kind in enumerate(case.signature.values())
        if kind.startswith("*") and case.aligned
    }


def texts(case: Case) -> tuple[str, str]:
    """The module from the front end, and after the stage `ttir`."""
    from triton._C.libtriton import ir

    backend = make_backend(TARGET)
    source = ASTSource(case.kernel, case.signature, case.constants, attributes(case))
    options = backend.parse_options({"debug": case.debug, "sanitize_overflow": case.debug})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    codegen = backend.get_codegen_implementation(options)
    module = source.make_ir(TARGET, options, codegen, backend.get_module_map(), context)
    before = module.str_nodebug()
    stages: dict = {}
    backend.add_stages(stages, options, source.language)
    metadata = {"target": TARGET, **options.__dict__}
    after = stages["ttir"](module, metadata)
    return before, after.str_nodebug()


def write(name: str, version: str, before: str, after: str) -> None:
    """Replaces the version's sections of a case's file; the others are kept."""
    path = os.path.join(TEXTS, f"{name}.ttir")
    sections: dict[str, str] = {}
    if os.path.exists(path):
        with open(path) as file:
            sections = dict(part.split("\n", 1) for part in file.read().split(MARK)[1:])
    sections |= {
        f"{version} before": before.strip() + "\n",
        f"{version} after": after.strip() + "\n",
    }
    with open(path, "w") as file:
        for title, text in sorted(sections.items()):
            file.write(f"{MARK}{title}\n{text}")


def main() -> int:
    version = triton.__version__.rsplit(".", 1)[0]
    os.makedirs(TEXTS, exist_ok=True)
    failures = 0
    for name in sys.argv[1:] or CASES:
        try:
            write(name, version, *texts(CASES[name]))
        except Exception as error:  # one kernel's failure must not hide the others'
            print(f"{name}: {type(error).__name__}: {str(error)[-600:]}", file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
