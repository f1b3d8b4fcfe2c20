"""TTGIR texts of small kernels: tiles in layouts of their own, loaded from and stored to row-major arrays."""
# SPDX-License-Identifier: MIT

import numpy as np
import triton

ELEMENTS = {"f16": np.float16, "f32": np.float32, "i32": np.int32, "i8": np.int8, "i16": np.int16}
HEAD = (
    'module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "{target}",'
    ' "ttg.threads-per-warp" = {lanes} : i32}} {{\n'
)


def blocked(shape, lanes, warps=4, order=None, size=1):
    """The text of a blocked encoding that spreads lanes, then warps, along `order`."""
    order = order or list(range(len(shape)))[::-1]
    per_thread = [1] * len(shape)
    per_thread[order[0]] = size
    extents = {"lanes": [1] * len(shape), "warps": [1] * len(shape)}
    room = [
        max(1, extent // size) if dim == order[0] else extent for dim, extent in enumerate(shape)
    ]
    for name, count in (("lanes", lanes), ("warps", warps)):
        for dim in order:
            taken = min(room[dim], count)
            extents[name][dim], room[dim], count = taken, room[dim] // taken, count // taken
        extents[name][order[-1]] *= count
    return (
        f"#ttg.blocked<{{sizePerThread = {per_thread}, threadsPerWarp = {extents['lanes']}, "
        f"warpsPerCTA = {extents['warps']}, order = {order}}}>"
    )


def slice_of(encoding, rank, dim):
    """`encoding` without all dimensions but `dim`."""
    for other in reversed(range(rank)):
        if other != dim:
            encoding = f"#ttg.slice<{{dim = {other}, parent = {encoding}}}>"
    return encoding


class Body:
    """Ops of one kernel, with names of values that do not meet."""

    def __init__(self):
        self.text, self.count = "", 0

    def add(self, op):
        """Adds an op with one result; gives the result's name."""
        self.count += 1
        self.text += f"    %v{self.count} = {op}\n"
        return f"%v{self.count}"

    def do(self, op):
        self.text += f"    {op}\n"

    def offsets(self, shape, encoding):
        """Row-major offsets of a tile, of type i32."""
        total, stride = None, 1
        for dim in reversed(range(len(shape))):
            total = self.along(shape, encoding, dim, stride, total)
            stride *= shape[dim]
        return total

    def along(self, shape, encoding, dim, stride, total):
        inner = slice_of(encoding, len(shape), dim)
        value = self.add(
            f"tt.make_range {{end = {shape[dim]} : i32, start = 0 : i32}} : tensor<{shape[dim]}xi32, {inner}>"
        )
        extents = [shape[dim]]
        for axis in range(len(shape)):
            if axis == dim:
                continue
            # Dimensions come back in the reverse order of the slices.
            source = f"tensor<{'x'.join(map(str, extents))}xi32, {inner}>"
            inner = inner.split("parent = ", 1)[1][:-2]
            extents.insert(axis, 1)
            target = f"tensor<{'x'.join(map(str, extents))}xi32, {inner}>"
            value = self.add(
                f"tt.expand_dims {value} {{axis = {axis} : i32}} : {source} -> {target}"
            )
        source, target = (
            target if len(shape) > 1 else f"tensor<{shape[0]}xi32, {encoding}>",
            self.tile(shape, "i32", encoding),
        )
        if source != target:
            value = self.add(f"tt.broadcast {value} : {source} -> {target}")
        if stride > 1:
            factor = self.add(f"arith.constant dense<{stride}> : {target}")
            value = self.add(f"arith.muli {value}, {factor} : {target}")
        return self.add(f"arith.addi {total}, {value} : {target}") if total else value

    @staticmethod
    def tile(shape, element, encoding):
        return f"tensor<{'x'.join(map(str, shape))}x{element}, {encoding}>"

    def pointers(self, argument, shape, element, encoding):
        pointers = self.tile(shape, f"!tt.ptr<{element}>", encoding)
        base = self.add(f"tt.splat {argument} : !tt.ptr<{element}> -> {pointers}")
        offsets = self.offsets(shape, encoding)
        return self.add(
            f"tt.addptr {base}, {offsets} : {pointers}, {self.tile(shape, 'i32', encoding)}"
        ), pointers

    def load(self, argument, shape, element, encoding):
        pointers, kind = self.pointers(argument, shape, element, encoding)
        return self.add(f"tt.load {pointers} : {kind}")

    def store(self, argument, shape, element, encoding, value):
        pointers, kind = self.pointers(argument, shape, element, encoding)
        self.do(f"tt.store {pointers}, {value} : {kind}")


def memdesc(shape, element, encoding, allocation=None):
    parts = [f"{'x'.join(map(str, shape))}x{element}", encoding, "#ttg.shared_memory", "mutable"]
    if allocation and list(allocation) != list(shape):
        parts.append("x".join(map(str, allocation)))
    return f"!ttg.memdesc<{', '.join(parts)}>"


def compile_body(folder, target, body, arguments, functions="", warps=4, name="k"):
    """Compiles `body` as a kernel with `arguments`, texts of types by name."""
    described = ", ".join(f"%{key}: {kind}" for key, kind in arguments.items())
    head = HEAD.format(
        warps=warps, target=f"{target.backend}:{target.arch}", lanes=target.warp_size
    )
    text = f"{head}{functions}  tt.func public @{name}({described}) {{\n{body.text}    tt.return\n  }}\n}}\n"
    path = folder / f"{name}.ttgir"
    path.write_text(text, encoding="utf-8")
    return triton.compile(str(path), target=target)
