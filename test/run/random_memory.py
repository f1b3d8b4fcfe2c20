"""Random programs of block pointers, tensor descriptors, atomic accesses, fp8 and extents that are not powers of two.

Usage: random_memory.py [--count N] [--seed S] [--device cpu|cuda] [--keep]
Blocks lie anywhere around a matrix inside a larger memory, and move in loops. Every result has its own memory, each atomic
statement, too, since atomic accesses have no order. Results are compared bit by bit, except for the sign of zeros.
"""
# SPDX-License-Identifier: MIT

import random
import sys

import _random_runs
import numpy as np
import pytest
from _fp8 import FORMATS
from harness import launch

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
BYTE_FLOATS = ["float8e5", "float8e4nv", "float8e4b15"]
BYTE_FLOATS_OF_AMD = ["float8e5", "float8e4nv", "float8e4b8"]
TOP, LEFT = 8, 16  # where the matrix begins in its memory
HEIGHT, PITCH = 72, 80  # of the memory
LARGEST = 2048  # elements of a tile
CELLS = 4096  # shared by the atomic statements of a program
WIDE = ["int32", "uint32", "int64"]


class Program:
    """Lines of a kernel, with a function for each that has the same effect on an environment of numpy arrays."""

    def __init__(self, seed, device="cpu"):
        self.seed, self.device = seed, device
        r = self.random = random.Random(seed)
        self.dtypes = [r.choice(INTS + FLOATS * 2) for _ in range(2)]
        self.arguments = dict(m=r.randint(1, 40), n=r.randint(1, 40), y=r.randint(-9, 30), x=r.randint(-9, 30))
        self.arguments["trips"] = r.choice([0, 1, 2, 4])
        self.cell_dtype = r.choice(["int32", "uint32", "int64", "float32"])
        self.cells = 0  # in use
        self.lines, self.steps, self.tiles, self.outputs = [], [], [], []
        self.count = 0
        self.load()
        for _ in range(r.randint(3, 9)):
            r.choice([self.load, *[self.operation] * 3, self.loop, self.atomic])()
        for tile in [*self.tiles[-4:], r.choice(self.tiles)]:
            self.store(tile)

    # --- The parts of statements ---

    def emit(self, line, step):
        self.lines.append(line)
        self.steps.append(step)

    def define(self, text, dtype, shape, function):
        self.count += 1
        name = f"v{self.count}"

        def step(env):
            value = np.asarray(function(env)).astype(dtype)
            assert value.shape == tuple(shape), (name, value.shape, shape)
            env[name] = value

        self.emit(f"{name} = {text}", step)
        self.tiles.append((name, dtype, tuple(shape)))

    def pick(self, wanted=lambda dtype, shape: True):
        fitting = [tile for tile in self.tiles if wanted(tile[1], tile[2])]
        return self.random.choice(fitting) if fitting else None

    def shape(self, of_descriptor=None):
        """Extents of a block; those of a descriptor are powers of two, with rows of at least 16 bytes."""
        r = self.random
        if of_descriptor is not None:
            least = max(16 // np.dtype(of_descriptor).itemsize, 1)
            return (2 ** r.randint(0, 5), max(2 ** r.randint(0, 5), least))
        if r.random() < 0.3:
            return (2 ** r.randint(0, 5), 2 ** r.randint(0, 5))
        return (r.randint(1, 40), r.randint(1, 40))

    def offset(self, dim):
        """The start of a block along a dimension: text, and number computed from the arguments."""
        r = self.random
        name, number = "yx"[dim], r.randint(-40, 40)
        kind = r.choice(["argument", "number", "sum"])
        if kind == "argument":
            return name, lambda: self.arguments[name]
        if kind == "number":
            return f"{number}", lambda: number
        return f"({name} + {number})", lambda: self.arguments[name] + number

    def extents(self):
        """The shape of a matrix: arguments or numbers."""
        texts, numbers = [], []
        for name in "mn":
            known = self.random.randint(1, 40)
            is_known = self.random.random() < 0.3
            texts.append(f"{known}" if is_known else name)
            numbers.append(known if is_known else self.arguments[name])
        return texts, numbers

    @staticmethod
    def indices(shape):
        parts = [f"tl.arange(0, {extent})[{', '.join(':' if d == dim else 'None' for d in range(len(shape)))}]"
                 for dim, extent in enumerate(shape)]  # fmt: skip
        return parts

    # --- Loads ---

    @staticmethod
    def window(memory, extents, offsets, shape, fill, dims=(0, 1)):
        """The elements of a block, depending on whether each index is inside along the checked dimensions."""
        rows, columns = (offset + np.arange(extent) for offset, extent in zip(offsets, shape, strict=False))
        outside = np.zeros(shape, bool)
        if 0 in dims:
            outside |= ((rows < 0) | (rows >= extents[0]))[:, None]
        if 1 in dims:
            outside |= ((columns < 0) | (columns >= extents[1]))[None, :]
        safe_rows = np.clip(rows + TOP, 0, HEIGHT - 1)[:, None]
        safe_columns = np.clip(columns + LEFT, 0, PITCH - 1)[None, :]
        return np.where(outside, np.asarray(fill).astype(memory.dtype), memory[safe_rows, safe_columns])

    def load(self):
        self.random.choice([self.load_plain, self.load_block, self.load_descriptor])()

    def base(self, source):
        return f"p{source} + {TOP * PITCH + LEFT}"

    def load_plain(self):
        r, source, shape = self.random, self.random.randrange(2), self.shape()
        row, column = self.indices(shape)
        other = r.choice([0, 1, 3])
        text = f"tl.load({self.base(source)} + {row} * {PITCH} + {column}, mask=({row} < m) & ({column} < n), other={other})"
        dtype, limits = self.dtypes[source], (self.arguments["m"], self.arguments["n"])
        self.define(text, dtype, shape, lambda env: self.window(env["memory"][source], limits, (0, 0), shape, other))

    def padding(self, dtype):
        if dtype in FLOATS and self.random.random() < 0.4:
            return "nan", np.nan
        return "zero", 0

    def load_block(self):
        source, shape = self.random.randrange(2), self.shape()
        dtype = self.dtypes[source]
        extent_texts, extents = self.extents()
        (y, row), (x, column) = self.offset(0), self.offset(1)
        option, fill = self.padding(dtype)
        dims = (0, 1)
        if self.random.random() < 0.25:  # inside without a check along the rows
            dims, y, row = (1,), "0", lambda: 0
        move = self.random.choice([None, (3, -5), (-7, 16)])
        text = f"tl.make_block_ptr({self.base(source)}, ({', '.join(extent_texts)}), ({PITCH}, 1), ({y}, {x}), {shape}, (1, 0))"
        if move:
            dims = (0, 1)
            text = f"tl.advance({text}, {move})"
        step = move or (0, 0)
        text = f"tl.load({text}, boundary_check={dims}, padding_option='{option}')"

        def run(env):
            offsets = (row() + step[0], column() + step[1])
            return self.window(env["memory"][source], extents, offsets, shape, fill, dims)

        self.define(text, dtype, shape, run)

    def descriptor(self, source, shape, option):
        texts, extents = self.extents()
        text = (
            f"tl.make_tensor_descriptor({self.base(source)}, [{', '.join(texts)}], [{PITCH}, 1], {list(shape)}, "
            f"padding_option='{option}')"
        )
        return text, extents

    def load_descriptor(self):
        source = self.random.randrange(2)
        dtype = self.dtypes[source]
        shape = self.shape(of_descriptor=dtype)
        option, fill = self.padding(dtype)
        text, extents = self.descriptor(source, shape, option)
        (y, row), (x, column) = self.offset(0), self.offset(1)
        self.define(
            f"{text}.load([{y}, {x}])", dtype, shape,
            lambda env: self.window(env["memory"][source], extents, (row(), column()), shape, fill),
        )  # fmt: skip

    def loop(self):
        """The sum of a block that moves through a matrix."""
        r, source = self.random, self.random.randrange(2)
        dtype = self.dtypes[source]
        is_block = r.random() < 0.5
        shape = self.shape() if is_block else self.shape(of_descriptor=dtype)
        dy, dx = r.randint(-6, 12), r.randint(-6, 12)
        self.count += 1
        acc, where = f"a{self.count}", f"b{self.count}"
        lines = [f"{acc} = tl.zeros({list(shape)}, tl.{dtype})"]
        if is_block:
            texts, extents = self.extents()
            lines.append(f"{where} = tl.make_block_ptr({self.base(source)}, ({', '.join(texts)}), ({PITCH}, 1), (y, x), {shape}, (1, 0))")
            inner = [f"{acc} += tl.load({where}, boundary_check=(0, 1), padding_option='zero')", f"{where} = tl.advance({where}, ({dy}, {dx}))"]
        else:
            text, extents = self.descriptor(source, shape, "zero")
            lines.append(f"{where} = {text}")
            inner = [f"{acc} += {where}.load([y + k * {dy}, x + k * {dx}])"]
        lines += ["for k in range(trips):", *(f"    {line}" for line in inner)]

        def step(env):
            total = np.zeros(shape, dtype)
            for iteration in range(self.arguments["trips"]):
                offsets = (self.arguments["y"] + iteration * dy, self.arguments["x"] + iteration * dx)
                total = total + self.window(env["memory"][source], extents, offsets, shape, 0)
            env[acc] = total.astype(dtype)

        self.emit("\n    ".join(lines), step)
        self.tiles.append((acc, dtype, shape))

    # --- Operations ---

    def operation(self):
        kinds = [self.arithmetic, self.arithmetic, self.reduce, self.scan, self.move, self.gather, self.dot]
        self.random.choice([*kinds, self.narrow, self.narrow])()

    def arithmetic(self):
        a, dtype, shape = self.pick()

        def joins(other, others):
            try:
                return other == dtype and np.prod(np.broadcast_shapes(others, shape)) <= LARGEST
            except ValueError:
                return False

        b, _, other = self.pick(joins)
        op = self.random.choice(["+", "-", "*", "max", "min", "where"])
        function = {"+": np.add, "-": np.subtract, "*": np.multiply, "max": np.fmax, "min": np.fmin}.get(op)
        text = f"{a} {op} {b}" if op in "+-*" else f"tl.{op}imum({a}, {b})"
        if op == "where":
            text, function = f"tl.where({a} < {b}, {a}, {b})", lambda x, y: np.where(x < y, x, y)
        self.define(text, dtype, np.broadcast_shapes(shape, other), lambda env: function(env[a], env[b]))

    def reduce(self):
        a, dtype, shape = self.pick()
        kind = self.random.choice(["max", "min", "sum"] if dtype in INTS else ["max", "min"])
        axis = self.random.randrange(len(shape))
        function = {"max": np.fmax, "min": np.fmin, "sum": np.add}[kind].reduce
        kept = tuple(1 if dim == axis else extent for dim, extent in enumerate(shape))
        keywords = dict(dtype=dtype) if kind == "sum" else {}
        self.define(
            f"tl.{kind}({a}, axis={axis}, keep_dims=True).to(tl.{dtype})", dtype, kept,
            lambda env: function(env[a], axis=axis, keepdims=True, **keywords),
        )  # fmt: skip

    def scan(self):
        found = self.pick(lambda dtype, shape: dtype in WIDE)
        if found:
            a, dtype, shape = found
            axis, reverse = self.random.randrange(len(shape)), self.random.random() < 0.5

            def run(env):
                x = np.flip(env[a], axis) if reverse else env[a]
                x = np.cumsum(x, axis=axis, dtype=dtype)
                return np.flip(x, axis) if reverse else x

            self.define(f"tl.cumsum({a}, axis={axis}, reverse={reverse})", dtype, shape, run)

    def move(self):
        a, dtype, shape = self.pick()
        kind = self.random.choice(["trans", "ravel", "reshape", "join", "cat"])
        if kind == "trans" and len(shape) == 2:
            self.define(f"tl.trans({a})", dtype, shape[::-1], lambda env: env[a].T)
        elif kind == "ravel":
            self.define(f"tl.ravel({a})", dtype, (int(np.prod(shape)),), lambda env: env[a].reshape(-1))
        elif kind == "reshape":
            size = int(np.prod(shape))
            rows = self.random.choice([d for d in range(1, size + 1) if size % d == 0])
            into = (rows, size // rows)
            self.define(f"tl.reshape({a}, {into})", dtype, into, lambda env: env[a].reshape(into))
        elif kind == "join" and len(shape) == 1 and 2 * shape[0] <= LARGEST:
            self.define(f"tl.join({a}, {a} + 1)", dtype, (*shape, 2), lambda env: np.stack([env[a], env[a] + 1], -1))
        elif kind == "cat" and 2 * np.prod(shape) <= LARGEST:
            wide = (*shape[:-1], 2 * shape[-1])
            text = f"tl.cat({a}, {a} + {a}, dim={len(shape) - 1})"
            self.define(text, dtype, wide, lambda env: np.concatenate([env[a], env[a] + env[a]], -1))

    def gather(self):
        a, dtype, shape = self.pick()
        axis = self.random.randrange(len(shape))
        index, _, _ = self.pick(lambda other, others: others == shape and other in INTS) or (None, None, None)
        if index:
            extent = shape[axis]
            text = f"tl.gather({a}, ({index}.to(tl.int32) & 1023) % {extent}, {axis})"

            def run(env):
                indices = (env[index].astype(np.int32) & 1023) % extent
                return np.take_along_axis(env[a], indices.astype(np.int64), axis)

            self.define(text, dtype, shape, run)

    def dot(self):
        """A dot of bytes, which has an exact result."""
        r = self.random
        a, dtype, shape = self.pick(lambda dtype, shape: len(shape) == 2 and dtype in INTS) or (None, None, None)
        if a:
            b = f"tl.trans({a})" if r.random() < 0.5 else a
            right = shape[::-1] if b != a else shape
            if shape[1] == right[0] and shape[0] * right[1] <= LARGEST:
                text = f"tl.dot({a}.to(tl.int8), {b}.to(tl.int8))"

                def run(env):
                    left = env[a].astype(np.int8).astype(np.int32)
                    return left @ (left.T if b != a else left)

                self.define(text, "int32", (shape[0], right[1]), run)

    def narrow(self):
        """A conversion to fp8 and back."""
        found = self.pick(lambda dtype, shape: dtype in FLOATS)
        if found:
            a, dtype, shape = found
            names = BYTE_FLOATS_OF_AMD if "gfx" in self.device else BYTE_FLOATS
            name, rounding = self.random.choice(names), self.random.choice(["rtne", "rtz"])
            format_ = FORMATS[name]
            text = f"{a}.to(tl.{name}, fp_downcast_rounding='{rounding}').to(tl.{dtype})"

            def run(env):
                codes = format_.encode(env[a].reshape(-1), toward_zero=rounding == "rtz")
                return format_.decoded[codes].reshape(shape)

            self.define(text, dtype, shape, run)

    # --- Atomic accesses ---

    def atomic(self):
        r = self.random
        found = self.pick(lambda dtype, shape: dtype in INTS and np.prod(shape) <= CELLS - self.cells)
        if not found:
            return
        a, _, shape = found
        size, start = int(np.prod(shape)), self.cells
        self.cells += size
        flat = "0"
        for part, extent in zip(self.indices(shape), shape, strict=False):
            flat = f"({flat}) * {extent} + {part}"
        indices = np.arange(size).reshape(shape)
        value = f"({a} & 63).to(tl.{self.cell_dtype})"
        is_masked = r.random() < 0.5
        mask = f", mask=({flat}) % 3 != 1" if is_masked else ""
        active = indices % 3 != 1 if is_masked else np.ones(shape, bool)
        names = ["add", "max", "min"] + ([] if self.cell_dtype == "float32" else ["and", "or", "xor"])
        op = r.choice(names)
        ufuncs = {"add": np.add, "max": np.maximum, "min": np.minimum}
        ufuncs |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        given = lambda env: (env[a] & np.asarray(63, env[a].dtype)).astype(self.cell_dtype)  # noqa: E731
        if r.random() < 0.5:  # many lanes have the same address
            modulus = r.choice([1, 2, 7, 32])
            text = f"tl.atomic_{op}(q + {start} + ({flat}) % {modulus}, {value}{mask})"

            def collide(env):
                ufuncs[op].at(env["cells"], start + (indices % modulus)[active], given(env)[active])

            self.emit(text, collide)
            return
        op = r.choice([op, "xchg", "cas"])
        if op == "cas":
            text = f"tl.atomic_cas(q + {start} + {flat}, tl.full({list(shape)}, 1, tl.{self.cell_dtype}), {value})"
            active = np.ones(shape, bool)
        else:
            text = f"tl.atomic_{op}(q + {start} + {flat}, {value}{mask})"
        if is_masked and op != "cas":
            text = f"tl.where(({flat}) % 3 != 1, {text}, 0)"

        def run(env):
            old, new = env["cells"][start + indices].copy(), given(env)
            if op == "cas":
                new = np.where(old == 1, new, old)
            elif op != "xchg":
                new = ufuncs[op](old, new)
            env["cells"][(start + indices)[active]] = new[active]
            return np.where(active, old, 0)

        self.define(text, self.cell_dtype, shape, run)

    # --- Stores ---

    def store(self, tile):
        r = self.random
        a, dtype, shape = tile
        out = len(self.outputs)
        self.outputs.append(dtype if len(shape) == 2 and max(shape) <= 64 else (dtype, int(np.prod(shape))))
        if not isinstance(self.outputs[-1], str):
            flat = "0"
            for part, extent in zip(self.indices(shape), shape, strict=False):
                flat = f"({flat}) * {extent} + {part}"

            def plain(env):
                env["outputs"][out][:] = env[a].reshape(-1)

            self.emit(f"tl.store(o{out} + {flat}, {a})", plain)
            return
        (y, row), (x, column) = self.offset(0), self.offset(1)
        texts, extents = self.extents()
        least = 16 // np.dtype(dtype).itemsize
        is_descriptor = all(extent & (extent - 1) == 0 for extent in shape) and shape[1] >= least and r.random() < 0.6
        base = f"o{out} + {TOP * PITCH + LEFT}"
        if is_descriptor:
            head = f"tl.make_tensor_descriptor({base}, [{', '.join(texts)}], [{PITCH}, 1], {list(shape)})"
            text = f"{head}.store([{y}, {x}], {a})"
        else:
            head = f"tl.make_block_ptr({base}, ({', '.join(texts)}), ({PITCH}, 1), ({y}, {x}), {shape}, (1, 0))"
            text = f"tl.store({head}, {a}, boundary_check=(0, 1))"

        def run(env):
            matrix = env["outputs"][out][TOP : TOP + extents[0], LEFT : LEFT + extents[1]]
            for i in range(shape[0]):
                for j in range(shape[1]):
                    at = (row() + i, column() + j)
                    if 0 <= at[0] < extents[0] and 0 <= at[1] < extents[1]:
                        matrix[at] = env[a][i, j]

        self.emit(text, run)

    # --- The kernel --

    def text(self):
        outputs = [f"o{index}" for index in range(len(self.outputs))]
        names = ["p0", "p1", "q", *outputs, *self.arguments]
        lines = "".join(f"    {line}\n" for line in self.lines)
        return f"@triton.jit\ndef kernel{self.seed}({', '.join(names)}):\n{lines}"

    def blank_outputs(self):
        return [
            np.ones((HEIGHT, PITCH), kind) if isinstance(kind, str) else np.ones(kind[1], kind[0])
            for kind in self.outputs
        ]

    def check(self, kernel, device):
        numbers = np.random.default_rng(self.seed)
        memory = []
        for dtype in self.dtypes:
            if dtype in INTS:
                info = np.iinfo(dtype)
                memory.append(numbers.integers(info.min, info.max, (HEIGHT, PITCH), dtype=dtype, endpoint=True))
            else:
                x = numbers.normal(0, 30, (HEIGHT, PITCH))
                x[numbers.random(x.shape) < 0.02] = np.inf
                x[numbers.random(x.shape) < 0.02] = np.nan
                memory.append(x.astype(dtype))
        cells = numbers.integers(0, 4, CELLS).astype(self.cell_dtype)
        got = [*(x.copy() for x in memory), cells.copy(), *self.blank_outputs()]
        arguments = self.arguments.values()
        if not launch(kernel, (1,), *got, *arguments, device=device, enable_fp_fusion=False):
            return None
        env = dict(memory=memory, cells=cells, outputs=self.blank_outputs())
        for step in self.steps:
            step(env)
        wanted = [*memory, env["cells"], *env["outputs"]]
        for name, ours, want in zip(["p0", "p1", "q", *(f"o{k}" for k in range(99))], got, wanted, strict=False):
            wrong = np.argwhere((ours != want) & ~((ours != ours) & (want != want)))
            if len(wrong):
                at = tuple(wrong[0])
                return f"{name}: {len(wrong)} of {ours.size} differ, first at {at}: {ours[at]!r} instead of {want[at]!r}"
        return None


@pytest.mark.filterwarnings("ignore:.*make_block_ptr is deprecated")
@pytest.mark.kernels(25)
@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(0, 50, 25))
def test_random_memory_agrees_with_numpy(seed, device):
    programs = [Program(seed + index, device) for index in range(25)]
    assert not _random_runs.run(programs, device)


if __name__ == "__main__":
    sys.exit(_random_runs.main(Program))
