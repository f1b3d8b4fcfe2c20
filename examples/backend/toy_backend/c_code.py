"""Translates TTIR to C: elementwise kernels of one dimension, with masked loads and stores."""

# SPDX-License-Identifier: MIT
#
# A value becomes a C variable, or an array where it is a tile; each op becomes a loop over its elements:
#   %4 = arith.addi %3, %2 : tensor<8xi32>   ->   int32_t v4[8]; for (int i = 0; i < 8; ++i) v4[i] = v3[i] + v2[i];
from __future__ import annotations

import re

_SCALARS = {
    "i1": "int8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "f32": "float",
    "f64": "double",
}
_INFIX = {
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.divsi": "/",
    "arith.remsi": "%",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
    "arith.addf": "+",
    "arith.subf": "-",
    "arith.mulf": "*",
    "arith.divf": "/",
}
_CALLS = {"math.exp": "exp", "math.log": "log", "math.sqrt": "sqrt", "math.absf": "fabs"}
_CASTS = (
    "arith.sitofp",
    "arith.fptosi",
    "arith.extsi",
    "arith.trunci",
    "arith.extf",
    "arith.truncf",
)
_COMPARISONS = {
    "slt": "<",
    "sle": "<=",
    "sgt": ">",
    "sge": ">=",
    "eq": "==",
    "ne": "!=",
    "olt": "<",
    "ole": "<=",
    "ogt": ">",
    "oge": ">=",
    "oeq": "==",
    "une": "!=",
}
_TILE = re.compile(r"tensor<(\d+)x(.*)>")
_POINTER = re.compile(r"!tt\.ptr<(.*)>")
_FUNCTION = re.compile(r"tt\.func public @(\w+)\((.*)\)(?: attributes .*)? \{")
_PARAMETER = re.compile(r"%(\w+): (!tt\.ptr<\w+>|\w+)")
_OP = re.compile(r"(?:%(\w+) = )?([\w.]+) ?(.*?)(?: : ([^{}]*))?$")
_VALUE = re.compile(r"%(\w+)")


class UnsupportedOp(Exception):
    """The toy machine lacks an instruction for an op."""


def _c_type(kind: str) -> str:
    pointer = _POINTER.fullmatch(kind)
    if pointer:
        return f"{_c_type(pointer[1]).strip()} *"
    if kind not in _SCALARS:
        raise UnsupportedOp(f"the toy machine has no values of type {kind}")
    return f"{_SCALARS[kind]} "


class _Translator:
    def __init__(self) -> None:
        self.types: dict[str, str] = {}  # value -> type in the IR
        self.lines: list[str] = []

    def extent(self, kind: str) -> int | None:
        """Elements of a tile; None for a scalar."""
        tile = _TILE.fullmatch(kind)
        return int(tile[1]) if tile else None

    def element(self, kind: str) -> str:
        tile = _TILE.fullmatch(kind)
        return tile[2] if tile else kind

    def use(self, value: str) -> str:
        """The value, or its element in the loop."""
        return f"v_{value}[i]" if self.extent(self.types[value]) else f"v_{value}"

    def define(self, result: str, kind: str, expression: str) -> None:
        self.types[result] = kind
        extent, c_type = self.extent(kind), _c_type(self.element(kind))
        if extent is None:
            self.lines.append(f"{c_type}v_{result} = {expression};")
        else:
            self.lines.append(f"{c_type}v_{result}[{extent}];")
            self.loop(extent, f"v_{result}[i] = {expression};")

    def loop(self, extent: int, statement: str) -> None:
        self.lines.append(f"for (int i = 0; i < {extent}; ++i) {statement}")

    def op(self, line: str) -> None:
        match = _OP.match(line)
        if match is None:
            raise UnsupportedOp(f"the toy machine cannot read `{line}`")
        result, name, rest, kind = match.groups()
        values = _VALUE.findall(rest)
        kind = (kind or "").split(" -> ")[-1]
        if name == "tt.store":
            self.store(values)
        elif name != "tt.return":
            expression, kind = self.expression(name, rest, values, kind, line)
            self.define(result, kind, expression)

    def store(self, values: list[str]) -> None:
        address, value, *mask = map(self.use, values)
        guard = f"if ({mask[0]}) " if mask else ""
        self.loop(self.extent(self.types[values[0]]) or 1, f"{guard}*{address} = {value};")

    def expression(
        self, name: str, rest: str, values: list[str], kind: str, line: str
    ) -> tuple[str, str]:
        """The C expression of an element, and the result's type."""
        operands = [self.use(value) for value in values]
        if name in _INFIX:
            return f"{operands[0]} {_INFIX[name]} {operands[1]}", kind
        if name in _CALLS:
            return f"{_CALLS[name]}({operands[0]})", kind
        if name in _CASTS:
            return f"({_c_type(self.element(kind)).strip()}){operands[0]}", kind
        if name in ("arith.cmpi", "arith.cmpf"):
            predicate = rest.split(",")[0].strip()
            if predicate in _COMPARISONS:
                extent = self.extent(kind)
                return (
                    f"{operands[0]} {_COMPARISONS[predicate]} {operands[1]}",
                    f"tensor<{extent}xi1>" if extent else "i1",
                )
        if name == "arith.select":
            return f"{operands[0]} ? {operands[1]} : {operands[2]}", kind.split(", ")[-1]
        return self.memory_or_index(name, rest, operands, kind, line)

    def memory_or_index(
        self, name: str, rest: str, operands: list[str], kind: str, line: str
    ) -> tuple[str, str]:
        if name == "arith.constant":
            number = re.search(r"dense<(.*)>|(.*)", rest)
            text = number[1] or number[2]
            return {"true": "1", "false": "0"}.get(text, text), kind
        if name == "tt.get_program_id":
            return f"program_{rest.strip()}", kind
        if name == "tt.make_range":
            return f"{re.search(r'start = (-?[0-9]+)', rest)[1]} + i", kind
        if name == "tt.splat":
            return operands[0], kind
        if name == "tt.addptr":
            return f"{operands[0]} + {operands[1]}", kind.split(", tensor")[0].split(", i")[0]
        if name == "tt.load":
            extent, pointer = self.extent(kind), self.element(kind)
            loaded = _POINTER.fullmatch(pointer)[1]
            address, *mask = operands
            value = f"*{address}"
            if mask:
                value = f"{mask[0]} ? {value} : {mask[1] if len(mask) > 1 else '0'}"
            return value, f"tensor<{extent}x{loaded}>" if extent else loaded
        raise UnsupportedOp(f"the toy machine has no instruction for {name}: {line}")


def translate(ttir: str) -> tuple[str, str]:
    """The kernel's name, and C code with one function that runs one program."""
    translator, name, parameters = _Translator(), "", ""
    for line in map(str.strip, ttir.splitlines()):
        function = _FUNCTION.match(line)
        if function:
            name = function[1]
            found = _PARAMETER.findall(function[2])
            translator.types.update(found)
            parameters = "".join(f", {_c_type(kind)}v_{value}" for value, kind in found)
        elif line not in ("", "}", "module {"):
            translator.op(line)
    body = "\n  ".join(translator.lines)
    return name, (
        "#include <math.h>\n#include <stdint.h>\n\n"
        f"void {name}(int32_t program_x, int32_t program_y, int32_t program_z{parameters}) {{\n"
        f"  {body}\n}}\n"
    )
