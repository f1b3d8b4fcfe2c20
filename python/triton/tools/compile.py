"""Compiles a kernel ahead of time: to a C source with the machine code in it and functions that load and launch it.

    python -m triton.tools.compile kernel.py --kernel-name add --target cuda:90:32 \\
        --signature "*fp32:16, *fp32:16, i32, 1024" --grid "(n + 1023) / 1024, 1, 1"
"""

# SPDX-License-Identifier: MIT
#
# File names, function names and the header's `tt-linker` lines are those of Triton's tool: build files and linkers
# depend on them.
from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler.errors import CompilationError
from triton.tools.aot_source import ArgumentError, KernelSource, c_name, c_type

__all__ = ["CompileArgs", "compile_kernel", "desc", "main"]

desc = """
Compiles the kernel `--kernel-name` of a Python file, which is executed, to a C file and a header.

The signature names each parameter's type ("i32", "*fp16"), or its value where it is a constant. A type
may end in a hint: ":16" for a value or address that 16 divides, ":1" for the value 1, which is then no
parameter of the machine code. The grid is three C expressions of the parameters.

The file and the header are OUT.HASH_HINTS.c and .h; the function NAME_HASH_HINTS(stream, arguments)
launches the kernel, load_... and unload_... bring it to the GPU and take it away. Several kernels are
made one function of by triton.tools.link.
"""

_HINTS = (1, 16)


@dataclass
class CompileArgs:
    """The command line."""

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


@dataclass
class _Parameter:
    """One entry of the signature."""

    name: str
    type: str  # as in a signature; "constexpr"
    value: Any = None  # of a constant
    hint: int | None = None


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _parse_parameter(name: str, text: str) -> _Parameter:
    kind, _, hint_text = text.partition(":")
    value, hint = _number(text), _number(hint_text)
    if hint is not None and hint not in _HINTS:
        raise ArgumentError(f"Only 1 and 16 are valid hints, got {hint} in `{text}` of `{name}`")
    if value is not None:
        return _Parameter(name, "constexpr", value)
    return _Parameter(name, "constexpr" if hint == 1 else kind, 1 if hint == 1 else None, hint)


def _is_kernel(value: Any) -> bool:
    return hasattr(value, "arg_names") and hasattr(value, "create_binder")


def _load_kernel(path: str, name: str) -> Any:
    file = Path(path)
    if not file.is_file():
        raise ArgumentError(f"there is no file {path}")
    sys.path.insert(0, str(file.parent))  # for its imports
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name, None)
    while not _is_kernel(kernel) and hasattr(kernel, "fn"):
        kernel = kernel.fn  # of an autotuner or heuristics
    if not _is_kernel(kernel):
        there = ", ".join(each for each, value in vars(module).items() if _is_kernel(value))
        raise ArgumentError(f"{path} has no kernel `{name}`; its kernels: {there or 'none'}")
    return kernel


def _target(text: str | None) -> GPUTarget:
    if text is None:
        from triton.runtime.driver import driver

        active = (
            driver.active.get_current_target()
        )  # of a simulated GPU: the real one of its capability
        target = GPUTarget(active.backend, active.arch, active.warp_size)
    else:
        backend, arch, warp_size, *_ = (part.strip() for part in (text + "::").split(":"))
        target = GPUTarget(
            backend,
            int(arch) if arch.isdigit() else arch,
            int(warp_size) if warp_size.isdigit() else 32,
        )
    if target.backend != "cuda" or not target.arch:
        raise ArgumentError(
            f"kernels are compiled ahead of time for cuda, not for {text or target.backend}; "
            "name a target such as --target cuda:90:32"
        )
    return target


def _compile(
    kernel: Any, parameters: list[_Parameter], target: GPUTarget, args: CompileArgs
) -> Any:
    from triton.compiler import ASTSource, compile  # noqa: A004

    source = ASTSource(
        kernel,
        {each.name: each.type for each in parameters},
        {each.name: each.value for each in parameters if each.type == "constexpr"},
        {
            (index,): [["tt.divisibility", 16]]
            for index, each in enumerate(parameters)
            if each.hint == 16
        },
    )
    options = {"num_warps": args.num_warps, "num_stages": args.num_stages}
    try:
        compiled = compile(source, target=target, options=options)
    except ValueError as error:  # an unknown type
        raise ArgumentError(str(error)) from error
    for kind in ("global", "profile"):
        if getattr(compiled.metadata, f"{kind}_scratch_size", 0):
            raise RuntimeError(
                f"AOT compiling kernels with {kind} scratch requirements is not yet implemented"
            )
    return compiled


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """Writes the C file and the header; returns the function's name, and their paths."""
    kernel = _load_kernel(args.path, args.kernel_name)
    texts = [text.strip() for text in args.signature.split(",")]
    if len(texts) != len(kernel.arg_names):
        raise ArgumentError(
            f"the signature has {len(texts)} entries; {args.kernel_name} has the parameters "
            f"{', '.join(kernel.arg_names)}"
        )
    grid = [extent.strip() for extent in args.grid.split(",")]
    if len(grid) != 3:
        raise ArgumentError(f"the grid is three expressions, got `{args.grid}`")
    for name in kernel.arg_names:
        grid = [re.sub(rf"\b{name}\b", c_name(name), extent) for extent in grid]
    parameters = [_parse_parameter(*each) for each in zip(kernel.arg_names, texts, strict=False)]
    meta = f"warps{args.num_warps}xstages{args.num_stages}"
    digest = hashlib.sha256(" ".join([*texts, meta]).encode()).hexdigest()[:8]
    # Positions among the arguments of a dispatcher: the linker does not see the constants.
    passed = [each for each in parameters if each.type != "constexpr" or each.hint == 1]
    hints = "".join(
        f"{index}{'c' if each.hint == 1 else 'd'}"
        for index, each in enumerate(passed)
        if each.hint is not None
    )
    target = _target(args.target)
    compiled = _compile(kernel, parameters, target, args)
    out_name = args.out_name or c_name(args.kernel_name)
    constants = [each for each in parameters if each.type == "constexpr"]
    constants.sort(key=lambda each: each.hint == 1)  # Triton's order in the names of algorithms
    source = KernelSource(
        function=f"{out_name}_{digest}_{hints}",
        symbol=compiled.name,
        binary=compiled.asm["cubin"],
        parameters=[
            (c_type(each.type), c_name(each.name))
            for each in parameters
            if each.type != "constexpr"
        ],
        all_parameters=[
            ("int32_t" if each.hint == 1 else c_type(each.type), c_name(each.name))
            for each in passed
        ],
        grid=(grid[0], grid[1], grid[2]),
        threads=compiled.metadata.num_warps * target.warp_size,
        shared=compiled.metadata.shared,
        variant="_".join(["x".join(str(each.value) for each in constants), meta]),
        settings=[f"{each.name}={each.value}" for each in constants]
        + [f"num_warps={args.num_warps}", f"num_stages={args.num_stages}"],
        # A constant 1 may occur in the grid's expressions.
        ones=[c_name(each.name) for each in parameters if each.hint == 1],
    )
    out_path = args.out_path or Path(out_name)
    written = []
    for suffix, text in ((".c", source.source_text()), (".h", source.header_text())):
        path = Path(out_path).with_suffix(f".{digest}_{hints}{suffix}")
        path.write_text(text)
        written.append(path)
    return source.function, written


def main() -> None:
    parser = ArgumentParser(description=desc, formatter_class=RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("path", help="the Python file; it is executed")
    add("--kernel-name", "-n", required=True, help="the kernel in it")
    add("--target", "-t", help="such as cuda:90:32; the current GPU where it is left out")
    add("--num-warps", "-w", type=int, default=1)
    add("--num-stages", "-ns", type=int, default=3)
    add(
        "--out-name", "-on", help="begin of the functions' names; the kernel's where it is left out"
    )
    add("--out-path", "-o", type=Path, help="begin of the files' names")
    add("--signature", "-s", required=True, help="types with hints, and constants")
    add("--grid", "-g", required=True, help="three C expressions")
    args = CompileArgs(**vars(parser.parse_args()))
    with knobs.runtime.scope():
        knobs.runtime.interpret = False
        try:
            compile_kernel(args)
        except ArgumentError as error:
            parser.error(str(error))
        except CompilationError as error:
            parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
