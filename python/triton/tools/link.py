"""Makes one C function of kernels that `triton.tools.compile` made for other hints and constants.

python -m triton.tools.link add.*.h -o add
"""

# SPDX-License-Identifier: MIT
#
# Kernels of one header directive `tt-linker: NAME:PARAMETERS:VARIANT` that differ only in their hints are selected by
# the arguments, those with most hints first. Kernels with other constants, warps or stages are algorithms, which the
# caller selects by number.
from __future__ import annotations

import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "HeaderParser",
    "KernelLinkerMeta",
    "LinkerError",
    "desc",
    "gen_signature",
    "gen_signature_with_full_args",
    "main",
    "make_algo_decls",
    "make_default_algo_kernel",
    "make_func_pointers",
    "make_get_num_algos_decl",
    "make_get_num_algos_def",
    "make_global_decl",
    "make_kernel_hints_dispatcher",
    "make_kernel_load_def",
    "make_kernel_meta_const_dispatcher",
]

desc = """
Makes one function of the kernels whose headers are given: it chooses by its arguments among those that
were compiled for different hints. OUT.h and OUT.c have NAME(stream, arguments, algorithm), where an
algorithm is a choice of constants, warps and stages, NAME_default for the first one, load_NAME,
unload_NAME and NAME_get_num_algos.
"""

_DIRECTIVE = re.compile(r"//\s*tt-linker:\s*(\w+):(.+):(.+)")
_BACKEND = re.compile(r"//\s*tt-linker-backend:\s*(\w+)")
_KERNEL_NAME = re.compile(r"(\w+)_(\w+)_(\w*)")
_PARAMETER = re.compile(r"\s*(\w+)\s+(\w+)\s*")
_HINT = re.compile(r"(\d+)([cd])")
_HINT_VALUES = {"c": 1, "d": 16}

_PRELUDE = {
    "cuda": "#include <cuda.h>\n\n"
    "typedef CUresult TT_ResultTy;\n"
    "typedef CUstream TT_StreamTy;\n"
    "#define TT_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE\n",
}


class LinkerError(Exception):
    """The headers are inconsistent."""


@dataclass
class KernelLinkerMeta:
    """One compiled kernel. `sizes` has the hint of each parameter: 1, 16 or None."""

    orig_kernel_name: str
    arg_names: Sequence[str]
    arg_ctypes: Sequence[str]
    sizes: Sequence[int | None]
    sig_hash: str
    triton_suffix: str
    suffix: str
    num_specs: int

    @property
    def function(self) -> str:
        return f"{self.orig_kernel_name}_{self.sig_hash}_{self.suffix}"


class HeaderParser:
    """Reads headers; `kernels` contains them by name and variant."""

    def __init__(self) -> None:
        self.kernels: dict[str, list[KernelLinkerMeta]] = defaultdict(list)
        self.backend_name: str | None = None

    def extract_linker_meta(self, header: str) -> None:
        for line in header.splitlines():
            directive, backend = _DIRECTIVE.match(line), _BACKEND.match(line)
            if directive:
                self._add(*directive.groups())
            elif backend:
                self._set_backend(backend.group(1))

    def _set_backend(self, name: str) -> None:
        if self.backend_name not in (None, name):
            raise RuntimeError(f"differing backend {self.backend_name} vs. {name}")
        self.backend_name = name

    def _add(self, function: str, signature: str, variant: str) -> None:
        name = _KERNEL_NAME.fullmatch(function)
        if name is None:
            raise LinkerError(f"{function} is not a valid kernel name")
        parameters = [_PARAMETER.fullmatch(text) for text in signature.split(",")]
        if not all(parameters):
            raise LinkerError(f"{signature} is not a valid argument signature")
        types, names = zip(*(match.groups() for match in parameters if match), strict=False)
        hints = _hints_of(name.group(3))
        sizes = _sizes(hints, variant, len(names))
        kernel = KernelLinkerMeta(
            orig_kernel_name=name.group(1),
            arg_names=names,
            arg_ctypes=types,
            sizes=sizes,
            sig_hash=name.group(2),
            triton_suffix=name.group(3),
            suffix=name.group(3),
            num_specs=len(hints),
        )
        self._check(kernel, self.kernels[f"{kernel.orig_kernel_name}_{variant}"])
        self.kernels[f"{kernel.orig_kernel_name}_{variant}"].append(kernel)

    def _check(self, kernel: KernelLinkerMeta, others: list[KernelLinkerMeta]) -> None:
        if others and tuple(others[-1].arg_ctypes) != tuple(kernel.arg_ctypes):
            raise LinkerError(
                f"Mismatched signature for kernel {kernel.orig_kernel_name}: existing sig is: "
                f"{','.join(others[-1].arg_ctypes)}; current is: {','.join(kernel.arg_ctypes)}"
            )


def _hints_of(suffix: str) -> dict[int, int]:
    """Position in the signature -> hint, of a text such as "0d3c"."""
    hints = {int(position): _HINT_VALUES[kind] for position, kind in _HINT.findall(suffix)}
    if _HINT.sub("", suffix):
        raise LinkerError(f"Has invalid extra suffix: {_HINT.sub('', suffix)}")
    return hints


def _sizes(hints: dict[int, int], variant: str, count: int) -> list[int | None]:
    if any(position >= count for position in hints):
        raise LinkerError(
            f"a hint is for parameter {max(hints)}, and there are {count} in {variant}; constants come "
            "after the other parameters"
        )
    return [hints.get(position) for position in range(count)]


# --- Declarations and calls -------------------------------------------------------------------------


def gen_signature_with_full_args(m: KernelLinkerMeta) -> str:
    """All parameters."""
    return ", ".join(
        f"{kind} {name}" for kind, name in zip(m.arg_ctypes, m.arg_names, strict=False)
    )


def gen_signature(m: KernelLinkerMeta) -> str:
    """The parameters of the machine code: without those known to be 1."""
    return ", ".join(
        f"{kind} {name}"
        for kind, name, hint in zip(m.arg_ctypes, m.arg_names, m.sizes, strict=False)
        if hint != 1
    )


def _with_stream(name: str, parameters: str, *more: str) -> str:
    listed = ", ".join(part for part in ("TT_StreamTy stream", parameters, *more) if part)
    return f"TT_ResultTy {name}({listed})"


def _call(name: str, arguments: Sequence[str], *more: str) -> str:
    return f"{name}({', '.join(['stream', *arguments, *more])})"


def make_algo_decls(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """Declarations for one algorithm."""
    return (
        f"{_with_stream(name, gen_signature_with_full_args(metas[-1]))};\n"
        f"void load_{name}(void);\nvoid unload_{name}(void);\n"
    )


def make_global_decl(meta: KernelLinkerMeta) -> str:
    """Declarations of the functions for callers."""
    name, parameters = meta.orig_kernel_name, gen_signature_with_full_args(meta)
    return (
        f"{_with_stream(f'{name}_default', parameters)};\n"
        f"{_with_stream(name, parameters, 'int algo_id')};\n"
        f"void load_{name}(void);\nvoid unload_{name}(void);\n"
    )


def make_get_num_algos_decl(meta: KernelLinkerMeta) -> str:
    return f"int {meta.orig_kernel_name}_get_num_algos(void);"


# --- Definitions ------------------------------------------------------------------------------------


def _by_hints(metas: Sequence[KernelLinkerMeta]) -> list[KernelLinkerMeta]:
    return sorted(metas, key=lambda meta: -meta.num_specs)


def _condition(meta: KernelLinkerMeta) -> str:
    """The C condition that the arguments satisfy the kernel's hints."""
    parts = [
        f"({name} == 1)" if hint == 1 else f"((uintptr_t){name} % {hint} == 0)"
        for name, hint in zip(meta.arg_names, meta.sizes, strict=False)
        if hint is not None
    ]
    return " && ".join(parts) or "1"


def make_kernel_hints_dispatcher(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """One algorithm: calls the first of its kernels whose hints match the arguments."""
    ordered = _by_hints(metas)
    text = f"// {name}\n"
    for meta in ordered:
        text += f"{_with_stream(meta.function, gen_signature(meta))};\n"
        text += f"void load_{meta.function}(void);\nvoid unload_{meta.function}(void);\n"
    text += f"\n{_with_stream(name, gen_signature_with_full_args(metas[-1]))} {{\n"
    for meta in ordered:
        arguments = [
            arg for arg, hint in zip(meta.arg_names, meta.sizes, strict=False) if hint != 1
        ]
        text += f"  if ({_condition(meta)})\n    return {_call(meta.function, arguments)};\n"
    text += "  return TT_ERROR_INVALID_VALUE;\n}\n"
    for action in ("load", "unload"):
        calls = "".join(f"  {action}_{meta.function}();\n" for meta in ordered)
        text += f"\nvoid {action}_{name}(void) {{\n{calls}}}\n"
    return text


def make_func_pointers(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    """The table of algorithms."""
    entries = "".join(f"  {name},\n" for name in names)
    kind = f"typedef {_with_stream('(*kernel_func_t)', gen_signature_with_full_args(meta))};\n"
    return f"{kind}kernel_func_t {meta.orig_kernel_name}_kernels[] = {{\n{entries}}};\n"


def make_get_num_algos_def(meta: KernelLinkerMeta) -> str:
    name = meta.orig_kernel_name
    return (
        f"int {name}_get_num_algos(void) {{\n"
        f"  return (int)(sizeof({name}_kernels) / sizeof({name}_kernels[0]));\n}}\n"
    )


def make_kernel_meta_const_dispatcher(meta: KernelLinkerMeta) -> str:
    """Calls the algorithm with a given number."""
    name = meta.orig_kernel_name
    head = _with_stream(name, gen_signature_with_full_args(meta), "int algo_id")
    return (
        f"{head} {{\n"
        f"  if (algo_id < 0 || algo_id >= {name}_get_num_algos())\n"
        f"    return TT_ERROR_INVALID_VALUE;\n"
        f"  return {_call(f'{name}_kernels[algo_id]', meta.arg_names)};\n}}\n"
    )


def make_kernel_load_def(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    text = ""
    for action in ("load", "unload"):
        calls = "".join(f"  {action}_{name}();\n" for name in names)
        text += f"void {action}_{meta.orig_kernel_name}(void) {{\n{calls}}}\n\n"
    return text


def make_default_algo_kernel(meta: KernelLinkerMeta) -> str:
    """Calls the first algorithm."""
    name = meta.orig_kernel_name
    head = _with_stream(f"{name}_default", gen_signature_with_full_args(meta))
    return f"{head} {{\n  return {_call(name, meta.arg_names, '0')};\n}}\n"


def _link(headers: Sequence[str], out: Path) -> None:
    parser = HeaderParser()
    for header in headers:
        parser.extract_linker_meta(Path(header).read_text())
    if not parser.kernels or parser.backend_name not in _PRELUDE:
        raise LinkerError(f"no kernels for {' or '.join(_PRELUDE)} in {', '.join(headers)}")
    prelude, algorithms = _PRELUDE[parser.backend_name], parser.kernels
    meta = next(iter(algorithms.values()))[0]
    names = list(algorithms)
    header_parts = [
        "#pragma once",
        prelude + "#include <stdint.h>\n",
        *(make_algo_decls(name, metas) for name, metas in algorithms.items()),
        make_get_num_algos_decl(meta),
        make_global_decl(meta),
    ]
    source_parts = [
        prelude + "#include <stdint.h>\n",
        *(make_kernel_hints_dispatcher(name, metas) for name, metas in algorithms.items()),
        make_func_pointers(names, meta),
        make_get_num_algos_def(meta),
        make_kernel_meta_const_dispatcher(meta),
        make_kernel_load_def(names, meta),
        make_default_algo_kernel(meta),
    ]
    out.with_suffix(".h").write_text("\n".join(header_parts))
    out.with_suffix(".c").write_text("\n".join(source_parts))


def main() -> None:
    parser = ArgumentParser(description=desc, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", help="headers of compiled kernels")
    parser.add_argument("--out", "-o", type=Path, required=True, help="begin of the files' names")
    parser.add_argument("--prefix", default="", help="taken and not used, as in Triton")
    args = parser.parse_args()
    try:
        _link(args.headers, args.out)
    except (LinkerError, OSError, RuntimeError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
