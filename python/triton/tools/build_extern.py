"""Writes a Python module with the functions of a library of LLVM bitcode, as built-ins for kernels.

python -m triton.tools.build_extern --lib-path libdevice.10.bc --lib-name libdevice --output DIR
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import re
import subprocess
import tempfile
from abc import ABC, abstractmethod
from argparse import ArgumentParser

__all__ = [
    "ExternLibrary",
    "LLVMDisassembler",
    "Libdevice",
    "Symbol",
    "build",
    "convert_type",
    "extern_libs",
    "to_unsigned",
]

extern_libs = ["libdevice"]

_TYPES = {
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "float": "fp32",
    "double": "fp64",
}
_DEFINITION = re.compile(r"define\s+(?P<type>[\w ]*?)\s*@(?P<name>\w+)\((?P<args>[^)]*)\)")


def convert_type(type_str: str) -> str | None:
    """The language's name of a type of LLVM IR; None for pointers and others."""
    return _TYPES.get(type_str)


def to_unsigned(type_str: str) -> str:
    return f"u{type_str}" if type_str in ("int32", "int64") else type_str


class Symbol:
    """One function of a library, and the operation that it implements for some types."""

    def __init__(
        self, name: str, op_name: str, ret_type: str, arg_names: list[str], arg_types: list[str]
    ):
        self.name, self.op_name, self.ret_type = name, op_name, ret_type
        self.arg_names, self.arg_types = list(arg_names), list(arg_types)


class ExternLibrary(ABC):
    """A library under a name. `format` and `grouping` are kept for callers: stubs are always
    sorted.
    """

    def __init__(self, name: str, path: str, format: bool = True, grouping: bool = True):  # noqa: A002
        self.name, self.path = name, path
        self.symbols: dict[str, Symbol] = {}
        self.format, self.grouping = format, grouping

    @abstractmethod
    def parse_symbols(self, input_file: str) -> None:
        """Reads the library as LLVM's text."""

    @abstractmethod
    def _output_stubs(self) -> str: ...

    def generate_stub_file(self, output_dir: str) -> None:
        text = self._output_stubs()
        if not text:
            raise ValueError(f"{self.path} has no function that a kernel can call")
        with open(os.path.join(output_dir, f"{self.name}.py"), "w", encoding="utf-8") as file:
            file.write(text)


class Libdevice(ExternLibrary):
    """NVIDIA's library of mathematical functions, `__nv_...`."""

    def __init__(self, path: str):
        super().__init__("libdevice", path)
        self.groups: dict[str, list[Symbol]] = {}
        self.is_pure = True

    def parse_symbols(self, input_file: str) -> None:
        if self.symbols:
            return
        with open(input_file, encoding="utf-8") as file:
            symbols = [_symbol_of(line) for line in file if line.startswith("define")]
        self.symbols = {symbol.name: symbol for symbol in symbols if symbol is not None}
        known = {symbol.op_name for symbol in self.symbols.values()}
        for symbol in self.symbols.values():
            symbol.op_name = _operation(symbol.op_name, known)
            self.groups.setdefault(symbol.op_name, []).append(symbol)

    def _output_stubs(self) -> str:
        if not self.groups:
            return ""
        head = (
            f'"""Functions of {self.name}."""\n\nfrom triton.language import core\n\n'
            f"PATH = {self.path!r}\n"
        )
        return head + "".join(self._stub(name, forms) for name, forms in self.groups.items())

    def _stub(self, name: str, forms: list[Symbol]) -> str:
        arguments = ", ".join(forms[0].arg_names)
        table = "".join(
            f"            ({''.join(f'core.dtype({kind!r}), ' for kind in form.arg_types)}): "
            f"({form.name!r}, core.dtype({form.ret_type!r})),\n"
            for form in forms
        )
        return (
            f"\n\n@core.extern\ndef {name}({arguments}, _semantic=None):\n"
            f"    return core.extern_elementwise(\n        {self.name!r},\n        PATH,\n"
            f"        [{arguments}],\n        {{\n{table}        }},\n"
            f"        is_pure={self.is_pure},\n        _semantic=_semantic,\n    )\n"
        )


def _symbol_of(line: str) -> Symbol | None:
    """The function that a line defines; None for internal ones, and for types that tiles cannot
    have.
    """
    match = _DEFINITION.match(line)
    if match is None or "internal" in match["type"] or not match["name"].startswith("__nv_"):
        return None
    ret_type = convert_type(match["type"].split()[-1])
    arg_types = [convert_type(text.split()[0]) for text in match["args"].split(",") if text.strip()]
    op_name = match["name"].removeprefix("__nv_")
    if ret_type is None or not arg_types or None in arg_types or "ieee" in op_name:
        return None
    types = [str(kind) for kind in arg_types]
    if op_name == "sad":  # only its last argument is unsigned
        types[-1] = to_unsigned(types[-1])
    elif op_name.startswith("u"):  # LLVM's integers have no signedness
        types, ret_type = [to_unsigned(kind) for kind in types], to_unsigned(ret_type)
    return Symbol(match["name"], op_name, ret_type, [f"arg{at}" for at in range(len(types))], types)


# Names that do not derive from another function's: rounded operations start with a type letter.
_ROUNDED = re.compile(r"[df](add|sub|mul|div|rcp|sqrt|rsqrt)(_r[nduz])")
_IRREGULAR = {
    "fabs": "abs",
    "fabsf": "abs",
    "fmax": "max",
    "fmaxf": "max",
    "fmin": "min",
    "fminf": "min",
    "powi": "pow",
    "powif": "pow",
    "fast_fdividef": "fast_dividef",
    "mul64hi": "mulhi",
    "umul64hi": "mulhi",
    "isinfd": "isinf",
    "isinff": "isinf",
    "isnand": "isnan",
    "isnanf": "isnan",
    "signbitd": "signbit",
    "signbitf": "signbit",
}


def _operation(name: str, known: set[str]) -> str:
    """The operation that a function implements: `sinf` of `sin`, `umulhi` of `mulhi`."""
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    rounded = _ROUNDED.fullmatch(name)
    if rounded:
        return rounded[1] + rounded[2]
    if name.startswith("fmaf_"):
        return name.replace("fmaf_", "fma_")
    forms = [name.removesuffix("f"), name.removesuffix("ll")]
    forms += [name.removeprefix(prefix) for prefix in ("ull", "ll", "u")]
    return next((form for form in forms if form != name and form in known), name)


class LLVMDisassembler:
    """LLVM's disassembler; the text is in `ll_file`."""

    def __init__(self, path: str):
        self.path = path
        handle, self.ll_file = tempfile.mkstemp(suffix=".ll", prefix="extern_lib")
        os.close(handle)

    def disasm(self, lib_path: str) -> None:
        subprocess.run([self.path, lib_path, "-o", self.ll_file], check=True)


def build(llvm_dis_path: str, lib_path: str, lib_name: str, output_dir: str) -> None:
    """Writes `output_dir/lib_name.py`."""
    if lib_name not in extern_libs:
        raise ValueError(f"Unknown extern library: {lib_name}")
    library, disassembler = Libdevice(lib_path), LLVMDisassembler(llvm_dis_path)
    try:
        disassembler.disasm(lib_path)
        library.parse_symbols(disassembler.ll_file)
    finally:
        os.unlink(disassembler.ll_file)
    library.generate_stub_file(output_dir)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--llvm-dis", default="llvm-dis", help="path of llvm-dis")
    parser.add_argument("--lib-path", required=True, help="path of the library")
    parser.add_argument("--lib-name", required=True, choices=extern_libs)
    parser.add_argument("--output", default=tempfile.gettempdir(), help="folder of the module")
    args = parser.parse_args()
    try:
        build(args.llvm_dis, args.lib_path, args.lib_name, args.output)
    except FileNotFoundError as error:
        hint = "; --llvm-dis names LLVM's disassembler" if error.filename == args.llvm_dis else ""
        parser.error(f"there is no {error.filename}{hint}")
    except subprocess.CalledProcessError as error:
        parser.error(
            f"{args.llvm_dis} cannot read {args.lib_path}: it ended with {error.returncode}"
        )


if __name__ == "__main__":
    main()
